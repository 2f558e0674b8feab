//! The rules of the strictest servers of Chat Completions.

use serde_json::Value;

use super::Calls;

/// Every rule a request breaks.
pub(crate) fn problems(request: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    if messages.first().is_none_or(|first| first["role"] != "system") {
        problems.push("the first message is not the system prompt".into());
    }
    let mut calls = Calls::default();
    let mut before = "";
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let wrong = faults(message, role, before, &mut calls);
        problems.extend(wrong.into_iter().map(|what| format!("message {at} ({role}): {what}")));
        before = role;
    }
    if calls.interrupted().is_some() {
        problems.push("the last calls have no results".into());
    }
    if before == "assistant" {
        problems.push("the last word is the assistant's own".into());
    }
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    if request.get("tools").is_some() && tools.is_empty() {
        problems.push("the list of tools is empty".into());
    }
    let functions = tools.iter().map(|tool| &tool["function"]);
    problems.extend(super::tools(functions.map(|it| (&it["name"], &it["parameters"]))));
    problems
}

fn faults(message: &Value, role: &str, before: &str, calls: &mut Calls) -> Vec<&'static str> {
    if role == "tool" {
        let known = calls.answers(&message["tool_call_id"]);
        return known.into_iter().chain(content(message)).collect();
    }
    let mut faults: Vec<_> = calls.interrupted().into_iter().collect();
    if role == before {
        faults.push("follows another of its role");
    }
    let made = message["tool_calls"].as_array().cloned().unwrap_or_default();
    if message.get("tool_calls").is_some() && made.is_empty() {
        faults.push("has an empty list of calls");
    }
    faults.extend(made.iter().filter_map(|call| {
        let function = &call["function"];
        if !function["arguments"].is_string() {
            return Some("has a call whose arguments are not text");
        }
        calls.opens(&call["id"], &function["name"], &function["arguments"])
    }));
    if made.is_empty() || !message["content"].is_null() {
        faults.extend(content(message));
    }
    faults
}

/// A message says something, in each of its parts.
fn content(message: &Value) -> Option<&'static str> {
    let content = &message["content"];
    let says = match content.as_array() {
        Some(parts) => {
            !parts.is_empty()
                && parts.iter().all(|part| part["type"] != "text" || super::says(&part["text"]))
        }
        None => super::says(content),
    };
    (!says).then_some("says nothing")
}
