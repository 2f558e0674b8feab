//! The rules of the strictest chat-completions providers, checked on every request the host sends.

use std::collections::HashSet;

use serde_json::Value;

/// Every rule a request breaks.
pub(crate) fn problems(request: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    if messages.first().is_none_or(|first| first["role"] != "system") {
        problems.push("the first message is not the system prompt".into());
    }
    let mut open: Vec<String> = Vec::new();
    let mut ids = HashSet::new();
    let mut before = "";
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let mut wrong = |what: &str| problems.push(format!("message {at} ({role}): {what}"));
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if open.first().is_none_or(|first| first != id) {
                wrong("answers no call, or not in call order");
            } else {
                open.remove(0);
            }
        } else {
            if !open.is_empty() {
                wrong("stands before the results of all calls");
            }
            if role == before {
                wrong("follows another of its role");
            }
            open = calls(message, &mut ids, &mut wrong);
        }
        let blank = message["content"].as_str().is_none_or(|text| text.trim().is_empty());
        let lists = message["content"].is_array();
        if blank && !lists && open.is_empty() && role != "assistant" {
            wrong("says nothing");
        }
        let unknown =
            message.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).find(|key| {
                !["role", "content", "tool_calls", "tool_call_id", "name"].contains(key)
            });
        if let Some(key) = unknown {
            wrong(&format!("has the unknown field {key:?}"));
        }
        before = match role {
            "system" => "system",
            "user" => "user",
            "assistant" => "assistant",
            _ => "tool",
        };
    }
    if !open.is_empty() {
        problems.push("the last calls have no results".into());
    }
    problems
}

fn calls(message: &Value, ids: &mut HashSet<String>, wrong: &mut impl FnMut(&str)) -> Vec<String> {
    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut open = Vec::new();
    for call in &calls {
        let id = call["id"].as_str().unwrap_or_default();
        if id.is_empty() || !ids.insert(id.to_owned()) {
            wrong("has a call without an id of its own");
        }
        let name = call["function"]["name"].as_str().unwrap_or_default();
        if name.is_empty() || name.len() > 64 || !name.chars().all(legal) {
            wrong("has a call with an illegal name");
        }
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
            wrong("has a call whose arguments are no JSON object");
        }
        open.push(id.to_owned());
    }
    open
}
