//! What a strict provider refuses although the schema allows it.

use std::collections::HashSet;

use serde_json::Value;

/// Everything that is wrong with a body.
pub(super) fn violations(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut ids: HashSet<&str> = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let messages = list(&body["messages"]);
    for (n, message) in messages.iter().enumerate() {
        let expected = if n % 2 == 0 { "user" } else { "assistant" };
        let blocks = list(&message["content"]);
        if message["role"] != expected || blocks.is_empty() {
            found.push(format!("message {n} is empty or not the {expected}'s"));
        }
        let results = blocks.iter().take_while(|block| block["type"] == "tool_result").count();
        let of = |kind, key: &str| -> Vec<&str> {
            let blocks = blocks.iter().filter(|block| block["type"] == kind);
            blocks.filter_map(|block| block[key].as_str()).collect()
        };
        let answered = of("tool_result", "tool_use_id");
        if answered != open || results != answered.len() {
            found.push(format!("message {n} answers {answered:?}, not {open:?}, at its start"));
        }
        open = of("tool_use", "id");
        found.extend(open.iter().filter(|id| !ids.insert(id)).map(|id| format!("{id:?} twice")));
        if expected == "assistant" {
            assistant(n, blocks, &mut found);
        }
        blocks.iter().for_each(|block| check(block, &mut found));
    }
    if !open.is_empty() || messages.is_empty() {
        found.push(format!("the conversation is empty or ends with open calls {open:?}"));
    }
    if body.to_string().matches(r#""cache_control":{"#).count() > 4 {
        found.push("more than 4 cache markers".into());
    }
    list(&body["system"]).iter().for_each(|block| check(block, &mut found));
    found
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_thinking(block: &Value) -> bool {
    block["type"].as_str().is_some_and(|kind| kind.ends_with("thinking"))
}

fn assistant(n: usize, blocks: &[Value], found: &mut Vec<String>) {
    let Some(last) = blocks.last() else { return };
    if is_thinking(last) || last["text"].as_str().is_some_and(|text| text.trim_end() != text) {
        found.push(format!("message {n} ends in thinking or white space"));
    }
}

fn check(block: &Value, found: &mut Vec<String>) {
    let legal = |text: &str| {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        !text.is_empty() && text.bytes().all(legal)
    };
    let names = ["id", "tool_use_id", "name"].iter().filter_map(|key| block[*key].as_str());
    if names.into_iter().any(|name| !legal(name)) {
        found.push(format!("an illegal id or name: {block}"));
    }
    if block["text"].as_str().is_some_and(|text| text.trim().is_empty()) {
        found.push(format!("a blank text: {block}"));
    }
    if block["is_error"] == true && list(&block["content"]).is_empty() {
        found.push(format!("an error without a word: {block}"));
    }
    if is_thinking(block) && block.get("cache_control").is_some() {
        found.push(format!("a cache marker on thinking: {block}"));
    }
    list(&block["content"]).iter().for_each(|inner| check(inner, found));
}
