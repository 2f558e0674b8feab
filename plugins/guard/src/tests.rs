#![allow(clippy::unwrap_used)]
use proptest::prelude::*;
use serde_json::json;

use super::*;

mod built_in;

mod misspelt;

fn by(rules: &Value, tool: &str, arguments: Value) -> Result<PreVerdict, String> {
    decide(tool, arguments, &settings::parse(rules)?)
}

fn deny(why: &str) -> Result<PreVerdict, String> {
    Ok(PreVerdict::Deny(why.into()))
}

fn ask(why: &str) -> Result<PreVerdict, String> {
    Ok(PreVerdict::Ask(why.into()))
}

fn rewrite(arguments: Value) -> Result<PreVerdict, String> {
    Ok(PreVerdict::Rewrite(arguments.to_string()))
}

const PROCEED: Result<PreVerdict, String> = Ok(PreVerdict::Proceed);

/// One rule that denies, with some more fields.
fn denying(more: Value) -> Value {
    with(json!({"name": "r", "tool": "*", "action": "deny"}), more)
}

fn allowing(more: Value) -> Value {
    let mut rules = with(json!({"name": "free", "tool": "*", "action": "allow"}), more);
    let rest = json!({"name": "rest", "tool": "*", "action": "deny"});
    rules.as_array_mut().unwrap().push(rest);
    rules
}

fn with(mut rule: Value, more: Value) -> Value {
    rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!([rule])
}

#[test]
fn the_strictest_of_all_rules_counts_and_the_first_of_them_speaks() {
    let rule =
        |name: &str, action: &str| json!({"name": name, "tool": "write_*", "action": action});
    let changing =
        json!({"name": "c", "tool": "*", "action": "rewrite", "rewrite": {"mode": "safe"}});
    let call = || json!({"path": "a"});
    let changed = || json!({"path": "a", "mode": "safe"});
    for (rules, wanted) in [
        (json!([rule("a", "ask"), rule("d", "deny"), rule("e", "deny")]), deny("d")),
        (json!([rule("a", "ask"), rule("b", "ask")]), ask("a")),
        (json!([changing, rule("d", "deny")]), deny("d")),
        (json!([rule("a", "ask"), changing]), rewrite(changed())),
        (json!([]), PROCEED),
        (json!([rule("f", "allow"), rule("d", "deny")]), PROCEED),
        (json!([rule("a", "ask"), rule("f", "allow"), rule("d", "deny")]), ask("a")),
    ] {
        assert_eq!(by(&rules, "write_file", call()), wanted, "{rules}");
    }
    let rules = json!([rule("a", "ask"), changing]);
    assert_eq!(by(&rules, "write_file", changed()), ask("a"), "then about the call that will run");
    assert_eq!(by(&rules, "read_file", changed()), PROCEED);
}

#[test]
fn a_reason_follows_the_name() {
    let rules = denying(json!({"reason": "not today"}));
    assert_eq!(by(&rules, "t", json!({})), deny("r: not today"));
}

#[test]
fn conditions_look_where_they_are_told() {
    let call =
        json!({"command": "rm -rf /tmp/x", "options": {"mode": "fast", "force": true, "n": 7}});
    for (more, denies) in [
        (json!({}), true),
        (json!({"matches": "rm\\s+-rf"}), true),
        (json!({"argument": "options.mode", "contains": "fast"}), true),
        (json!({"argument": "options.mode", "contains": "rm"}), false),
        (json!({"argument": "options", "contains": "fast"}), true),
        (json!({"argument": "command", "contains": "rm", "matches": "^ls"}), false),
        (json!({"argument": "options.force", "matches": "^true$"}), true),
        (json!({"argument": "options.n", "matches": "^[0-9]$"}), true),
        (json!({"argument": "absent", "contains": "x"}), false),
        (json!({"argument": "absent", "contains": "x", "not": true}), true),
        (json!({"contains": "sudo", "not": true}), true),
        (json!({"argument": "command", "contains": "rm", "not": true}), false),
        (json!({"not": true}), false),
        (json!({"contains": "options"}), false),
    ] {
        let wanted = if denies { deny("r") } else { PROCEED };
        assert_eq!(by(&denying(more.clone()), "terminal", call.clone()), wanted, "{more}");
    }
}

