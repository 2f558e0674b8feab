//! Turns and their blocks.

use super::*;

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn uses(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

fn result(id: &str, content: Vec<Value>) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

fn user(blocks: Vec<Value>) -> Value {
    json!({"role": "user", "content": blocks})
}

fn assistant(blocks: Vec<Value>) -> Value {
    json!({"role": "assistant", "content": blocks})
}

fn thought(thinking: &str, signature: &str) -> Value {
    json!({"type": "thinking", "thinking": thinking, "signature": signature})
}

#[test]
fn b032_blank_text_is_never_sent() {
    let sent = messages(vec![
        Message::user("go"),
        asks("", vec![call("c1", "{}")]),
        answers("c1", " \n"),
        Message::assistant(""),
        Message::user("   "),
        asks(" \n", vec![call("c2", "{}")]),
        answers("c2", vec![words(""), words("x")]),
        Message::user(vec![words("\t"), words("y")]),
        Message::assistant(vec![words("z"), words(" ")]),
    ]);
    let expected = json!([
        user(vec![text("go")]),
        assistant(vec![uses("c1")]),
        user(vec![json!({"type": "tool_result", "tool_use_id": "c1"})]),
        assistant(vec![uses("c2")]),
        user(vec![result("c2", vec![text("x")]), text("y")]),
        assistant(vec![text("z")]),
    ]);
    assert_eq!(sent, expected);
    let blank = ModelRequest { system: " \n".into(), ..request(vec![Message::user("x")]) };
    assert_eq!(body(&blank).get("system"), None);
}

#[test]
fn a_conversation_begins_with_the_user() {
    let nothing = || user(vec![text("(nothing was said)")]);
    assert_eq!(messages(vec![]), json!([nothing()]));
    assert_eq!(messages(vec![Message::user(" ")]), json!([nothing()]));
    let sent = messages(vec![Message::assistant("a")]);
    assert_eq!(sent, json!([nothing(), assistant(vec![text("a")])]));
}

#[test]
fn neighbours_of_one_side_are_one_turn_and_results_come_first() {
    let sent = messages(vec![
        Message::user("a"),
        Message::new(Role::System, "b"),
        Message::assistant("c"),
        asks("d", vec![call("1", "{}"), call("2", "")]),
        answers("1", "one"),
        Message::user("in between"),
        answers("2", "two"),
        Message::user("e"),
    ]);
    let (one, two) = (result("1", vec![text("one")]), result("2", vec![text("two")]));
    let expected = json!([
        user(vec![text("a"), text("b")]),
        assistant(vec![text("c"), text("d"), uses("1"), uses("2")]),
        user(vec![one, two, text("in between"), text("e")]),
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn failed_results_are_errors_that_say_something() {
    let failed = |id, text: &str| Message { failure: Some("timeout".into()), ..answers(id, text) };
    let sent = messages(vec![
        Message::user("go"),
        asks("", vec![call("1", "{}"), call("2", "{}")]),
        failed("1", "error [timeout]: too slow"),
        failed("2", " "),
    ]);
    let error = |id, said| json!({"type": "tool_result", "tool_use_id": id, "content": [text(said)], "is_error": true});
    let expected =
        user(vec![error("1", "error [timeout]: too slow"), error("2", "error [timeout]")]);
    assert_eq!(sent[2], expected);
}

#[test]
fn images_are_sent_where_they_are_seen() {
    let shot = vec![words("a page"), image("data:image/png;base64,AA"), image("file:///a")];
    let sent = messages(vec![
        Message::user(vec![words("see"), image("https://i/1")]),
        asks("", vec![call("1", "{}")]),
        answers("1", shot),
    ]);
    let url = json!({"type": "image", "source": {"type": "url", "url": "https://i/1"}});
    let png = json!({"type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AA"}});
    let note = text("[an image was left out: only https: and data: addresses can be sent]");
    let expected = json!([
        user(vec![text("see"), url]),
        assistant(vec![uses("1")]),
        user(vec![result("1", vec![text("a page"), png, note])]),
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn arguments_are_sent_as_an_object() {
    let cases = [
        (r#"{"a": "\ud83d\ude42"}"#, json!({"a": "🙂"})),
        (r#"{"a": "\ud83d"}"#, json!({"a": "\u{fffd}"})),
        (r#" {"a":1}"#, json!({"a": 1})),
        ("", json!({})),
        ("null", json!({})),
        ("[1]", json!({})),
        (r#"{"a":"#, json!({})),
    ];
    for (arguments, expected) in cases {
        let history =
            vec![Message::user("x"), asks("", vec![call("1", arguments)]), answers("1", "y")];
        assert_eq!(messages(history)[1]["content"][0]["input"], expected, "{arguments}");
    }
}

#[test]
fn thinking_goes_back_exactly_and_in_place() {
    let mut reply = asks("I look.Now the other.", vec![call("1", "{}"), call("2", "{}")]);
    reply.reasoning = Some("readable, never sent".into());
    reply.replay = replay(json!({"blocks": [
        {"type": "thinking", "thinking": "hm\n", "signature": "s1"},
        {"type": "text", "bytes": 7},
        {"type": "tool_use"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "thinking", "thinking": "", "signature": "s2"},
        {"type": "text", "bytes": 14},
        {"type": "tool_use"},
    ]}));
    let sent = |reply: &Message| {
        let results = [answers("1", "one"), answers("2", "two")];
        messages([vec![Message::user("go"), reply.clone()], results.into()].concat())[1].take()
    };
    let expected = assistant(vec![
        thought("hm\n", "s1"),
        text("I look."),
        uses("1"),
        json!({"type": "redacted_thinking", "data": "xyz"}),
        thought("", "s2"),
        text("Now the other."),
        uses("2"),
    ]);
    assert_eq!(sent(&reply), expected);

    // Changed since: of the thinking only what came first is still in place.
    reply.content = "I look. Now the other.".into();
    let plain = || vec![text("I look. Now the other."), uses("1"), uses("2")];
    assert_eq!(sent(&reply), assistant([vec![thought("hm\n", "s1")], plain()].concat()));

    // Not ours to read.
    reply.replay = replay(json!("something else"));
    assert_eq!(sent(&reply), assistant(plain()));
}

#[test]
fn thinking_never_stands_last_or_carries_a_marker() {
    let mut reply = Message::assistant("Done. ");
    reply.replay = replay(json!({"blocks": [
        {"type": "thinking", "thinking": "hm", "signature": "s1"},
        {"type": "text", "bytes": 6},
        {"type": "thinking", "thinking": "cut", "signature": ""},
    ]}));
    let request = request(vec![Message::user("go"), reply.clone()]);
    let done = json!({"type": "text", "text": "Done.", "cache_control": {"type": "ephemeral"}});
    assert_eq!(body(&request)["messages"][1], assistant(vec![thought("hm", "s1"), done]));
    reply.content = " ".into();
    let sent = messages(vec![Message::user("go"), reply, Message::user("on")]);
    assert_eq!(sent, json!([user(vec![text("go"), text("on")])]));
}

#[test]
fn ids_of_other_providers_are_made_legal_on_both_sides() {
    let sent = messages(vec![
        Message::user("go"),
        asks("", vec![call("functions.read:0", "{}"), call("functions_read_0", "{}")]),
        answers("functions.read:0", "one"),
        answers("functions_read_0", "two"),
    ]);
    let ids = ["enc-functions_2eread_3a0", "functions_read_0"];
    for (n, id) in ids.into_iter().enumerate() {
        assert_eq!(sent[1]["content"][n]["id"], id);
        assert_eq!(sent[2]["content"][n]["tool_use_id"], id);
    }
}
