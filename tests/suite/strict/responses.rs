//! The rules of OpenAI's Responses, called without storage, that no schema tells.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Calls, says};
use crate::model::sealed;

/// Every rule a request breaks.
pub(crate) fn problems(request: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let input = request["input"].as_array().cloned().unwrap_or_default();
    let mut calls = Calls::default();
    let mut ids = HashSet::new();
    for (at, item) in input.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        let next = input.get(at + 1).unwrap_or(&Value::Null);
        let mut faults = Vec::from_iter(fault(item, kind, next, &mut calls));
        if item["id"].as_str().is_some_and(|id| !ids.insert(id.to_owned())) {
            faults.push("has the id of another item");
        }
        problems.extend(faults.into_iter().map(|what| format!("item {at} ({kind}): {what}")));
    }
    let last = input.last().unwrap_or(&Value::Null);
    if !(last["role"] == "user" || last["type"] == "function_call_output") {
        problems.push("the last word is neither the user's nor a result".into());
    }
    if calls.interrupted().is_some() {
        problems.push("the last calls have no results".into());
    }
    if request["store"] != false {
        problems.push("the provider would store the conversation".into());
    }
    if !says(&request["instructions"]) {
        problems.push("there are no instructions".into());
    }
    let replays = input.iter().any(|item| item["type"] == "reasoning");
    if replays && !request["include"].as_array().is_some_and(|all| all.contains(&json!(SEALED))) {
        problems.push(format!("thoughts are sent back, but {SEALED} is not asked for"));
    }
    if request["prompt_cache_key"].as_str().is_some_and(|key| key.is_empty() || key.len() > 64) {
        problems.push("prompt_cache_key has not 1 to 64 characters".into());
    }
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    problems.extend(super::tools(tools.iter().map(|tool| (&tool["name"], &tool["parameters"]))));
    problems
}

const SEALED: &str = "reasoning.encrypted_content";

fn fault(item: &Value, kind: &str, next: &Value, calls: &mut Calls) -> Option<&'static str> {
    match kind {
        "function_call_output" => {
            let blank = match item["output"].as_array() {
                Some(parts) => parts.is_empty(),
                None => !item["output"].is_string(),
            };
            calls.answers(&item["call_id"]).or(blank.then_some("has no output"))
        }
        "function_call" => {
            if !item["arguments"].is_string() {
                return Some("has arguments that are not text");
            }
            calls.opens(&item["call_id"], &item["name"], &item["arguments"])
        }
        "reasoning" => {
            let partner = match next["type"].as_str() {
                Some("function_call") => &next["call_id"],
                _ if next["role"] == "assistant" => text(next),
                _ => return Some("is a thought without the item that followed it"),
            };
            let expected = sealed(partner.as_str().unwrap_or_default());
            (item["encrypted_content"] != *expected)
                .then_some("is a thought that belongs to another item")
        }
        "message" => calls.interrupted().or_else(|| message(item)),
        _ => Some("is of a kind the host never needs"),
    }
}

/// The text of a message of one part.
fn text(message: &Value) -> &Value {
    if message["content"].is_string() {
        &message["content"]
    } else {
        &message["content"][0]["text"]
    }
}

fn message(item: &Value) -> Option<&'static str> {
    let Some(parts) = item["content"].as_array() else {
        return (!says(&item["content"])).then_some("says nothing");
    };
    let assistant = item["role"] == "assistant";
    let fits = |part: &Value| match part["type"].as_str() {
        Some("output_text" | "refusal") => assistant,
        Some("input_text" | "input_image") => !assistant,
        _ => false,
    };
    let blank = |part: &Value| part["type"] != "input_image" && !says(&part["text"]);
    if parts.is_empty() || parts.iter().any(blank) {
        return Some("has a blank part");
    }
    (!parts.iter().all(fits)).then_some("has a part that does not belong to its role")
}
