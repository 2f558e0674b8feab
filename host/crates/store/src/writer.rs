//! The connection for writing, and where a transaction runs.
//!
//! A small transaction that need not reach the disk is committed right in the caller's task: it
//! takes some 25 µs, and handing it to a thread and waiting for it would add 20 to 90 µs. Whatever
//! may take long goes to a thread that may block: one that waits for the disk, one with much data,
//! or one that finds a lock held.
//!
//! Receipts wait here and go along with the next transaction: some 8 µs each, where a transaction of
//! their own would take 25 and keep the next append waiting.

use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use hermes_core::keep::Receipt;
use hermes_core::store::{Durability, StoreError};
use rusqlite::{Connection, TransactionBehavior};
use tokio::{runtime, task};

use crate::connection::{self, PATIENCE};
use crate::fault::Result;
use crate::reader::ended;
use crate::{index, receipt, schema};

/// Most bytes written in the caller's task. They take some 100 µs.
const IN_PLACE_BYTES: usize = 64 << 10;

/// Receipts that are written even if nothing else is.
const RECEIPTS_DUE: usize = 64;

/// Receipts kept waiting while the database refuses writes; later ones are lost.
const RECEIPTS_MAX: usize = 4096;

/// Length of the write-ahead log, in pages of 4 KiB, from which on it is copied back into the
/// database. Opening the store after a crash reads it whole, and this much takes about 2 ms.
const CHECKPOINT_PAGES: i32 = 1000;

/// The writing side of a store.
pub(crate) struct Writer {
    path: PathBuf,
    held: Mutex<Held>,
    receipts: Mutex<Vec<(u64, Receipt)>>,
    checkpoint_due: Arc<AtomicBool>,
}

/// The connection and what it is set to.
struct Held {
    conn: Connection,
    durability: Option<Durability>,
}

