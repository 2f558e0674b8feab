//! Old tool output shortened without a model: what a tool said long ago is mostly not needed any
//! more, and can be had again by calling it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::message::{Content, ContentPart, Message, Role, ToolCall};
use crate::text;

/// Output shorter than this stays: a note about it would save little.
const LEAST_BYTES: usize = 200;

/// What is shown of the arguments and of the beginning of a pruned result.
const SHOWN_BYTES: usize = 120;

/// The results among `messages[..protected]` that can be shortened, with what takes their place.
/// Of equal results, wherever they stand, only the newest keeps its text.
pub fn prune(messages: &[Arc<Message>], protected: usize) -> Vec<(usize, Message)> {
    let calls: HashMap<&str, &ToolCall> = messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .map(|call| (call.id.as_str(), call))
        .collect();
    let mut newest: HashMap<String, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate().filter(|(_, m)| is_prunable(m)) {
        newest.insert(message.content.text(), at);
    }
    let old = messages.iter().enumerate().take(protected).filter(|(_, m)| is_prunable(m));
    old.filter_map(|(at, message)| {
        let call = calls.get(message.tool_call_id.as_deref()?)?;
        let again = newest.get(&message.content.text()).is_some_and(|&newest| newest > at);
        Some((at, pruned(message, call, again)))
    })
    .collect()
}

/// Whether a message is a result with something to save.
fn is_prunable(message: &Message) -> bool {
    let images = message.content.0.iter().any(|p| matches!(p, ContentPart::ImageUrl { .. }));
    message.role == Role::Tool
        && !message.is_replacement()
        && (images || message.content.text().len() > LEAST_BYTES)
}

fn pruned(message: &Message, call: &ToolCall, again: bool) -> Message {
    let said = message.content.text();
    let images = message.content.0.len() - message.content.0.iter().filter(|p| is_text(p)).count();
    let mut note = format!("[{}({})", call.name, text::ellipsis(&call.arguments, SHOWN_BYTES));
    if let Some(code) = &message.failure {
        note.push_str(&format!(" failed: {code}"));
    }
    note.push_str(&format!(": {} lines, {} bytes", said.lines().count(), said.len()));
    if images > 0 {
        note.push_str(&format!(", {images} images"));
    }
    note.push_str(if again {
        "; the same output stands further below]"
    } else {
        "; left out as old, call the tool again if it is needed]"
    });
    let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !again && !first.is_empty() {
        note.push_str(&format!("\n{}", text::ellipsis(first.trim(), SHOWN_BYTES)));
    }
    let mut short = Message { content: Content::from(note), ..message.clone() };
    short.id = crate::id::fresh();
    short.created_ms = crate::id::now_ms();
    short.attributes.insert(Message::COMPRESSED.into(), "pruned".into());
    short
}

fn is_text(part: &ContentPart) -> bool {
    matches!(part, ContentPart::Text { .. })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::message::ImageUrl;

    fn group(id: &str, said: impl Into<Content>) -> [Arc<Message>; 2] {
        let arguments = "{\"path\":\"a\"}".to_owned();
        let call = ToolCall { id: id.into(), name: "read".into(), arguments };
        let result = Message::tool(&call, said);
        [Message { tool_calls: vec![call], ..Message::assistant("") }.into(), result.into()]
    }

    #[test]
    fn old_long_output_becomes_a_note_and_short_output_stays() {
        let long = format!("first line\n{}", "x\n".repeat(200));
        let history = [group("1", long.as_str()), group("2", "short"), group("3", long.as_str())];
        let history = history.concat();
        let shortened = prune(&history, history.len());
        let texts: Vec<_> = shortened.iter().map(|(at, m)| (*at, m.content.text())).collect();
        assert_eq!(
            texts,
            [
                (
                    1,
                    "[read({\"path\":\"a\"}): 201 lines, 411 bytes; the same output stands further below]"
                        .to_owned()
                ),
                (
                    5,
                    "[read({\"path\":\"a\"}): 201 lines, 411 bytes; left out as old, call the tool again if it is needed]\nfirst line"
                        .to_owned()
                )
            ]
        );
        assert_eq!(shortened[0].1.tool_call_id.as_deref(), Some("1"));
        assert_eq!(prune(&history, 4).len(), 1, "the protected end keeps its output");
    }

    #[test]
    fn images_of_old_results_go_too() {
        let image = ContentPart::ImageUrl { image_url: ImageUrl { url: "data:,".into() } };
        let history = group("1", vec![image]);
        let shortened = prune(&history, 2);
        assert_eq!(
            shortened[0].1.content.text(),
            "[read({\"path\":\"a\"}): 0 lines, 0 bytes, 1 images; left out as old, call the tool again if it is needed]"
        );
        let again = [history[0].clone(), Arc::new(shortened[0].1.clone())];
        assert_eq!(prune(&again, 2), [], "what was pruned is not pruned again");
    }
}
