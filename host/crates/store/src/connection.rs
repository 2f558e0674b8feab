//! Opening the file: once to write, once to read.
//!
//! It is on the path of every start, so nothing here looks through the file: what is damaged deep
//! inside is found when it is read. Nothing is written before the file is known to be ours.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, MAIN_DB, OpenFlags, TransactionBehavior};

use crate::fault::{self, Fault, Result};
use crate::{platform, schema};

/// How long another process's lock is waited for. A transaction of ours takes well under a second.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Pause between two tries where SQLite itself does not wait.
const PAUSE: Duration = Duration::from_millis(2);

/// Statements kept ready: more than this crate has.
const STATEMENTS: usize = 64;

/// Opens the file to write, making it and its folder if they are missing.
pub(crate) fn open_writer(path: &Path) -> Result<Connection> {
    let fresh = create_missing(path)?;
    let mut conn = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(|error| if path.is_dir() { is_a_folder() } else { Fault::Sql(error) })?;
    patiently(|| set_up(&mut conn, path, fresh))?;
    Ok(conn)
}

/// Checks the file, then makes it what this version needs. It may be begun again at any point.
fn set_up(conn: &mut Connection, path: &Path, fresh: bool) -> Result<()> {
    let migrate = schema::needs_migration(conn)?;
    if conn.is_readonly(MAIN_DB)? {
        return Err(Fault::Refused(
            "the file is read-only. Give this user write permission on the file and its folder, \
             then try again"
                .into(),
        ));
    }
    // A file made just now has nothing a rollback journal could bring back, nor anything a power
    // cut could take: at worst it is found empty again. Waiting for the disk six times would be
    // most of a first start.
    let nothing_to_lose = fresh && migrate;
    if nothing_to_lose {
        conn.execute_batch("PRAGMA journal_mode = OFF")?;
    }
    use_wal(conn, path)?;
    // Foreign keys cannot be switched inside a transaction. `fullfsync` matters on macOS, where a
    // plain fsync stops at the disk's own cache. Checkpoints are the writer's.
    conn.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA fullfsync = ON; PRAGMA wal_autocheckpoint = 0;",
    )?;
    if migrate {
        // The writer sets its own mode.
        let synchronous = if nothing_to_lose { "OFF" } else { "FULL" };
        conn.pragma_update(None, "synchronous", synchronous)?;
        schema::migrate(conn)?;
    }
    start_log(conn, path)
}

/// Writes the beginning of the log if there is none. SQLite would do it with the first append and
/// wait for the disk twice, which only matters for a log begun again, where old entries follow:
/// they must not be taken for new ones after a power cut. An empty log has none.
fn start_log(conn: &mut Connection, path: &Path) -> Result<()> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let empty = || std::fs::metadata(&log).is_ok_and(|log| log.len() == 0);
    if !empty() {
        return Ok(());
    }
    conn.busy_timeout(Duration::ZERO)?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    let begun = conn.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|tx| {
        // Asked again, since from here on nobody else can write to it.
        if empty() {
            schema::touch(&tx)?;
        }
        tx.commit()
    });
    conn.busy_timeout(PATIENCE)?;
    match begun {
        // Whoever is writing begins it.
        Err(error) if fault::is_busy(&error) => Ok(()),
        done => Ok(done?),
    }
}

/// Opens the file, which a writer has opened before, to read.
pub(crate) fn open_reader(path: &Path) -> Result<Connection> {
    Ok(open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?)
}

fn open(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    // A connection is always behind a mutex of ours.
    let conn = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(PATIENCE)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(conn)
}

/// Whether there was no file before.
fn create_missing(path: &Path) -> Result<bool> {
    let refused = |what: &Path, error: std::io::Error| {
        Fault::Refused(format!(
            "cannot make {}: {error}. Check that this user may write there, or choose another \
             folder",
            what.display()
        ))
    };
    if let Some(folder) = path.parent() {
        platform::create_private_folder(folder).map_err(|error| refused(folder, error))?;
    }
    platform::create_private_file(path).map_err(|error| refused(path, error))
}

fn is_a_folder() -> Fault {
    Fault::Refused("this is a folder, and a file is needed. Move it aside, then try again".into())
}

/// Readers and the writer must not wait for each other. The mode is a property of the file, so this
/// changes something only in a new file or in one copied by a tool that left the mode out.
fn use_wal(conn: &Connection, path: &Path) -> Result<()> {
    let mode: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        tracing::warn!(path = %path.display(), mode,
            "the file system cannot share memory between processes; the store will be slower");
    }
    Ok(())
}

/// Tries again while another process is in the way. SQLite waits by itself inside a transaction,
/// but not where two processes make the same new file.
fn patiently<T>(mut step: impl FnMut() -> Result<T>) -> Result<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match step() {
            Err(Fault::Sql(error)) if fault::is_busy(&error) && Instant::now() < deadline => {
                thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}
