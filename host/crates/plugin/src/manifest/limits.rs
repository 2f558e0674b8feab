//! Limits of a plugin as they are written: in its manifest and in the user's `config.toml`. The
//! user's word goes over the manifest's, and neither goes over the host's.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::Deserialize;

use crate::document::{DocumentError, Reader};
use crate::policy::Limits;

/// Limits somebody wrote; what is absent was not written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Linear memory of one call, in MiB.
    pub memory_mib: Option<i64>,
    /// Wall clock of one call, in milliseconds.
    pub wall_ms: Option<i64>,
    /// Result of one call before it is spilled, in bytes.
    pub result_bytes: Option<i64>,
    /// Requests over the network in one call.
    pub http_calls: Option<i64>,
}

/// What the host never goes over: a gigabyte takes the largest interpreters with room for data.
const MEMORY_MIB: RangeInclusive<i64> = 1..=1024;
/// Ten minutes: longer work belongs to a process of its own.
const WALL_MS: RangeInclusive<i64> = 1..=600_000;
/// The host's hard cap on a result, spilled or not.
const RESULT_BYTES: RangeInclusive<i64> = 1..=16 << 20;
/// More requests than any one call has reason for.
const HTTP_CALLS: RangeInclusive<i64> = 0..=10_000;

impl LimitSettings {
    pub(super) fn read(table: Reader<'_>) -> Result<Self, DocumentError> {
        let read = Self {
            memory_mib: table.integer("memory_mib", MEMORY_MIB)?,
            wall_ms: table.integer("wall_ms", WALL_MS)?,
            result_bytes: table.integer("result_bytes", RESULT_BYTES)?,
            http_calls: table.integer("http_calls", HTTP_CALLS)?,
        };
        table.finish()?;
        Ok(read)
    }

    /// Checks limits that came from `config.toml`.
    ///
    /// # Errors
    /// Names the key, its value and the range.
    pub fn check(&self) -> Result<(), String> {
        for (key, value, range) in [
            ("memory_mib", self.memory_mib, MEMORY_MIB),
            ("wall_ms", self.wall_ms, WALL_MS),
            ("result_bytes", self.result_bytes, RESULT_BYTES),
            ("http_calls", self.http_calls, HTTP_CALLS),
        ] {
            if let Some(value) = value.filter(|value| !range.contains(value)) {
                return Err(format!(
                    "limits.{key} = {value}: must be a whole number from {} to {}",
                    range.start(),
                    range.end()
                ));
            }
        }
        Ok(())
    }

    /// The limits that hold, with what the user wrote over what the manifest says over the host's
    /// defaults. Contract: both were checked.
    pub fn resolve(manifest: Self, user: Self) -> Limits {
        let mut limits = Limits::default();
        let size = |number: i64| usize::try_from(number).unwrap_or(0);
        if let Some(mib) = user.memory_mib.or(manifest.memory_mib) {
            limits.memory_bytes = size(mib) << 20;
        }
        if let Some(ms) = user.wall_ms.or(manifest.wall_ms) {
            limits.wall = Duration::from_millis(ms.unsigned_abs());
        }
        if let Some(bytes) = user.result_bytes.or(manifest.result_bytes) {
            limits.result_bytes = size(bytes);
        }
        if let Some(calls) = user.http_calls.or(manifest.http_calls) {
            limits.http_calls = u32::try_from(calls).unwrap_or(0);
        }
        limits
    }
}
