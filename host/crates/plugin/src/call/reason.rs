//! What an error out of a guest means: one line for the model; the whole trace goes to the log.

use wasmtime::{PoolConcurrencyLimitError, Trap};
use wasmtime_wasi::I32Exit;

use super::{Bounds, Stopped, TooBusy};
use crate::guest::Guest;

/// What wasmtime says when a guest hands over more at once than it may. The type is private to it.
const OVER_FUEL: &str = "fuel allocated for hostcalls has been exhausted";

/// Explains an error.
pub(super) fn explain(error: &wasmtime::Error, guest: &Guest, bounds: Bounds) -> Stopped {
    let plugin = &guest.scope.identity.name;
    let printed = guest.scope.identity.vault.redacted(guest.printed.text());
    tracing::debug!(%plugin, %printed, "guest call failed: {error:?}");
    if let (Some(_), Some(busy)) = (error.downcast_ref::<TooBusy>(), bounds.busy) {
        return Stopped::TimedOut(busy);
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return Stopped::NeverRan("too many plugin calls are under way; try again later".into());
    }
    let root = error.root_cause().to_string();
    if root.contains(OVER_FUEL) {
        return Stopped::TooLarge(super::HANDED_OVER_BYTES);
    }
    Stopped::Trapped(trapped(error, &root, guest, bounds))
}

fn trapped(error: &wasmtime::Error, root: &str, guest: &Guest, bounds: Bounds) -> String {
    if let Some(panic) = &guest.panic {
        return format!("panicked: {panic}");
    }
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        return format!("exited with status {} instead of answering", exit.0);
    }
    if guest.memory.refused {
        return format!("ran out of memory: it may use {} MiB", bounds.memory_bytes >> 20);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => "overflowed its stack".into(),
        Some(Trap::UnreachableCodeReached) => "trapped: it gave up (unreachable code)".into(),
        Some(trap) => format!("trapped: {trap}"),
        None => format!("answered something that is no answer: {root}"),
    }
}

/// What a call that was stopped leaves in the log.
pub(super) fn note_stop(guest: &Guest, stopped: &Stopped) {
    let plugin = &guest.scope.identity.name;
    let printed = guest.scope.identity.vault.redacted(guest.printed.text());
    tracing::debug!(%plugin, %printed, "guest call was stopped: {stopped:?}");
}
