//! A store that forgets everything when it is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::id;
use crate::keep::{Receipt, Receipts, Spill};
use crate::message::Message;
use crate::store::{Durability, NewSession, Store, StoreError, StoredSession, TurnRecord};
use crate::text;
use crate::tool::{Body, Part};

/// Keeps sessions, receipts and long results in memory.
#[derive(Default)]
pub struct MemoryStore(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    sessions: HashMap<String, StoredSession>,
    titles: HashMap<String, String>,
    turns: Vec<TurnRecord>,
    receipts: Vec<Receipt>,
    kept: HashMap<(String, String), String>,
}

impl MemoryStore {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All receipts, in the order they were recorded.
    pub fn receipts(&self) -> Vec<Receipt> {
        self.inner().receipts.clone()
    }

    /// The title a session was given.
    pub fn title(&self, session_id: &str) -> Option<String> {
        self.inner().titles.get(session_id).cloned()
    }

    /// All turns that have ended.
    pub fn turns(&self) -> Vec<TurnRecord> {
        self.inner().turns.clone()
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn create(&self, new: NewSession) -> Result<String, StoreError> {
        let session =
            StoredSession { id: id::fresh(), system: new.system, turns: 0, messages: Vec::new() };
        let id = session.id.clone();
        self.inner().sessions.insert(id.clone(), session);
        Ok(id)
    }

    async fn load(&self, session_id: &str) -> Result<StoredSession, StoreError> {
        let inner = self.inner();
        inner.sessions.get(session_id).cloned().ok_or(StoreError::NoSession(session_id.into()))
    }

    async fn append(
        &self,
        session_id: &str,
        messages: &[Arc<Message>],
        _durability: Durability,
    ) -> Result<(), StoreError> {
        let mut inner = self.inner();
        let session = inner.sessions.get_mut(session_id);
        let session = session.ok_or_else(|| StoreError::NoSession(session_id.into()))?;
        session.messages.extend_from_slice(messages);
        Ok(())
    }

    async fn archive(
        &self,
        session_id: &str,
        archived: &[String],
        instead: &[Arc<Message>],
    ) -> Result<(), StoreError> {
        let mut inner = self.inner();
        let session = inner.sessions.get_mut(session_id);
        let session = session.ok_or_else(|| StoreError::NoSession(session_id.into()))?;
        let at = session.messages.iter().position(|message| archived.contains(&message.id));
        let at = at.unwrap_or(session.messages.len());
        session.messages.splice(at..at, instead.iter().cloned());
        session.messages.retain(|message| !archived.contains(&message.id));
        Ok(())
    }

    async fn propose_title(&self, session_id: &str, title: &str) -> Result<(), StoreError> {
        self.inner().titles.insert(session_id.into(), title.into());
        Ok(())
    }

    async fn finish_turn(&self, session_id: &str, record: &TurnRecord) -> Result<(), StoreError> {
        let mut inner = self.inner();
        if let Some(session) = inner.sessions.get_mut(session_id) {
            session.turns = record.turn;
        }
        inner.turns.push(record.clone());
        Ok(())
    }
}

impl Receipts for MemoryStore {
    fn record(&self, receipt: Receipt) {
        self.inner().receipts.push(receipt);
    }
}

#[async_trait]
impl Spill for MemoryStore {
    async fn keep(
        &self,
        session_id: &str,
        call_id: &str,
        parts: &[Part],
    ) -> Result<(), StoreError> {
        let texts = parts.iter().map(|part| match &part.body {
            Body::Text(text) => text.clone(),
            Body::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        });
        let whole = texts.collect::<Vec<_>>().join("\n");
        self.inner().kept.insert((session_id.into(), call_id.into()), whole);
        Ok(())
    }

    async fn read(
        &self,
        session_id: &str,
        call_id: &str,
        offset: u64,
        limit: usize,
    ) -> Result<Option<(String, u64)>, StoreError> {
        let inner = self.inner();
        let Some(whole) = inner.kept.get(&(session_id.to_owned(), call_id.to_owned())) else {
            return Ok(None);
        };
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(whole.len());
        let from = whole.ceil_char_boundary(from);
        let slice = text::prefix(&whole[from..], limit).to_owned();
        Ok(Some((slice, u64::try_from(whole.len()).unwrap_or(u64::MAX))))
    }
}
