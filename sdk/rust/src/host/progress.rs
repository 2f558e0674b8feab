//! How the call is going and how long it may go on. Without a host nobody watches, nothing is
//! cancelled and time does not run out.

#[cfg(target_family = "wasm")]
use crate::bindings::imports::hermes::plugin::progress as wire;

/// Shows the user where the call is: `done` of `total`, in the unit the message names.
pub fn report(message: impl AsRef<str>, done: Option<u64>, total: Option<u64>) {
    #[cfg(target_family = "wasm")]
    wire::report(message.as_ref(), done, total);
    #[cfg(not(target_family = "wasm"))]
    let _ = (message, done, total);
}

/// Whether the user has given the call up. About 250 milliseconds are left then to answer with
/// [`Failure::cancelled`].
///
/// [`Failure::cancelled`]: crate::Failure::cancelled
#[must_use]
pub fn is_cancelled() -> bool {
    #[cfg(target_family = "wasm")]
    return wire::is_cancelled();
    #[cfg(not(target_family = "wasm"))]
    false
}

/// Milliseconds until the host ends the call.
#[must_use]
pub fn remaining_ms() -> u64 {
    #[cfg(target_family = "wasm")]
    return wire::remaining_ms();
    #[cfg(not(target_family = "wasm"))]
    u64::MAX
}
