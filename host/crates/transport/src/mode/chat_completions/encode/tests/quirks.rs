//! What single servers want otherwise.

use super::*;
use crate::quirks::{MaxTokensName, SystemRole};

fn quirks(text: &str) -> Quirks {
    serde_json::from_str(text).unwrap()
}

fn sent(request: &ModelRequest, quirks: &Quirks) -> Value {
    serde_json::from_slice(&encode(request, quirks)).unwrap()
}

fn asks(calls: Vec<ToolCall>, replay: Option<Value>) -> Message {
    let mut message = Message::assistant("");
    message.tool_calls = calls;
    message.replay = replay.map(|data| Replay {
        api_mode: "chat_completions".into(),
        provider: "p".into(),
        model: "m".into(),
        data,
    });
    message
}

#[test]
fn names_roles_and_options_are_the_servers_own() {
    let mut request = ModelRequest {
        system: "Be good.".into(),
        sampling: serde_json::from_value(json!({ "max_tokens": 9, "seed": 1 })).unwrap(),
        ..request(vec![Message::user("hi")])
    };
    let said = r#"{"max_tokens":"max_completion_tokens","system_role":"developer",
        "stream_options":false,"prompt_cache_key":true}"#;
    let quirks = quirks(said);
    let expected = Quirks {
        max_tokens: MaxTokensName::MaxCompletionTokens,
        system_role: SystemRole::Developer,
        stream_options: false,
        prompt_cache_key: true,
        ..Quirks::default()
    };
    assert_eq!(quirks, expected);
    let expected = json!({
        "model": "m",
        "messages": [
            {"role": "developer", "content": "Be good."}, {"role": "user", "content": "hi"},
        ],
        "stream": true, "max_completion_tokens": 9, "prompt_cache_key": "s", "seed": 1,
    });
    request.session_id = "s".into();
    assert_eq!(sent(&request, &quirks), expected);
}

#[test]
fn reasoning_goes_back_exactly_and_only_where_it_is_wanted() {
    let details = json!([{"type": "reasoning.encrypted", "data": "A=", "id": "t", "index": 0}]);
    let data = json!({ "reasoning_content": " why\n", "reasoning_details": details });
    let message = || asks(vec![call("c1", "{}")], Some(data.clone()));
    let function = json!({"name": "read", "arguments": "{}"});
    let calls = json!([{"id": "c1", "type": "function", "function": function}]);
    let cases = [
        ("{}", json!({})),
        (r#"{"reasoning":"reasoning_content"}"#, json!({"reasoning_content": " why\n"})),
        (r#"{"reasoning":"reasoning_details"}"#, json!({"reasoning_details": details})),
    ];
    for (said, fields) in cases {
        let mut expected = json!({"role": "assistant", "content": null, "tool_calls": calls});
        expected.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let body = sent(&request(vec![message()]), &quirks(said));
        assert_eq!(body["messages"][0], expected, "{said}");
    }
}

#[test]
fn calls_without_reasoning_are_padded_only_where_they_must_be() {
    let messages = || vec![asks(vec![call("c1", "{}")], None), Message::assistant("done")];
    let padding = quirks(r#"{"reasoning":"reasoning_content","pad_reasoning":true}"#);
    let body = sent(&request(messages()), &padding);
    assert_eq!(body["messages"][0]["reasoning_content"], json!(" "));
    assert_eq!(body["messages"][1].get("reasoning_content"), None);
    let plain = sent(&request(messages()), &quirks(r#"{"reasoning":"reasoning_content"}"#));
    assert_eq!(plain["messages"][0].get("reasoning_content"), None);
}

#[test]
fn thought_signatures_stand_beside_their_calls() {
    let signed = json!({"google": {"thought_signature": "S=="}});
    let skipped = json!({"google": {"thought_signature": "skip_thought_signature_validator"}});
    let replay = json!({ "extra_content": [signed, null] });
    let two = || vec![call("c1", "{}"), call("c2", "{}")];
    let messages = vec![
        asks(two(), Some(replay.clone())),
        asks(two(), None),
        asks(vec![call("c3", "{}")], Some(replay)), // a call was left out since
    ];
    let body = sent(&request(messages), &quirks(r#"{"thought_signatures":true}"#));
    let extras: Vec<Vec<Option<&Value>>> = (0..3)
        .map(|at| {
            let calls = body["messages"][at]["tool_calls"].as_array().unwrap();
            calls.iter().map(|call| call.get("extra_content")).collect()
        })
        .collect();
    let expected = [vec![Some(&signed), None], vec![Some(&skipped), None], vec![Some(&skipped)]];
    assert_eq!(extras, expected);
}

#[test]
fn four_marks_at_most_and_only_for_models_that_need_them() {
    let quirks = quirks(r#"{"cache_marked_models":["claude"]}"#);
    let messages = vec![
        Message::user("one"),
        Message::assistant("two"),
        Message::user(vec![words("three"), image("https://i/1")]),
        asks(vec![call("c1", "{}")], None),
        Message::tool(&call("c1", ""), "four"),
    ];
    let plain = request(messages);
    let marked = ModelRequest {
        model: "anthropic/claude-x".into(),
        system: "Be good.".into(),
        ..plain.clone()
    };
    let text =
        |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    let picture = json!({"type": "image_url", "image_url": {"url": "https://i/1"}});
    let body = sent(&marked, &quirks);
    let contents: Vec<&Value> =
        body["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    let expected = [
        json!([text("Be good.")]),
        json!("one"),
        json!([text("two")]),
        json!([picture, text("three")]),
        json!(null),
        json!([text("four")]),
    ];
    assert_eq!(contents, expected.iter().collect::<Vec<_>>());
    assert_eq!(encode(&plain, &quirks), encode(&plain, &Quirks::default()));
}

#[test]
fn tool_results_may_hold_images_and_name_their_tool() {
    let quirks = quirks(r#"{"images_in_tool_results":true,"tool_names":true}"#);
    let shot = vec![words("a page"), image("https://i/1")];
    let body = sent(&request(vec![Message::tool(&call("c1", ""), shot)]), &quirks);
    let expected = json!([{"role": "tool", "tool_call_id": "c1", "name": "read", "content": [
        {"type": "text", "text": "a page"},
        {"type": "image_url", "image_url": {"url": "https://i/1"}},
    ]}]);
    assert_eq!(body["messages"], expected);
}

#[test]
fn a_quirk_nobody_knows_is_a_mistake() {
    let error = serde_json::from_str::<Quirks>(r#"{"max_token":"x"}"#).unwrap_err().to_string();
    assert!(error.starts_with("unknown field `max_token`"), "{error}");
}
