//! The table of receipts: one JSON text each, with columns for what is looked up.
//!
//! When they are written is the writer's decision.

use hermes_core::keep::Receipt;
use rusqlite::{Connection, params};

use crate::fault::{Fault, Result};
use crate::int;

/// Writes receipts in this order.
pub(crate) fn insert(conn: &Connection, receipts: &[(u64, Receipt)]) -> Result<()> {
    if receipts.is_empty() {
        return Ok(());
    }
    let mut statement = conn.prepare_cached(
        "INSERT INTO receipts (session_id, call_id, tool, source, outcome, recorded_ms, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (recorded_ms, receipt) in receipts {
        let body = serde_json::to_string(receipt)
            .map_err(|error| Fault::Refused(format!("receipt of {}: {error}", receipt.call_id)))?;
        statement.execute(params![
            receipt.session_id,
            receipt.call_id,
            receipt.tool,
            receipt.source,
            receipt.outcome,
            int::to_sql(*recorded_ms),
            body
        ])?;
    }
    Ok(())
}

/// The receipts of a session, in the order they were recorded. One that cannot be read is left out
/// with a warning.
pub(crate) fn of_session(conn: &Connection, session_id: &str) -> Result<Vec<Receipt>> {
    let mut statement = conn
        .prepare_cached("SELECT body, call_id FROM receipts WHERE session_id = ?1 ORDER BY key")?;
    let mut rows = statement.query([session_id])?;
    let mut receipts = Vec::new();
    while let Some(row) = rows.next()? {
        match serde_json::from_slice(row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?) {
            Ok(receipt) => receipts.push(receipt),
            Err(error) => {
                let id = String::from_utf8_lossy(row.get_ref(1)?.as_bytes().unwrap_or_default());
                tracing::warn!(session_id, call_id = %id, %error,
                    "a stored receipt cannot be read and is left out");
            }
        }
    }
    Ok(receipts)
}
