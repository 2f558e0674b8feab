//! The shape of the file: whose it is, which version, and how an older one becomes the present one.
//!
//! A migration is one file and is never edited after a release; the next change is the next file.

use rusqlite::{Connection, TransactionBehavior};

use crate::fault::{Fault, Result};
use crate::int;

/// Marks the file as ours in its header: `Herm` in ASCII.
const APPLICATION_ID: i32 = 0x4865_726D;

/// Number n (from 1) brings a file from version n-1 to version n.
const MIGRATIONS: &[&str] =
    &[include_str!("migrations/0001_sessions.sql"), include_str!("migrations/0002_search.sql")];

/// Checks that the file is ours and not from the future, without writing to it. Whether it needs
/// [`migrate`].
pub(crate) fn needs_migration(conn: &Connection) -> Result<bool> {
    // One transaction: another process may be making the file at this moment.
    let conn = conn.unchecked_transaction()?;
    let (application, version) = conn.query_row(
        "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version",
        [],
        |row| Ok((row.get::<_, i32>(0)?, row.get::<_, i64>(1)?)),
    )?;
    if application == APPLICATION_ID {
        return Ok(!pending(version)?.is_empty());
    }
    let empty = application == 0
        && version == 0
        && conn.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?;
    if empty {
        return Ok(true);
    }
    Err(Fault::Refused(format!(
        "a SQLite database of another program (application id {application}); it was not \
         touched. Choose another folder, then try again"
    )))
}

/// Brings the file to the present version, all or none. Two processes may try at once: the second
/// finds nothing left to do.
pub(crate) fn migrate(conn: &mut Connection) -> Result<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = tx.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))?;
    for sql in pending(version)? {
        tx.execute_batch(sql)?;
    }
    touch(&tx)?;
    tx.pragma_update(None, "user_version", int::len_to_sql(MIGRATIONS.len()))?;
    Ok(tx.commit()?)
}

/// Writes our mark: the least there is to write, and never a change in a file of ours.
pub(crate) fn touch(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "application_id", APPLICATION_ID)
}

/// The migrations a file of this version lacks.
fn pending(version: i64) -> Result<&'static [&'static str]> {
    usize::try_from(version).ok().and_then(|done| MIGRATIONS.get(done..)).ok_or_else(|| {
        Fault::Refused(format!(
            "written by another version of this program (schema {version}, this one knows up to \
             {}); it was not touched. Update this program or choose another folder",
            MIGRATIONS.len()
        ))
    })
}
