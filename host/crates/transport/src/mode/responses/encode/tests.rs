//! Whole bodies, and every body against the strictest server's schema.

#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use hermes_core::message::{FinishReason, ImageUrl, Replay};
use hermes_core::tool::ToolTraits;
use hermes_core::transport::Sampling;
use serde_json::json;

use super::*;

mod histories;
mod order;

static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = include_str!("../../../../tests/openai_responses.request.schema.json");
    jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
});

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "gpt-5".into(),
        system: "".into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::new([]),
        sampling: Sampling::default(),
        stream: true,
        session_id: "".into(),
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

fn image(url: &str) -> ContentPart {
    ContentPart::ImageUrl { image_url: ImageUrl { url: url.into() } }
}

fn words(text: &str) -> ContentPart {
    ContentPart::Text { text: text.into() }
}

/// A reply with what the provider wants back.
fn replayed(text: &str, calls: &[&str], data: Value) -> Message {
    let mut message = Message::assistant(text);
    message.tool_calls = calls.iter().map(|id| call(id, "{}")).collect();
    message.replay = Some(Replay {
        api_mode: "responses".into(),
        provider: "p".into(),
        model: "m".into(),
        data,
    });
    message
}

/// The body of `request`, which must be valid and the same every time.
fn body(request: &ModelRequest) -> Value {
    let bytes = encode(request);
    assert_eq!(encode(request), bytes);
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    let errors: Vec<String> = SCHEMA.iter_errors(&body).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{body}");
    body
}

fn input(list: Vec<Message>) -> Value {
    body(&request(list))["input"].take()
}

