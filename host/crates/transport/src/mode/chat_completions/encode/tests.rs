//! Whole bodies, and every body against the strictest server's schema.

#![allow(clippy::unwrap_used)]

use std::sync::{Arc, LazyLock};

use hermes_core::message::{FinishReason, ImageUrl, Replay};
use hermes_core::tool::ToolTraits;
use hermes_core::transport::Sampling;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

mod quirks;

static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = include_str!("../../../../tests/openai_chat.request.schema.json");
    jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
});

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        system: "".into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::new([]),
        sampling: Sampling::default(),
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

fn image(url: &str) -> ContentPart {
    ContentPart::ImageUrl { image_url: ImageUrl { url: url.into() } }
}

fn words(text: &str) -> ContentPart {
    ContentPart::Text { text: text.into() }
}

/// The body of `request`, which must be valid and the same every time.
fn body(request: &ModelRequest) -> Value {
    let bytes = encode(request, &Quirks::default());
    assert_eq!(encode(request, &Quirks::default()), bytes);
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    let errors: Vec<String> = SCHEMA.iter_errors(&body).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{body}");
    body
}

fn messages(list: Vec<Message>) -> Value {
    body(&request(list))["messages"].take()
}

#[test]
fn a_whole_request_in_its_own_order() {
    let mut asks = Message::assistant("");
    asks.tool_calls = vec![call("c1", r#"{"path":"a"}"#)];
    let request = ModelRequest {
        system: "Be \"good\".\n".into(),
        tools: Arc::new([tool("read", r#"{"type":"object","b":1,"a":[2]}"#)]),
        sampling: serde_json::from_value(json!({
            "temperature": 0.5, "max_tokens": 9, "seed": 7, "stop": ["x"]
        }))
        .unwrap(),
        ..request(vec![
            Message::user("hi\u{1}🙂"),
            asks,
            Message::tool(&call("c1", ""), "content"),
            Message::assistant("done"),
        ])
    };
    let expected = concat!(
        r#"{"model":"m","messages":[{"role":"system","content":"Be \"good\".\n"},"#,
        r#"{"role":"user","content":"hi\u0001🙂"},"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","#,
        r#""function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"content"},"#,
        r#"{"role":"assistant","content":"done"}],"#,
        r#""tools":[{"type":"function","function":{"name":"read","description":"Does \"read\".","#,
        r#""parameters":{"type":"object","b":1,"a":[2]}}}],"stream":true,"#,
        r#""stream_options":{"include_usage":true},"temperature":0.5,"max_tokens":9,"seed":7,"#,
        r#""stop":["x"]}"#,
    );
    assert_eq!(String::from_utf8(encode(&request, &Quirks::default())).unwrap(), expected);
    body(&request);
}

#[test]
fn without_streaming_nothing_of_a_stream_is_asked_for() {
    let plain = ModelRequest {
        stream: false,
        sampling: serde_json::from_value(json!({"stream_options": {"include_usage": true}}))
            .unwrap(),
        ..request(vec![Message::user("hi")])
    };
    let expected = json!({
        "model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": false
    });
    assert_eq!(body(&plain), expected);
}

#[test]
fn extra_parameters_pass_through_but_replace_nothing_of_the_request() {
    let mut request = request(vec![Message::user("hi")]);
    request.sampling.temperature = Some(1.0);
    request.sampling.top_p = Some(0.9);
    let Value::Object(extra) = json!({
        "model": "other", "messages": [], "tools": [1], "stream": false, "temperature": 2,
        "stream_options": {"include_usage": false}, "reasoning_effort": "low",
        "max_completion_tokens": 5
    }) else {
        unreachable!()
    };
    request.sampling.extra = extra;
    let expected = json!({
        "model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true,
        "temperature": 1.0, "top_p": 0.9, "stream_options": {"include_usage": false},
        "reasoning_effort": "low", "max_completion_tokens": 5
    });
    assert_eq!(body(&request), expected);
}

#[test]
fn none_of_our_own_fields_is_sent() {
    let mut said = Message::assistant("said");
    said.reasoning = Some("SECRET THOUGHT".into());
    said.finish_reason = Some(FinishReason::Stop);
    said.usage = Some(hermes_core::usage::Usage::default());
    said.attributes.insert("a".into(), json!(1));
    said.replay = Some(Replay {
        api_mode: "chat_completions".into(),
        provider: "p".into(),
        model: "m".into(),
        data: json!("REPLAY"),
    });
    let mut result = Message::tool(&call("c1", ""), "out");
    result.effect = Some(hermes_core::message::Effect::Applied);
    result.failure = Some("timeout".into());
    let expected = json!([
        {"role": "assistant", "content": "said"},
        {"role": "tool", "tool_call_id": "c1", "content": "out"},
    ]);
    assert_eq!(messages(vec![said, result]), expected);
}

#[test]
fn content_takes_the_simplest_form_its_role_allows() {
    let mut calls_blank = Message::assistant(" \n");
    calls_blank.tool_calls = vec![call("c1", " ")];
    let mut calls_and_speaks = Message::assistant("wait");
    calls_and_speaks.tool_calls = vec![call("c2", "{}")];
    let two = || vec![words("a"), words("b")];
    let sent = messages(vec![
        Message::user(""),
        Message::user(two()),
        Message::assistant(""),
        Message::assistant(two()),
        Message::assistant(vec![words("seen"), image("https://i/0")]),
        calls_blank,
        calls_and_speaks,
        Message::new(Role::System, two()),
    ]);
    let function = json!({"name": "read", "arguments": "{}"});
    let expected = json!([
        {"role": "user", "content": ""},
        {"role": "user", "content": "a\nb"},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": "a\nb"},
        {"role": "assistant", "content": "seen"},
        {"role": "assistant", "content": null,
         "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
        {"role": "assistant", "content": "wait",
         "tool_calls": [{"id": "c2", "type": "function", "function": function}]},
        {"role": "system", "content": "a\nb"},
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn images_are_sent_in_user_messages_only() {
    let shot = vec![words("a page"), image("data:image/png;base64,AA")];
    let sent = messages(vec![
        Message::user(vec![words("see"), words(" "), image("https://i/1")]),
        Message::tool(&call("c1", ""), shot),
        Message::tool(&call("c2", ""), "plain"),
        Message::tool(&call("c3", ""), vec![image("https://i/3")]),
        Message::user("go on"),
    ]);
    let part = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let expected = json!([
        {"role": "user", "content": [text("see"), part("https://i/1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "a page"},
        {"role": "tool", "tool_call_id": "c2", "content": "plain"},
        {"role": "tool", "tool_call_id": "c3", "content": "[the result is the image that follows]"},
        {"role": "user", "content": [
            text("Images from the result of read (call c1):"), part("data:image/png;base64,AA"),
            text("Images from the result of read (call c3):"), part("https://i/3"),
            text("go on"),
        ]},
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn b045_arguments_are_sent_as_a_string_of_json() {
    let mut asks = Message::assistant("");
    asks.tool_calls = vec![call("c1", r#"{"path":"a"}"#)];
    let sent = messages(vec![asks]);
    assert_eq!(sent[0]["tool_calls"][0]["function"]["arguments"], json!(r#"{"path":"a"}"#));
}

fn any_content() -> impl Strategy<Value = Content> {
    let part = prop_oneof![
        any::<String>().prop_map(|text| ContentPart::Text { text }),
        "https://[a-z]{1,8}".prop_map(|url| image(&url)),
    ];
    proptest::collection::vec(part, 0..4).prop_map(Content)
}

fn any_message() -> impl Strategy<Value = Message> {
    let role =
        prop_oneof![Just(Role::System), Just(Role::User), Just(Role::Assistant), Just(Role::Tool)];
    let calls = proptest::collection::vec((any::<String>(), any::<String>()), 0..3);
    (role, any_content(), calls, any::<Option<String>>()).prop_map(
        |(role, content, calls, text)| {
            let mut message = Message::new(role, content);
            if role == Role::Assistant {
                message.tool_calls = calls.iter().map(|(id, args)| call(id, args)).collect();
            }
            message.tool_call_id = text.clone();
            message.reasoning = text;
            message
        },
    )
}

proptest! {
    #[test]
    fn every_history_makes_a_valid_body(
        list in proptest::collection::vec(any_message(), 0..6),
        system in any::<String>(),
        stream in any::<bool>(),
    ) {
        let request = ModelRequest { system: system.into(), stream, ..request(list) };
        let body = body(&request);
        prop_assert_eq!(&body["stream"], &json!(stream));
    }
}