#[test]
fn a_rule_that_restricts_is_met_by_any_path() {
    let patch = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-a\n+b\n--- a/keys/k\n+++ b/keys/k\n@@ -1 +1 @@\n-a\n+b\n";
    for (more, call, denies) in [
        (json!({"path": "keys/**"}), json!({"path": "/home/u/work/keys/k"}), true),
        (json!({"path": "keys/**"}), json!({"from": "a", "to": "KEYS\\k"}), true),
        (json!({"path": "keys/**"}), json!({"files": {"keys/k": "text"}}), true),
        (json!({"path": "keys/**"}), json!({"files": [{"path": "a"}, {"path": "keys/k"}]}), true),
        (json!({"path": "keys/**"}), json!({"patch": patch}), true),
        (
            json!({"path": "keys/**", "argument": "path"}),
            json!({"path": "a", "patch": patch}),
            true,
        ),
        (
            json!({"path": "keys/**", "argument": "path"}),
            json!({"path": "a", "to": "keys/k"}),
            false,
        ),
        (json!({"path": "keys/**"}), json!({"path": "a", "content": "keys/k"}), false),
        (json!({"path": "keys/**", "argument": "content"}), json!({"content": "keys/k"}), true),
        (json!({"path": "keys/**"}), json!({"path": "a", "content": patch}), false),
        (json!({"path": "src/**", "not": true}), json!({"patch": patch}), true),
        (json!({"path": ["src/**", "keys/**"], "not": true}), json!({"patch": patch}), false),
        (json!({"path": "src/**", "not": true}), json!({"path": "/elsewhere/src/a"}), true),
        (json!({"path": "src/**", "not": true}), json!({"path": "src/../../src/a"}), true),
        (json!({"path": "src/**", "not": true}), json!({}), true),
        (json!({"path": ["**/*.key", "!test/**"]}), json!({"path": "a.key"}), true),
        (json!({"path": ["**/*.key", "!test/**"]}), json!({"path": "test/a.key"}), false),
        (json!({"path": ["**/*.key", "!test/**"]}), json!({"path": "/home/u/test/a.key"}), true),
    ] {
        let wanted = if denies { deny("r") } else { PROCEED };
        assert_eq!(by(&denying(more.clone()), "t", call.clone()), wanted, "{more} {call}");
    }
}

#[test]
fn a_rule_that_permits_is_met_by_all_paths_only() {
    let one = "--- a/docs/a\n+++ b/docs/a\n@@ -1 +1 @@\n-a\n+b\n";
    let two = format!("{one}--- /dev/null\n+++ b/.env\n@@ -0,0 +1 @@\n+K=1\n");
    for (more, call, allows) in [
        (json!({"path": "docs/**"}), json!({"path": "docs/a", "content": "see /etc/passwd"}), true),
        (json!({"path": "docs/**"}), json!({"patch": one}), true),
        (json!({"path": "docs/**"}), json!({"patch": two}), false),
        (
            json!({"path": "docs/**", "argument": "path"}),
            json!({"path": "docs/a", "patch": two}),
            false,
        ),
        (json!({"path": "docs/**"}), json!({"from": "docs/a", "to": ".env"}), false),
        (json!({"path": "docs/**"}), json!({"path": "docs/../.env"}), false),
        (json!({"path": "docs/**"}), json!({"path": "../docs/a"}), false),
        (json!({"path": "docs/**"}), json!({"path": "/docs/a"}), false),
        (json!({"path": "docs/**"}), json!({}), false),
        (json!({"path": ["docs/**", "!private/**"]}), json!({"path": "docs/private/a"}), false),
        (json!({"path": "docs/**", "not": true}), json!({"path": "src/a"}), true),
        (json!({"path": "docs/**", "not": true}), json!({"from": "src/a", "to": "docs/a"}), false),
        (json!({"path": "docs/**", "not": true}), json!({"path": "/home/u/docs/a"}), false),
        (json!({"matches": "^git "}), json!({"command": "git status"}), true),
        (json!({"matches": "^git "}), json!({"command": "git status", "then": "rm x"}), false),
        (
            json!({"argument": "command", "matches": "^git "}),
            json!({"command": "git x", "cwd": "a"}),
            true,
        ),
    ] {
        let wanted = if allows { PROCEED } else { deny("rest") };
        assert_eq!(by(&allowing(more.clone()), "t", call.clone()), wanted, "{more} {call}");
    }
}

