#![allow(clippy::unwrap_used)]
use super::*;

fn round_trip(message: &Message) -> serde_json::Value {
    let json = serde_json::to_value(message).unwrap();
    assert_eq!(&serde_json::from_value::<Message>(json.clone()).unwrap(), message);
    json
}

#[test]
fn a_reply_with_tool_calls_has_the_shape_of_a_chat_message() {
    let call = ToolCall {
        id: "c1".into(),
        name: "read_file".into(),
        arguments: "{\"path\":\"a\"}".into(),
    };
    let mut message = Message::assistant("");
    (message.id, message.created_ms) = ("m1".into(), 7);
    message.tool_calls.push(call);
    message.finish_reason = Some(FinishReason::ToolCalls);
    assert_eq!(
        round_trip(&message),
        serde_json::json!({
            "id": "m1", "role": "assistant", "content": null, "created_ms": 7, "finish_reason": "tool_calls",
            "tool_calls": [{"id": "c1", "type": "function",
                            "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}}],
        })
    );
}

#[test]
fn text_is_a_string_and_images_make_a_list() {
    assert_eq!(round_trip(&Message::user("hi"))["content"], "hi");
    let parts = serde_json::json!([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:,"}}]);
    let content: Content = serde_json::from_value(parts.clone()).unwrap();
    assert_eq!(round_trip(&Message::user(content))["content"], parts);
}

#[test]
fn any_name_the_model_writes_becomes_a_legal_one() {
    assert_eq!(ToolCall::legal_name("read_file"), "read_file");
    assert_eq!(ToolCall::legal_name("  "), "invalid_tool_call");
    assert_eq!(ToolCall::legal_name("wäb.search<"), "w_b_search_");
    assert_eq!(ToolCall::legal_name(&"x".repeat(99)).len(), 64);
}
