//! The rules that hold where the user says nothing: few, and about files whose change gives
//! somebody else power over the user's accounts or machine.

use crate::rule::{Action, OneOrMany, Rule};

/// Tools that change files.
const WRITERS: &[&str] = &["write_file", "edit_file", "patch"];

/// Files with credentials.
const CREDENTIALS: &[&str] = &[
    "**/.env",
    "**/.env.*",
    "**/*.pem",
    "**/id_rsa*",
    "**/id_ed25519*",
    "**/.ssh/**",
    "**/.netrc",
    "**/.npmrc",
    "**/.pypirc",
    "**/.aws/credentials",
];

/// Files that other programs run or obey without being asked.
const OBEYED: &[&str] =
    &["**/.git/config", "**/.git/hooks/**", "**/.bashrc", "**/.zshrc", "**/.profile"];

/// Examples that are meant to be written.
const EXAMPLES: &[&str] = &["**/.env.example", "**/.env.sample", "**/.env.template"];

/// The rules, in order.
pub(crate) fn rules() -> Vec<Rule> {
    vec![
        writes("example files", EXAMPLES, Action::Allow, ""),
        writes(
            "credential files",
            CREDENTIALS,
            Action::Deny,
            "this file holds credentials; change it yourself",
        ),
        writes(
            "start-up files",
            OBEYED,
            Action::Deny,
            "other programs obey this file; change it yourself",
        ),
    ]
}

fn writes(name: &str, paths: &[&str], action: Action, reason: &str) -> Rule {
    let many =
        |texts: &[&str]| OneOrMany::Many(texts.iter().map(|text| (*text).to_owned()).collect());
    Rule {
        name: name.to_owned(),
        tool: many(WRITERS),
        argument: None,
        path: Some(many(paths)),
        contains: None,
        matches: None,
        not: false,
        action,
        reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
        rewrite: None,
    }
}
