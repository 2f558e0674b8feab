//! The core's ports, served by the store: each takes its arguments along to where the SQL runs.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hermes_core::id;
use hermes_core::keep::{
    PluginState, Receipt, Receipts, Spill, StateEntry, StateError, StateQuota,
};
use hermes_core::message::Message;
use hermes_core::search::{SearchHit, SearchQuery, SessionPage, SessionSearch, SessionSummary};
use hermes_core::store::{
    Durability, NewSession, Store, StoreError, StoredSession, TurnLease, TurnRecord,
};
use hermes_core::tool::Part;

use crate::history;
use crate::row::MessageRow;
use crate::session::{self, SessionFilter};
use crate::sqlite_store::{Clock, SqliteStore};
use crate::state::{self, Write, Written};
use crate::writer::Writer;
use crate::{branch, lease, page, search, shelf, spill, turn};

/// What a transaction without a text of any length writes, in bytes.
const FEW: usize = 0;

#[async_trait]
impl Store for SqliteStore {
    async fn create(&self, new: NewSession) -> Result<String, StoreError> {
        let (id, now) = (id::fresh(), self.now_ms());
        let bytes = new.system.len();
        let created = id.clone();
        self.writer
            .commit(Durability::Process, bytes, move |conn| {
                session::create(conn, &created, &new, now)
            })
            .await?;
        Ok(id)
    }

    async fn load(&self, session_id: &str) -> Result<StoredSession, StoreError> {
        let id = session_id.to_owned();
        self.reader.long(move |conn| history::load(conn, &id)).await
    }

    async fn append(
        &self,
        session_id: &str,
        messages: &[Arc<Message>],
        durability: Durability,
    ) -> Result<(), StoreError> {
        let rows = MessageRow::all(messages).map_err(|fault| fault.at(self.path()))?;
        let bytes = rows.iter().map(MessageRow::size).sum();
        let title = session::title(messages.iter().map(|message| &**message));
        let (id, now) = (session_id.to_owned(), self.now_ms());
        self.writer
            .commit(durability, bytes, move |conn| {
                history::append(conn, &id, &rows, title.as_deref(), now)
            })
            .await
    }

    async fn archive(
        &self,
        session_id: &str,
        archived: &[String],
        instead: &[Arc<Message>],
    ) -> Result<(), StoreError> {
        let rows = MessageRow::all(instead).map_err(|fault| fault.at(self.path()))?;
        let (id, archived, now) = (session_id.to_owned(), archived.to_vec(), self.now_ms());
        let bytes = usize::MAX; // it goes through the whole session
        self.writer
            .commit(Durability::Process, bytes, move |conn| {
                history::archive(conn, &id, &archived, &rows, now)
            })
            .await
    }

    async fn begin_turn(&self, session_id: &str) -> Result<TurnLease, StoreError> {
        let holder = lease::holder(&id::fresh());
        let mut patience = LEASE_TRIES;
        while let Err(error) = self.take_lease(session_id, &holder).await {
            patience -= 1;
            if patience == 0 || !matches!(error, StoreError::InUse(_)) {
                return Err(error);
            }
            tokio::time::sleep(LEASE_PAUSE).await;
        }
        let renewing =
            tokio::spawn(renew(Arc::clone(&self.writer), Arc::clone(&self.clock), holder.clone()));
        let writer = Arc::clone(&self.writer);
        Ok(TurnLease::new(move || {
            renewing.abort();
            writer.commit_soon(move |conn| lease::release(conn, &holder));
        }))
    }

    async fn branch(
        &self,
        session_id: &str,
        messages: &[Arc<Message>],
    ) -> Result<String, StoreError> {
        let rows = MessageRow::all(messages).map_err(|fault| fault.at(self.path()))?;
        let (id, child, now) = (session_id.to_owned(), id::fresh(), self.now_ms());
        let (made, bytes) = (child.clone(), rows.iter().map(MessageRow::size).sum());
        self.writer
            .commit(Durability::Power, bytes, move |conn| {
                branch::branch(conn, &id, &made, &rows, now)
            })
            .await?;
        Ok(child)
    }

    async fn propose_title(&self, session_id: &str, title: &str) -> Result<(), StoreError> {
        let (id, title) = (session_id.to_owned(), title.to_owned());
        self.writer
            .commit(Durability::Process, FEW, move |conn| shelf::propose(conn, &id, &title))
            .await
    }

    async fn finish_turn(&self, session_id: &str, record: &TurnRecord) -> Result<(), StoreError> {
        let (id, record, now) = (session_id.to_owned(), record.clone(), self.now_ms());
        self.writer
            .commit(Durability::Process, FEW, move |conn| turn::finish(conn, &id, &record, now))
            .await?;
        self.writer.index_soon();
        Ok(())
    }
}

