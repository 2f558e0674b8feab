//! One guest call: a store that lives for it, its clocks, and what its end means.
//!
//! Three clocks run. The epoch lets others run every tick and counts how long the guest itself was
//! busy; a timeout drops the call wherever it is, in the guest or in a host function; and an
//! interrupted turn drops it after a moment of grace. A store is never used twice.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use wasmtime::{Store, Trap, UpdateDeadline};

use crate::engine::{Runtime, TICK};
use crate::guest::{Guest, MemoryLimiter, Scope};
use crate::wasi;

/// How long a call may take to notice that the turn is interrupted.
const CANCEL_GRACE: Duration = Duration::from_millis(250);

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

/// Why a call gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The guest broke off or answered nonsense; the text says how.
    Trapped(String),
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

/// How much longer than its wall clock a call is waited for: by then its thread hangs in a file
/// operation that nothing can interrupt (a FIFO, a dead mount), and is left behind.
const STUCK_GRACE: Duration = Duration::from_millis(200);

/// Runs `enter` in a fresh store within bounds, on a thread of its own: what blocks in there, a file
/// operation above all, blocks nobody else, and costs no hop to another thread each time.
pub(crate) async fn run<T, F>(runtime: &Runtime, scope: Scope, bounds: Bounds, enter: F) -> Ended<T>
where
    T: Send + 'static,
    F: AsyncGuest<T>,
{
    // Whoever drops this future ends the call.
    let dropped = CancellationToken::new();
    let _guard = dropped.clone().drop_guard();
    let (engine, handle) = (runtime.engine.clone(), runtime.handle.clone());
    let task = runtime
        .handle
        .spawn_blocking(move || handle.block_on(bounded(engine, scope, bounds, dropped, enter)));
    let nothing = |stopped| Ended { value: Err(stopped), measures: Measures::default() };
    tokio::select! {
        ended = task => ended.unwrap_or_else(|error| {
            nothing(Stopped::Trapped(format!("the host failed inside the call: {error}")))
        }),
        () = tokio::time::sleep(bounds.wall + STUCK_GRACE) => nothing(Stopped::TimedOut(bounds.wall)),
    }
}

/// What is done inside a store: instantiate, note the time, call.
pub(crate) trait AsyncGuest<T>: Send + 'static {
    /// Contract: sets `measures.instantiate`; everything after it counts as the guest's.
    fn enter(
        self,
        store: &mut Store<Guest>,
        instantiated: &mut Option<Instant>,
    ) -> impl Future<Output = wasmtime::Result<T>> + Send;
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
        Err(problem) => {
            let value = Err(Stopped::Trapped(problem));
            return Ended { value, measures: Measures::default() };
        }
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
            value = running => Some(value),
            () = tokio::time::sleep(bounds.wall) => None,
            () = interrupted => {
                let measures = measures(&store, started, None);
                return Ended { value: Err(Stopped::Cancelled), measures };
            }
        }
    };
    let measures = measures(&store, started, instantiated);
    let value = match value {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(explain(&error, &store, bounds)),
        None => Err(Stopped::TimedOut(bounds.wall)),
    };
    Ended { value, measures }
}

fn store(engine: &wasmtime::Engine, scope: Scope, bounds: Bounds) -> Result<Store<Guest>, String> {
    let guest = Guest {
        wasi: wasi::context(&scope.identity.effective)?,
        table: Default::default(),
        http: Default::default(),
        http_hooks: wasi::NoHttp,
        memory: MemoryLimiter::new(bounds.memory_bytes),
        logged: 0,
        panic: None,
        ticks: 0,
        scope,
    };
    let mut store = Store::new(engine, guest);
    store.limiter(|guest| &mut guest.memory);
    store.set_epoch_deadline(1);
    let allowed = bounds.busy.map(|busy| {
        // One more: a guest may start just before a tick.
        u32::try_from(busy.as_millis() / TICK.as_millis()).unwrap_or(u32::MAX).saturating_add(1)
    });
    store.epoch_deadline_callback(move |mut context| {
        let guest = context.data_mut();
        guest.ticks = guest.ticks.saturating_add(1);
        if allowed.is_some_and(|allowed| guest.ticks > allowed) {
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

/// What an error out of the guest means, in one line; the whole trace goes to the log.
fn explain(error: &wasmtime::Error, store: &Store<Guest>, bounds: Bounds) -> Stopped {
    let guest = store.data();
    let plugin = &guest.scope.identity.name;
    tracing::debug!(%plugin, "guest call failed: {error:?}");
    if let (Some(_), Some(busy)) = (error.downcast_ref::<TooBusy>(), bounds.busy) {
        return Stopped::TimedOut(busy);
    }
    let mebibytes = bounds.memory_bytes >> 20;
    if let Some(panic) = &guest.panic {
        return Stopped::Trapped(format!("panicked: {panic}"));
    }
    if guest.memory.refused {
        return Stopped::Trapped(format!("ran out of memory: it may use {mebibytes} MiB"));
    }
    Stopped::Trapped(match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => "overflowed its stack".into(),
        Some(Trap::UnreachableCodeReached) => "trapped: it gave up (unreachable code)".into(),
        Some(trap) => format!("trapped: {trap}"),
        None => format!("answered something that is no answer: {}", error.root_cause()),
    })
}
