//! What servers send, read leniently: unknown fields and kinds are skipped unread.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::mode::lenient::{Count, Word};

/// One event of a stream, or a whole reply.
#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Word<'a>,
    #[serde(default)]
    pub(super) index: Count,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) content_block: Option<Box<Block<'a>>>,
    /// The head of a stream. Boxed like all that comes once, since a stream is made of deltas.
    #[serde(borrow, default)]
    pub(super) message: Option<Box<Head<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// What is known when a reply begins.
#[derive(Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow, default)]
    pub(super) model: Word<'a>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// A reply in one piece.
#[derive(Deserialize)]
pub(super) struct Whole<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Word<'a>,
    #[serde(borrow, default)]
    pub(super) model: Word<'a>,
    #[serde(borrow, default)]
    pub(super) content: Option<Vec<Block<'a>>>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Word<'a>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// A block, whole or just begun.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Word<'a>,
    #[serde(borrow)]
    pub(super) text: Word<'a>,
    #[serde(borrow)]
    pub(super) thinking: Word<'a>,
    #[serde(borrow)]
    pub(super) signature: Word<'a>,
    #[serde(borrow)]
    pub(super) data: Word<'a>,
    #[serde(borrow)]
    pub(super) id: Word<'a>,
    #[serde(borrow)]
    pub(super) name: Word<'a>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

/// More of a block, or of what is said about the whole reply.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Word<'a>,
    #[serde(borrow)]
    pub(super) text: Word<'a>,
    #[serde(borrow)]
    pub(super) thinking: Word<'a>,
    #[serde(borrow)]
    pub(super) signature: Word<'a>,
    #[serde(borrow)]
    pub(super) partial_json: Word<'a>,
    #[serde(borrow)]
    pub(super) stop_reason: Word<'a>,
}
