//! The port to what was said before, in any session: finding it, listing it, reading around it.
//!
//! Answers hold what was stored and where it stands. How much of it a model or a person is shown
//! is theirs to say who ask.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::message::{Message, Role};
use crate::store::StoreError;

/// What to look for, and where.
///
/// In `text`, all words must be there, in any order and in any case; `"a phrase"` must be there word
/// by word; `OR` between two words parts alternatives. A word joined by punctuation (`src/main.rs`,
/// `don't`) is a phrase. Any other character is just a character: no text is a syntax error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words. Without any, nothing is found.
    pub text: String,
    /// Only in this session; every hit is told then, not only the best one of a line.
    pub session: Option<String>,
    /// Only messages of these roles; all if empty.
    pub roles: Vec<Role>,
    /// Only in sessions of this front end, such as `cli`.
    pub source: Option<String>,
    /// Not in this session, nor in any of its line: what the asker already sees.
    pub without: Option<String>,
    /// Which hits come first.
    pub order: SearchOrder,
    /// Most hits; none for 0.
    pub limit: usize,
}

/// Which hits come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchOrder {
    /// The best match; of equal ones the newer.
    #[default]
    Rank,
    /// The newest.
    Newest,
    /// The oldest.
    Oldest,
}

/// A message that holds what was looked for. Of a line of sessions (one continues another) only the
/// best is told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchHit {
    /// The session it stands in.
    pub session_id: String,
    /// The first session of the line, which names the line.
    pub root: String,
    /// What the session is about.
    pub title: Option<String>,
    /// The front end the session comes from.
    pub source: String,
    /// The message.
    pub message_id: String,
    /// Who speaks in it.
    pub role: Role,
    /// The part of its text where the words are, some 200 characters; `…` where it was cut.
    pub snippet: String,
    /// Where the words are in the snippet, in bytes, in order.
    pub marks: Vec<Range<usize>>,
    /// How well it matches: more is better, comparable only within one answer.
    pub rank: f64,
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    pub created_ms: u64,
    /// Whether a compression has taken it out of the conversation.
    pub archived: bool,
    /// How many other hits its line has, as far as they were looked at.
    pub more: usize,
}

/// One line of a list of sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionSummary {
    /// Its id.
    pub session_id: String,
    /// What it is about; until somebody names it, the start of the first thing the user said.
    pub title: Option<String>,
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    pub started: u64,
    /// When something was last added, in milliseconds since 1970-01-01 UTC.
    pub updated: u64,
    /// How many messages it holds, archived ones not counted.
    pub messages: u64,
    /// The model it started with.
    pub model: String,
    /// The session it continues.
    pub parent: Option<String>,
    /// The first session of the line, which names the line.
    pub root: String,
    /// The front end it comes from, such as `cli`.
    pub source: String,
    /// How many turns have ended in it.
    pub turns: u32,
    /// Tokens sent and received over all turns, cached ones included.
    pub tokens: u64,
    /// US dollars over all turns, where known.
    pub cost_usd: Option<f64>,
}

/// A stored message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredMessage {
    /// The message itself.
    pub message: Arc<Message>,
    /// Whether a compression has taken it out of the conversation.
    pub archived: bool,
}

/// Some messages of a session, archived ones included, in order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionPage {
    /// The session they stand in.
    pub session: SessionSummary,
    /// The messages.
    pub messages: Vec<StoredMessage>,
    /// How many stand before the first of them.
    pub before: usize,
    /// Where messages are left out in the middle: after how many of these, and how many.
    pub gap: Option<(usize, usize)>,
    /// How many stand after the last of them.
    pub after: usize,
}

/// Finds and reads what was said before.
#[async_trait]
pub trait SessionSearch: Send + Sync {
    /// The hits of `query`, in its order. Nothing found is an empty answer, never an error.
    async fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, StoreError>;

    /// The sessions that changed last, newest first, at most `limit`.
    async fn recent(&self, limit: usize) -> Result<Vec<SessionSummary>, StoreError>;

    /// Messages of a session. With `around`, a message's id: that message, up to `before` messages
    /// before it and `after` behind it; if it stands in another session of the same line, of that
    /// one. Without: the first `before` and the last `after` messages, each once.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSession`] without the session, [`StoreError::Broken`] without the message.
    async fn read(
        &self,
        session_id: &str,
        around: Option<&str>,
        before: usize,
        after: usize,
    ) -> Result<SessionPage, StoreError>;
}
