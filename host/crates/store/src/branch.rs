//! Sessions that continue another: with a compressed history, or with the one there was before it
//! was compressed. Nothing is taken from the one there is.

use hermes_core::store::NewSession;
use rusqlite::{Connection, params};

use crate::fault::{Fault, Result};
use crate::row::MessageRow;
use crate::{history, session, shelf};

/// Makes `child`, which continues a session with these messages.
pub(crate) fn branch(
    conn: &Connection,
    id: &str,
    child: &str,
    rows: &[MessageRow],
    now_ms: u64,
) -> Result<()> {
    let key = begin(conn, id, child, now_ms)?;
    history::append(conn, child, rows, None, now_ms)?;
    finish(conn, key, child)
}

/// Makes `child` out of what a session held before anything was archived in it.
pub(crate) fn restore(conn: &Connection, id: &str, child: &str, now_ms: u64) -> Result<()> {
    let key = session::key(conn, id)?;
    let archived: bool = conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM messages WHERE session = ?1 AND archived = 1)",
        )?
        .query_row([key], |row| row.get(0))?;
    if !archived {
        return Err(Fault::Refused(format!(
            "nothing of session {id} was ever archived, so it is whole as it is"
        )));
    }
    begin(conn, id, child, now_ms)?;
    let new = session::key(conn, child)?;
    // A message that took the place of archived ones stands at the place of the first of them and
    // came later.
    conn.prepare_cached(
        "INSERT INTO messages (session, position, id, role, tool_call_id, created_ms, body)
         SELECT ?2, position, id, role, tool_call_id, created_ms, body FROM messages AS m
         WHERE session = ?1 AND NOT EXISTS (
             SELECT 1 FROM messages AS e
             WHERE e.session = ?1 AND e.archived = 1 AND e.position = m.position AND e.key < m.key)
         ORDER BY position, key",
    )?
    .execute(params![key, new])?;
    conn.prepare_cached(
        "UPDATE sessions SET
             message_count = (SELECT count(*) FROM messages WHERE session = ?1),
             next_position = (SELECT max(position) + 1 FROM messages WHERE session = ?1)
         WHERE key = ?1",
    )?
    .execute([new])?;
    finish(conn, key, child)
}

/// Makes an empty session that continues another, whose row in the table is given back.
fn begin(conn: &Connection, id: &str, child: &str, now_ms: u64) -> Result<i64> {
    let key = session::key(conn, id)?;
    session::create(conn, child, &like(conn, key, id)?, now_ms)?;
    Ok(key)
}

/// Turns are counted on, and the title gets a number behind it.
fn finish(conn: &Connection, key: i64, child: &str) -> Result<()> {
    let (turns, title): (i64, Option<String>) = conn
        .prepare_cached("SELECT turns, title FROM sessions WHERE key = ?1")?
        .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
    conn.prepare_cached("UPDATE sessions SET turns = ?2 WHERE id = ?1")?
        .execute(params![child, turns])?;
    if let Some(title) = title {
        shelf::rename(conn, child, &title)?;
    }
    Ok(())
}

/// A session that continues this one.
fn like(conn: &Connection, key: i64, id: &str) -> Result<NewSession> {
    let mut statement = conn.prepare_cached(
        "SELECT s.model, s.source, coalesce(p.text, '')
         FROM sessions s LEFT JOIN system_prompts p ON p.session = s.key WHERE s.key = ?1",
    )?;
    Ok(statement.query_row([key], |row| {
        Ok(NewSession {
            model: row.get(0)?,
            source: row.get(1)?,
            system: row.get(2)?,
            parent: Some(id.to_owned()),
        })
    })?)
}
