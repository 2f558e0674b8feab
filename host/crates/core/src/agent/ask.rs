//! Asking the model: one request, streamed to the front end as it arrives, tried again where that
//! may help. All retrying of model calls happens in this file, and every path through it is
//! bounded by [`MAX_ATTEMPTS`].

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::reply::{PartialReply, Reply};
use crate::event::{Emitter, EventKind};
use crate::router::Route;
use crate::transport::{Delta, DeltaStream, ErrorKind, ModelRequest, TransportError};
use crate::usage::Usage;

/// Attempts for one iteration, the first included.
pub(super) const MAX_ATTEMPTS: u32 = 3;

/// First pause between attempts; it doubles from there.
const BACKOFF: Duration = Duration::from_secs(2);

/// Longest pause of our own choosing.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// Longest pause a provider can make us take.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);

/// Longest pause for one model while another could answer.
const MAX_WAIT_BESIDE_OTHERS: Duration = Duration::from_secs(30);

/// A pause longer than this is told to the person at once, who would otherwise think we hang. Of
/// shorter ones they hear only if the call fails for good.
const TELL_PAUSE: Duration = Duration::from_secs(30);

/// What asking came to.
pub(super) enum Asked {
    /// A whole reply.
    Reply(Reply),
    /// The person interrupted; what they had seen is kept.
    Interrupted(Option<Reply>),
    /// It failed for good; what the person had seen is kept.
    Failed(TransportError, Option<Reply>),
}

/// What asking cost besides the reply it came to.
#[derive(Debug, Default)]
pub(super) struct Spent {
    /// Calls made.
    pub(super) calls: u32,
    /// Tokens of replies that held nothing.
    pub(super) wasted: Usage,
}

/// Asks `route`'s model and returns what came of it and what it cost. With an
/// `alternative` at hand, a model that wants to be left alone for long is not waited for.
pub(super) async fn ask(
    route: &Route,
    request: &ModelRequest,
    emitter: &Emitter,
    cancel: &CancellationToken,
    alternative: bool,
) -> (Asked, Spent) {
    let mut spent = Spent::default();
    loop {
        spent.calls += 1;
        let attempt = spent.calls;
        let asked = attempt_once(route, request, emitter, cancel, &mut spent.wasted).await;
        let (error, seen) = match asked {
            Asked::Failed(error, seen) => (error, seen),
            answered => return (answered, spent),
        };
        // Text the person has seen cannot be taken back: the model goes on from it instead.
        if seen.is_some() || !error.kind.passes() || attempt == MAX_ATTEMPTS {
            return (Asked::Failed(error, seen), spent);
        }
        let pause = pause_before_retry(&error, attempt, &request.session_id);
        if alternative && pause > MAX_WAIT_BESIDE_OTHERS {
            return (Asked::Failed(error, seen), spent);
        }
        tracing::debug!(attempt, kind = %error.kind, ?pause, "model call failed: {error}");
        emitter.hold(format!("{} (attempt {attempt} of {MAX_ATTEMPTS})", error.message));
        if pause > TELL_PAUSE {
            let seconds = pause.as_secs();
            let message = format!("{}; trying again in {seconds} s", error.message);
            emitter.emit(EventKind::Status { message });
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = cancel.cancelled() => return (Asked::Interrupted(None), spent),
        }
    }
}

async fn attempt_once(
    route: &Route,
    request: &ModelRequest,
    emitter: &Emitter,
    cancel: &CancellationToken,
    wasted: &mut Usage,
) -> Asked {
    let opened = tokio::select! {
        biased;
        () = cancel.cancelled() => return Asked::Interrupted(None),
        opened = route.transport.send(request) => opened,
    };
    match opened {
        Ok(stream) => receive(stream, emitter, cancel, wasted).await,
        Err(error) => Asked::Failed(error, None),
    }
}

async fn receive(
    mut stream: DeltaStream,
    emitter: &Emitter,
    cancel: &CancellationToken,
    wasted: &mut Usage,
) -> Asked {
    let mut partial = PartialReply::default();
    let mut cancelled = pin!(cancel.cancelled());
    loop {
        let next = tokio::select! {
            biased;
            () = &mut cancelled => return Asked::Interrupted(partial.cut()),
            next = stream.next() => next,
        };
        match next {
            Some(Ok(delta)) => {
                tell(&delta, emitter);
                partial.add(delta);
            }
            Some(Err(mut error)) => {
                error.delivered |= partial.was_seen();
                return Asked::Failed(error, partial.cut());
            }
            None => break,
        }
    }
    let usage = partial.usage();
    match partial.finish() {
        Ok(reply) => Asked::Reply(reply),
        Err(error) => {
            *wasted += usage;
            Asked::Failed(error, None)
        }
    }
}

/// Passes on what a person may want to watch.
fn tell(delta: &Delta, emitter: &Emitter) {
    match delta {
        Delta::Text(text) => emitter.emit(EventKind::Delta { text: text.clone() }),
        Delta::Reasoning(text) => emitter.emit(EventKind::ReasoningDelta { text: text.clone() }),
        _ => {}
    }
}

/// What the provider asked for, or else an exponential pause with up to half of it again, so that
/// many sessions do not come back at the same moment.
pub(super) fn pause_before_retry(
    error: &TransportError,
    attempt: u32,
    session_id: &str,
) -> Duration {
    if let Some(asked) = error.retry_after {
        return asked.min(MAX_RETRY_AFTER);
    }
    if error.kind == ErrorKind::EmptyReply {
        return Duration::ZERO; // the provider is well; the model just said nothing
    }
    let pause = BACKOFF.saturating_mul(1 << (attempt - 1)).min(MAX_BACKOFF);
    pause + pause.mul_f64(spread(session_id, attempt) / 2.0)
}

/// A number in 0..1 that differs between sessions and attempts (FNV-1a; it need not be secret).
fn spread(session_id: &str, attempt: u32) -> f64 {
    let seed = 0xcbf2_9ce4_8422_2325 ^ u64::from(attempt);
    let hash = session_id
        .bytes()
        .fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    f64::from(u32::try_from(hash >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}
