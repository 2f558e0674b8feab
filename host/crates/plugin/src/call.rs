//! One guest call: a store that lives for it, its clocks, and what its end means.
//!
//! Three clocks run. The epoch lets others run every tick and looks at how long the guest itself
//! was busy; a timeout drops the call wherever it is, in the guest or in a host function; and an
//! interrupted turn drops it after a moment of grace. A store is never used twice.

mod busy;
mod reason;

use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use wasmtime::{Store, UpdateDeadline};

use crate::engine::Runtime;
use crate::guest::{Guest, Scope};
use busy::Busy;

/// How long a call may take to notice that the turn is interrupted.
const CANCEL_GRACE: Duration = Duration::from_millis(250);

/// How much longer than its wall clock a call is waited for: by then its thread hangs in a file
/// operation that nothing can interrupt (a FIFO, a dead mount), and is left behind.
const STUCK_GRACE: Duration = Duration::from_millis(200);

/// Most a guest may hand over at once, result or argument, in bytes. More than any result may
/// have, so that a result that is too large is told its size; a list that names one string a
/// million times ends here.
const HANDED_OVER_BYTES: usize = 64 << 20;

/// What bounds one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// All memories together, in bytes.
    pub(crate) memory_bytes: usize,
    /// The whole call, host functions and waiting included.
    pub(crate) wall: Duration,
    /// What the guest itself may be busy for, so that a busy machine is not held against it.
    pub(crate) busy: Option<Duration>,
}

/// How a call ended.
pub(crate) struct Ended<T> {
    pub(crate) value: Result<T, Stopped>,
    pub(crate) measures: Measures,
}

impl<T> Ended<T> {
    fn without(stopped: Stopped) -> Self {
        Self { value: Err(stopped), measures: Measures::default() }
    }
}

/// Why a call gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// No code of the guest's ran; the text says why.
    NeverRan(String),
    /// The guest broke off or answered nonsense; the text says how.
    Trapped(String),
    /// The guest handed over more than this many bytes at once.
    TooLarge(usize),
    /// Its time was up.
    TimedOut(Duration),
    /// The turn was interrupted.
    Cancelled,
}

/// What a call used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measures {
    pub(crate) instantiate: Duration,
    pub(crate) guest: Duration,
    pub(crate) peak_memory: usize,
}

/// Raised in a guest that was busy for too long.
#[derive(Debug, thiserror::Error)]
#[error("busy for longer than allowed")]
struct TooBusy;

/// What is done inside a store: instantiate, note the time, call.
pub(crate) trait AsyncGuest<T>: Send + 'static {
    /// Contract: sets `instantiated` once there is an instance; everything after it counts as the
    /// guest's.
    fn enter(
        self,
        store: &mut Store<Guest>,
        instantiated: &mut Option<Instant>,
    ) -> impl Future<Output = wasmtime::Result<T>> + Send;
}

/// Runs `enter` in a fresh store within bounds, on a thread of its own: what blocks in there, a file
/// operation above all, blocks nobody else, and costs no hop to another thread each time.
pub(crate) async fn run<T, F>(runtime: &Runtime, scope: Scope, bounds: Bounds, enter: F) -> Ended<T>
where
    T: Send + 'static,
    F: AsyncGuest<T>,
{
    let cancel = scope.cancel.clone();
    let mut began = false;
    let late = runtime.sleep(bounds.wall + STUCK_GRACE);
    let interrupted = async {
        cancel.cancelled().await;
        runtime.sleep(CANCEL_GRACE + STUCK_GRACE).await;
    };
    tokio::select! {
        biased;
        ended = on_a_thread(runtime, scope, bounds, enter, &mut began) => return ended,
        () = late => {}
        () = interrupted => return Ended::without(Stopped::Cancelled),
    }
    Ended::without(if began {
        Stopped::TimedOut(bounds.wall)
    } else {
        Stopped::NeverRan("its other calls are still under way, and none has ended".into())
    })
}

async fn on_a_thread<T, F>(
    runtime: &Runtime,
    scope: Scope,
    bounds: Bounds,
    enter: F,
    began: &mut bool,
) -> Ended<T>
where
    T: Send + 'static,
    F: AsyncGuest<T>,
{
    let permit = match &scope.permits {
        // A semaphore nobody closes always gives a permit in the end.
        Some(permits) => permits.clone().acquire_owned().await.ok(),
        None => None,
    };
    *began = true;
    // Whoever drops this future ends the call.
    let dropped = CancellationToken::new();
    let _guard = dropped.clone().drop_guard();
    let (engine, handle) = (runtime.engine.clone(), runtime.handle.clone());
    let task = runtime.handle.spawn_blocking(move || {
        let _permit: Option<OwnedSemaphorePermit> = permit;
        handle.block_on(bounded(engine, scope, bounds, dropped, enter))
    });
    task.await.unwrap_or_else(|error| {
        Ended::without(Stopped::Trapped(format!("the host failed inside the call: {error}")))
    })
}

async fn bounded<T, F: AsyncGuest<T>>(
    engine: wasmtime::Engine,
    scope: Scope,
    bounds: Bounds,
    dropped: CancellationToken,
    enter: F,
) -> Ended<T> {
    let started = Instant::now();
    let cancel = scope.cancel.clone();
    let mut store = match store(&engine, scope, bounds) {
        Ok(store) => store,
        Err(problem) => return Ended::without(Stopped::NeverRan(problem)),
    };
    let mut instantiated = None;
    let value = {
        let running = enter.enter(&mut store, &mut instantiated);
        let interrupted = async {
            tokio::select! {
                () = dropped.cancelled() => {}
                () = cancel.cancelled() => tokio::time::sleep(CANCEL_GRACE).await,
            }
        };
        tokio::select! {
            biased;
            value = running => Ok(value),
            () = tokio::time::sleep(bounds.wall) => Err(Stopped::TimedOut(bounds.wall)),
            () = interrupted => Err(Stopped::Cancelled),
        }
    };
    let measures = measures(&store, started, instantiated);
    let value = match value {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(reason::explain(&error, store.data(), bounds)),
        Err(stopped) => {
            reason::note_stop(store.data(), &stopped);
            Err(stopped)
        }
    };
    Ended { value, measures }
}

fn store(engine: &wasmtime::Engine, scope: Scope, bounds: Bounds) -> Result<Store<Guest>, String> {
    let mut store = Store::new(engine, Guest::new(scope, bounds.memory_bytes)?);
    store.limiter(|guest| &mut guest.memory);
    store.set_hostcall_fuel(HANDED_OVER_BYTES);
    store.set_epoch_deadline(1);
    let mut busy = Busy::begin();
    store.epoch_deadline_callback(move |_| {
        let spent = busy.tick();
        if bounds.busy.is_some_and(|allowed| spent > allowed) {
            return Err(TooBusy.into());
        }
        Ok(UpdateDeadline::Yield(1))
    });
    Ok(store)
}

fn measures(store: &Store<Guest>, started: Instant, instantiated: Option<Instant>) -> Measures {
    let now = Instant::now();
    let instantiated = instantiated.unwrap_or(now);
    Measures {
        instantiate: instantiated - started,
        guest: now - instantiated,
        peak_memory: store.data().memory.peak,
    }
}
