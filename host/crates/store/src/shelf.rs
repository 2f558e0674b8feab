//! Keeping order among sessions: names a person can use, and throwing away what is old.

use rusqlite::{Connection, OptionalExtension, params};

use crate::fault::{Fault, Result};
use crate::row::MessageRow;
use crate::{int, session};

/// Longest title a person can give, in characters.
const TITLE_CHARS: usize = 100;

/// Messages among which the first words are looked for.
const FIRST: usize = 8;

/// How many sessions an ambiguous title is answered with.
const CANDIDATES: usize = 5;

/// Names a session and returns the name as it is kept: without what a terminal would act on, and
/// with a number behind it if another session has it.
pub(crate) fn rename(conn: &Connection, id: &str, title: &str) -> Result<String> {
    let key = session::key(conn, id)?;
    let clean = clean(title);
    if clean.is_empty() {
        return Err(Fault::Refused(format!(
            "{title:?} has nothing that could be shown as a title; give it some letters"
        )));
    }
    let mut taken = conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM sessions WHERE lower(title) = lower(?1) AND key <> ?2)",
    )?;
    let mut name = clean.clone();
    let mut number = 1;
    while taken.query_row(params![name, key], |row| row.get(0))? {
        number += 1;
        let suffix = format!(" #{number}");
        let room = TITLE_CHARS - suffix.chars().count();
        let start: String = clean.chars().take(room).collect();
        name = format!("{}{suffix}", start.trim_end());
    }
    conn.execute("UPDATE sessions SET title = ?1 WHERE key = ?2", params![name, key])?;
    Ok(name)
}

/// Names a session like [`rename`], unless a person has: the title it has is not the one its first
/// words gave it.
pub(crate) fn propose(conn: &Connection, id: &str, title: &str) -> Result<()> {
    let key = session::key(conn, id)?;
    let has: Option<String> =
        conn.query_row("SELECT title FROM sessions WHERE key = ?1", [key], |row| row.get(0))?;
    if has.is_none() || has == by_itself(conn, key)? {
        rename(conn, id, title)?;
    }
    Ok(())
}

/// The title that a session's first words give it.
fn by_itself(conn: &Connection, key: i64) -> Result<Option<String>> {
    let mut statement = conn.prepare_cached(
        "SELECT body FROM messages WHERE session = ?1 ORDER BY position, key LIMIT ?2",
    )?;
    let bodies = statement
        .query_map(params![key, int::len_to_sql(FIRST)], |row| row.get::<_, String>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let first: Vec<_> =
        bodies.iter().filter_map(|body| MessageRow::parse(body.as_bytes()).ok()).collect();
    Ok(session::title(&first))
}

fn clean(title: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let plain: String = title
        .chars()
        .filter(|c| !turns(*c))
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(TITLE_CHARS).collect::<String>().trim_end().to_owned()
}

/// The session meant by the start of an id, or by a title or its start, in any case.
pub(crate) fn find(conn: &Connection, given: &str) -> Result<String> {
    match session::find(conn, given) {
        Err(Fault::NoSession(_)) if !given.trim().is_empty() => by_title(conn, given),
        found => found,
    }
}

fn by_title(conn: &Connection, given: &str) -> Result<String> {
    let exact = conn
        .prepare_cached(
            "SELECT id FROM sessions WHERE lower(title) = lower(?1)
             ORDER BY updated_ms DESC, key DESC LIMIT 2",
        )?
        .query_map([given], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<String>>>()?;
    if let [only] = exact.as_slice() {
        return Ok(only.clone());
    }
    let mut statement = conn.prepare_cached(
        "SELECT id, title FROM sessions WHERE instr(lower(title), lower(?1)) = 1
         ORDER BY updated_ms DESC, key DESC LIMIT ?2",
    )?;
    let found = statement
        .query_map(params![given, int::len_to_sql(CANDIDATES + 1)], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    match found.as_slice() {
        [] => Err(Fault::NoSession(given.into())),
        [(id, _)] => Ok(id.clone()),
        several => {
            let more = if several.len() > CANDIDATES { " and more" } else { "" };
            let named = several.iter().take(CANDIDATES);
            let named: Vec<_> = named.map(|(id, title)| format!("{id} ({title})")).collect();
            Err(Fault::Refused(format!(
                "several sessions have a title that starts with {given:?}: {}{more}; give the id",
                named.join(", ")
            )))
        }
    }
}

/// Deletes one line of sessions none of which changed since `before_ms` and in none of which a turn
/// is running. How many sessions that were; `None` if there is no such line.
pub(crate) fn prune_line(conn: &Connection, before_ms: u64, now_ms: u64) -> Result<Option<usize>> {
    let root = conn
        .prepare_cached(
            "SELECT root FROM sessions s LEFT JOIN turn_lease l ON l.session = s.key
             GROUP BY root
             HAVING max(s.updated_ms) < ?1 AND max(coalesce(l.expires_ms, 0)) <= ?2 LIMIT 1",
        )?
        .query_row(params![int::to_sql(before_ms), int::to_sql(now_ms)], |row| {
            row.get::<_, String>(0)
        })
        .optional()?;
    let Some(root) = root else { return Ok(None) };
    let ids = conn
        .prepare_cached("SELECT id FROM sessions WHERE root = ?1")?
        .query_map([root], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<String>>>()?;
    for id in &ids {
        session::delete(conn, id)?;
    }
    Ok(Some(ids.len()))
}
