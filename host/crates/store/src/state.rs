//! Durable state of plugins: keys and values, a namespace apart for each plugin.
//!
//! Revisions count the writes of a whole namespace. So they grow with every write of a key, and a
//! key that was deleted and made again never has a revision it had before. Which plugin has which
//! namespace and quota is decided elsewhere.

use hermes_core::keep::{StateEntry, StateQuota};
use rusqlite::{Connection, OptionalExtension, params};

use crate::fault::Result;
use crate::int;

/// A write as asked for.
#[derive(Debug)]
pub(crate) struct Write {
    /// The plugin's namespace.
    pub(crate) namespace: String,
    /// The key.
    pub(crate) key: String,
    /// The value.
    pub(crate) value: Vec<u8>,
    /// Only if this is the key's revision; 0 is that of a key that does not exist.
    pub(crate) expected: Option<u64>,
    /// How long it lives, in seconds.
    pub(crate) ttl_s: Option<u32>,
    /// What the namespace may hold.
    pub(crate) quota: StateQuota,
}

/// What became of a write.
#[derive(Debug)]
pub(crate) enum Written {
    /// Done, with this revision.
    Revision(u64),
    /// Not done: the key's revision was another.
    Conflict,
    /// Not done: over the quota. The text says which.
    OverQuota(String),
}

/// Reads a key.
pub(crate) fn get(
    conn: &Connection,
    namespace: &str,
    key: &str,
    now_ms: u64,
) -> Result<Option<StateEntry>> {
    Ok(conn
        .prepare_cached(
            "SELECT value, revision FROM plugin_state
             WHERE namespace = ?1 AND key = ?2 AND (expires_ms IS NULL OR expires_ms > ?3)",
        )?
        .query_row(params![namespace, key, int::to_sql(now_ms)], |row| {
            Ok(StateEntry { value: row.get(0)?, revision: int::from_sql(row.get(1)?) })
        })
        .optional()?)
}

/// Writes a key.
pub(crate) fn put(conn: &Connection, write: &Write, now_ms: u64) -> Result<Written> {
    purge(conn, &write.namespace, now_ms)?;
    let (old_revision, old_bytes) = conn
        .prepare_cached(
            "SELECT revision, bytes FROM plugin_state WHERE namespace = ?1 AND key = ?2",
        )?
        .query_row([&write.namespace, &write.key], |row| {
            Ok((int::from_sql(row.get(0)?), row.get::<_, i64>(1)?))
        })
        .optional()?
        .unwrap_or((0, 0));
    if write.expected.is_some_and(|expected| expected != old_revision) {
        return Ok(Written::Conflict);
    }
    let bytes = int::len_to_sql(write.key.len() + write.value.len());
    let more_keys = i64::from(old_revision == 0);
    let more_bytes = bytes - old_bytes;
    if let Some(text) = over_quota(conn, write, more_bytes, more_keys)? {
        return Ok(Written::OverQuota(text));
    }
    let revision = count(conn, &write.namespace, more_bytes, more_keys, 1)?;
    let expires_ms = write.ttl_s.map(|ttl| now_ms.saturating_add(u64::from(ttl) * 1000));
    conn.prepare_cached(
        "INSERT INTO plugin_state (namespace, key, value, bytes, revision, expires_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value,
             bytes = excluded.bytes, revision = excluded.revision, expires_ms = excluded.expires_ms",
    )?
    .execute(params![
        write.namespace,
        write.key,
        write.value,
        bytes,
        revision,
        expires_ms.map(int::to_sql)
    ])?;
    Ok(Written::Revision(int::from_sql(revision)))
}

/// Deletes a key; whether it was there.
pub(crate) fn delete(conn: &Connection, namespace: &str, key: &str, now_ms: u64) -> Result<bool> {
    purge(conn, namespace, now_ms)?;
    let gone = conn
        .prepare_cached(
            "DELETE FROM plugin_state WHERE namespace = ?1 AND key = ?2 RETURNING bytes",
        )?
        .query_row([namespace, key], |row| row.get::<_, i64>(0))
        .optional()?;
    if let Some(bytes) = gone {
        count(conn, namespace, -bytes, -1, 0)?;
    }
    Ok(gone.is_some())
}

/// Keys that start with `prefix` and sort after `after`, at most `limit`, by bytes.
pub(crate) fn list_keys(
    conn: &Connection,
    namespace: &str,
    prefix: &str,
    after: Option<&str>,
    limit: u32,
    now_ms: u64,
) -> Result<Vec<String>> {
    // Keys with the prefix stand together from the prefix on, so the first without it is the end.
    let mut statement = conn.prepare_cached(
        "SELECT key FROM plugin_state
         WHERE namespace = ?1 AND key >= ?2 AND (?3 IS NULL OR key > ?3)
           AND (expires_ms IS NULL OR expires_ms > ?4)
         ORDER BY key LIMIT ?5",
    )?;
    let mut rows =
        statement.query(params![namespace, prefix, after, int::to_sql(now_ms), limit])?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        if !key.starts_with(prefix) {
            break;
        }
        keys.push(key);
    }
    Ok(keys)
}

/// Deletes what has expired in the namespace, so that it does not count against the quota.
fn purge(conn: &Connection, namespace: &str, now_ms: u64) -> Result<()> {
    let mut statement = conn.prepare_cached(
        "DELETE FROM plugin_state WHERE namespace = ?1 AND expires_ms <= ?2 RETURNING bytes",
    )?;
    let (mut bytes, mut keys) = (0, 0);
    let mut rows = statement.query(params![namespace, int::to_sql(now_ms)])?;
    while let Some(row) = rows.next()? {
        bytes += row.get::<_, i64>(0)?;
        keys += 1;
    }
    if keys > 0 {
        count(conn, namespace, -bytes, -keys, 0)?;
    }
    Ok(())
}

/// Adds to the namespace's counters and returns its last revision.
fn count(conn: &Connection, namespace: &str, bytes: i64, keys: i64, revisions: i64) -> Result<i64> {
    Ok(conn
        .prepare_cached(
            "INSERT INTO plugin_namespaces (namespace, bytes, keys, revision)
             VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (namespace) DO UPDATE SET bytes = bytes + excluded.bytes,
                 keys = keys + excluded.keys, revision = revision + excluded.revision
             RETURNING revision",
        )?
        .query_row(params![namespace, bytes, keys, revisions], |row| row.get(0))?)
}

/// Which quota the write would break. One that makes things smaller breaks none, even where the
/// quota has been lowered below what is held.
fn over_quota(
    conn: &Connection,
    write: &Write,
    more_bytes: i64,
    more_keys: i64,
) -> Result<Option<String>> {
    let (bytes, keys) = conn
        .prepare_cached("SELECT bytes, keys FROM plugin_namespaces WHERE namespace = ?1")?
        .query_row([&write.namespace], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
        .optional()?
        .unwrap_or((0, 0));
    let over = |held: i64, more: i64, max: u64| more > 0 && int::from_sql(held + more) > max;
    let StateQuota { max_bytes, max_keys } = write.quota;
    let (namespace, key) = (&write.namespace, &write.key);
    if over(bytes, more_bytes, max_bytes) {
        return Ok(Some(format!(
            "writing {key:?} would bring the state of {namespace:?} to {} bytes, and {max_bytes} \
             are allowed; delete keys or store less",
            bytes + more_bytes
        )));
    }
    if over(keys, more_keys, max_keys) {
        return Ok(Some(format!(
            "writing {key:?} would bring the state of {namespace:?} to {} keys, and {max_keys} \
             are allowed; delete keys first",
            keys + more_keys
        )));
    }
    Ok(None)
}
