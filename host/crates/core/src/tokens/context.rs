//! How full the window is: what the provider reported last, plus an estimate of what came since.

use std::sync::Arc;

use super::TokenCounter;
use crate::message::{Content, ContentPart, Message, Role};
use crate::tool::ToolSpec;
use crate::usage::Usage;

/// What a wire format adds to a message: role, separators, names of fields.
const MESSAGE_TOKENS: u64 = 6;

/// An image, whatever its size: providers scale large ones down, and charge some 800 to 1600
/// tokens for a full one.
const IMAGE_TOKENS: u64 = 1500;

/// What every request carries besides messages.
#[derive(Debug, Clone, Copy)]
pub struct Overhead<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The tools on offer.
    pub tools: &'a [ToolSpec],
}

impl Overhead<'_> {
    /// Its tokens.
    pub fn tokens(&self, counter: &dyn TokenCounter) -> u64 {
        let tool = |tool: &ToolSpec| {
            let text = [&*tool.name, &*tool.description, tool.parameters.get()];
            text.into_iter().map(|text| counter.count(text)).sum::<u64>() + MESSAGE_TOKENS
        };
        counter.count(self.system) + self.tools.iter().map(tool).sum::<u64>()
    }
}

/// Tokens of one message as a request carries it.
pub fn message_tokens(message: &Message, counter: &dyn TokenCounter) -> u64 {
    let calls = message
        .tool_calls
        .iter()
        .map(|call| counter.count(&call.name) + counter.count(&call.arguments) + MESSAGE_TOKENS);
    let replay = message.replay.as_ref().map_or(0, |replay| {
        // Signatures and encrypted reasoning: no words, so they are counted by size.
        u64::try_from(replay.data.to_string().len() / 4).unwrap_or(u64::MAX)
    });
    content_tokens(&message.content, counter) + calls.sum::<u64>() + replay + MESSAGE_TOKENS
}

fn content_tokens(content: &Content, counter: &dyn TokenCounter) -> u64 {
    let part = |part: &ContentPart| match part {
        ContentPart::Text { text } => counter.count(text),
        ContentPart::ImageUrl { .. } => IMAGE_TOKENS,
    };
    content.0.iter().map(part).sum()
}

/// How many tokens the next request will come to, kept up to date message by message: counting a
/// long history anew for each request would cost more than the rest of an iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextSize {
    tokens: u64,
    /// Messages that are in `tokens`.
    counted: usize,
    /// Whether all of it was counted by us.
    estimated: bool,
}

impl ContextSize {
    /// The size of a history nothing is known about yet.
    pub fn of(
        messages: &[Arc<Message>],
        overhead: Overhead<'_>,
        counter: &dyn TokenCounter,
    ) -> Self {
        let tokens = context_tokens(messages, overhead, counter);
        Self { tokens, counted: messages.len(), estimated: last_report(messages).is_none() }
    }

    /// The size with what was appended since.
    pub fn with(&mut self, messages: &[Arc<Message>], counter: &dyn TokenCounter) -> u64 {
        let new = messages.get(self.counted..).unwrap_or_default();
        self.tokens += new.iter().map(|message| message_tokens(message, counter)).sum::<u64>();
        self.counted = messages.len();
        self.tokens
    }

    /// Takes in what the provider reported of a request that carried all messages so far. Returns
    /// what had been counted where no report was in it.
    pub fn reported(&mut self, usage: &Usage) -> Option<u64> {
        if usage.estimated || usage.prompt() == 0 {
            return None;
        }
        let counted = self.estimated.then_some(self.tokens);
        (self.tokens, self.estimated) = (usage.prompt(), false);
        counted
    }

    /// The size as of the last call of [`ContextSize::with`] or [`ContextSize::reported`].
    pub fn tokens(&self) -> u64 {
        self.tokens
    }
}

