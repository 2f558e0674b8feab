//! The index of words: which messages are in it, and what of a message.
//!
//! A message is indexed some time after it is written, many in one transaction: an index entry of
//! its own would make an append take twice as long. [`catch_up`] may be called at any time by any
//! process; each search does it first, so that what is written is found.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hermes_core::message::{Message, Role};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use crate::fault::Result;
use crate::row::MessageRow;
use crate::words;

/// Most messages, and about the most bytes, that are indexed in one transaction: some 10 ms in
/// which others wait to write.
const SLICE: (i64, usize) = (256, 256 << 10);

/// Whether a message is not in the index yet.
pub(crate) fn is_behind(conn: &Connection) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM messages, search_progress WHERE key > up_to)";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// Indexes some of the messages that are not in the index. Whether there may be more.
pub(crate) fn catch_up(conn: &Connection) -> Result<bool> {
    let mut read = conn.prepare_cached(
        "SELECT m.key, m.session, m.body FROM messages m, search_progress p
         WHERE m.key > p.up_to ORDER BY m.key LIMIT ?1",
    )?;
    let (most, most_bytes) = SLICE;
    let mut rows = read.query([most])?;
    let mut facets = HashMap::new();
    let (mut up_to, mut count, mut bytes) = (None, 0, 0);
    while bytes < most_bytes
        && let Some(row) = rows.next()?
    {
        let (key, session) = (row.get(0)?, row.get(1)?);
        let body = row.get_ref(2)?.as_bytes().map_err(rusqlite::Error::from)?;
        up_to = Some(key);
        count += 1;
        bytes += body.len();
        // One that cannot be read is told of where its session is loaded.
        let Ok(message) = MessageRow::parse(body) else { continue };
        let facets = match facets.entry(session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(session_facets(conn, session)?),
        };
        insert(conn, key, &message, facets)?;
    }
    drop(rows);
    if let Some(key) = up_to {
        conn.prepare_cached("UPDATE search_progress SET up_to = ?1")?.execute([key])?;
    }
    Ok(bytes >= most_bytes || count == most)
}

/// The facets of all messages of a session.
fn session_facets(conn: &Connection, session: i64) -> Result<String> {
    let mut statement = conn.prepare_cached("SELECT source, root FROM sessions WHERE key = ?1")?;
    let found = statement
        .query_row([session], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .optional()?;
    let (source, root) = found.unwrap_or_default();
    Ok([session_facet(session), source_facet(&source), root_facet(&root)].join(" "))
}

/// The word all messages of a session have.
pub(crate) fn session_facet(session: i64) -> String {
    format!("s{session}")
}

/// The word all messages of a front end have.
pub(crate) fn source_facet(source: &str) -> String {
    format!("o{}", words::spelled(source))
}

/// The word all messages of a line of sessions have.
pub(crate) fn root_facet(root: &str) -> String {
    format!("l{}", words::spelled(root))
}

/// The column of the index for what `role` says.
pub(crate) fn column(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool | Role::System => "tool",
    }
}

fn insert(conn: &Connection, key: i64, message: &Message, facets: &str) -> Result<()> {
    let words = words::indexed(&searchable(message));
    let of = |name: &str| if column(message.role) == name { words.as_str() } else { "" };
    conn.prepare_cached(
        "INSERT INTO message_words (rowid, user, assistant, tool, facets)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![key, of("user"), of("assistant"), of("tool"), facets])?;
    Ok(())
}

/// Takes a session's messages out of the index, before they are deleted.
pub(crate) fn forget(conn: &Connection, session: i64) -> Result<()> {
    conn.prepare_cached(
        "DELETE FROM message_words WHERE rowid IN (
             SELECT key FROM messages, search_progress WHERE session = ?1 AND key <= up_to)",
    )?
    .execute([session])?;
    Ok(())
}

/// To be called after messages were deleted: SQLite gives the highest keys again.
pub(crate) fn after_deletion(conn: &Connection) -> Result<()> {
    conn.execute(
        "UPDATE search_progress
         SET up_to = min(up_to, (SELECT coalesce(max(key), 0) FROM messages))",
        [],
    )?;
    Ok(())
}

/// The text a message is found by: what it says, then the calls it makes.
pub(crate) fn searchable(message: &Message) -> String {
    let mut text = message.content.text();
    for call in &message.tool_calls {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&call.name);
        match serde_json::from_str(&call.arguments) {
            Ok(arguments) => push_values(&mut text, &arguments),
            Err(_) => push_value(&mut text, &call.arguments),
        }
    }
    text
}

/// Adds what stands in a JSON value, without its syntax and escapes.
fn push_values(text: &mut String, value: &Value) {
    match value {
        Value::Null => {}
        Value::Bool(value) => push_value(text, &value.to_string()),
        Value::Number(value) => push_value(text, &value.to_string()),
        Value::String(value) => push_value(text, value),
        Value::Array(values) => values.iter().for_each(|value| push_values(text, value)),
        Value::Object(values) => values.values().for_each(|value| push_values(text, value)),
    }
}

fn push_value(text: &mut String, value: &str) {
    text.push(' ');
    text.push_str(value);
}
