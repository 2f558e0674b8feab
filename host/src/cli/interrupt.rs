//! Signals: the first one ends the turn cleanly, the second one ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::exit;

/// Listens for Ctrl-C and for a request to terminate.
#[derive(Clone, Default)]
pub(super) struct Interrupt(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// The exit code the signal asks for; 0 while none has come.
    code: AtomicU8,
    came: Notify,
}

impl Interrupt {
    /// Starts to listen. From now on signals no longer end the process by themselves, but a second
    /// one does.
    pub(super) fn listen() -> Self {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        tokio::spawn(async move {
            loop {
                let code = next_signal().await;
                if heard.0.code.swap(code, Ordering::Relaxed) != 0 {
                    std::process::exit(code.into());
                }
                heard.0.came.notify_waiters();
            }
        });
        interrupt
    }

    /// Cancels `token` when a signal comes while the returned guard lives. Signals before are
    /// forgotten.
    pub(super) fn cancels(&self, token: CancellationToken) -> tokio::task::JoinHandle<()> {
        self.0.code.store(0, Ordering::Relaxed);
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            let mut came = std::pin::pin!(inner.came.notified());
            // From here on a signal is heard; one that came just before is seen in the code.
            came.as_mut().enable();
            if inner.code.load(Ordering::Relaxed) == 0 {
                came.await;
            }
            token.cancel();
        })
    }

    /// The exit code the last signal asks for.
    pub(super) fn code(&self) -> u8 {
        match self.0.code.load(Ordering::Relaxed) {
            0 => exit::INTERRUPTED,
            code => code,
        }
    }
}

#[cfg(unix)]
async fn next_signal() -> u8 {
    use tokio::signal::unix::{SignalKind, signal};
    // A process whose signals cannot be listened for keeps the system's defaults.
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => exit::INTERRUPTED,
        _ = terminate.recv() => exit::TERMINATED,
    }
}

#[cfg(not(unix))]
async fn next_signal() -> u8 {
    match tokio::signal::ctrl_c().await {
        Ok(()) => exit::INTERRUPTED,
        Err(_) => std::future::pending().await,
    }
}