/// Tokens the next request will come to. The newest reply whose provider reported usage tells what
/// everything up to it came to; only what follows is counted. A report from before the history was
/// last compressed is of another history and does not count.
fn context_tokens(
    messages: &[Arc<Message>],
    overhead: Overhead<'_>,
    counter: &dyn TokenCounter,
) -> u64 {
    let tokens = |messages: &[Arc<Message>]| {
        messages.iter().map(|message| message_tokens(message, counter)).sum::<u64>()
    };
    match last_report(messages) {
        Some((at, reported)) => reported + tokens(&messages[at + 1..]),
        None => overhead.tokens(counter) + tokens(messages),
    }
}

/// The newest reply with a report that is still true, and what it came to, the reply included.
fn last_report(messages: &[Arc<Message>]) -> Option<(usize, u64)> {
    let (at, usage) = messages.iter().enumerate().rev().find_map(|(at, message)| {
        let usage = message.usage.filter(|usage| !usage.estimated && usage.prompt() > 0)?;
        (message.role == Role::Assistant).then_some((at, usage))
    })?;
    let changed_since = messages
        .iter()
        .any(|message| message.is_replacement() && message.created_ms >= messages[at].created_ms);
    // Reasoning is only sent back where the provider wants it back.
    let unsent = if messages[at].replay.is_some() { 0 } else { usage.reasoning };
    let reply = usage.output.saturating_sub(unsent);
    (!changed_since).then(|| (at, usage.prompt().saturating_add(reply)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::message::ToolCall;

    struct Words;

    impl TokenCounter for Words {
        fn count(&self, text: &str) -> u64 {
            u64::try_from(text.split_whitespace().count()).unwrap()
        }
    }

    fn total(messages: &[Message]) -> u64 {
        let messages: Vec<_> = messages.iter().cloned().map(Arc::new).collect();
        context_tokens(&messages, Overhead { system: "you are it", tools: &[] }, &Words)
    }

    fn replied(usage: Usage) -> Message {
        Message { usage: Some(usage), created_ms: 5, ..Message::assistant("two words") }
    }

    #[test]
    fn without_a_report_everything_is_counted() {
        let call = ToolCall { id: "c".into(), name: "read".into(), arguments: "{ }".into() };
        let calling = Message { tool_calls: vec![call], ..Message::assistant("") };
        assert_eq!(total(&[Message::user("hello there")]), 3 + 2 + 6);
        assert_eq!(total(&[Message::user("hello there"), calling]), 3 + 2 + 6 + (1 + 2 + 6) + 6);
    }

    #[test]
    fn a_report_tells_what_everything_before_it_came_to() {
        let usage = Usage {
            input: 100,
            cached: 50,
            cache_write: 20,
            output: 30,
            reasoning: 10,
            estimated: false,
        };
        let history = [Message::user("a b c"), replied(usage), Message::user("d e")];
        assert_eq!(total(&history), 170 + 20 + 2 + 6);
        let guessed = Usage { estimated: true, ..usage };
        let history = [Message::user("a b c"), replied(guessed), Message::user("d e")];
        assert_eq!(total(&history), 3 + 9 + 8 + 8);
    }

    #[test]
    fn a_size_grows_with_the_history_and_follows_reports() {
        let mut history = vec![Arc::new(Message::user("a b"))];
        let overhead = Overhead { system: "you are it", tools: &[] };
        let mut size = ContextSize::of(&history, overhead, &Words);
        assert_eq!((size.tokens(), size.with(&history, &Words)), (11, 11));
        let usage = Usage { input: 40, ..Usage::default() };
        assert_eq!(size.reported(&Usage { estimated: true, ..usage }), None);
        assert_eq!(size.reported(&usage), Some(11), "what had been counted is told once");
        history.push(Arc::new(Message::assistant("c")));
        assert_eq!(size.with(&history, &Words), 47);
        assert_eq!((size.reported(&usage), size.tokens()), (None, 40));
    }

    #[test]
    fn a_report_from_before_a_compression_does_not_count() {
        let usage = Usage { input: 100, ..Usage::default() };
        let mut summary = Message { created_ms: 9, ..Message::user("a b") };
        summary.attributes.insert(Message::COMPRESSED.into(), "summary".into());
        assert_eq!(total(&[summary.clone(), replied(usage)]), 3 + 8 + 8);
        summary.created_ms = 4;
        assert_eq!(total(&[summary, replied(usage)]), 100);
    }
}