#[test]
fn a_whole_request_in_its_own_order() {
    let mut asks = Message::assistant("");
    asks.tool_calls = vec![call("c1", r#"{"path":"a"}"#)];
    let request = ModelRequest {
        system: "Be \"good\".\n".into(),
        tools: Arc::new([tool("read", r#"{"type":"object","b":1,"a":[2]}"#)]),
        sampling: serde_json::from_value(json!({
            "temperature": 0.5, "top_p": 0.25, "max_tokens": 90, "reasoning": {"effort": "low"}
        }))
        .unwrap(),
        session_id: "0199-s".into(),
        ..request(vec![
            Message::user("hi\u{1}🙂"),
            asks,
            Message::tool(&call("c1", ""), "content"),
            Message::assistant("done"),
        ])
    };
    let expected = concat!(
        r#"{"model":"gpt-5","instructions":"Be \"good\".\n","input":["#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi\u0001🙂"}]},"#,
        r#"{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}"},"#,
        r#"{"type":"function_call_output","call_id":"c1","output":"content"},"#,
        r#"{"type":"message","role":"assistant","content":"done"}],"#,
        r#""tools":[{"type":"function","name":"read","description":"Does \"read\".","#,
        r#""parameters":{"type":"object","b":1,"a":[2]},"strict":false}],"#,
        r#""store":false,"stream":true,"include":["reasoning.encrypted_content"],"#,
        r#""prompt_cache_key":"0199-s","temperature":0.5,"top_p":0.25,"max_output_tokens":90,"#,
        r#""reasoning":{"effort":"low"}}"#,
    );
    assert_eq!(String::from_utf8(encode(&request)).unwrap(), expected);
    body(&request);
}

#[test]
fn extra_parameters_pass_through_but_replace_nothing_of_the_request() {
    let mut request = ModelRequest {
        session_id: "s".into(),
        stream: false,
        ..request(vec![Message::user("hi")])
    };
    request.sampling.temperature = Some(1.0);
    request.sampling.max_tokens = Some(20);
    let Value::Object(extra) = json!({
        "model": "other", "input": [], "tools": [1], "stream": true, "store": true,
        "instructions": "x", "temperature": 2, "max_output_tokens": 7, "include": null,
        "stream_options": {"include_obfuscation": false}, "prompt_cache_key": "mine",
        "text": {"verbosity": "low"}, "service_tier": "flex"
    }) else {
        unreachable!()
    };
    request.sampling.extra = extra;
    let expected = json!({
        "model": "gpt-5",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
        ],
        "store": false, "stream": false, "temperature": 1.0, "max_output_tokens": 20,
        "prompt_cache_key": "mine", "text": {"verbosity": "low"}, "service_tier": "flex"
    });
    assert_eq!(body(&request), expected);
}

#[test]
fn encrypted_reasoning_is_asked_for_where_a_model_reasons() {
    let cases = [
        ("gpt-5.2-codex", true),
        ("o3", true),
        ("openai/gpt-oss-120b", true),
        ("gpt-4.1", false),
        ("openai/gpt-4o-mini", false),
        ("gpt-3.5-turbo", false),
        ("chatgpt-4o-latest", false),
        ("gpt-5-chat-latest", false),
        ("ft:gpt-4.1-mini:acme::x", false),
    ];
    for (model, asked) in cases {
        let request = ModelRequest { model: model.into(), ..request(vec![Message::user("hi")]) };
        assert_eq!(body(&request).get("include").is_some(), asked, "{model}");
    }
}

#[test]
fn the_cache_key_is_the_session_cut_to_what_is_allowed() {
    let key = |session: &str| {
        let request = ModelRequest { session_id: session.into(), ..request(vec![]) };
        body(&request).get("prompt_cache_key").cloned()
    };
    assert_eq!(key(""), None);
    assert_eq!(key("s"), Some(json!("s")));
    assert_eq!(key(&"é".repeat(40)), Some(json!("é".repeat(32))));
}

#[test]
fn none_of_our_own_fields_is_sent() {
    let mut said = Message::assistant("said");
    said.reasoning = Some("SECRET THOUGHT".into());
    said.finish_reason = Some(FinishReason::Stop);
    said.usage = Some(hermes_core::usage::Usage::default());
    said.attributes.insert("a".into(), json!(1));
    let mut result = Message::tool(&call("c1", ""), "out");
    result.effect = Some(hermes_core::message::Effect::Applied);
    result.failure = Some("timeout".into());
    let expected = json!([
        {"type": "message", "role": "assistant", "content": "said"},
        {"type": "function_call_output", "call_id": "c1", "output": "out"},
    ]);
    assert_eq!(input(vec![said, result]), expected);
}

#[test]
fn b032_blank_text_is_never_sent() {
    let mut calls_blank = Message::assistant(" \n");
    calls_blank.tool_calls = vec![call("c1", " ")];
    let sent = input(vec![
        Message::user("   "),
        Message::user(vec![words(""), words("see"), words(" "), image("https://i/1")]),
        Message::assistant(""),
        calls_blank,
        Message::tool(&call("c1", ""), ""),
        Message::tool(&call("c2", ""), vec![words(" "), image("https://i/2")]),
        Message::assistant(vec![words("a"), words("b")]),
        Message::new(Role::System, "s"),
    ]);
    let picture = |url: &str| json!({"type": "input_image", "image_url": url, "detail": "auto"});
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let expected = json!([
        {"type": "message", "role": "user", "content": [text("see"), picture("https://i/1")]},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "(no output)"},
        {"type": "function_call_output", "call_id": "c2", "output": [picture("https://i/2")]},
        {"type": "message", "role": "assistant", "content": "a\nb"},
        {"type": "message", "role": "system", "content": [text("s")]},
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn ids_that_a_server_refuses_are_replaced_the_same_way_in_call_and_result() {
    let long = "x".repeat(65);
    let ids = [&*long, "has space", "", "é", "kept.read:0|fc_1"];
    for ours in ids {
        let mut asks = Message::assistant("");
        asks.tool_calls = vec![call(ours, "{}")];
        let sent = input(vec![asks, Message::tool(&call(ours, ""), "out")]);
        let wire = sent[0]["call_id"].as_str().unwrap();
        assert_eq!(sent[1]["call_id"], wire, "{ours:?}");
        assert_eq!(wire == ours, ours.starts_with("kept"), "{ours:?}");
        assert!(!wire.is_empty() && wire.len() <= ID_BYTES, "{wire}");
    }
    assert_eq!(id("has space"), "call_47b5c36fc0b017ba576f10f988d0cbcb");
}
