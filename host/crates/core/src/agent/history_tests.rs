#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;

fn reply(text: &str, calls: &[&str]) -> Arc<Message> {
    let mut message = Message::assistant(text);
    message.tool_calls = calls
        .iter()
        .map(|id| ToolCall { id: (*id).into(), name: "write_file".into(), arguments: "{}".into() })
        .collect();
    Arc::new(message)
}

fn result(id: &str, text: &str) -> Arc<Message> {
    let call = ToolCall { id: id.into(), name: "write_file".into(), arguments: "{}".into() };
    Arc::new(Message::tool(&call, text))
}

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::user(text))
}

/// `role:text` of each message; a tool result's call id stands before its text.
fn sketch(messages: &[Arc<Message>]) -> Vec<String> {
    let line = |m: &Arc<Message>| match &m.tool_call_id {
        Some(id) => format!("tool {id}: {}", m.content.text()),
        None => format!("{:?}: {}", m.role, m.content.text()).to_lowercase(),
    };
    messages.iter().map(line).collect()
}

#[test]
fn b027_a_call_without_a_result_gets_one_and_only_once() {
    let mut history = vec![user("go"), reply("", &["c1", "c2"]), result("c1", "done")];
    let missing = missing_results(&history, |_| false);
    assert_eq!(
        sketch(&missing),
        [
            "tool c2: error [cancelled]: interrupted, effect unknown; look at what it left behind before calling it again"
        ]
    );
    assert_eq!(missing[0].effect, Some(Effect::Unknown));
    history.extend(missing);
    assert!(missing_results(&history, |_| false).is_empty());
}

#[test]
fn an_interrupted_read_had_no_effect() {
    let missing = missing_results(&[reply("", &["c1"])], |_| true);
    assert_eq!(missing[0].effect, Some(Effect::None));
}

#[test]
fn results_follow_their_calls_in_call_order_one_each() {
    let history = [
        user("go"),
        reply("", &["a", "b"]),
        result("b", "B"),
        result("a", "A"),
        result("a", "again"),
        result("nobody", "asked"),
        reply("done", &[]),
    ];
    assert_eq!(
        sketch(&outgoing(&history)),
        ["user: go", "tool_reply", "tool a: A", "tool b: B", "assistant: done"].map(|line| {
            if line == "tool_reply" { "assistant: ".to_owned() } else { line.to_owned() }
        })
    );
}

#[test]
fn neighbours_of_one_role_merge_and_blank_replies_vanish() {
    let history = [
        user("one"),
        reply(" ", &[]),
        user("two"),
        reply("x", &[]),
        reply("y", &["c"]),
        result("c", "C"),
    ];
    assert_eq!(sketch(&outgoing(&history)), ["user: one\n\ntwo", "assistant: x\n\ny", "tool c: C"]);
}

#[test]
fn messages_that_need_no_change_are_shared() {
    let history = [user("one"), reply("two", &[])];
    let sent = outgoing(&history);
    assert!(history.iter().zip(&sent).all(|(a, b)| Arc::ptr_eq(a, b)));
}

#[test]
fn results_that_landed_out_of_order_are_sorted_within_their_run() {
    let history = vec![reply("", &["a", "b"]), result("b", "B"), result("a", "A"), user("next")];
    assert_eq!(
        sketch(&in_call_order(history)),
        ["assistant: ", "tool a: A", "tool b: B", "user: next"]
    );
}

proptest! {
    /// Invariant 3: whatever is in history, what leaves is valid.
    #[test]
    fn any_history_leaves_valid(kinds in prop::collection::vec((0u8..4, 0u8..6), 0..30)) {
        let history: Vec<_> = kinds.iter().map(|&(kind, n)| match kind {
            0 => user(if n == 0 { "" } else { "u" }),
            1 => reply(if n % 2 == 0 { "" } else { "a" }, &[]),
            2 => reply("", &["0", "1", "2", "3", "4", "5"][..usize::from(n)]),
            _ => result(&n.to_string(), "r"),
        }).collect();
        let sent = outgoing(&history);
        let mut open: Vec<&str> = Vec::new();
        let mut before: Option<Role> = None;
        for message in &sent {
            match message.role {
                Role::Tool => {
                    prop_assert!(!open.is_empty(), "a result without a call");
                    prop_assert_eq!(open.remove(0), message.tool_call_id.as_deref().unwrap());
                }
                role => {
                    prop_assert!(open.is_empty(), "a call without its result");
                    prop_assert!(before != Some(role), "two neighbours of one role");
                    prop_assert!(!message.content.is_blank() || !message.tool_calls.is_empty());
                    open = message.tool_calls.iter().map(|call| call.id.as_str()).collect();
                }
            }
            before = Some(message.role);
        }
        prop_assert!(open.is_empty());
    }
}
