//! A history as Anthropic's turns: users and assistants in alternation, made of blocks.
//!
//! Every block borrows from the history. What a turn may not hold never gets into one: blank
//! text, thinking of anyone else, a result behind other blocks of its turn.

use std::borrow::Cow;

use hermes_core::message::{Content, ContentPart, Message, Role, ToolCall};
use hermes_core::text;
use serde_json::value::RawValue;

use super::ids;
use super::image::{self, Source};
use super::replay::{Layout, Piece};

/// Who speaks in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Speaker {
    User,
    Assistant,
}

/// Everything one side says before the other does.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub(super) speaker: Speaker,
    pub(super) blocks: Vec<Block<'a>>,
    /// How many results stand at its start.
    results: usize,
}

/// One block of a turn.
#[derive(Debug)]
pub(super) enum Block<'a> {
    Text(Cow<'a, str>),
    Image(Source<'a>),
    Thinking { thinking: Cow<'a, str>, signature: Cow<'a, str> },
    RedactedThinking { data: Cow<'a, str> },
    ToolUse { id: Cow<'a, str>, name: &'a str, input: Cow<'a, RawValue> },
    ToolResult { id: Cow<'a, str>, content: Vec<Block<'a>>, is_error: bool },
}

/// Stands where the API wants something said and nothing was: a conversation must begin with the
/// user.
const NOTHING: &str = "(nothing was said)";

/// The turns of a history.
pub(super) fn turns<'a>(messages: impl Iterator<Item = &'a Message>) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for message in messages {
        match message.role {
            Role::Tool => say(&mut turns, Speaker::User, vec![result(message)]),
            Role::Assistant => say(&mut turns, Speaker::Assistant, reply(message)),
            Role::User | Role::System => say(&mut turns, Speaker::User, said(&message.content)),
        }
    }
    if turns.first().is_none_or(|turn| turn.speaker != Speaker::User) {
        let blocks = vec![Block::Text(NOTHING.into())];
        turns.insert(0, Turn { speaker: Speaker::User, blocks, results: 0 });
    }
    turns
}

fn say<'a>(turns: &mut Vec<Turn<'a>>, speaker: Speaker, blocks: Vec<Block<'a>>) {
    if blocks.is_empty() {
        return;
    }
    if turns.last().is_none_or(|turn| turn.speaker != speaker) {
        turns.push(Turn { speaker, blocks: Vec::new(), results: 0 });
    }
    let Some(turn) = turns.last_mut() else { return };
    for block in blocks {
        if matches!(block, Block::ToolResult { .. }) {
            turn.blocks.insert(turn.results, block);
            turn.results += 1;
        } else {
            turn.blocks.push(block);
        }
    }
}

/// What a content says, without blank texts.
fn said(content: &Content) -> Vec<Block<'_>> {
    let parts = content.0.iter().map(|part| match part {
        ContentPart::Text { text } => Block::Text(text.into()),
        ContentPart::ImageUrl { image_url } => match image::source(&image_url.url) {
            Ok(source) => Block::Image(source),
            Err(note) => Block::Text(note),
        },
    });
    parts.filter(|block| !block.is_blank()).collect()
}

fn result(message: &Message) -> Block<'_> {
    let id = ids::legal(message.tool_call_id.as_deref().unwrap_or_default());
    let mut content = said(&message.content);
    // An error without a word is refused.
    if let (Some(code), true) = (&message.failure, content.is_empty()) {
        content.push(Block::Text(format!("error [{code}]").into()));
    }
    Block::ToolResult { id, content, is_error: message.failure.is_some() }
}

/// The blocks of an assistant's message: as they came, where that is known, else thinking, text
/// and calls.
fn reply(message: &Message) -> Vec<Block<'_>> {
    let layout = message.replay.as_ref().map(|replay| Layout::read(&replay.data));
    let layout = layout.unwrap_or_default();
    let text = message.content.as_text().unwrap_or_default();
    let whole = message.content.0.is_empty() || message.content.as_text().is_some();
    let fitting = layout.pieces_for(text, message.tool_calls.len()).filter(|_| whole);
    let mut blocks = match fitting {
        Some(pieces) => as_it_came(pieces, text, &message.tool_calls),
        None => layout.leading().iter().cloned().filter_map(thinking).collect(),
    };
    if fitting.is_none() {
        blocks.extend(said(&message.content));
        blocks.extend(message.tool_calls.iter().map(tool_use));
    }
    // Thinking with nothing after it was cut off in the middle, and may not stand last.
    while blocks.last().is_some_and(Block::is_thinking) {
        blocks.pop();
    }
    // A last turn of the assistant may not end in white space. Trimmed in every turn, so that the
    // bytes are the same once it is not the last.
    if let Some(Block::Text(text)) = blocks.last_mut() {
        let end = text.trim_end().len();
        match text {
            Cow::Borrowed(text) => *text = &text[..end],
            Cow::Owned(text) => text.truncate(end),
        }
    }
    blocks
}

fn as_it_came<'a>(pieces: &[Piece<'a>], text: &'a str, calls: &'a [ToolCall]) -> Vec<Block<'a>> {
    let mut rest = text;
    let mut calls = calls.iter();
    let block = |piece: &Piece<'a>| match piece {
        Piece::Text { bytes } => {
            let (this, after) = rest.split_at(*bytes);
            rest = after;
            Some(Block::Text(this.into())).filter(|block| !block.is_blank())
        }
        Piece::ToolUse => calls.next().map(tool_use),
        Piece::Thinking { .. } | Piece::RedactedThinking { .. } => thinking(piece.clone()),
    };
    pieces.iter().filter_map(block).collect()
}

fn thinking(piece: Piece<'_>) -> Option<Block<'_>> {
    match piece {
        Piece::Thinking { thinking, signature } => Some(Block::Thinking { thinking, signature }),
        Piece::RedactedThinking { data } => Some(Block::RedactedThinking { data }),
        Piece::Text { .. } | Piece::ToolUse => None,
    }
}

fn tool_use(call: &ToolCall) -> Block<'_> {
    Block::ToolUse { id: ids::legal(&call.id), name: &call.name, input: input(&call.arguments) }
}

/// A call's arguments as an object; what is none is sent as an empty one.
fn input(arguments: &str) -> Cow<'_, RawValue> {
    let object = |raw: &&RawValue| raw.get().starts_with('{');
    match text::mend_lone_surrogates(arguments) {
        Cow::Borrowed(json) => {
            serde_json::from_str::<&RawValue>(json).ok().filter(object).map(Cow::Borrowed)
        }
        Cow::Owned(json) => {
            RawValue::from_string(json).ok().filter(|raw| object(&&**raw)).map(Cow::Owned)
        }
    }
    .unwrap_or_else(|| Cow::Owned(RawValue::from_string("{}".into()).expect("an object")))
}

impl Block<'_> {
    /// Whether it is text without anything to see.
    fn is_blank(&self) -> bool {
        matches!(self, Self::Text(text) if text.trim().is_empty())
    }

    /// Whether only the provider can have written it. Such blocks take no cache marker.
    pub(super) fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }
}
