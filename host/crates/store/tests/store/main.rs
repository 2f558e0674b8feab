//! What the store promises, tried on real files.
#![allow(clippy::unwrap_used)]

mod archiving;
mod leasing;
mod opening;
mod plugin_state;
mod processes;
mod receipts;
mod restoring;
mod round_trip;
mod searching;
mod sessions;
mod sharing;
mod shelving;
mod spilling;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hermes_core::message::Message;
use hermes_core::search::SessionSummary;
use hermes_core::store::{Durability, NewSession, Store, StoredSession};
use hermes_store::{SessionFilter, SqliteStore};
use rusqlite::Connection;
use tempfile::TempDir;

/// A folder of its own for each test, with one store file in it.
struct Home {
    folder: TempDir,
    now_ms: Arc<AtomicU64>,
}

impl Home {
    fn new() -> Self {
        let now_ms = Arc::new(AtomicU64::new(1_000_000));
        Self { folder: TempDir::new().unwrap(), now_ms }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    /// A store whose clock stands still until [`pass`](Self::pass).
    fn open(&self) -> SqliteStore {
        let now_ms = Arc::clone(&self.now_ms);
        let clock = Arc::new(move || now_ms.load(Ordering::SeqCst));
        SqliteStore::open_with_clock(self.file(), clock).unwrap()
    }

    fn pass(&self, ms: u64) {
        self.now_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// The file as any other program sees it.
    fn sql(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    /// All rows of a query, their columns joined by a bar.
    fn rows(&self, query: &str) -> Vec<String> {
        let conn = self.sql();
        let mut statement = conn.prepare(query).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            let texts = (0..columns).map(|at| {
                Ok(match row.get(at)? {
                    rusqlite::types::Value::Null => "NULL".into(),
                    rusqlite::types::Value::Integer(n) => n.to_string(),
                    rusqlite::types::Value::Real(x) => x.to_string(),
                    rusqlite::types::Value::Text(text) => text,
                    rusqlite::types::Value::Blob(bytes) => format!("{bytes:?}"),
                })
            });
            Ok(texts.collect::<rusqlite::Result<Vec<String>>>()?.join("|"))
        });
        rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
    }
}

async fn new_session(store: &SqliteStore) -> String {
    store.create(NewSession::default()).await.unwrap()
}

/// The sessions that changed last.
async fn listed(store: &SqliteStore, limit: usize) -> Vec<SessionSummary> {
    store.list_sessions(SessionFilter { limit, ..SessionFilter::default() }).await.unwrap()
}

async fn append(store: &SqliteStore, session: &str, messages: &[Arc<Message>]) {
    store.append(session, messages, Durability::Process).await.unwrap();
}

/// A user message for each text.
fn said(texts: &[&str]) -> Vec<Arc<Message>> {
    texts.iter().map(|text| Arc::new(Message::user(*text))).collect()
}

/// What a session's messages say.
fn texts(session: &StoredSession) -> Vec<String> {
    session.messages.iter().map(|message| message.content.text()).collect()
}
