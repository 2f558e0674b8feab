//! Programs of the host. Without a host every one fails as `unavailable`.

use crate::types::Failure;

pub use crate::bindings::imports::hermes::plugin::process::{Command, Finished};

impl Command {
    /// A command line: the program, then its arguments. No shell reads it.
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: None,
            env: Vec::new(),
            stdin: None,
            timeout_ms: None,
        }
    }
}

/// Runs a program to its end.
///
/// # Errors
///
/// What kept it from ending by itself: `denied`, `invalid-arguments`, `not-found`, `timeout`,
/// `cancelled` or `unavailable`. A program that exits with an error is no failure.
pub fn run(command: &Command) -> Result<Finished, Failure> {
    #[cfg(target_family = "wasm")]
    return crate::bindings::imports::hermes::plugin::process::run(command);
    #[cfg(not(target_family = "wasm"))]
    Err(Failure::unavailable(format!("running {:?} needs a host", command.argv)))
}
