//! `progress`: how far a call is, whether it should stop, and how long it still has.

use std::time::{Duration, Instant};

use hermes_core::tool::Progress;

use crate::bindings::imports::hermes::plugin::progress::Host;
use crate::guest::Guest;

/// Longest message that is passed on.
const MESSAGE_BYTES: usize = 1000;

/// Least time between two reports that are passed on: what comes faster nobody can read, and each
/// is an event a front end must take.
const PACE: Duration = Duration::from_millis(50);

impl Host for Guest {
    fn report(
        &mut self,
        message: String,
        done: Option<u64>,
        total: Option<u64>,
    ) -> wasmtime::Result<()> {
        let now = Instant::now();
        if self.reported.is_some_and(|last| now.duration_since(last) < PACE) {
            return Ok(());
        }
        if let Some(progress) = &self.scope.progress {
            self.reported = Some(now);
            let message = self.scope.identity.vault.redacted(message);
            let message = hermes_core::text::ellipsis(&message, MESSAGE_BYTES).into_owned();
            progress(Progress { message, done, total });
        }
        Ok(())
    }

    fn is_cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(self.scope.cancel.is_cancelled())
    }

    fn remaining_ms(&mut self) -> wasmtime::Result<u64> {
        let remaining = self.scope.ends.saturating_duration_since(Instant::now());
        Ok(u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX))
    }
}
