//! Whole bodies, and every body against the vendor's schema and the rules no schema can say.

#![allow(clippy::unwrap_used)]

use std::sync::{Arc, LazyLock};

use hermes_core::message::{Content, ContentPart, ImageUrl, Replay, Role, ToolCall};
use hermes_core::tool::ToolTraits;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;

mod histories;
mod messages;
mod strict;

static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = include_str!("../../../../tests/anthropic_messages.request.schema.json");
    jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
});

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        system: "".into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::new([tool("read", r#"{"type":"object"}"#)]),
        sampling: Sampling { max_tokens: Some(9), ..Sampling::default() },
        stream: true,
        session_id: "s".into(),
    }
}

fn tool(name: &str, parameters: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        title: Some("Title".into()),
        description: format!("Does \"{name}\"."),
        parameters: RawValue::from_string(parameters.into()).unwrap().into(),
        source: "native".into(),
        traits: ToolTraits::default(),
    }
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "read".into(), arguments: arguments.into() }
}

fn asks(text: &str, calls: Vec<ToolCall>) -> Message {
    Message { tool_calls: calls, ..Message::assistant(text) }
}

fn answers(id: &str, content: impl Into<Content>) -> Message {
    Message::tool(&call(id, ""), content)
}

fn image(url: &str) -> ContentPart {
    ContentPart::ImageUrl { image_url: ImageUrl { url: url.into() } }
}

fn words(text: &str) -> ContentPart {
    ContentPart::Text { text: text.into() }
}

fn replay(data: Value) -> Option<Replay> {
    let (api_mode, provider, model) = ("anthropic_messages".into(), "p".into(), "m".into());
    Some(Replay { api_mode, provider, model, data })
}

/// The body of `request`, which must be valid and the same every time.
fn body(request: &ModelRequest) -> Value {
    let bytes = encode(request);
    assert_eq!(encode(request), bytes);
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    let mut errors: Vec<String> = SCHEMA.iter_errors(&body).map(|e| e.to_string()).collect();
    errors.extend(strict::violations(&body));
    assert!(errors.is_empty(), "{errors:?}\n{body}");
    body
}

/// The messages of a body, without cache markers.
fn messages(list: Vec<Message>) -> Value {
    without_markers(body(&request(list))["messages"].take())
}

fn without_markers(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.remove("cache_control");
            map.values_mut().for_each(|value| *value = without_markers(value.take()));
        }
        Value::Array(list) => {
            list.iter_mut().for_each(|value| *value = without_markers(value.take()));
        }
        _ => {}
    }
    value
}

