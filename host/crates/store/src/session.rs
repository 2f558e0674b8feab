//! The table of sessions: making, finding, listing and deleting them.
//!
//! What is said in a session is `history`'s, what its turns came to is `turn`'s.

use hermes_core::message::{Message, Role};
use hermes_core::search::SessionSummary;
use hermes_core::store::NewSession;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use crate::fault::{Fault, Result};
use crate::{index, int};

/// Longest title in characters: what fits a line of a list beside an id and a date.
const TITLE_CHARS: usize = 60;

/// How many sessions an ambiguous prefix is answered with.
const CANDIDATES: usize = 5;

/// Makes the session `id`.
pub(crate) fn create(conn: &Connection, id: &str, new: &NewSession, now_ms: u64) -> Result<()> {
    let root = match &new.parent {
        None => id.to_owned(),
        Some(parent) => conn
            .prepare_cached("SELECT root FROM sessions WHERE id = ?1")?
            .query_row([parent], |row| row.get(0))
            .optional()?
            .ok_or_else(|| Fault::NoSession(parent.clone()))?,
    };
    conn.prepare_cached(
        "INSERT INTO sessions (id, source, model, parent, root, created_ms, updated_ms)
         VALUES (:id, :source, :model, :parent, :root, :now, :now)",
    )?
    .execute(named_params! {
        ":id": id,
        ":source": new.source,
        ":model": new.model,
        ":parent": new.parent,
        ":root": root,
        ":now": int::to_sql(now_ms),
    })?;
    conn.prepare_cached("INSERT INTO system_prompts (session, text) VALUES (?1, ?2)")?
        .execute(params![conn.last_insert_rowid(), new.system])?;
    Ok(())
}

/// The session's row in the table.
pub(crate) fn key(conn: &Connection, id: &str) -> Result<i64> {
    conn.prepare_cached("SELECT key FROM sessions WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?
        .ok_or_else(|| Fault::NoSession(id.into()))
}

/// The first session of the line the session belongs to.
pub(crate) fn root(conn: &Connection, id: &str) -> Result<String> {
    conn.prepare_cached("SELECT root FROM sessions WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?
        .ok_or_else(|| Fault::NoSession(id.into()))
}

/// Which sessions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Only those of this front end, such as `cli`.
    pub source: Option<String>,
    /// Only those with this in their title, in any case (of ASCII letters).
    pub title: Option<String>,
    /// Only those that changed at this time or later, in milliseconds since 1970-01-01 UTC.
    pub since_ms: Option<u64>,
    /// Most sessions.
    pub limit: usize,
}

/// What of a session a summary tells.
const SUMMARY: &str = "id, title, created_ms, updated_ms, message_count, model, parent, root, \
     source, turns, input_tokens + output_tokens + cached_tokens + cache_write_tokens, cost_usd";

/// The sessions that changed last, newest first.
pub(crate) fn list(conn: &Connection, filter: &SessionFilter) -> Result<Vec<SessionSummary>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {SUMMARY} FROM sessions
         WHERE (?2 IS NULL OR source = ?2) AND (?3 IS NULL OR updated_ms >= ?3)
           AND (?4 IS NULL OR instr(lower(title), lower(?4)) > 0)
         ORDER BY updated_ms DESC, key DESC LIMIT ?1"
    ))?;
    let rows = statement.query_map(
        params![
            int::len_to_sql(filter.limit),
            filter.source,
            filter.since_ms.map(int::to_sql),
            filter.title
        ],
        summary,
    )?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// One session.
pub(crate) fn get(conn: &Connection, id: &str) -> Result<SessionSummary> {
    conn.prepare_cached(&format!("SELECT {SUMMARY} FROM sessions WHERE id = ?1"))?
        .query_row([id], summary)
        .optional()?
        .ok_or_else(|| Fault::NoSession(id.into()))
}

