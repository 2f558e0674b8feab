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
    /// Starts to listen, on a thread of its own, so that a second signal also ends a process whose
    /// conversation is stuck, in a write to a full pipe for one. From now on signals no longer end
    /// the process by themselves; where nothing can listen, they still do.
    pub(super) fn listen() -> Self {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        let (ready, listening) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("hermes-signals".into());
        let spawned = thread.spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(heard.each_signal(ready));
        });
        match spawned {
            // An error means that the thread ended: nothing listens.
            Ok(_) => {
                let _ = listening.recv();
            }
            Err(error) => tracing::warn!("signals end the process at once: {error}"),
        }
        interrupt
    }

    /// Hears signals for as long as the process lives; says through `ready` when it begins to.
    async fn each_signal(self, ready: std::sync::mpsc::Sender<()>) {
        let Ok(mut signals) = Signals::new() else { return };
        // Nobody waits any more if the other thread is gone.
        let _ = ready.send(());
        loop {
            let code = signals.next().await;
            if self.0.code.swap(code, Ordering::Relaxed) != 0 {
                std::process::exit(code.into());
            }
            self.0.came.notify_waiters();
        }
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

/// The signals that ask the process to end.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
        Ok(Self { interrupt: signal(interrupt)?, terminate: signal(terminate)? })
    }

    /// The exit code the next one asks for.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => exit::INTERRUPTED,
            _ = self.terminate.recv() => exit::TERMINATED,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> u8 {
        match tokio::signal::ctrl_c().await {
            Ok(()) => exit::INTERRUPTED,
            Err(_) => std::future::pending().await,
        }
    }
}
