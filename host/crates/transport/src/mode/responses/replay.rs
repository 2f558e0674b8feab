//! What a reply's items were, so that a later request can give them back in the same order.
//!
//! A list of one entry an item. Text and calls are in the message already, so an entry only says
//! which part of it was the item: how many bytes of text, or which call. Reasoning is kept whole,
//! since nothing else holds it.
//!
//! What a server without memory (`store: false`) accepts was settled by what servers answer: a
//! reasoning item needs its `id`, its `summary` and its `encrypted_content`, for without the last
//! it is looked up by the id and not found; readable `content` beside them is refused. Ids of
//! messages and calls are not needed, and tie the item to reasoning that may be gone.

use hermes_core::message::{Message, ToolCall};
use serde_json::{Map, Value, json};

/// What stands between the texts of two messages of one reply.
pub(super) const BETWEEN_TEXTS: &str = "\n\n";

/// Ids that a gateway makes up for one reply and does not know later.
const PASSING_ID: &str = "rs_tmp_";

/// One part of an assistant message, as an item of its own.
#[derive(Debug, PartialEq)]
pub(super) enum Part<'m, 't> {
    /// An entry made by [`reasoning`].
    Reasoning(&'m Value),
    /// Never blank.
    Text { text: &'t str, phase: Option<&'m str> },
    /// A call of the message.
    Call(&'m ToolCall),
}

/// The entry for a reasoning item; none if the server could make nothing of it later.
pub(super) fn reasoning(id: &str, summary: &[String], encrypted: &str) -> Option<Value> {
    if id.is_empty() || id.starts_with(PASSING_ID) || encrypted.is_empty() {
        return None;
    }
    let part = |text: &String| json!({"type": "summary_text", "text": text});
    let summary: Vec<Value> = summary.iter().map(part).collect();
    Some(json!({
        "type": "reasoning", "id": id, "summary": summary, "encrypted_content": encrypted
    }))
}

/// The entry for a message with `bytes` of text.
pub(super) fn text(bytes: usize, phase: Option<&str>) -> Value {
    let mut entry =
        Map::from_iter([("type".to_owned(), json!("message")), ("bytes".to_owned(), json!(bytes))]);
    // The only values a request may repeat.
    if let Some(phase @ ("commentary" | "final_answer")) = phase {
        entry.insert("phase".to_owned(), json!(phase));
    }
    Value::Object(entry)
}

/// The entry for a call.
pub(super) fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id})
}

/// The entry for an item we do not give back.
pub(super) fn unknown() -> Value {
    json!({"type": "unknown"})
}

/// The parts of an assistant message with this `text`, in the order the model made them where that
/// is known: else the text, then the calls.
///
/// Reasoning is given back only right before the item that followed it: a server refuses it alone,
/// and what followed may be gone from the history.
pub(super) fn parts<'m, 't>(message: &'m Message, text: &'t str) -> Vec<Part<'m, 't>> {
    let entries = message.replay.as_ref().and_then(|replay| replay.data.as_array());
    let entries = entries.map_or(&[][..], Vec::as_slice);
    let mut texts = texts(entries, text).into_iter();
    let mut calls: Vec<&ToolCall> = message.tool_calls.iter().collect();
    let mut parts = Vec::with_capacity(entries.len().max(calls.len() + 1));
    let mut thoughts: Vec<&Value> = Vec::new();
    for entry in entries {
        let part = match kind(entry) {
            "reasoning" => {
                thoughts.push(entry);
                continue;
            }
            "message" => texts
                .next()
                .filter(|text| !text.trim().is_empty())
                .map(|text| Part::Text { text, phase: entry.get("phase").and_then(Value::as_str) }),
            "function_call" => {
                let id = entry.get("call_id").and_then(Value::as_str).unwrap_or_default();
                let at = calls.iter().position(|call| call.id == id);
                at.map(|at| Part::Call(calls.remove(at)))
            }
            _ => None,
        };
        let thoughts = thoughts.drain(..);
        if let Some(part) = part {
            parts.extend(thoughts.map(Part::Reasoning));
            parts.push(part);
        }
    }
    let rest = texts.next().filter(|text| !text.trim().is_empty());
    if let Some(text) = rest {
        parts.insert(0, Part::Text { text, phase: None });
    }
    parts.extend(calls.into_iter().map(Part::Call));
    parts
}

/// `text` cut into the texts of the messages among `entries`; in one piece where it does not fit
/// them.
fn texts<'a>(entries: &[Value], text: &'a str) -> Vec<&'a str> {
    let mut cut = Vec::new();
    let mut rest = text;
    for entry in entries.iter().filter(|entry| kind(entry) == "message") {
        if !cut.is_empty() {
            let Some(next) = rest.strip_prefix(BETWEEN_TEXTS) else { return vec![text] };
            rest = next;
        }
        let bytes = entry.get("bytes").and_then(Value::as_u64);
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let Some((head, tail)) = bytes.and_then(|bytes| rest.split_at_checked(bytes)) else {
            return vec![text];
        };
        cut.push(head);
        rest = tail;
    }
    if rest.is_empty() { cut } else { vec![text] }
}

fn kind(entry: &Value) -> &str {
    entry.get("type").and_then(Value::as_str).unwrap_or_default()
}
