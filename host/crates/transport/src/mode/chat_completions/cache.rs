//! Marks for models that cache only what is marked (Claude behind OpenRouter): the system prompt
//! and the last messages that can carry one, so that each iteration finds what the one before
//! stored.

use std::sync::Arc;

use hermes_core::message::{Content, ContentPart, Message, Role};
use serde::{Serialize, Serializer};

use crate::quirks::Quirks;

/// Marked messages besides the system prompt: a request may have four marks in all.
const MESSAGES: usize = 3;

/// Whether prompts of `model` are marked.
pub(super) fn is_marked(model: &str, quirks: &Quirks) -> bool {
    quirks.cache_marked_models.iter().any(|part| model.contains(part.as_str()))
}

/// The places of the messages to mark.
pub(super) fn marks(messages: &[Arc<Message>]) -> Vec<usize> {
    // A call without words has no part a mark could stand at.
    let able = |message: &Message| {
        let speaks = !message.content.text().trim().is_empty();
        speaks && (message.role != Role::Assistant || message.tool_calls.is_empty())
    };
    let able = messages.iter().enumerate().rev().filter(|(_, message)| able(message));
    able.map(|(at, _)| at).take(MESSAGES).collect()
}

/// A text part with a mark.
#[derive(Serialize)]
pub(super) struct Marked<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    cache_control: Control,
}

#[derive(Serialize)]
struct Control {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl<'a> Marked<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Self { kind: "text", text, cache_control: Control { kind: "ephemeral" } }
    }
}

/// A content whose last text is marked: images first, so that the mark comes last.
pub(super) struct Parts<'a> {
    pub(super) content: &'a Content,
    /// Whether images are sent.
    pub(super) images: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Plain(&'a ContentPart),
    Marked(Marked<'a>),
}

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let images = self
            .content
            .0
            .iter()
            .filter(|part| self.images && matches!(part, ContentPart::ImageUrl { .. }));
        let text = self.content.text();
        let marked = Part::Marked(Marked::text(&text));
        serializer.collect_seq(images.map(Part::Plain).chain([marked]))
    }
}
