//! Settings that cannot be understood: each is an error that names the rule and the field.

use super::*;

#[test]
fn each_fault_names_its_rule_and_field() {
    for (more, wanted) in [
        (json!({"pth": ".env"}), "field \"pth\": there is no such field; there are name, tool, "),
        (json!({"name": 1}), "rule 1, field \"name\": it must be a text, but is 1"),
        (json!({"name": ""}), "rule 1, field \"name\": it must not be empty"),
        (json!({"tool": []}), "field \"tool\": it must be a glob or a list of globs, but is []"),
        (
            json!({"tool": ["a", 1]}),
            "field \"tool\": it must be a glob or a list of globs, but is [\"a\",1]",
        ),
        (json!({"tool": "[a"}), "field \"tool\": the glob \"[a\" has an unclosed character class"),
        (
            json!({"path": "!a"}),
            "field \"path\": it holds only exceptions; name what they are exceptions from",
        ),
        (
            json!({"path": "a/{b"}),
            "field \"path\": the glob \"a/{b\" has an unclosed brace expansion",
        ),
        (json!({"argument": 3}), "field \"argument\": it must be a text, but is 3"),
        (json!({"contains": ""}), "field \"contains\": it must not be empty"),
        (json!({"not": "yes"}), "field \"not\": it must be true or false, but is \"yes\""),
        (
            json!({"action": "block"}),
            "field \"action\": it must be deny, ask, rewrite or allow, but is \"block\"",
        ),
        (
            json!({"action": "rewrite"}),
            "field \"rewrite\": it is missing; it holds the new values, ",
        ),
        (json!({"rewrite": {"a": 1}}), "field \"action\": only \"rewrite\" goes with the fields "),
        (
            json!({"rewrite": [1]}),
            "field \"rewrite\": it must be a table of new values, but is [1]",
        ),
        (
            json!({"remove": 1}),
            "field \"remove\": it must be an argument's name or a list of them, but is 1",
        ),
        (
            json!({"action": "rewrite", "rewrite": {"": 1}}),
            "field \"rewrite\": an argument without a name",
        ),
        (json!({"reason": true}), "field \"reason\": it must be a text, but is true"),
        (json!({"matches": "("}), "rule \"r\", field \"matches\": it is no regular expression: "),
    ] {
        let error = by(&denying(more.clone()), "t", json!({})).unwrap_err();
        let wanted = if wanted.starts_with("rule") {
            wanted.into()
        } else {
            format!("rule 1 (r), {wanted}")
        };
        assert!(error.starts_with(&wanted), "{more}: {error}");
    }
}

#[test]
fn what_is_missing_is_named() {
    for (rules, wanted) in [
        (json!({}), "the setting \"rules\" must be a list of rules"),
        (json!(["x"]), "rule 1 must be a table of fields"),
        (json!([{"tool": "*", "action": "deny"}]), "rule 1, field \"name\": it is missing"),
        (
            json!([{"name": "x", "action": "deny"}]),
            "rule 1 (x), field \"tool\": it is missing; \"*\" stands for every tool",
        ),
        (json!([{"name": "x", "tool": "*"}]), "rule 1 (x), field \"action\": it is missing"),
    ] {
        assert_eq!(by(&rules, "t", json!({})), Err(wanted.into()));
    }
}

#[test]
fn a_rule_about_another_tool_costs_no_regular_expression() {
    let rules = json!([{"name": "x", "tool": "other", "matches": "(", "action": "deny"}]);
    assert_eq!(by(&rules, "t", json!({})), PROCEED);
}
