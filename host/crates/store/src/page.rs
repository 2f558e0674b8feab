//! Reading stored messages piece by piece, archived ones included.

use std::ops::Range;
use std::sync::Arc;

use hermes_core::search::{SessionPage, SessionSummary, StoredMessage};
use rusqlite::{Connection, OptionalExtension, params};

use crate::fault::{Fault, Result};
use crate::row::MessageRow;
use crate::{int, session};

/// Where a walk through a session stands: behind the message of this position and key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    position: i64,
    key: i64,
}

impl Cursor {
    /// Before the first message.
    pub const START: Self = Self { position: i64::MIN, key: 0 };
}

/// The next messages of a session, at most `limit`, and where the walk goes on; `None` at the end.
pub(crate) fn walk(
    conn: &Connection,
    session_id: &str,
    from: Cursor,
    limit: usize,
) -> Result<(Vec<StoredMessage>, Option<Cursor>)> {
    let session = session::key(conn, session_id)?;
    let mut statement = conn.prepare_cached(
        "SELECT position, key FROM messages
         WHERE session = ?1 AND (position, key) > (?2, ?3) ORDER BY position, key LIMIT ?4",
    )?;
    let places = statement
        .query_map(params![session, from.position, from.key, int::len_to_sql(limit)], |row| {
            Ok(Cursor { position: row.get(0)?, key: row.get(1)? })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let last = places.last().copied().filter(|_| places.len() == limit);
    let messages = places.iter().map(|place| stored(conn, place.key));
    Ok((messages.flat_map(Result::transpose).collect::<Result<_>>()?, last))
}

/// A page of a session; see [`SessionSearch::read`](hermes_core::search::SessionSearch::read).
pub(crate) fn read(
    conn: &Connection,
    session_id: &str,
    around: Option<&str>,
    before: usize,
    after: usize,
) -> Result<SessionPage> {
    // One transaction, so that counts and messages are of the same moment.
    let conn = conn.unchecked_transaction()?;
    let mut session = session::get(&conn, session_id)?;
    let mut rows = rows(&conn, &session.session_id)?;
    let Some(wanted) = around else {
        let first = before.min(rows.len());
        let last = rows.len().saturating_sub(after).max(first);
        return page(&conn, session, &rows, 0..first, last..rows.len());
    };
    let is_wanted = |(_, id): &(i64, String)| id == wanted;
    let mut at = rows.iter().position(is_wanted);
    if at.is_none()
        && let Some(other) = in_line(&conn, &session.root, wanted)?
    {
        session = session::get(&conn, &other)?;
        rows = self::rows(&conn, &other)?;
        at = rows.iter().position(is_wanted);
    }
    let at = at.ok_or_else(|| {
        Fault::Refused(format!(
            "session {session_id:?} and those it continues have no message {wanted:?}; search \
             again for its id"
        ))
    })?;
    let end = at.saturating_add(after).saturating_add(1).min(rows.len());
    page(&conn, session, &rows, at.saturating_sub(before)..end, end..end)
}

/// The messages of two ranges of a session that may touch.
fn page(
    conn: &Connection,
    session: SessionSummary,
    rows: &[(i64, String)],
    first: Range<usize>,
    last: Range<usize>,
) -> Result<SessionPage> {
    let read = |range: Range<usize>| {
        let messages = rows[range].iter().map(|(key, _)| stored(conn, *key));
        messages.flat_map(Result::transpose).collect::<Result<Vec<_>>>()
    };
    let (before, after) = (first.start, rows.len() - last.end);
    let left_out = last.start - first.end;
    let mut messages = read(first)?;
    let gap = (left_out > 0).then_some((messages.len(), left_out));
    messages.extend(read(last)?);
    Ok(SessionPage { session, messages, before, gap, after })
}

/// All messages of a session, in order: their rows and ids.
fn rows(conn: &Connection, session_id: &str) -> Result<Vec<(i64, String)>> {
    let session = session::key(conn, session_id)?;
    let mut statement = conn
        .prepare_cached("SELECT key, id FROM messages WHERE session = ?1 ORDER BY position, key")?;
    let rows = statement.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The session of a line that has this message.
fn in_line(conn: &Connection, root: &str, message_id: &str) -> Result<Option<String>> {
    let mut statement = conn.prepare_cached(
        "SELECT s.id FROM sessions s JOIN messages m ON m.session = s.key
         WHERE s.root = ?1 AND m.id = ?2 ORDER BY s.key DESC LIMIT 1",
    )?;
    Ok(statement.query_row([root, message_id], |row| row.get(0)).optional()?)
}

/// The message of a row; `None`, with a warning, if it cannot be read.
fn stored(conn: &Connection, key: i64) -> Result<Option<StoredMessage>> {
    let mut statement =
        conn.prepare_cached("SELECT body, archived, id FROM messages WHERE key = ?1")?;
    let mut rows = statement.query([key])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let archived = row.get(1)?;
    match MessageRow::parse(row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?) {
        Ok(message) => Ok(Some(StoredMessage { message: Arc::new(message), archived })),
        Err(error) => {
            let id = String::from_utf8_lossy(row.get_ref(2)?.as_bytes().unwrap_or_default());
            tracing::warn!(message_id = %id, %error,
                "a stored message cannot be read and is left out");
            Ok(None)
        }
    }
}
