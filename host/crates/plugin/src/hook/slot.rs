//! Whether a hook may still be asked: one that trapped, or that was late three times, stays closed
//! for as long as it is loaded, so that it cannot be provoked into failing again and again.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use hermes_core::hook::HookFailure;

use crate::call::Stopped;

/// Timeouts of a gate, or failures of an observer, that close it.
pub(super) const FAILURES: u32 = 3;

/// The record of one hook.
#[derive(Default)]
pub(super) struct Slot {
    failures: AtomicU32,
    closed: Mutex<Option<String>>,
}

impl Slot {
    /// Fails if the hook is closed.
    pub(super) fn open(&self) -> Result<(), HookFailure> {
        match &*self.closed.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(why) => Err(HookFailure {
                reason: "is closed after it failed".into(),
                detail: format!("{why}; mend or disable the plugin, then start again"),
            }),
        }
    }

    /// Failures so far.
    pub(super) fn failures(&self) -> u32 {
        self.failures.load(Ordering::Relaxed)
    }

    /// One failure more; how many there are now.
    pub(super) fn count(&self) -> u32 {
        self.failures.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn close(&self, why: &str) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
    }

    fn trapped(&self, how: String) -> HookFailure {
        self.close(&how);
        HookFailure { reason: "trapped".into(), detail: how }
    }

    /// What an answer is worth.
    pub(super) fn judge<T>(
        &self,
        answer: Result<Result<T, String>, Stopped>,
    ) -> Result<T, HookFailure> {
        match answer {
            Ok(Ok(verdict)) => Ok(verdict),
            Ok(Err(text)) => {
                let detail = hermes_core::text::ellipsis(&text, super::REASON_BYTES).into_owned();
                Err(HookFailure { reason: "answered with an error".into(), detail })
            }
            Err(Stopped::NeverRan(problem)) => Err(super::unready(problem)),
            Err(Stopped::Trapped(how)) => Err(self.trapped(how)),
            Err(Stopped::TooLarge(most)) => {
                Err(self.trapped(format!("handed over more than {} MiB at once", most >> 20)))
            }
            Err(Stopped::TimedOut(limit)) => {
                let reason = format!("gave no answer within {} ms", limit.as_millis());
                if self.count() >= FAILURES {
                    self.close(&reason);
                }
                Err(HookFailure { reason, detail: format!("{} of {FAILURES}", self.failures()) })
            }
            Err(Stopped::Cancelled) => Err(HookFailure {
                reason: "was interrupted".into(),
                detail: "the turn was interrupted".into(),
            }),
        }
    }
}
