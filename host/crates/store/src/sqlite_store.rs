//! The store: opening it, and what it can do beyond the core's ports.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_core::id;
use hermes_core::keep::Receipt;
use hermes_core::search::{SessionSearch, SessionSummary, StoredMessage};
use hermes_core::store::{Durability, StoreError};

use crate::fault::Fault;
use crate::page::Cursor;
use crate::reader::Reader;
use crate::receipt;
use crate::session::{self, SessionFilter};
use crate::writer::Writer;
use crate::{branch, index, lease, page, shelf};

/// Tells the time in milliseconds since 1970-01-01 UTC.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A store in one SQLite file. Several processes may use the same file, and one process may open
/// it several times.
///
/// Its async functions need a tokio runtime. Dropping it writes what still waits to be written.
pub struct SqliteStore {
    // Dropped before the writer: only a connection that may write can, as the last one to close,
    // copy the log back into the file.
    pub(crate) reader: Arc<Reader>,
    pub(crate) writer: Arc<Writer>,
    pub(crate) clock: Clock,
    path: PathBuf,
}

impl SqliteStore {
    /// Opens the store in the file `path`, making the file and its folder if they are missing, for
    /// this user only.
    ///
    /// # Errors
    ///
    /// [`StoreError::Broken`] if the file is no SQLite database, another program's or a newer
    /// version's, damaged where it is read first, a folder, or cannot be written. It is left as it
    /// was.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with_clock(path, Arc::new(id::now_ms))
    }

    /// Like [`open`](Self::open), with another clock than the system's.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_with_clock(path: impl AsRef<Path>, clock: Clock) -> Result<Self, StoreError> {
        let path = path.as_ref();
        // Absolute, so that SQLite takes it for a path whatever it looks like (`:memory:`,
        // `file:x`), and so that the reader finds it after a change of folder.
        let path = std::path::absolute(path)
            .map_err(|error| Fault::Refused(error.to_string()).at(path))?;
        let writer = Writer::open(path.clone()).map_err(|fault| fault.at(&path))?;
        let reader = Reader::new(path.clone());
        Ok(Self { reader, writer, clock, path })
    }

    /// The file it is in, as an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until everything handed over so far is written, receipts included.
    ///
    /// # Errors
    ///
    /// [`StoreError::Broken`] if it cannot be written; it is kept and tried again later.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.writer.flush().await
    }

    /// The sessions that changed last, newest first.
    ///
    /// # Errors
    ///
    /// [`StoreError::Broken`] if the file cannot be read.
    pub async fn list_sessions(
        &self,
        filter: SessionFilter,
    ) -> Result<Vec<SessionSummary>, StoreError> {
        self.reader.long(move |conn| session::list(conn, &filter)).await
    }

    /// Goes through a session, archived messages included: the next messages from `from` on, at
    /// most `limit`, and where to go on; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSession`] if there is none, [`StoreError::Broken`] if the file cannot be
    /// read.
    pub async fn walk(
        &self,
        session_id: &str,
        from: Cursor,
        limit: usize,
    ) -> Result<(Vec<StoredMessage>, Option<Cursor>), StoreError> {
        let id = session_id.to_owned();
        self.reader.long(move |conn| page::walk(conn, &id, from, limit)).await
    }

    /// The id of the session that changed last, if there is any.
    ///
    /// # Errors
    ///
    /// [`StoreError::Broken`] if the file cannot be read.
    pub async fn latest_session_id(&self) -> Result<Option<String>, StoreError> {
        let newest = self.recent(1).await?;
        Ok(newest.into_iter().next().map(|session| session.session_id))
    }

    /// The id of the session with this id, or of the only one whose id starts so; or else of the
    /// one with this title, or of the only one whose title starts so.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSession`] if there is none, [`StoreError::Broken`] if there are several,
    /// which it names, or if the file cannot be read.
    pub async fn find_session(&self, id_or_prefix: &str) -> Result<String, StoreError> {
        let prefix = id_or_prefix.to_owned();
        self.reader.quick(move |conn| shelf::find(conn, &prefix)).await
    }

    /// The receipts of a session, in the order they were recorded.
    ///
    /// # Errors
    ///
    /// [`StoreError::Broken`] if the file cannot be read or written.
    pub async fn receipts(&self, session_id: &str) -> Result<Vec<Receipt>, StoreError> {
        self.flush().await?;
        let session_id = session_id.to_owned();
        self.reader.long(move |conn| receipt::of_session(conn, &session_id)).await
    }

    /// Deletes a session with its messages, turns, receipts and spilled results. Sessions that
    /// continue it stay, without a parent.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSession`] if there is none, [`StoreError::InUse`] while a turn is running in
    /// it, [`StoreError::Broken`] if the file cannot be written.
    pub async fn delete_session(&self, session_id: &str) -> Result<(), StoreError> {
        let (id, now) = (session_id.to_owned(), self.now_ms());
        let bytes = usize::MAX; // as long as the session is
        let work = move |conn: &rusqlite::Connection| {
            lease::check(conn, &id, now)?;
            session::delete(conn, &id)
        };
        self.writer.commit(Durability::Process, bytes, work).await
    }

    /// Names a session and returns the name as it is kept: at most 100 characters, without what a
    /// terminal would act on, and with ` #2` or the like behind it if another session has it.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSession`] if there is none, [`StoreError::Broken`] if nothing is left of
    /// the title or the file cannot be written.
    pub async fn rename_session(
        &self,
        session_id: &str,
        title: &str,
    ) -> Result<String, StoreError> {
        let (id, title) = (session_id.to_owned(), title.to_owned());
        let work = move |conn: &rusqlite::Connection| shelf::rename(conn, &id, &title);
        self.writer.commit(Durability::Process, 0, work).await
    }

    /// Makes a session that continues this one and holds what it held before anything was archived
    /// in it; gives its id. This one stays as it is.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSession`] if there is none, [`StoreError::Broken`] if nothing of it was
    /// archived or the file cannot be written.
    pub async fn restore_session(&self, session_id: &str) -> Result<String, StoreError> {
        let (id, child, now) = (session_id.to_owned(), hermes_core::id::fresh(), self.now_ms());
        let made = child.clone();
        let bytes = usize::MAX; // as long as the session is
        let work = move |conn: &rusqlite::Connection| branch::restore(conn, &id, &made, now);
        self.writer.commit(Durability::Process, bytes, work).await?;
        Ok(child)
    }

    /// Deletes all sessions that have not changed since `before_ms` (milliseconds since 1970-01-01
    /// UTC), but a line of sessions only as a whole, and none in which a turn is running. How many.
    ///
    /// # Errors
    ///
    /// [`StoreError::Broken`] if the file cannot be written; what was deleted before stays so.
    pub async fn prune_sessions(&self, before_ms: u64) -> Result<usize, StoreError> {
        let mut count = 0;
        loop {
            let now = self.now_ms();
            // One line in one transaction, so that others can write in between.
            let work = move |conn: &rusqlite::Connection| shelf::prune_line(conn, before_ms, now);
            match self.writer.commit(Durability::Process, usize::MAX, work).await? {
                Some(line) => count += line,
                None => return Ok(count),
            }
        }
    }

    /// Indexes what is written but not indexed. If that cannot be done now, a search finds what
    /// could be indexed before, which is better than nothing.
    pub(crate) async fn catch_up(&self) {
        let mut more = self.reader.quick(index::is_behind).await;
        while let Ok(true) = more {
            let bytes = usize::MAX; // on another thread
            more = self.writer.commit(Durability::Process, bytes, index::catch_up).await;
        }
        if let Err(error) = more {
            tracing::warn!(%error, "the newest messages cannot be searched yet");
        }
    }

    /// The time now, in milliseconds since 1970-01-01 UTC.
    pub(crate) fn now_ms(&self) -> u64 {
        (self.clock)()
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}