impl Writer {
    /// Opens the file `path` to write.
    pub(crate) fn open(path: PathBuf) -> Result<Arc<Self>> {
        let mut conn = connection::open_writer(&path)?;
        let checkpoint_due = Arc::new(AtomicBool::new(false));
        let due = Arc::clone(&checkpoint_due);
        conn.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            due.store(pages >= CHECKPOINT_PAGES, Ordering::Relaxed);
            Ok(())
        }))?;
        let held = Mutex::new(Held { conn, durability: None });
        Ok(Arc::new(Self { path, held, receipts: Mutex::default(), checkpoint_due }))
    }

    /// Runs `work` as one transaction and commits it as safely as `durability` says. `bytes` is
    /// about how much it writes. `work` may run again if the first try finds the file locked.
    pub(crate) async fn commit<T, F>(
        self: &Arc<Self>,
        durability: Durability,
        bytes: usize,
        work: F,
    ) -> Result<T, StoreError>
    where
        F: Fn(&Connection) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let in_place = durability == Durability::Process && bytes <= IN_PLACE_BYTES;
        let done = match in_place.then(|| self.try_in_place(&work)).flatten() {
            Some(done) => done,
            None => {
                let this = Arc::clone(self);
                task::spawn_blocking(move || this.commit_blocking(durability, work))
                    .await
                    .unwrap_or_else(|error| Err(ended(&self.path, &error)))
            }
        };
        if self.checkpoint_due.swap(false, Ordering::Relaxed) {
            let this = Arc::clone(self);
            task::spawn_blocking(move || this.checkpoint());
        }
        done
    }

    /// Takes a receipt, to be written with the next transaction.
    pub(crate) fn record(self: &Arc<Self>, now_ms: u64, receipt: Receipt) {
        let waiting = {
            let mut receipts = lock(&self.receipts);
            if receipts.len() >= RECEIPTS_MAX {
                tracing::warn!(path = %self.path.display(), call_id = receipt.call_id,
                    "a receipt is lost: too many wait to be written");
                return;
            }
            receipts.push((now_ms, receipt));
            receipts.len()
        };
        if waiting % RECEIPTS_DUE != 0 {
            return;
        }
        let this = Arc::clone(self);
        let flush = move || this.flush_or_warn();
        match runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(flush)),
            Err(_) => flush(),
        }
    }

    /// Writes the receipts that wait.
    pub(crate) async fn flush(self: &Arc<Self>) -> Result<(), StoreError> {
        let this = Arc::clone(self);
        task::spawn_blocking(move || this.commit_blocking(Durability::Process, |_| Ok(())))
            .await
            .unwrap_or_else(|error| Err(ended(&self.path, &error)))
    }

    /// Runs a small `work` as one transaction without being waited for: here if that takes no
    /// waiting, else on a thread. What goes wrong is logged.
    pub(crate) fn commit_soon<F>(self: Arc<Self>, work: F)
    where
        F: Fn(&Connection) -> Result<()> + Send + 'static,
    {
        let told = |done: Result<(), StoreError>| {
            if let Err(error) = done {
                tracing::warn!(%error, "something was not written");
            }
        };
        if let Some(done) = self.try_in_place(&work) {
            return told(done);
        }
        let later = move || told(self.commit_blocking(Durability::Process, work));
        match runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(later)),
            Err(_) => later(),
        }
    }

    /// Indexes some of what is written but not indexed, on another thread.
    pub(crate) fn index_soon(self: &Arc<Self>) {
        let this = Arc::clone(self);
        task::spawn_blocking(move || {
            if let Err(error) = this.commit_blocking(Durability::Process, index::catch_up) {
                tracing::warn!(%error, "the newest messages cannot be searched yet");
            }
        });
    }

    fn flush_or_warn(&self) {
        if lock(&self.receipts).is_empty() {
            return;
        }
        if let Err(error) = self.commit_blocking(Durability::Process, |_| Ok(())) {
            tracing::warn!(%error, "receipts could not be written");
        }
    }

    /// `None` if it would have to wait for a lock.
    fn try_in_place<T>(
        &self,
        work: impl Fn(&Connection) -> Result<T>,
    ) -> Option<Result<T, StoreError>> {
        let held = match self.held.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        match self.run(held, Durability::Process, Duration::ZERO, work) {
            Err(fault) if fault.is_busy() => None,
            done => Some(done.map_err(|fault| fault.at(&self.path))),
        }
    }

    fn commit_blocking<T>(
        &self,
        durability: Durability,
        work: impl Fn(&Connection) -> Result<T>,
    ) -> Result<T, StoreError> {
        self.run(lock(&self.held), durability, PATIENCE, work).map_err(|fault| fault.at(&self.path))
    }

    fn run<T>(
        &self,
        mut held: MutexGuard<'_, Held>,
        durability: Durability,
        patience: Duration,
        work: impl Fn(&Connection) -> Result<T>,
    ) -> Result<T> {
        held.conn.busy_timeout(patience)?;
        held.set(durability)?;
        let tx = held.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut receipts = mem::take(&mut *lock(&self.receipts));
        if let Err(fault) = receipt::insert(&tx, &receipts) {
            tracing::warn!(error = %fault.at(&self.path), "receipts are lost");
            receipts.clear();
        }
        let done = work(&tx).and_then(|done| {
            tx.commit()?;
            Ok(done)
        });
        if done.is_err() {
            lock(&self.receipts).splice(0..0, receipts);
        }
        done
    }

    /// Copies the log back into the database, as far as no reader is in the way. Here and not in
    /// a commit, since it waits for the disk.
    fn checkpoint(&self) {
        let held = lock(&self.held);
        let done = held.conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        // The next write starts the log again from its beginning, for which it waits for the disk
        // once more. So write something here, where nobody waits.
        let done = done.and_then(|()| schema::touch(&held.conn));
        if let Err(error) = done {
            tracing::warn!(path = %self.path.display(), %error, "the log cannot be copied back");
        }
    }
}

impl Held {
    /// Sets how far a commit goes. It cannot be changed inside a transaction, and changing it
    /// takes less than a microsecond.
    fn set(&mut self, durability: Durability) -> Result<()> {
        if self.durability != Some(durability) {
            self.conn.execute_batch(match durability {
                Durability::Process => "PRAGMA synchronous = NORMAL",
                Durability::Power => "PRAGMA synchronous = FULL",
            })?;
            self.durability = Some(durability);
        }
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.flush_or_warn();
    }
}

/// Locks `mutex`. A panic while it was held left no harm: SQLite rolled the transaction back.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
