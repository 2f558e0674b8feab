//! Waits for something asynchronous while a host is opened, which is not: on a thread of its own,
//! so that it does not matter whether the caller runs inside a runtime.

use std::io;

/// The outcome of `future`.
///
/// # Errors
/// The thread or its runtime cannot be made.
pub(crate) fn wait<T: Send>(future: impl Future<Output = T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let outcome =
            std::thread::Builder::new().name("open".into()).spawn_scoped(scope, || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                Ok(runtime.block_on(future))
            })?;
        outcome.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
