//! What a person sees when they take up a session: how it ended, in a few lines.

use hermes_core::message::{Message, Role};
use std::sync::Arc;

use crate::render::columns;

/// Columns of a line, so that it stays one.
const COLUMNS: usize = 100;

/// The last exchange among these messages: what the person said, and the last the model said to it.
pub(crate) fn recap(messages: &[Arc<Message>]) -> Vec<String> {
    let says = |message: &Message| !message.content.is_blank();
    let Some(asked) = messages.iter().rposition(|m| m.role == Role::User && says(m)) else {
        return Vec::new();
    };
    let behind = &messages[asked + 1..];
    let answer = behind.iter().rev().find(|m| m.role == Role::Assistant && says(m));
    let answer = match answer {
        Some(message) => message.content.text(),
        None => "(no answer was kept)".into(),
    };
    let before = messages[..asked].iter().filter(|m| m.role == Role::User).count();
    let more = (before > 0).then(|| format!("… {before} earlier questions"));
    let asked = format!("you       {}", columns(&messages[asked].content.text(), COLUMNS));
    let answered = format!("assistant {}", columns(&answer, COLUMNS));
    more.into_iter().chain([asked, answered]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recap_of(messages: &[Message]) -> Vec<String> {
        recap(&messages.iter().cloned().map(Arc::new).collect::<Vec<_>>())
    }

    #[test]
    fn the_last_exchange_is_told_in_single_lines() {
        let first = [Message::user("first"), Message::assistant("yes")];
        assert_eq!(recap_of(&first), ["you       first", "assistant yes"]);
        let tool = Message::new(Role::Tool, "result");
        let rest = [Message::user("second\nline"), Message::assistant("Looking."), tool];
        let mut all = [first.to_vec(), rest.to_vec()].concat();
        let expected = ["… 1 earlier questions", "you       second line", "assistant Looking."];
        assert_eq!(recap_of(&all), expected);
        all.push(Message::user("x".repeat(300)));
        let told = recap_of(&all);
        assert_eq!(told[1], format!("you       {}…", "x".repeat(99)));
        assert_eq!(told[2], "assistant (no answer was kept)");
        assert_eq!(recap_of(&[]), [""; 0]);
    }
}