#[test]
fn a_rewrite_sets_and_removes_arguments() {
    let rules = json!([{"name": "limit", "tool": "search_files", "action": "rewrite",
        "rewrite": {"limit": 10, "options.safe": true, "context": null}, "remove": ["by.author", "absent"]}]);
    let call = json!({"pattern": "x", "context": 9, "by": {"author": "a", "date": "d"}});
    let new = json!({"pattern": "x", "by": {"date": "d"}, "limit": 10, "options": {"safe": true}});
    assert_eq!(by(&rules, "search_files", call), rewrite(new.clone()));
    assert_eq!(by(&rules, "search_files", new), PROCEED, "nothing is left to rewrite");
    let error = by(&rules, "search_files", json!({"options": "all"})).unwrap_err();
    assert_eq!(
        error,
        "rule \"limit\" cannot rewrite \"options.safe\": it leads through something that is no object"
    );
}

#[test]
fn rewrites_are_judged_like_the_model_s_own_arguments() {
    let set = |name: &str, argument: &str, from: &str, to: &str| {
        json!({"name": name, "tool": "*", "argument": argument, "matches": format!("^{from}$"),
            "action": "rewrite", "rewrite": {argument: to}})
    };
    let chain = json!([set("one", "a", "1", "2"), set("two", "a", "2", "3")]);
    assert_eq!(by(&chain, "t", json!({"a": "1"})), rewrite(json!({"a": "3"})));
    let guarded = json!([set("one", "a", "1", "2"),
        {"name": "no", "tool": "*", "argument": "a", "contains": "2", "action": "deny"}]);
    assert_eq!(by(&guarded, "t", json!({"a": "1"})), deny("no"));
    let circle = json!([set("one", "a", "1", "2"), set("two", "a", "2", "1")]);
    assert_eq!(
        by(&circle, "t", json!({"a": "1"})),
        Err("the rewrites of these rules undo each other: one, two".into())
    );
}

#[test]
fn a_text_that_arrived_cut_is_not_judged() {
    let cut = format!("{}…", "./".repeat(126) + "a");
    let rules = denying(json!({"path": ".env"}));
    let wanted = Err(
        "rule \"r\" has to judge the argument \"path\", which arrived cut; grant guard:hook:full"
            .into(),
    );
    assert_eq!(by(&rules, "write_file", json!({"path": cut})), wanted);
    assert_eq!(by(&rules, "write_file", json!({"path": "a", "content": cut})), PROCEED);
}

#[test]
fn without_a_host_the_built_in_rules_hold() {
    let call = |arguments: &str| PendingCall {
        tool: "write_file".into(),
        source: "files".into(),
        arguments: arguments.into(),
        info: CallInfo::default(),
    };
    let denied = deny("credential files: this file holds credentials; change it yourself");
    assert_eq!(check(call("{\"path\":\".env\"}")), denied);
    assert_eq!(check(call("{\"path\":\"a\"}")), PROCEED);
    assert!(check(call("{\"path\":")).unwrap_err().starts_with("the arguments are not JSON"));
}

proptest! {
    #[test]
    fn no_arguments_break_it(path in ".*", patch in "(--- |\\+\\+\\+ |diff --git |\"|\\\\|a/|[a-z.\n]){0,30}") {
        let rules = defaults::rules();
        for tool in ["apply_patch", "terminal", "delete_files"] {
            let call = json!({"path": path, "patch": patch, "command": patch, "input": [path]});
            prop_assert!(decide(tool, call, &rules).is_ok());
        }
    }

    /// Whatever the settings are, they are rules or an error, and no rule breaks on a call.
    #[test]
    fn no_settings_break_it(name in "[a-z]{0,3}", glob in "[a-z*/!{}\\[\\],]{0,8}", regex in "[a-z(){}|*+\\\\]{0,8}") {
        let rules = json!([{"name": name, "tool": "*", "path": glob, "matches": regex, "action": "deny"}]);
        let _ = by(&rules, "t", json!({"path": "a/b", "command": "c"}));
    }

    /// Rewriting what was rewritten changes nothing.
    #[test]
    fn a_rewrite_settles(argument in "[ab]", before in "[xy]", after in "[xy]") {
        let rules = json!([{"name": "w", "tool": "*", "argument": argument, "contains": before,
            "action": "rewrite", "rewrite": {"a": after}}]);
        if let Ok(PreVerdict::Rewrite(new)) = by(&rules, "t", json!({"a": "x", "b": "y"})) {
            let new: Value = serde_json::from_str(&new).unwrap();
            prop_assert_eq!(by(&rules, "t", new), PROCEED);
        }
    }
}
