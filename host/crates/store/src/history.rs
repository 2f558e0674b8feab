//! The messages of a session: adding, reading and archiving them.
//!
//! Whether a history makes sense to a provider is not judged here.

use std::collections::HashSet;
use std::sync::Arc;

use hermes_core::store::StoredSession;
use rusqlite::{Connection, OptionalExtension, params};

use crate::fault::{Fault, Result};
use crate::row::MessageRow;
use crate::{int, session};

/// Adds messages at the end. `title` is used if the session has none.
pub(crate) fn append(
    conn: &Connection,
    session_id: &str,
    rows: &[MessageRow],
    title: Option<&str>,
    now_ms: u64,
) -> Result<()> {
    let (session, next) = conn
        .prepare_cached(
            "UPDATE sessions
             SET next_position = next_position + ?2, message_count = message_count + ?2,
                 updated_ms = ?3, title = coalesce(title, ?4)
             WHERE id = ?1 RETURNING key, next_position",
        )?
        .query_row(
            params![session_id, int::len_to_sql(rows.len()), int::to_sql(now_ms), title],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)),
        )
        .optional()?
        .ok_or_else(|| Fault::NoSession(session_id.into()))?;
    insert(conn, session, next - int::len_to_sql(rows.len()), rows)
}

/// Writes messages from `position` on.
fn insert(conn: &Connection, session: i64, position: i64, rows: &[MessageRow]) -> Result<()> {
    let mut statement = conn.prepare_cached(
        "INSERT INTO messages (session, position, id, role, tool_call_id, created_ms, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (position, row) in (position..).zip(rows) {
        statement.execute(params![
            session,
            position,
            row.id,
            row.role,
            row.tool_call_id,
            row.created_ms,
            row.body
        ])?;
    }
    Ok(())
}

/// Reads a session whole. A message that cannot be read is left out with a warning that names it:
/// one bad row must not cost the whole session.
pub(crate) fn load(conn: &Connection, session_id: &str) -> Result<StoredSession> {
    // One transaction, so that turns and messages are of the same moment.
    let conn = conn.unchecked_transaction()?;
    let (session, turns, system, count) = conn
        .prepare_cached(
            "SELECT s.key, s.turns, coalesce(p.text, ''), s.message_count
             FROM sessions s LEFT JOIN system_prompts p ON p.session = s.key WHERE s.id = ?1",
        )?
        .query_row([session_id], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, row.get::<_, i64>(3)?))
        })
        .optional()?
        .ok_or_else(|| Fault::NoSession(session_id.into()))?;
    let mut messages = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    let mut statement = conn.prepare_cached(
        "SELECT body, id FROM messages WHERE session = ?1 AND archived = 0 ORDER BY position, key",
    )?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        match MessageRow::parse(row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?) {
            Ok(message) => messages.push(Arc::new(message)),
            Err(error) => {
                let id = String::from_utf8_lossy(row.get_ref(1)?.as_bytes().unwrap_or_default());
                tracing::warn!(session_id, message_id = %id, %error,
                    "a stored message cannot be read and is left out");
            }
        }
    }
    let turns = int::small_from_sql(turns);
    Ok(StoredSession { id: session_id.into(), system, turns, messages })
}

/// Archives the named messages and puts `instead` where the first of them was.
pub(crate) fn archive(
    conn: &Connection,
    session_id: &str,
    archived: &[String],
    instead: &[MessageRow],
    now_ms: u64,
) -> Result<()> {
    let session = session::key(conn, session_id)?;
    let plan = plan(&live(conn, session)?, archived, instead.len())?;
    let mut hide = conn.prepare_cached("UPDATE messages SET archived = 1 WHERE key = ?1")?;
    for key in &plan.hidden {
        hide.execute([key])?;
    }
    if let Some((from, by)) = plan.shift {
        conn.prepare_cached(
            "UPDATE messages SET position = position + ?3 WHERE session = ?1 AND position >= ?2",
        )?
        .execute(params![session, from, by])?;
    }
    insert(conn, session, plan.place, instead)?;
    conn.prepare_cached(
        "UPDATE sessions
         SET message_count = message_count - ?2 + ?3, updated_ms = ?4,
             next_position = (SELECT max(position) + 1 FROM messages WHERE session = ?1)
         WHERE key = ?1",
    )?
    .execute(params![
        session,
        int::len_to_sql(plan.hidden.len()),
        int::len_to_sql(instead.len()),
        int::to_sql(now_ms)
    ])?;
    Ok(())
}

/// A message that is not archived: its row, place and id.
struct Live {
    key: i64,
    position: i64,
    id: String,
}

/// What archiving comes to.
#[derive(Debug, PartialEq)]
struct Plan {
    /// Rows to archive.
    hidden: Vec<i64>,
    /// Position of the first replacement.
    place: i64,
    /// Where the replacements need more room than the archived messages leave: from which
    /// position on all move, and by how much.
    shift: Option<(i64, i64)>,
}

fn live(conn: &Connection, session: i64) -> Result<Vec<Live>> {
    let mut statement = conn.prepare_cached(
        "SELECT key, position, id FROM messages WHERE session = ?1 AND archived = 0
         ORDER BY position, key",
    )?;
    let rows = statement.query_map([session], |row| {
        Ok(Live { key: row.get(0)?, position: row.get(1)?, id: row.get(2)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn plan(live: &[Live], archived: &[String], replacements: usize) -> Result<Plan> {
    let named: HashSet<&str> = archived.iter().map(String::as_str).collect();
    let known: HashSet<&str> = live.iter().map(|message| message.id.as_str()).collect();
    if let Some(missing) = archived.iter().find(|id| !known.contains(id.as_str())) {
        return Err(Fault::Refused(format!(
            "message {missing:?} is not among the live messages of its session, so nothing was \
             archived; load the session again"
        )));
    }
    let Some(first) = live.iter().position(|message| named.contains(message.id.as_str())) else {
        return Err(Fault::Refused("no message is named, so nothing was archived".into()));
    };
    let place = live[first].position;
    let end = place.saturating_add(int::len_to_sql(replacements));
    let following = live[first..].iter().find(|message| !named.contains(message.id.as_str()));
    let hidden = live.iter().filter(|message| named.contains(message.id.as_str()));
    Ok(Plan {
        hidden: hidden.map(|message| message.key).collect(),
        place,
        shift: following
            .filter(|message| message.position < end)
            .map(|message| (message.position, end - message.position)),
    })
}

#[cfg(test)]
mod tests;
