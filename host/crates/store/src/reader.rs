//! The connection for reading. It sees what is committed and waits for no writer.
//!
//! It is opened by the first read: a run that only adds to a new session has none.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use hermes_core::store::StoreError;
use rusqlite::Connection;
use tokio::task;

use crate::connection;
use crate::fault::Result;

/// The reading side of a store.
pub(crate) struct Reader {
    path: PathBuf,
    conn: Mutex<Option<Connection>>,
}

impl Reader {
    /// A reader of the file `path`, not opened yet.
    pub(crate) fn new(path: PathBuf) -> Arc<Self> {
        Arc::new(Self { path, conn: Mutex::new(None) })
    }

    /// A read of a few rows, done in the caller's task: it takes microseconds, and going to
    /// another thread would take longer. It goes there if another read is under way.
    pub(crate) async fn quick<T, F>(self: &Arc<Self>, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        if let Some(held) = self.try_lock() {
            return self.run(held, work);
        }
        self.long(work).await
    }

    /// A read that may take long, done on a thread that may block.
    pub(crate) async fn long<T, F>(self: &Arc<Self>, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let this = Arc::clone(self);
        let done = task::spawn_blocking(move || {
            let held = this.conn.lock().unwrap_or_else(PoisonError::into_inner);
            this.run(held, work)
        });
        done.await.unwrap_or_else(|error| Err(ended(&self.path, &error)))
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Option<Connection>>> {
        match self.conn.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn run<T, F>(
        &self,
        mut held: MutexGuard<'_, Option<Connection>>,
        work: F,
    ) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T>,
    {
        let opened = match held.take() {
            Some(conn) => Ok(conn),
            None => connection::open_reader(&self.path),
        };
        opened.and_then(|conn| work(held.insert(conn))).map_err(|fault| fault.at(&self.path))
    }
}

/// The thread that worked on the database is gone: the runtime ended, or the work panicked.
pub(crate) fn ended(path: &Path, error: &task::JoinError) -> StoreError {
    StoreError::Broken(format!("{}: work on the database did not end: {error}", path.display()))
}
