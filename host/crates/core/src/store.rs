//! The port to where sessions live. What was appended comes back, in order; compression archives,
//! it never destroys.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::result::TurnEnd;
use crate::usage::{Cost, Usage};

/// How sure an append must be before it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Survives the death of this process. A power cut may lose it, so only where the world is
    /// unchanged and the step can simply be done again.
    Process,
    /// Survives a power cut: before and after anything with an effect.
    Power,
}

/// What a session is born with.
#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// The system prompt, kept so that every later turn sends the same bytes.
    pub system: String,
    /// The model it starts with.
    pub model: String,
    /// The front end it comes from, such as `cli`.
    pub source: String,
    /// The session it continues after a compression or a hand-over.
    pub parent: Option<String>,
}

/// A stored session, whole.
#[derive(Debug, Clone)]
pub struct StoredSession {
    /// Its id.
    pub id: String,
    /// The system prompt it was born with.
    pub system: String,
    /// How many turns it has had.
    pub turns: u32,
    /// All messages that are not archived, in the order they were appended.
    pub messages: Vec<Arc<Message>>,
}

/// What is recorded when a turn ends.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TurnRecord {
    /// The turn within the session, from 1.
    pub turn: u32,
    /// How it ended.
    pub end: TurnEnd,
    /// Model calls made.
    pub api_calls: u32,
    /// Tokens of the turn.
    pub usage: Usage,
    /// Money of the turn, where known.
    pub cost: Option<Cost>,
}

/// The session is not there or in use, or the store is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No session of that id.
    #[error("no session {0:?}")]
    NoSession(String),
    /// A turn is running in the session; the text says whose, and what to do.
    #[error("{0}")]
    InUse(String),
    /// Anything else; the text says what, where, and what to do.
    #[error("{0}")]
    Broken(String),
}

/// The right to run a turn in a session, until it is dropped.
#[derive(Default)]
pub struct TurnLease(Option<Box<dyn FnOnce() + Send + Sync>>);

impl TurnLease {
    /// A lease given back by `release`.
    pub fn new(release: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(release)))
    }
}

impl Drop for TurnLease {
    fn drop(&mut self) {
        if let Some(release) = self.0.take() {
            release();
        }
    }
}

impl fmt::Debug for TurnLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnLease").finish_non_exhaustive()
    }
}

/// Keeps sessions.
#[async_trait]
pub trait Store: Send + Sync {
    /// Makes a session and returns its id.
    async fn create(&self, new: NewSession) -> Result<String, StoreError>;

    /// Reads a session whole.
    async fn load(&self, session_id: &str) -> Result<StoredSession, StoreError>;

    /// Adds messages at the end, all or none. Contract: returns only once they are as safe as
    /// `durability` says.
    async fn append(
        &self,
        session_id: &str,
        messages: &[Arc<Message>],
        durability: Durability,
    ) -> Result<(), StoreError>;

    /// Archives the named messages and puts `instead` in their place, all or none. Archived
    /// messages stay searchable and can be restored.
    async fn archive(
        &self,
        session_id: &str,
        archived: &[String],
        instead: &[Arc<Message>],
    ) -> Result<(), StoreError>;

    /// Makes a session that continues this one with these messages, all or none, and returns its id.
    /// The one there is stays as it is.
    async fn branch(
        &self,
        session_id: &str,
        messages: &[Arc<Message>],
    ) -> Result<String, StoreError> {
        let system = self.load(session_id).await?.system;
        let parent = Some(session_id.to_owned());
        let new = NewSession { system, parent, ..NewSession::default() };
        let child = self.create(new).await?;
        self.append(&child, messages, Durability::Power).await?;
        Ok(child)
    }

    /// Asks for the right to run a turn in a session, so that two processes never mix theirs.
    /// Contract: nobody else gets it before the lease is dropped or its holder is dead. A store
    /// that is never shared need not refuse anybody.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] while somebody else has it.
    async fn begin_turn(&self, _session_id: &str) -> Result<TurnLease, StoreError> {
        Ok(TurnLease::default())
    }

    /// Names a session, unless a person has named it. A store without names does nothing.
    async fn propose_title(&self, _session_id: &str, _title: &str) -> Result<(), StoreError> {
        Ok(())
    }

    /// Records the end of a turn.
    async fn finish_turn(&self, session_id: &str, record: &TurnRecord) -> Result<(), StoreError>;
}
