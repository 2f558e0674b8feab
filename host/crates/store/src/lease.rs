//! Who runs a turn in a session: one row for as long as it runs.
//!
//! A holder writes its row anew every few seconds. If it dies, its row is left behind and runs out.
//! On Linux it is not time that decides but whether the process is there.

use std::process;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, named_params, params};

use crate::fault::{Fault, Result};
use crate::{int, platform, session};

/// How long a row counts that is not written anew: longer than any pause a living process makes.
pub(crate) const LIFETIME: Duration = Duration::from_secs(30);

/// How often a row is written anew: two may fail.
pub(crate) const RENEWAL: Duration = Duration::from_secs(10);

/// Takes the lease of a session for `holder`, made by [`holder`].
///
/// # Errors
///
/// [`Fault::InUse`] while somebody else has it.
pub(crate) fn take(conn: &Connection, session_id: &str, holder: &str, now_ms: u64) -> Result<()> {
    let session = check(conn, session_id, now_ms)?;
    conn.prepare_cached(
        "INSERT OR REPLACE INTO turn_lease (session, holder, expires_ms)
         VALUES (:session, :holder, :expires)",
    )?
    .execute(named_params! {
        ":session": session,
        ":holder": holder,
        ":expires": expires(now_ms),
    })?;
    Ok(())
}

/// The row of a session in which no turn is running.
///
/// # Errors
///
/// [`Fault::InUse`] while somebody has its lease.
pub(crate) fn check(conn: &Connection, session_id: &str, now_ms: u64) -> Result<i64> {
    let session = session::key(conn, session_id)?;
    let known = conn
        .prepare_cached("SELECT holder, expires_ms FROM turn_lease WHERE session = ?1")?
        .query_row([session], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))
        .optional()?;
    if let Some((other, expires_ms)) = known
        && is_alive(&other).unwrap_or(int::from_sql(expires_ms) > now_ms)
    {
        return Err(Fault::InUse(refusal(session_id, &other)));
    }
    Ok(session)
}

/// Writes the row of `holder` anew; whether it was still there.
pub(crate) fn renew(conn: &Connection, holder: &str, now_ms: u64) -> Result<bool> {
    let sql = "UPDATE turn_lease SET expires_ms = ?2 WHERE holder = ?1";
    Ok(conn.prepare_cached(sql)?.execute(params![holder, expires(now_ms)])? > 0)
}

/// Gives the lease of `holder` back.
pub(crate) fn release(conn: &Connection, holder: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM turn_lease WHERE holder = ?1")?.execute([holder])?;
    Ok(())
}

fn expires(now_ms: u64) -> i64 {
    int::to_sql(now_ms.saturating_add(u64::try_from(LIFETIME.as_millis()).unwrap_or(u64::MAX)))
}

/// A name for one lease of this process: its number, what tells it from others of that number, and
/// something no other lease has.
pub(crate) fn holder(unique: &str) -> String {
    let pid = process::id();
    let mark = platform::process_mark(pid).unwrap_or_else(|| "?".into());
    format!("{pid} {mark} {unique}")
}

/// Whether the process that holds a lease is alive, where that can be known. If it is, the lease
/// holds even if it has run out: a machine that wakes from sleep finds all of them so.
fn is_alive(holder: &str) -> Option<bool> {
    let mut parts = holder.split(' ');
    let pid = parts.next()?.parse().ok()?;
    platform::is_alive(pid, parts.next()?)
}

fn refusal(session_id: &str, holder: &str) -> String {
    let pid = holder.split(' ').next().unwrap_or_default();
    let who = if pid == process::id().to_string() {
        "this very process".into()
    } else {
        format!("process {pid}")
    };
    format!(
        "a turn is running in session {session_id}, in {who}. Wait for it to end or stop it, or go \
         on without --resume and --continue in a new session (a lease whose process is gone ends \
         by itself within {} s)",
        LIFETIME.as_secs()
    )
}