#[test]
fn a_whole_request_in_its_own_order() {
    let request = ModelRequest {
        model: "claude-sonnet-4-5".into(),
        system: "Be \"good\".\n".into(),
        tools: Arc::new([tool("read", r#"{"type":"object","b":1,"a":[2]}"#)]),
        sampling: serde_json::from_value(json!({
            "temperature": 0.5, "max_tokens": 9, "top_k": 7, "stop_sequences": ["x"]
        }))
        .unwrap(),
        ..request(vec![
            Message::user("hi\u{1}🙂"),
            asks("", vec![call("c1", r#"{"path": "a"}"#)]),
            answers("c1", "content"),
            Message::assistant("done \n"),
        ])
    };
    let expected = concat!(
        r#"{"model":"claude-sonnet-4-5","max_tokens":9,"#,
        r#""tools":[{"name":"read","description":"Does \"read\".","#,
        r#""input_schema":{"type":"object","b":1,"a":[2]}}],"#,
        r#""system":[{"type":"text","text":"Be \"good\".\n","cache_control":{"type":"ephemeral"}}],"#,
        r#""messages":[{"role":"user","content":[{"type":"text","text":"hi\u0001🙂"}]},"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","#,
        r#""input":{"path": "a"},"cache_control":{"type":"ephemeral"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","#,
        r#""content":[{"type":"text","text":"content"}],"cache_control":{"type":"ephemeral"}}]},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"done","#,
        r#""cache_control":{"type":"ephemeral"}}]}],"stream":true,"temperature":0.5,"top_k":7,"#,
        r#""stop_sequences":["x"]}"#,
    );
    assert_eq!(String::from_utf8(encode(&request)).unwrap(), expected);
    body(&request);
}

#[test]
fn extra_parameters_pass_through_but_replace_nothing_of_the_request() {
    let mut request = request(vec![Message::user("hi")]);
    request.tools = Arc::new([]);
    request.stream = false;
    request.sampling.temperature = Some(1.0);
    request.sampling.top_p = Some(0.9);
    let Value::Object(extra) = json!({
        "model": "other", "messages": [], "tools": [1], "system": "other", "stream": true,
        "max_tokens": 1, "temperature": 2, "top_p": 2, "tool_choice": {"type": "any"},
        "thinking": {"type": "enabled", "budget_tokens": 2048}, "metadata": {"user_id": "u"}
    }) else {
        unreachable!()
    };
    request.sampling.extra = extra;
    let expected = json!({
        "model": "m", "max_tokens": 9,
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
        ]}],
        "stream": false, "temperature": 1.0, "top_p": 0.9,
        "thinking": {"type": "enabled", "budget_tokens": 2048}, "metadata": {"user_id": "u"}
    });
    assert_eq!(body(&request), expected);
}

#[test]
fn a_limit_is_sent_where_none_is_given() {
    let mut request = request(vec![Message::user("hi")]);
    request.sampling.max_tokens = None;
    assert_eq!(body(&request)["max_tokens"], json!(32_000));
    request.model = "claude-opus-4-5".into();
    assert_eq!(body(&request)["max_tokens"], json!(64_000));
    let thinking = json!({"type": "enabled", "budget_tokens": 63_000});
    request.sampling.extra.insert("thinking".into(), thinking);
    assert_eq!(body(&request)["max_tokens"], json!(67_096));
}

#[test]
fn a_history_with_calls_defines_tools_even_if_none_may_be_called() {
    let history = vec![
        Message::user("hi"),
        asks("", vec![call("a", "{}"), call("b", "{}")]),
        answers("a", "1"),
        answers("b", "2"),
    ];
    let silent = ModelRequest { tools: Arc::new([]), ..request(history) };
    let body = body(&silent);
    assert_eq!(body["tools"], json!([{"name": "read", "input_schema": {"type": "object"}}]));
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

/// Where the markers of a body are, as JSON pointers.
fn markers(body: &Value) -> Vec<String> {
    fn walk(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    if key == "cache_control" {
                        found.push(at.to_owned());
                    }
                    walk(value, &format!("{at}/{key}"), found);
                }
            }
            Value::Array(list) => {
                for (n, value) in list.iter().enumerate() {
                    walk(value, &format!("{at}/{n}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(body, "", &mut found);
    found
}

#[test]
fn markers_stand_on_the_system_prompt_and_the_last_three_messages() {
    let history = |count: usize| {
        let say = |n| match n % 2 {
            0 => Message::user(format!("{n}")),
            _ => Message::assistant(format!("{n}")),
        };
        (0..count).map(say).collect::<Vec<_>>()
    };
    let with_system = |count| ModelRequest { system: "s".into(), ..request(history(count)) };
    let on = |n: usize| format!("/messages/{n}/content/0");
    assert_eq!(markers(&body(&with_system(5))), ["/system/0", &on(2), &on(3), &on(4)]);
    assert_eq!(markers(&body(&with_system(1))), ["/system/0", &on(0)]);
    assert_eq!(markers(&body(&request(history(5)))), ["/tools/0", &on(2), &on(3), &on(4)]);
    let mut own = with_system(5);
    own.sampling.extra.insert("cache_control".into(), json!({"type": "ephemeral"}));
    assert_eq!(markers(&body(&own)), ["/system/0", &on(3), &on(4), ""]);
}

#[test]
fn a_longer_history_begins_with_the_bytes_of_the_shorter_one() {
    let history: Vec<Message> = (0..6)
        .flat_map(|n| {
            let id = format!("c{n}");
            let mut asks = asks("look: \n", vec![call(&id, r#"{"n": 1.0}"#)]);
            asks.replay = replay(json!({"blocks": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "text", "bytes": 7}, {"type": "tool_use"}
            ]}));
            [Message::user("go"), asks, answers(&id, "x"), Message::assistant("done  ")]
        })
        .collect();
    let plain = |count: usize| {
        let request = ModelRequest { system: "s".into(), ..request(history[..count].to_vec()) };
        let body = String::from_utf8(encode(&request)).unwrap();
        let body = body.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
        let end = body.find(r#"],"stream":"#).unwrap();
        body[..end].to_owned()
    };
    for count in 1..history.len() {
        let (shorter, longer) = (plain(count), plain(count + 1));
        // The last message may still grow by a block.
        let shorter = shorter.strip_suffix("]}").unwrap();
        assert!(longer.starts_with(shorter), "{shorter}\n{longer}");
    }
}
