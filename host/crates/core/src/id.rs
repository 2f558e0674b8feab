//! Identifiers and the wall clock: the two values the loop cannot compute from its input.

use std::time::{SystemTime, UNIX_EPOCH};

/// A fresh identifier that sorts by the time it was made (UUID version 7).
pub fn fresh() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Milliseconds since 1970-01-01 UTC.
pub fn now_ms() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
