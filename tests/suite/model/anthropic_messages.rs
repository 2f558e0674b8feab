//! The scripted model in the words of Anthropic's Messages.

use serde_json::{Value, json};

use super::mode::{Event, Mode};
use super::script::{Ending, Refusal, Speech};
use crate::strict;

pub(crate) const MODE: Mode = Mode {
    name: "anthropic_messages",
    path: "/messages",
    events,
    whole,
    error,
    error_event: |refusal| Event::typed(error(refusal)),
    overloaded: "overloaded_error",
    end_mark: false,
    problems: strict::anthropic_messages::problems,
    schema: &strict::schema::ANTHROPIC_MESSAGES,
};

/// What the provider signs a thought with, so that a changed one is noticed.
pub(crate) fn signature(thought: &str) -> String {
    format!("signed {} bytes: {thought}", thought.len())
}

/// What each block starts as, and the pieces it grows by.
fn blocks(speech: &Speech) -> Vec<(Value, Vec<Value>)> {
    let mut blocks = Vec::new();
    if !speech.reasoning.is_empty() {
        let signature = signature(&speech.reasoning);
        blocks.push((
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": speech.reasoning}),
                json!({"type": "signature_delta", "signature": signature}),
            ],
        ));
    }
    if !speech.text.is_empty() {
        let words = speech.words().map(|word| json!({"type": "text_delta", "text": word}));
        blocks.push((json!({"type": "text", "text": ""}), words.collect()));
    }
    for call in &speech.calls {
        // The real one sends an empty piece first.
        let pieces = [""].into_iter().chain(call.pieces());
        let pieces = pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        let start = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        blocks.push((start, pieces.collect()));
    }
    blocks
}

fn events(speech: &Speech) -> Vec<Event> {
    let mut started = message(json!([]), Value::Null);
    started["usage"]["output_tokens"] = 1.into();
    let mut events = vec![json!({"type": "message_start", "message": started})];
    for (index, (start, pieces)) in blocks(speech).into_iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "ping"}));
        events.extend(
            pieces.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(speech), "stop_sequence": null},
        "usage": {"output_tokens": 7},
    }));
    events.push(json!({"type": "message_stop"}));
    events.into_iter().map(Event::typed).collect()
}

fn whole(speech: &Speech) -> Value {
    let mut content = Vec::new();
    if !speech.reasoning.is_empty() {
        content.push(json!({"type": "thinking", "thinking": speech.reasoning,
                            "signature": signature(&speech.reasoning)}));
    }
    if !speech.text.is_empty() {
        content.push(json!({"type": "text", "text": speech.text}));
    }
    content.extend(speech.calls.iter().map(|call| {
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or(json!({}));
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
    }));
    message(content.into(), stop_reason(speech).into())
}

fn message(content: Value, stop_reason: Value) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "fake",
           "content": content, "stop_reason": stop_reason, "stop_sequence": null,
           "usage": {"input_tokens": 10, "cache_read_input_tokens": 20,
                     "cache_creation_input_tokens": 0, "output_tokens": 7}})
}

fn stop_reason(speech: &Speech) -> &'static str {
    match speech.ending {
        Ending::Length => "max_tokens",
        Ending::Filtered => "refusal",
        Ending::Complete if speech.calls.is_empty() => "end_turn",
        Ending::Complete => "tool_use",
    }
}

fn error(refusal: &Refusal) -> Value {
    json!({"type": "error", "error": {"type": refusal.code, "message": refusal.message},
           "request_id": "req_1"})
}
