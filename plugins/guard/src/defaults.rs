//! The rules that hold where the user says nothing: few, about files whose change gives somebody
//! power over the user's accounts or machine, and about commands that cannot be taken back.
//!
//! They go by the usual names of tools and arguments, since a hook knows nothing else of a tool.

use crate::rule::{Action, Rule};

/// Tools that change files.
const WRITERS: &[&str] = &[
    "*write*",
    "*edit*",
    "*patch*",
    "*create*",
    "*append*",
    "*replace*",
    "*delete*",
    "*remove*",
    "*move*",
    "*rename*",
    "*copy*",
    "*save*",
];

/// Tools that run commands or programs.
const SHELLS: &[&str] =
    &["*terminal*", "*shell*", "*bash*", "*command*", "*exec*", "*run_*", "process"];

/// Files with credentials.
const CREDENTIALS: &[&str] = &[
    "**/.env",
    "**/.env.*",
    "**/.envrc",
    "**/*.pem",
    "**/*.p12",
    "**/id_{rsa,dsa,ecdsa,ed25519}*",
    "**/.ssh/**",
    "**/.gnupg/**",
    "**/.netrc",
    "**/.pgpass",
    "**/.npmrc",
    "**/.pypirc",
    "**/.git-credentials",
    "**/.aws/**",
    "**/.kube/config",
    "**/.docker/config.json",
    "!**/.env.{example,sample,template,dist}",
];

/// Files that other programs run or obey without being asked.
const OBEYED: &[&str] = &[
    "**/.git/config",
    "**/.git/hooks/**",
    "**/.gitconfig",
    "**/.{bash,zsh}rc",
    "**/.{bash_,z,}profile",
    "**/.zshenv",
    "**/.config/fish/**",
    "**/.config/systemd/**",
    "**/.config/autostart/**",
    "/etc/**",
];

/// Commands that destroy what no copy is kept of, or run what a stranger wrote.
const DESTRUCTIVE: &str = concat!(
    r"(?i)\brm\s(.*\s)?-(-recursive|-force|\w*[rf])",
    r"|\bgit\s(.*\s)?(reset\s.*--hard|clean\s.*-\w*f|push\s.*(-f\b|--force))",
    r"|\bfind\s.*\s-delete\b",
    r"|\b(mkfs|wipefs|shred)\b",
    r"|\bdd\s.*\bof=",
    r"|\b(drop\s+(table|database|schema)|truncate\s+table)\b",
    r"|\b(curl|wget)\s.*\|\s*(sudo\s+)?\w*sh\b",
);

/// Arguments that mean many files at once: a wildcard, or a folder that everything lies in.
const MANY: &str = r"[*?]|^[\s./\\~]+$";

/// The rules, in order.
pub(crate) fn rules() -> [Rule<'static>; 5] {
    let rule = |name, tool: &[&'static str], action, reason| Rule {
        name,
        tool: tool.to_vec(),
        argument: None,
        path: Vec::new(),
        contains: None,
        matches: None,
        not: false,
        action,
        reason,
    };
    let credentials = "this file holds credentials; change it yourself";
    let obeyed = "other programs obey this file; change it yourself";
    let touched = "it names a file with credentials";
    let destroyed = "what it destroys cannot be brought back";
    let swept = "it would remove many files at once";
    [
        Rule {
            path: CREDENTIALS.to_vec(),
            ..rule("credential files", WRITERS, Action::Deny, credentials)
        },
        Rule { path: OBEYED.to_vec(), ..rule("start-up files", WRITERS, Action::Deny, obeyed) },
        Rule {
            path: CREDENTIALS.to_vec(),
            ..rule("commands on credential files", SHELLS, Action::Ask, touched)
        },
        Rule {
            matches: Some(DESTRUCTIVE),
            ..rule("destructive commands", SHELLS, Action::Ask, destroyed)
        },
        Rule {
            matches: Some(MANY),
            ..rule("sweeping deletions", &["*delete*", "*remove*"], Action::Ask, swept)
        },
    ]
}
