//! What a server wants back, gathered from replies of its own shape.

use serde_json::{Value, json};

use super::*;

/// What is wanted back of a stream of these deltas, and what else came in which order.
fn stream(quirks: &str, deltas: &[Value]) -> (Option<Value>, Vec<&'static str>) {
    let quirks: Quirks = serde_json::from_str(quirks).unwrap();
    let mut decoder = Decoder::new("m", &quirks);
    let mut out = Deltas::new();
    for delta in deltas {
        let data = json!({"choices": [{"index": 0, "delta": delta}]}).to_string();
        let event = sse::Event { name: "", data: &data, complete: true };
        decoder.event(&event, &mut out).unwrap();
    }
    let done = sse::Event { name: "", data: "[DONE]", complete: true };
    decoder.event(&done, &mut out).unwrap();
    sorted(out)
}

fn sorted(out: Deltas) -> (Option<Value>, Vec<&'static str>) {
    let mut replay = None;
    let kinds = out.into_iter().map(|delta| match delta {
        Delta::Replay(value) => {
            assert_eq!(replay.replace(value), None, "sent once");
            "replay"
        }
        Delta::Finish(_) => "finish",
        Delta::Reasoning(_) => "reasoning",
        Delta::Text(_) => "text",
        _ => "other",
    });
    let kinds = kinds.collect();
    (replay, kinds)
}

#[test]
fn reasoning_content_is_kept_where_it_is_wanted_back() {
    let deltas = [
        json!({"reasoning_content": " Let me"}),
        json!({"reasoning_content": " see.\n"}),
        json!({"content": "hi"}),
    ];
    let kinds = vec!["reasoning", "reasoning", "text", "replay", "finish"];
    let kept = json!({"reasoning_content": " Let me see.\n"});
    assert_eq!(stream(r#"{"reasoning":"reasoning_content"}"#, &deltas), (Some(kept), kinds));
    for other in ["{}", r#"{"reasoning":"reasoning_details"}"#] {
        assert_eq!(stream(other, &deltas).0, None, "{other}");
    }
}

#[test]
fn bits_of_reasoning_details_become_the_pieces_they_were() {
    let text = |text: &str, signature: Option<&str>| {
        json!({"reasoning": text, "reasoning_details": [
            {"type": "reasoning.text", "text": text, "signature": signature, "index": 0,
             "format": "anthropic-claude-v1"},
        ]})
    };
    let encrypted = |id: &str| {
        json!({"reasoning_details": [
            {"type": "reasoning.encrypted", "data": "A=", "id": id, "index": 1},
        ]})
    };
    let deltas =
        [text("Let", None), text(" me", None), text("", Some("S")), encrypted("a"), encrypted("b")];
    let expected = json!({"reasoning_details": [
        {"type": "reasoning.text", "text": "Let me", "signature": "S", "index": 0,
         "format": "anthropic-claude-v1"},
        {"type": "reasoning.encrypted", "data": "A=", "id": "a", "index": 1},
        {"type": "reasoning.encrypted", "data": "A=", "id": "b", "index": 1},
    ]});
    assert_eq!(stream(r#"{"reasoning":"reasoning_details"}"#, &deltas).0, Some(expected));
}

#[test]
fn thought_signatures_keep_the_place_of_their_call() {
    let call = |id: &str, extra: Option<Value>| {
        let mut call = json!({"id": id, "type": "function",
            "function": {"name": "f", "arguments": "{}"}});
        if let Some(extra) = extra {
            call["extra_content"] = extra;
        }
        call
    };
    let signed = json!({"google": {"thought_signature": "S=="}});
    let calls = [call("a", Some(signed.clone())), call("b", None)];
    let expected = json!({"extra_content": [signed, null]});
    let quirks = r#"{"thought_signatures":true}"#;
    let streamed = [json!({"tool_calls": [calls[0]]}), json!({"tool_calls": [calls[1]]})];
    assert_eq!(stream(quirks, &streamed).0, Some(expected.clone()));
    assert_eq!(stream("{}", &streamed).0, None);

    let body = json!({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "stop"}]});
    let mut out = Deltas::new();
    let mut decoder = Decoder::new("m", &serde_json::from_str(quirks).unwrap());
    decoder.whole(&body.to_string(), &mut out).unwrap();
    assert_eq!(sorted(out).0, Some(expected));
}
