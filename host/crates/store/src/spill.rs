//! Results that were too long for the model, kept whole and read in slices.
//!
//! Bodies go in and out through SQLite's incremental access, so a slice of a result of many
//! megabytes costs memory only for itself. Which results are kept is decided elsewhere.

use std::io::Write as _;

use hermes_core::tool::{Body, Part};
use rusqlite::blob::ZeroBlob;
use rusqlite::{Connection, MAIN_DB, params};

use crate::fault::{Fault, Result};
use crate::int;

/// What stands between two text parts when they are read as one text.
const BETWEEN: u8 = b'\n';

/// Keeps the parts of one call's result, in place of what was kept under that call before.
pub(crate) fn keep(
    conn: &Connection,
    session_id: &str,
    call_id: &str,
    parts: &[Part],
    now_ms: u64,
) -> Result<()> {
    conn.prepare_cached("DELETE FROM spills WHERE session_id = ?1 AND call_id = ?2")?
        .execute([session_id, call_id])?;
    let mut statement = conn.prepare_cached(
        "INSERT INTO spills (session_id, call_id, part, kind, mime, attributes, created_ms, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for (index, part) in parts.iter().enumerate() {
        let (kind, bytes) = match &part.body {
            Body::Text(text) => ("text", text.as_bytes()),
            Body::Bytes(bytes) => ("bytes", bytes.as_slice()),
        };
        statement.execute(params![
            session_id,
            call_id,
            int::len_to_sql(index),
            kind,
            part.mime,
            serde_json::Value::Object(part.attributes.clone()).to_string(),
            int::to_sql(now_ms),
            ZeroBlob(bytes.len() as u64)
        ])?;
        let mut blob =
            conn.blob_open(MAIN_DB, "spills", "body", conn.last_insert_rowid(), false)?;
        blob.write_all(bytes)
            .map_err(|error| Fault::Refused(format!("keeping a result part: {error}")))?;
        blob.close()?;
    }
    Ok(())
}

/// Part of the text of a kept result, from byte `offset` on, and the length of the whole; `None`
/// if nothing is kept under that call.
///
/// The whole is all text parts with a line end between them; other parts are not text and are
/// left out. An offset inside a character is taken to the next one.
pub(crate) fn read(
    conn: &Connection,
    session_id: &str,
    call_id: &str,
    offset: u64,
    limit: usize,
) -> Result<Option<(String, u64)>> {
    // One transaction: the parts must not be replaced between two reads.
    let conn = conn.unchecked_transaction()?;
    let Some(parts) = text_parts(&conn, session_id, call_id)? else {
        return Ok(None);
    };
    let total = parts.last().map_or(0, |part| part.end);
    let to = offset.saturating_add(limit as u64).min(total);
    let mut bytes = Vec::with_capacity(usize::try_from(to.saturating_sub(offset)).unwrap_or(0));
    for part in &parts {
        if part.start > 0 && (offset..to).contains(&(part.start - 1)) {
            bytes.push(BETWEEN);
        }
        let (from, to) = (offset.max(part.start), to.min(part.end));
        if from < to {
            append_slice(&conn, part, from, to, &mut bytes)?;
        }
    }
    Ok(Some((whole_characters(&bytes).into(), total)))
}

/// One text part: its row, and where in the whole text it starts and ends.
struct TextPart {
    key: i64,
    start: u64,
    end: u64,
}

/// The text parts of a kept result; `None` if nothing is kept.
fn text_parts(conn: &Connection, session_id: &str, call_id: &str) -> Result<Option<Vec<TextPart>>> {
    let mut statement = conn.prepare_cached(
        // A session reads what those it continues have kept, the nearest first.
        "WITH RECURSIVE line (id, far) AS (
             SELECT ?1, 0
             UNION ALL
             SELECT s.parent, line.far + 1 FROM line JOIN sessions s ON s.id = line.id
             WHERE s.parent IS NOT NULL AND line.far < 1000)
         SELECT key, kind = 'text', length(body) FROM spills
         WHERE call_id = ?2 AND session_id = (
             SELECT line.id FROM line JOIN spills k ON k.session_id = line.id AND k.call_id = ?2
             ORDER BY line.far LIMIT 1)
         ORDER BY part",
    )?;
    let mut rows = statement.query([session_id, call_id])?;
    let mut kept = false;
    let mut parts: Vec<TextPart> = Vec::new();
    while let Some(row) = rows.next()? {
        kept = true;
        if row.get::<_, bool>(1)? {
            let start = parts.last().map_or(0, |part| part.end + 1);
            let end = start + int::from_sql(row.get(2)?);
            parts.push(TextPart { key: row.get(0)?, start, end });
        }
    }
    Ok(kept.then_some(parts))
}

/// Adds what the part has between `from` and `to`, counted in the whole text.
fn append_slice(
    conn: &Connection,
    part: &TextPart,
    from: u64,
    to: u64,
    bytes: &mut Vec<u8>,
) -> Result<()> {
    // Both fit: a part is shorter than 2 GiB.
    let skip = usize::try_from(from - part.start).unwrap_or(usize::MAX);
    let len = usize::try_from(to - from).unwrap_or(usize::MAX);
    let old = bytes.len();
    bytes.resize(old + len, 0);
    let blob = conn.blob_open(MAIN_DB, "spills", "body", part.key, true)?;
    blob.read_at_exact(&mut bytes[old..], skip)?;
    Ok(blob.close()?)
}

/// The whole characters in a slice of UTF-8: without the rest of a character at its start and
/// without the beginning of one at its end.
fn whole_characters(bytes: &[u8]) -> &str {
    let start = bytes.iter().position(|byte| byte & 0xC0 != 0x80).unwrap_or(bytes.len());
    let bytes = &bytes[start..];
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}
