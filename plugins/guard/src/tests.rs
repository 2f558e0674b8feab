#![allow(clippy::unwrap_used)]
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn by(rules: Value, tool: &str, arguments: Value) -> Result<PreVerdict, String> {
    decide(tool, &arguments, rule::parse(rules)?.iter())
}

fn by_default(tool: &str, arguments: Value) -> PreVerdict {
    decide(tool, &arguments, defaults::rules().iter()).unwrap()
}

fn denied(name: &str, reason: &str) -> PreVerdict {
    PreVerdict::Deny(format!("{name}: {reason}"))
}

#[test]
fn credentials_and_start_up_files_are_not_written_by_default() {
    let credentials = denied("credential files", "this file holds credentials; change it yourself");
    for path in [
        ".env",
        "a/b/../.env.local",
        "KEYS/Server.PEM",
        "~/.ssh/config",
        "x\\.netrc",
        "/home/u/.ssh/id_rsa",
    ] {
        assert_eq!(
            by_default("write_file", json!({"path": path, "content": ""})),
            credentials,
            "{path}"
        );
    }
    let obeyed = denied("start-up files", "other programs obey this file; change it yourself");
    assert_eq!(by_default("edit_file", json!({"path": "./.git/hooks/pre-commit"})), obeyed);
    let patch =
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/.env\n@@ -0,0 +1 @@\n+K=1\n";
    assert_eq!(by_default("patch", json!({"patch": patch})), credentials);
}

#[test]
fn everything_else_goes_through_by_default() {
    for (tool, arguments) in [
        ("write_file", json!({"path": "src/environment.rs", "content": "look at .env"})),
        ("write_file", json!({"path": ".env.example", "content": ""})),
        ("read_file", json!({"path": ".env"})),
        ("edit_file", json!({"path": "README.md", "old_string": ".env", "new_string": ".netrc"})),
        ("patch", json!({"patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-.env\n+.netrc\n"})),
    ] {
        assert_eq!(by_default(tool, arguments.clone()), PreVerdict::Proceed, "{tool} {arguments}");
    }
}

#[test]
fn the_first_rule_that_matches_decides() {
    let rules = json!([
        {"name": "docs", "tool": "write_*", "path": "docs/**", "action": "allow"},
        {"name": "all writes", "tool": ["write_*", "edit_*"], "action": "ask", "reason": "is it needed?"},
    ]);
    assert_eq!(
        by(rules.clone(), "write_file", json!({"path": "docs/a.md"})),
        Ok(PreVerdict::Proceed)
    );
    let asked = PreVerdict::Ask("all writes: is it needed?".into());
    assert_eq!(by(rules.clone(), "write_file", json!({"path": "src/a.rs"})), Ok(asked));
    assert_eq!(by(rules, "read_file", json!({"path": "src/a.rs"})), Ok(PreVerdict::Proceed));
}

#[test]
fn conditions_look_where_they_are_told() {
    let rule = |more: Value| {
        let mut rule = json!({"name": "r", "tool": "*", "action": "deny"});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([rule])
    };
    let arguments = || json!({"command": "rm -rf /tmp/x", "options": {"mode": "fast"}});
    let denies =
        |more: Value| by(rule(more), "terminal", arguments()) == Ok(PreVerdict::Deny("r".into()));
    assert!(denies(json!({"matches": "rm\\s+-rf"})));
    assert!(denies(json!({"argument": "options.mode", "contains": "fast"})));
    assert!(!denies(json!({"argument": "options.mode", "contains": "rm"})));
    assert!(!denies(json!({"argument": "command", "contains": "rm", "matches": "^ls"})));
    assert!(denies(json!({"contains": "sudo", "not": true})));
    assert!(
        !denies(json!({"argument": "absent", "contains": ""})),
        "nothing is there to contain it"
    );
}

#[test]
fn a_rewrite_sets_and_removes_arguments() {
    let rules = json!([{"name": "limit", "tool": "search_files", "action": "rewrite",
        "rewrite": {"limit": 10, "context": null}}]);
    let verdict = by(rules.clone(), "search_files", json!({"pattern": "x", "context": 9}));
    assert_eq!(verdict, Ok(PreVerdict::Rewrite("{\"pattern\":\"x\",\"limit\":10}".into())));
    let settled = by(rules, "search_files", json!({"pattern": "x", "limit": 10}));
    assert_eq!(settled, Ok(PreVerdict::Proceed), "nothing is left to rewrite");
}

#[test]
fn settings_that_cannot_be_understood_are_an_error_that_names_the_rule() {
    for (rules, wanted) in [
        (json!({}), "the setting \"rules\" must be a list"),
        (json!([{"tool": "*", "action": "deny"}]), "rule 1 (without a name): missing field `name`"),
        (
            json!([{"name": "x", "tool": "*", "action": "deny", "pth": ".env"}]),
            "rule 1 (x): unknown field `pth`",
        ),
        (
            json!([{"name": "x", "tool": "*", "action": "block"}]),
            "rule 1 (x): unknown variant `block`",
        ),
        (
            json!([{"name": "x", "tool": "*", "action": "rewrite"}]),
            "rule 1 (x): the action \"rewrite\" needs \"rewrite\" with the new values",
        ),
        (
            json!([{"name": "x", "tool": "*", "action": "deny", "matches": "("}]),
            "rule x: \"matches\" is no regular expression",
        ),
    ] {
        let error = by(rules, "t", json!({})).unwrap_err();
        assert!(error.starts_with(wanted), "{error}");
    }
}

proptest! {
    /// Whatever surrounds the name of a guarded file, it stays guarded.
    #[test]
    fn no_detour_leads_around_a_rule(before in "([a-z]{1,4}/(\\./|/){0,2}){0,3}", after in "[./]{0,2}") {
        let path = format!("{before}.env{}", after.trim_start_matches('.'));
        let denied = matches!(by_default("write_file", json!({"path": path})), PreVerdict::Deny(_));
        prop_assert!(denied);
    }

    #[test]
    fn no_arguments_break_it(path in ".*", patch in ".*") {
        by_default("patch", json!({"path": path, "patch": patch}));
    }
}