#[async_trait]
impl SessionSearch for SqliteStore {
    async fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, StoreError> {
        self.catch_up().await;
        let query = query.clone();
        self.reader.long(move |conn| search::search(conn, &query)).await
    }

    async fn recent(&self, limit: usize) -> Result<Vec<SessionSummary>, StoreError> {
        self.list_sessions(SessionFilter { limit, ..SessionFilter::default() }).await
    }

    async fn read(
        &self,
        session_id: &str,
        around: Option<&str>,
        before: usize,
        after: usize,
    ) -> Result<SessionPage, StoreError> {
        let (id, around) = (session_id.to_owned(), around.map(str::to_owned));
        self.reader.long(move |conn| page::read(conn, &id, around.as_deref(), before, after)).await
    }
}

/// How often a lease is asked for, and how long between: a turn that has just ended may give its
/// own back a moment later.
const LEASE_TRIES: usize = 10;
const LEASE_PAUSE: Duration = Duration::from_millis(20);

impl SqliteStore {
    async fn take_lease(&self, session_id: &str, holder: &str) -> Result<(), StoreError> {
        let (id, holder, now) = (session_id.to_owned(), holder.to_owned(), self.now_ms());
        let take = move |conn: &rusqlite::Connection| lease::take(conn, &id, &holder, now);
        self.writer.commit(Durability::Process, FEW, take).await
    }
}

/// Keeps a lease from running out until it is given back.
async fn renew(writer: Arc<Writer>, clock: Clock, holder: String) {
    loop {
        tokio::time::sleep(lease::RENEWAL).await;
        let (holder, now) = (holder.clone(), clock());
        let again = move |conn: &rusqlite::Connection| lease::renew(conn, &holder, now);
        match writer.commit(Durability::Process, FEW, again).await {
            Ok(true) => {}
            Ok(false) => return tracing::warn!("the lease of a running turn was taken by another"),
            Err(error) => tracing::warn!(%error, "the lease of a turn could not be renewed"),
        }
    }
}

impl Receipts for SqliteStore {
    fn record(&self, receipt: Receipt) {
        self.writer.record(self.now_ms(), receipt);
    }
}

#[async_trait]
impl Spill for SqliteStore {
    async fn keep(
        &self,
        session_id: &str,
        call_id: &str,
        parts: &[Part],
    ) -> Result<(), StoreError> {
        let bytes = parts.iter().map(Part::len).sum();
        let (session, call) = (session_id.to_owned(), call_id.to_owned());
        let (parts, now) = (parts.to_vec(), self.now_ms());
        self.writer
            .commit(Durability::Process, bytes, move |conn| {
                spill::keep(conn, &session, &call, &parts, now)
            })
            .await
    }

    async fn read(
        &self,
        session_id: &str,
        call_id: &str,
        offset: u64,
        limit: usize,
    ) -> Result<Option<(String, u64)>, StoreError> {
        let (session, call) = (session_id.to_owned(), call_id.to_owned());
        self.reader.long(move |conn| spill::read(conn, &session, &call, offset, limit)).await
    }
}

/// State survives the death of the process, not a power cut: a plugin may write it in every call,
/// and waiting for the disk would cost more than the call.
#[async_trait]
impl PluginState for SqliteStore {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<StateEntry>, StateError> {
        let (namespace, key, now) = (namespace.to_owned(), key.to_owned(), self.now_ms());
        Ok(self.reader.quick(move |conn| state::get(conn, &namespace, &key, now)).await?)
    }

    async fn put(
        &self,
        namespace: &str,
        key: &str,
        value: &[u8],
        expected: Option<u64>,
        ttl_s: Option<u32>,
        quota: StateQuota,
    ) -> Result<Option<u64>, StateError> {
        let (namespace, key, value) = (namespace.to_owned(), key.to_owned(), value.to_vec());
        let (bytes, now) = (value.len(), self.now_ms());
        let write = Write { namespace, key, value, expected, ttl_s, quota };
        let written = self
            .writer
            .commit(Durability::Process, bytes, move |conn| state::put(conn, &write, now))
            .await?;
        match written {
            Written::Revision(revision) => Ok(Some(revision)),
            Written::Conflict => Ok(None),
            Written::OverQuota(text) => Err(StateError::OverQuota(text)),
        }
    }

    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, StateError> {
        let (namespace, key, now) = (namespace.to_owned(), key.to_owned(), self.now_ms());
        let work = move |conn: &rusqlite::Connection| state::delete(conn, &namespace, &key, now);
        Ok(self.writer.commit(Durability::Process, FEW, work).await?)
    }

    async fn list_keys(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, StateError> {
        let (namespace, prefix) = (namespace.to_owned(), prefix.to_owned());
        let (after, now) = (after.map(str::to_owned), self.now_ms());
        Ok(self
            .reader
            .long(move |conn| {
                state::list_keys(conn, &namespace, &prefix, after.as_deref(), limit, now)
            })
            .await?)
    }
}
