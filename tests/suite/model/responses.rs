//! The scripted model in the words of OpenAI's Responses.

use serde_json::{Value, json};

use super::mode::{Event, Mode};
use super::script::{Ending, Refusal, Speech};
use crate::strict;

pub(crate) const MODE: Mode = Mode {
    name: "responses",
    path: "/responses",
    events,
    whole,
    error,
    error_event,
    overloaded: "server_error",
    end_mark: false,
    problems: strict::responses::problems,
    schema: &strict::schema::RESPONSES,
};

/// What a sealed thought says to the one who can open it: the item it must be followed by.
pub(crate) fn sealed(partner: &str) -> String {
    format!("sealed before {partner}")
}

/// The output items, each with a number that no other item of the conversation has: ids are made
/// of what the item says.
fn items(speech: &Speech) -> Vec<Value> {
    let mut items = Vec::new();
    if !speech.reasoning.is_empty() {
        let partner = speech.calls.first().map_or(&speech.text, |call| &call.id);
        let partner = if speech.text.is_empty() { partner } else { &speech.text };
        items.push(json!({
            "type": "reasoning", "id": id("rs", &speech.reasoning), "content": [],
            "summary": [{"type": "summary_text", "text": speech.reasoning}],
            "encrypted_content": sealed(partner),
        }));
    }
    let cut = speech.ending == Ending::Length;
    if !speech.text.is_empty() {
        items.push(json!({
            "type": "message", "id": id("msg", &speech.text), "role": "assistant",
            "status": if cut && speech.calls.is_empty() { "incomplete" } else { "completed" },
            "content": [{"type": "output_text", "text": speech.text, "annotations": [],
                         "logprobs": []}],
        }));
    }
    items.extend(speech.calls.iter().enumerate().map(|(at, call)| {
        let last = at + 1 == speech.calls.len();
        json!({"type": "function_call", "id": id("fc", &call.id), "call_id": call.id,
               "name": call.name, "arguments": call.arguments,
               "status": if cut && last { "incomplete" } else { "completed" }})
    }));
    items
}

fn id(kind: &str, of: &str) -> String {
    let hash =
        of.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(byte.into()));
    format!("{kind}_{hash:08x}")
}

fn events(speech: &Speech) -> Vec<Event> {
    let mut events = Vec::new();
    for kind in ["response.created", "response.in_progress"] {
        let mut started = response(&[], "in_progress");
        started["usage"] = Value::Null;
        events.push(json!({"type": kind, "response": started}));
    }
    let items = items(speech);
    for (index, item) in items.iter().enumerate() {
        let mut opened = item.clone();
        for field in ["content", "summary"] {
            if opened.get(field).is_some() {
                opened[field] = json!([]);
            }
        }
        if opened.get("arguments").is_some() {
            opened["arguments"] = "".into();
        }
        if opened.get("status").is_some() {
            opened["status"] = "in_progress".into();
        }
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": opened}),
        );
        let mut inner = pieces(speech, item);
        for event in &mut inner {
            event["item_id"] = item["id"].clone();
            event["output_index"] = index.into();
        }
        events.extend(inner);
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    events.push(json!({"type": terminal(speech), "response": whole(speech)}));
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = number.into();
        Event::typed(event)
    });
    numbered.collect()
}

/// The events between an item's first and last.
fn pieces(speech: &Speech, item: &Value) -> Vec<Value> {
    match item["type"].as_str() {
        Some("reasoning") => {
            let text = &speech.reasoning;
            let part = |text: &str| json!({"type": "summary_text", "text": text});
            vec![
                json!({"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": part("")}),
                json!({"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": text}),
                json!({"type": "response.reasoning_summary_text.done", "summary_index": 0, "text": text}),
                json!({"type": "response.reasoning_summary_part.done", "summary_index": 0, "part": part(text)}),
            ]
        }
        Some("message") => {
            let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
            let mut events = vec![
                json!({"type": "response.content_part.added", "content_index": 0, "part": part("")}),
            ];
            events.extend(speech.words().map(|word| {
                json!({"type": "response.output_text.delta", "content_index": 0, "delta": word, "logprobs": []})
            }));
            events.push(json!({"type": "response.output_text.done", "content_index": 0, "text": speech.text, "logprobs": []}));
            events.push(json!({"type": "response.content_part.done", "content_index": 0, "part": part(&speech.text)}));
            events
        }
        _ => {
            let call = speech.calls.iter().find(|call| item["call_id"] == *call.id);
            let call = call.expect("the item is one of the calls");
            let mut events: Vec<Value> = call.pieces().into_iter().map(|piece| {
                json!({"type": "response.function_call_arguments.delta", "delta": piece})
            }).collect();
            events.push(json!({"type": "response.function_call_arguments.done",
                               "name": call.name, "arguments": call.arguments}));
            events
        }
    }
}

fn whole(speech: &Speech) -> Value {
    match speech.ending {
        Ending::Complete => response(&items(speech), "completed"),
        ending => {
            let mut response = response(&items(speech), "incomplete");
            let filtered = ending == Ending::Filtered;
            let reason = if filtered { "content_filter" } else { "max_output_tokens" };
            response["incomplete_details"] = json!({"reason": reason});
            response
        }
    }
}

fn terminal(speech: &Speech) -> &'static str {
    match speech.ending {
        Ending::Complete => "response.completed",
        _ => "response.incomplete",
    }
}

fn response(output: &[Value], status: &str) -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": 1, "status": status,
           "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
           "model": "fake", "output": output, "parallel_tool_calls": true, "temperature": 1.0,
           "tool_choice": "auto", "tools": [], "top_p": 1.0,
           "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 20},
                     "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 2},
                     "total_tokens": 37}})
}

fn error(refusal: &Refusal) -> Value {
    json!({"error": {"message": refusal.message, "type": refusal.code, "param": null,
                     "code": refusal.code}})
}

fn error_event(refusal: &Refusal) -> Event {
    let mut failed = response(&[], "failed");
    failed["error"] = json!({"code": refusal.code, "message": refusal.message});
    Event::typed(json!({"type": "response.failed", "sequence_number": 0, "response": failed}))
}
