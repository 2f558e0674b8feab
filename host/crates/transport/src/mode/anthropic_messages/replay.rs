//! What of a reply goes back exactly as it came: its thinking, and where among the other blocks
//! it stood.
//!
//! Text and calls are kept once, in the message; here stands only how they were cut into blocks.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The blocks of one reply, in order.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Layout<'a> {
    #[serde(borrow)]
    pub(super) blocks: Vec<Piece<'a>>,
}

/// One block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Piece<'a> {
    /// Readable thinking with the proof of who wrote it.
    Thinking {
        #[serde(borrow)]
        thinking: Cow<'a, str>,
        #[serde(borrow)]
        signature: Cow<'a, str>,
    },
    /// Thinking only the provider can read.
    RedactedThinking {
        #[serde(borrow)]
        data: Cow<'a, str>,
    },
    /// So many bytes of the message's text.
    Text { bytes: usize },
    /// The message's next call.
    ToolUse,
}

impl Piece<'_> {
    /// Whether it is something only the provider can write.
    pub(super) fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }
}

impl<'a> Layout<'a> {
    /// The layout in `data`; empty if that is none.
    pub(super) fn read(data: &'a Value) -> Self {
        Self::deserialize(data).unwrap_or_default()
    }

    /// What to keep of a reply; nothing if it holds no thinking, since then the message alone
    /// says it all.
    pub(super) fn keep(&self) -> Option<Value> {
        let thinks = self.blocks.iter().any(Piece::is_thinking);
        thinks.then(|| serde_json::to_value(self).expect("strings and numbers"))
    }

    /// The pieces, as far as they still describe a message with this text and so many calls. What
    /// does not fit has been changed since; of it only the thinking that came first is of use.
    pub(super) fn pieces_for(&self, text: &str, calls: usize) -> Option<&[Piece<'a>]> {
        let mut at = 0;
        let mut called = 0;
        for piece in &self.blocks {
            match piece {
                Piece::Text { bytes } => {
                    at = bytes.checked_add(at)?;
                    if !text.is_char_boundary(at) {
                        return None;
                    }
                }
                Piece::ToolUse => called += 1,
                Piece::Thinking { .. } | Piece::RedactedThinking { .. } => {}
            }
        }
        (at == text.len() && called == calls).then_some(&self.blocks)
    }

    /// The thinking before anything else.
    pub(super) fn leading(&self) -> &[Piece<'a>] {
        let end = self.blocks.iter().position(|piece| !piece.is_thinking());
        &self.blocks[..end.unwrap_or(self.blocks.len())]
    }
}
