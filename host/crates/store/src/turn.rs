//! The record of each turn, and a session's sums over them.
//!
//! Sums are taken anew from the records instead of being added to, so recording a turn twice does
//! not count it twice.

use hermes_core::store::TurnRecord;
use rusqlite::{Connection, named_params};

use crate::fault::{Fault, Result};
use crate::{int, session};

/// Most tokens one turn is recorded with. No provider comes near; it keeps the sum of any number
/// of turns within 64 bits whatever a provider claims.
const MAX_TOKENS: i64 = 1 << 44;

/// Records the end of a turn.
pub(crate) fn finish(
    conn: &Connection,
    session_id: &str,
    record: &TurnRecord,
    now_ms: u64,
) -> Result<()> {
    let session = session::key(conn, session_id)?;
    insert(conn, session, record, now_ms)?;
    sum_up(conn, session, now_ms)
}

fn insert(conn: &Connection, session: i64, record: &TurnRecord, now_ms: u64) -> Result<()> {
    let tokens = |n: u64| int::to_sql(n).min(MAX_TOKENS);
    let kind = serde_json::to_value(record.end.kind)
        .map_err(|error| Fault::Refused(format!("turn {}: {error}", record.turn)))?;
    conn.prepare_cached(
        "INSERT OR REPLACE INTO turns (session, turn, ended_ms, end_kind, end_detail, api_calls,
             input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
             usage_estimated, cost_usd, cost_estimated)
         VALUES (:session, :turn, :now, :kind, :detail, :api_calls, :input, :output, :cached,
                 :cache_write, :reasoning, :estimated, :usd, :usd_estimated)",
    )?
    .execute(named_params! {
        ":session": session,
        ":turn": record.turn,
        ":now": int::to_sql(now_ms),
        ":kind": kind.as_str().unwrap_or_default(),
        ":detail": record.end.detail,
        ":api_calls": record.api_calls,
        ":input": tokens(record.usage.input),
        ":output": tokens(record.usage.output),
        ":cached": tokens(record.usage.cached),
        ":cache_write": tokens(record.usage.cache_write),
        ":reasoning": tokens(record.usage.reasoning),
        ":estimated": record.usage.estimated,
        ":usd": record.cost.map(|cost| cost.usd),
        ":usd_estimated": record.cost.is_some_and(|cost| cost.estimated),
    })?;
    Ok(())
}

fn sum_up(conn: &Connection, session: i64, now_ms: u64) -> Result<()> {
    conn.prepare_cached(
        "UPDATE sessions
         SET (turns, api_calls, input_tokens, output_tokens, cached_tokens, cache_write_tokens,
              reasoning_tokens, usage_estimated, cost_usd, cost_estimated, updated_ms)
           = (SELECT max(turn), sum(api_calls), sum(input_tokens), sum(output_tokens),
                     sum(cached_tokens), sum(cache_write_tokens), sum(reasoning_tokens),
                     max(usage_estimated), sum(cost_usd), max(cost_estimated), :now
              FROM turns WHERE session = :session)
         WHERE key = :session",
    )?
    .execute(named_params! { ":session": session, ":now": int::to_sql(now_ms) })?;
    Ok(())
}
