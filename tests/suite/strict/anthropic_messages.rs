//! The rules of Anthropic's Messages that no schema tells.

use serde_json::Value;

use super::{Calls, says};
use crate::model::signature;

/// Every rule a request breaks.
pub(crate) fn problems(request: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let mut calls = Calls::default();
    let mut before = "assistant";
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let mut faults = faults(message, role, &mut calls);
        if role == before {
            faults.push("does not alternate, beginning with the user");
        }
        problems.extend(faults.into_iter().map(|what| format!("message {at} ({role}): {what}")));
        before = role;
    }
    if before != "user" {
        problems.push("the last word is not the user's".into());
    }
    if request["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        problems.push("max_tokens is no positive number".into());
    }
    let system = match &request["system"] {
        Value::Array(blocks) => blocks.iter().all(|block| says(&block["text"])),
        Value::Null => true,
        text => says(text),
    };
    if !system {
        problems.push("the system prompt has a blank part".into());
    }
    let markers = request.to_string().matches("\"cache_control\":").count();
    if markers > 4 {
        problems.push(format!("{markers} cache markers, where 4 are allowed"));
    }
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    problems.extend(super::tools(tools.iter().map(|tool| (&tool["name"], &tool["input_schema"]))));
    problems
}

fn faults(message: &Value, role: &str, calls: &mut Calls) -> Vec<&'static str> {
    let Some(blocks) = message["content"].as_array() else {
        let mut faults: Vec<_> = calls.interrupted().into_iter().collect();
        if !says(&message["content"]) {
            faults.push("says nothing");
        }
        return faults;
    };
    let mut faults = Vec::new();
    if blocks.is_empty() {
        faults.push("has no blocks");
    }
    for block in blocks {
        faults.extend(fault(block, role, calls));
    }
    let last = blocks.last().map_or(&Value::Null, |block| &block["type"]);
    if role == "assistant" && (last == "thinking" || last == "redacted_thinking") {
        faults.push("ends in a thought");
    }
    if role == "user" && calls.interrupted().is_some() {
        faults.push("lacks the results of calls just made");
    }
    faults
}

fn fault(block: &Value, role: &str, calls: &mut Calls) -> Option<&'static str> {
    let kind = block["type"].as_str().unwrap_or_default();
    match (kind, role) {
        ("tool_result", "user") => {
            let text = &block["content"];
            let blank = match text.as_array() {
                Some(parts) => {
                    parts.iter().any(|part| part["type"] == "text" && !says(&part["text"]))
                }
                None => !text.is_null() && !says(text),
            };
            calls.answers(&block["tool_use_id"]).or(blank.then_some("has a blank result"))
        }
        ("tool_use", "assistant") => {
            if !block["input"].is_object() {
                return Some("has a call whose input is no object");
            }
            let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if !block["id"].as_str().is_some_and(|id| id.chars().all(legal)) {
                return Some("has a call whose id holds illegal characters");
            }
            calls.opens(&block["id"], &block["name"], &block["input"])
        }
        ("thinking", "assistant") => {
            let signed = signature(block["thinking"].as_str().unwrap_or_default());
            let marked = block.get("cache_control").is_some();
            (block["signature"] != *signed || marked)
                .then_some("has a thought that is not as it was signed")
        }
        ("text", _) => {
            if !says(&block["text"]) {
                return Some("has a blank text");
            }
            // Calls of one message stand together, and results come first in the next.
            calls.interrupted()
        }
        ("image", "user") => calls.interrupted(),
        _ => Some("has a block that does not belong to its role"),
    }
}