fn summary(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    Ok(SessionSummary {
        session_id: row.get(0)?,
        title: row.get(1)?,
        started: int::from_sql(row.get(2)?),
        updated: int::from_sql(row.get(3)?),
        messages: int::from_sql(row.get(4)?),
        model: row.get(5)?,
        parent: row.get(6)?,
        root: row.get(7)?,
        source: row.get(8)?,
        turns: int::small_from_sql(row.get(9)?),
        tokens: int::from_sql(row.get(10)?),
        cost_usd: row.get(11)?,
    })
}

/// The session with this id, or the only one whose id starts so.
pub(crate) fn find(conn: &Connection, prefix: &str) -> Result<String> {
    if prefix.is_empty() {
        return Err(Fault::NoSession(String::new()));
    }
    // Ids sort by bytes, so those with the prefix stand together from the prefix on.
    let mut statement =
        conn.prepare_cached("SELECT id FROM sessions WHERE id >= ?1 ORDER BY id LIMIT ?2")?;
    let ids = statement
        .query_map(params![prefix, int::len_to_sql(CANDIDATES + 1)], |row| row.get::<_, String>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut found: Vec<String> = ids.into_iter().take_while(|id| id.starts_with(prefix)).collect();
    match found.len() {
        0 => Err(Fault::NoSession(prefix.into())),
        1 => Ok(found.remove(0)),
        _ if found[0] == prefix => Ok(found.remove(0)),
        n => {
            let more = if n > CANDIDATES { " and more" } else { "" };
            found.truncate(CANDIDATES);
            Err(Fault::Refused(format!(
                "several sessions start with {prefix:?}: {}{more}; give more of the id",
                found.join(", ")
            )))
        }
    }
}

/// Deletes the session and everything kept for it. Sessions that continue it stay, without a parent.
pub(crate) fn delete(conn: &Connection, id: &str) -> Result<()> {
    let key = key(conn, id)?;
    index::forget(conn, key)?;
    // Messages, turns and the prompt go with their session by foreign key.
    conn.execute("DELETE FROM sessions WHERE key = ?1", [key])?;
    index::after_deletion(conn)?;
    conn.execute("DELETE FROM receipts WHERE session_id = ?1", [id])?;
    conn.execute("DELETE FROM spills WHERE session_id = ?1", [id])?;
    Ok(())
}

/// A first title: the first line of the first thing the user says, if there are words in it.
pub(crate) fn title<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Option<String> {
    messages.into_iter().filter(|message| message.role == Role::User).find_map(|message| {
        let text = message.content.text();
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        // It ends up in lists on terminals: no escape sequence may get there.
        let mut chars = line.chars().map(|c| if c.is_control() { ' ' } else { c });
        let title: String = chars.by_ref().take(TITLE_CHARS).collect();
        if chars.next().is_none() {
            return Some(title);
        }
        let shorter: String = title.chars().take(TITLE_CHARS - 1).collect();
        Some(format!("{}…", shorter.trim_end()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_with_words_the_user_says() {
        let title_of = |texts: &[&str]| {
            let messages: Vec<_> = texts.iter().map(|text| Message::user(*text)).collect();
            title(&messages)
        };
        assert_eq!(title_of(&["fix the tests\nplease"]), Some("fix the tests".into()));
        assert_eq!(title_of(&["\n  \r\n  hello  \nthere"]), Some("hello".into()));
        assert_eq!(title_of(&["", "  ", "second"]), Some("second".into()));
        assert_eq!(title_of(&["", "\n"]), None);
        assert_eq!(title_of(&["a\u{1b}[31mred\tb"]), Some("a [31mred b".into()));
        assert_eq!(title(&[Message::assistant("I am the model")]), None);
    }

    #[test]
    fn a_title_has_at_most_sixty_characters() {
        let title_of = |text: String| title(&[Message::user(text)]).expect("there are words");
        assert_eq!(title_of("é".repeat(60)), "é".repeat(60));
        assert_eq!(title_of("世".repeat(61)), "世".repeat(59) + "…");
        assert_eq!(title_of("x".repeat(58) + " yz"), "x".repeat(58) + "…");
    }
}
