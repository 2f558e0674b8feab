//! Standard output and standard error. Whoever reads our output may go away at any moment (`| head
//! -1`): that ends the turn quietly and never panics.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// Where everything is printed.
pub(crate) struct Out {
    broken: AtomicBool,
    on_broken: CancellationToken,
    terminal: bool,
}

impl Out {
    /// Output that cancels `on_broken` when nobody reads it any more.
    pub(crate) fn new(on_broken: CancellationToken) -> Self {
        Self { broken: false.into(), on_broken, terminal: std::io::stdout().is_terminal() }
    }

    /// Whether the reader went away.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Whether a person reads standard output as it comes.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Writes text to standard output, at once.
    pub(crate) fn write(&self, text: &str) {
        if self.is_broken() {
            return;
        }
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        // A full disk or a closed terminal is as final as a closed pipe.
        if written.is_err_and(|error| error.kind() != ErrorKind::Interrupted) {
            self.broken.store(true, Ordering::Relaxed);
            self.on_broken.cancel();
        }
    }

    /// Writes a line to standard output.
    pub(crate) fn line(&self, text: &str) {
        self.write(&format!("{text}\n"));
    }

    /// Writes a value as one line of JSON to standard output.
    pub(crate) fn json<T: Serialize + ?Sized>(&self, value: &T) {
        match serde_json::to_string(value) {
            Ok(json) => self.line(&json),
            Err(error) => self.note(&format!("hermes-host: cannot write JSON: {error}")),
        }
    }

    /// Writes a line to standard error; nobody reading it is no problem.
    pub(crate) fn note(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _ = writeln!(stderr, "{text}");
    }
}
