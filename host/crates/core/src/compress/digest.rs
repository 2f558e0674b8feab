//! Messages as a summariser reads them: labelled, each cut to what matters, and in pieces where they
//! are more than its window holds.

use std::sync::Arc;

use crate::message::{ContentPart, Message, Role, ToolCall};
use crate::text;
use crate::tokens::TokenCounter;

/// What is shown of one message: its beginning …
const HEAD_BYTES: usize = 4000;

/// … and its end.
const TAIL_BYTES: usize = 1500;

/// What is shown of the arguments of one call.
const ARGUMENT_BYTES: usize = 1200;

/// The messages as text, in as many pieces as it takes for each to have at most `most` tokens. A
/// message that is larger alone is cut further.
pub fn digest(messages: &[Arc<Message>], most: u64, counter: &dyn TokenCounter) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut tokens = 0;
    for message in messages.iter().filter(|message| !message.is_summary()) {
        let mut shown = shown(message);
        while counter.count(&shown) > most && shown.len() > 100 {
            shown = ends(&shown, shown.len() / 3, shown.len() / 6);
        }
        let size = counter.count(&shown);
        match pieces.last_mut() {
            Some(piece) if tokens + size <= most => {
                piece.push_str(&shown);
                tokens += size;
            }
            _ => {
                pieces.push(shown);
                tokens = size;
            }
        }
    }
    pieces
}

fn shown(message: &Message) -> String {
    let label = match message.role {
        Role::System => "SYSTEM".into(),
        Role::User => "USER".into(),
        Role::Assistant => "ASSISTANT".into(),
        Role::Tool => format!("RESULT of {}", message.name.as_deref().unwrap_or("a tool")),
    };
    let mut shown = format!("[{label}]\n{}", ends(&message.content.text(), HEAD_BYTES, TAIL_BYTES));
    let images =
        message.content.0.iter().filter(|p| matches!(p, ContentPart::ImageUrl { .. })).count();
    if images > 0 {
        shown.push_str(&format!("\n({images} images)"));
    }
    for ToolCall { name, arguments, .. } in &message.tool_calls {
        let arguments = text::ellipsis(arguments, ARGUMENT_BYTES);
        shown.push_str(&format!("\nCALL {name} {arguments}"));
    }
    shown.push_str("\n\n");
    shown
}

/// Beginning and end of a text, with a mark where something was left out.
fn ends(text: &str, head: usize, tail: usize) -> String {
    if text.len() <= head + tail {
        return text.to_owned();
    }
    format!("{}\n[…]\n{}", text::prefix(text, head), text::suffix(text, tail))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::tokens::Estimate;

    #[test]
    fn messages_are_labelled_and_cut() {
        let call = ToolCall { id: "c".into(), name: "run".into(), arguments: "{\"a\":1}".into() };
        let result = Message::tool(&call, "x".repeat(9000));
        let mut summary = Message::user("old");
        summary.attributes.insert(Message::COMPRESSED.into(), "summary".into());
        let calling = Message { tool_calls: vec![call], ..Message::assistant("I run it") };
        let history: Vec<_> =
            [summary, Message::user("do it"), calling, result].map(Arc::new).into();
        let wanted = format!(
            "[USER]\ndo it\n\n[ASSISTANT]\nI run it\nCALL run {{\"a\":1}}\n\n[RESULT of run]\n{}\n[…]\n{}\n\n",
            "x".repeat(4000),
            "x".repeat(1500)
        );
        assert_eq!(digest(&history, 100_000, &Estimate), [wanted]);
    }

    #[test]
    fn pieces_are_no_larger_than_the_window_allows() {
        let history: Vec<_> =
            (0..20).map(|n| Arc::new(Message::user(format!("{n} ").repeat(400)))).collect();
        let pieces = digest(&history, 2000, &Estimate);
        assert!(pieces.len() > 1);
        assert!(pieces.iter().all(|piece| Estimate.count(piece) <= 2100), "{pieces:?}");
        let small = digest(&history, 100, &Estimate);
        assert_eq!(small.len(), 20);
        assert!(small.iter().all(|piece| Estimate.count(piece) <= 110));
    }
}
