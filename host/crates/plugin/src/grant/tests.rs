//! The grammar of grants, folders, the file, and the meeting of request and grant.
#![allow(clippy::unwrap_used)]

mod file;
mod folder;
mod meeting;

use proptest::prelude::*;

use super::*;

#[test]
fn grants_are_written_and_read_in_one_grammar() {
    for text in [
        "files:fs:/home/me/notes:ro",
        "files:fs:C:\\notes:rw",
        "files:fs:.:rw",
        "gh:http:https://api.github.com",
        "gh:http:GET,POST:https://*.github.com:8443/repos/**",
        "gh:http-private:http://127.0.0.1:8080/v1/*",
        "gh:secret:GITHUB_TOKEN",
        "git:process:git diff|status *",
        "git:process:make",
        "tz:env:TZ",
        "guard:hook:full,rewrite,replace",
        "guard:hook:rewrite",
    ] {
        assert_eq!(Grant::parse(text).map(|grant| grant.to_string()).as_deref(), Ok(text));
    }
}

#[test]
fn what_is_wrong_with_a_grant_is_said() {
    let mode = "a folder needs its mode after the last colon: fs:PATH:ro or fs:PATH:rw";
    for (text, expected) in [
        ("", "must be NAME:KIND:REST, as files:fs:.:ro"),
        ("files", "must be NAME:KIND:REST, as files:fs:.:ro"),
        ("files:fs", "must be NAME:KIND:REST, as files:fs:.:ro"),
        ("Files:fs:.:ro", "its plugin name must be 1 to 40 of the characters a-z, 0-9 and -"),
        (
            "fs:.:ro",
            "unknown kind \".\"; write fs, http, http-private, secret, process, env or hook",
        ),
        ("files:fs:.", mode),
        ("files:fs:.:", mode),
        ("files:fs:.:wr", mode),
        ("files:fs::ro", "a folder needs its path: fs:PATH:ro or fs:PATH:rw"),
        ("files:fs:a\nb:ro", "a folder needs its path: fs:PATH:ro or fs:PATH:rw"),
        (
            "gh:http:api.github.com",
            "the URL pattern of http must be a URL pattern, as https://api.example.com/v1/**",
        ),
        (
            "gh:http-private:ftp://a",
            "the URL pattern of http-private its scheme must be \"https\" or \"http\"",
        ),
        (
            "gh:secret:token",
            "the name of a secret must be 1 to 64 of the characters A-Z, 0-9 and _, as SERVICE_TOKEN",
        ),
        (
            "gh:secret:",
            "the name of a secret must be 1 to 64 of the characters A-Z, 0-9 and _, as SERVICE_TOKEN",
        ),
        (
            "gh:process:* x",
            "each argument of process must name its program; `*` may only follow it",
        ),
        ("gh:process:", "each argument of process must not be empty; write a literal, a|b, or *"),
        ("gh:env:A=B", "env must be the name of an environment variable, as LANG"),
        ("gh:hook:", "each power of hook must be \"full\", \"rewrite\" or \"replace\""),
        ("gh:hook:full,deny", "each power of hook must be \"full\", \"rewrite\" or \"replace\""),
    ] {
        let shown = text.replace('\n', " ");
        assert_eq!(
            Grant::parse(text).unwrap_err().to_string(),
            format!("grant \"{shown}\": {expected}")
        );
    }
}

fn power_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "fs:[^\\p{Cc}]{1,20}:(ro|rw)",
        "http(-private)?:((GET|PUT)(,POST)?:)?https?://(\\*\\.)?[a-z]{1,5}(\\.[a-z]{2,3}){0,2}(:[1-9][0-9]{0,3})?(/[a-z]{1,3}|/\\*){0,3}(/\\*\\*)?",
        "secret:[A-Z0-9_]{1,20}",
        "process:[a-z]{1,5}( [a-z|]{1,5}| \\*){0,3}",
        "env:[A-Za-z_][A-Za-z0-9_]{0,20}",
        "hook:(full|rewrite|replace)(,(full|rewrite|replace)){0,2}",
        "[a-z:/.* ]{0,30}",
    ]
}

proptest! {
    /// What is read can be written, and reads as the same again; nothing panics.
    #[test]
    fn a_grant_survives_being_written(power in power_text(), name in "[a-z0-9-]{1,10}") {
        if let Ok(grant) = Grant::parse(&format!("{name}:{power}")) {
            prop_assert_eq!(Grant::parse(&grant.to_string()), Ok(grant));
        }
    }

    #[test]
    fn any_text_is_a_grant_or_a_complaint(text in "\\PC{0,60}") {
        if let Err(error) = Grant::parse(&text) {
            prop_assert!(error.to_string().starts_with("grant \""));
        }
    }
}
