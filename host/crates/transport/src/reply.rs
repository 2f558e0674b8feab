//! A body that arrives piece by piece, as deltas.
//!
//! Driven by whoever takes the deltas: nothing is read ahead, at most one piece of the body is
//! held, and dropping the reply drops the connection. Whether the body is an event stream or one
//! JSON document is seen from what comes, whatever was asked for.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use hermes_core::transport::{Delta, ErrorKind, TransportError};
use tokio::time::{Instant, Sleep};

use crate::classify::Answer;
use crate::http::Clock;
use crate::mode::{Decode, Deltas, Fault, Flow};
use crate::sse;

/// Most bytes of a reply that is one JSON document: far beyond any text, with room for images.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// How long usage may still follow the finish reason. A server that says neither `[DONE]` nor
/// closes would otherwise hold up every reply until the stall timeout.
const AFTER_FINISH: Duration = Duration::from_secs(5);

/// How long a body may take to end after its last event. Reading it to its end is what lets the
/// connection be used again.
const AFTER_DONE: Duration = Duration::from_millis(100);

/// Most bytes read for the same purpose.
const AFTER_DONE_BYTES: usize = 64 * 1024;

/// The byte order mark that some servers put first.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A body: pieces, or why there are no more.
pub(crate) type Body = Pin<Box<dyn Stream<Item = Result<Bytes, String>> + Send>>;

/// One reply.
pub(crate) struct Reply {
    /// Absent once nothing more is wanted of it.
    body: Option<Body>,
    phase: Phase,
    shape: Shape,
    decoder: Box<dyn Decode>,
    answer: Answer,
    clock: Clock,
    timer: Pin<Box<Sleep>>,
    /// Whether the timer runs: it does only while nothing comes.
    waiting: bool,
    /// When to stop waiting for more of a reply that has said why it ended.
    leave_at: Option<Instant>,
    received: usize,
    out: Deltas,
    /// Handed out after all deltas.
    failure: Option<TransportError>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    Reading,
    /// The body is over, in good order or for this reason; events may be left.
    Ended(Option<String>),
    /// The reply is complete, the body not yet.
    Draining,
    Over,
}

/// What a body turned out to be, with what of it is not yet decoded.
enum Shape {
    Unknown(Vec<u8>),
    Events(sse::Decoder),
    Json(Vec<u8>),
    Other(Vec<u8>),
}

impl Reply {
    pub(crate) fn new(body: Body, decoder: Box<dyn Decode>, answer: Answer, clock: Clock) -> Self {
        Self {
            body: Some(body),
            phase: Phase::Reading,
            shape: Shape::Unknown(Vec::new()),
            decoder,
            answer,
            timer: Box::pin(tokio::time::sleep_until(clock.deadline)),
            clock,
            waiting: false,
            leave_at: None,
            received: 0,
            out: Deltas::new(),
            failure: None,
        }
    }

    /// Does one step: decodes an event, or takes a piece of the body.
    fn step(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.phase != Phase::Draining && self.decode_event() {
            return Poll::Ready(());
        }
        if let Phase::Ended(cause) = self.phase.clone() {
            self.conclude(cause);
            return Poll::Ready(());
        }
        let Some(body) = &mut self.body else {
            self.phase = Phase::Over;
            return Poll::Ready(());
        };
        let Poll::Ready(piece) = body.as_mut().poll_next(cx) else {
            ready!(self.poll_timer(cx));
            self.expire();
            return Poll::Ready(());
        };
        self.waiting = false;
        match piece {
            Some(Ok(piece)) => self.take(piece),
            Some(Err(cause)) => self.end(Some(cause)),
            None => self.end(None),
        }
        Poll::Ready(())
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.waiting {
            self.waiting = true;
            let silence = self.clock.until(self.clock.timeouts.stall);
            self.timer.as_mut().reset(self.leave_at.unwrap_or(silence).min(silence));
        }
        self.timer.as_mut().poll(cx)
    }

    /// Nothing came for too long, or the whole call took too long.
    fn expire(&mut self) {
        if self.phase == Phase::Draining || self.decoder.is_finished() {
            return self.end(None);
        }
        self.fail(self.clock.expired(&self.answer.place));
    }

    fn take(&mut self, piece: Bytes) {
        self.received = self.received.saturating_add(piece.len());
        if self.phase == Phase::Draining {
            if self.received > AFTER_DONE_BYTES {
                self.end(None);
            }
            return;
        }
        if Instant::now() >= self.clock.deadline {
            return self.expire();
        }
        match &mut self.shape {
            Shape::Unknown(head) => {
                head.extend_from_slice(&piece);
                self.recognise(false);
            }
            Shape::Events(events) => events.push(piece),
            Shape::Json(text) => {
                text.extend_from_slice(&piece);
                if text.len() > MAX_BODY_BYTES {
                    let reason = format!("it is longer than {MAX_BODY_BYTES} bytes");
                    self.fault(&Fault::Malformed { reason, text: String::new() });
                }
            }
            Shape::Other(text) => {
                text.extend_from_slice(&piece);
                if text.len() >= TransportError::BODY_BYTES {
                    self.end(None); // enough of it for a message
                }
            }
        }
    }

    /// Settles what the body is, once enough of it has come; `last` if no more will.
    fn recognise(&mut self, last: bool) {
        let Shape::Unknown(head) = &mut self.shape else { return };
        let Some(kind) = Kind::of(&self.answer.content_type, head, last) else { return };
        let head = std::mem::take(head);
        self.shape = match kind {
            Kind::Json => Shape::Json(head),
            Kind::Other => Shape::Other(head),
            Kind::Events => {
                let mut events = sse::Decoder::default();
                events.push(head.into());
                Shape::Events(events)
            }
        };
    }

    /// Decodes the next event, if there is one. Whether there was.
    fn decode_event(&mut self) -> bool {
        let Shape::Events(events) = &mut self.shape else { return false };
        let flow = match events.next_event() {
            Ok(None) => return false,
            Ok(Some(event)) => self.decoder.event(&event, &mut self.out),
            Err(error) => Err(Fault::Malformed { reason: error.to_string(), text: String::new() }),
        };
        match flow {
            Ok(Flow::More) => {
                if self.leave_at.is_none() && self.decoder.is_finished() {
                    self.leave_at = Some(self.clock.until(AFTER_FINISH));
                }
            }
            Ok(Flow::Done) => {
                self.phase = Phase::Draining;
                self.leave_at = Some(self.clock.until(AFTER_DONE));
                self.received = 0;
            }
            Err(fault) => self.fault(&fault),
        }
        true
    }

    /// No more of the body will come.
    fn end(&mut self, cause: Option<String>) {
        self.body = None;
        if self.phase == Phase::Draining {
            self.phase = Phase::Over;
            return;
        }
        self.recognise(true);
        if let Shape::Events(events) = &mut self.shape {
            events.finish();
        }
        self.phase = Phase::Ended(cause);
    }

    /// Everything that came is decoded, or one whole body: was it a reply?
    fn conclude(&mut self, cause: Option<String>) {
        self.phase = Phase::Over;
        let told = match &self.shape {
            Shape::Unknown(_) if cause.is_some() => Err(Fault::Cut),
            Shape::Unknown(_) => Err(Fault::Empty),
            Shape::Events(_) => self.decoder.end(&mut self.out),
            Shape::Json(text) => {
                let text = text.strip_prefix(MARK).unwrap_or(text);
                let told = self.decoder.whole(&String::from_utf8_lossy(text), &mut self.out);
                // Half a document is no malformed document.
                if cause.is_some() && matches!(told, Err(Fault::Malformed { .. })) {
                    Err(Fault::Cut)
                } else {
                    told
                }
            }
            Shape::Other(text) => return self.fail(self.answer.no_reply(text)),
        };
        match (told, cause) {
            (Ok(()), _) => {}
            (Err(Fault::Cut), Some(cause)) => {
                let message = format!(
                    "the connection to {} broke after {} bytes of the reply: {cause}; try again",
                    self.answer.place, self.received
                );
                self.fail(self.answer.error(ErrorKind::Connection, &message, ""));
            }
            (Err(fault), _) => self.fault(&fault),
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.fail(self.answer.fault(fault));
    }

    fn fail(&mut self, error: TransportError) {
        self.body = None;
        self.phase = Phase::Over;
        self.failure = Some(TransportError { delivered: self.decoder.has_delivered(), ..error });
    }
}

impl Stream for Reply {
    type Item = Result<Delta, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(delta) = self.out.pop_front() {
                return Poll::Ready(Some(Ok(delta)));
            }
            if self.phase == Phase::Over {
                return Poll::Ready(self.failure.take().map(Err));
            }
            ready!(self.step(cx));
        }
    }
}

/// What a body looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Events,
    Other,
}

impl Kind {
    /// What a body with this beginning is; none if more of it is needed to tell. The first
    /// character decides before the content type, which servers and gateways often get wrong.
    fn of(content_type: &str, head: &[u8], last: bool) -> Option<Self> {
        const FIELDS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
        if MARK.starts_with(head) && !head.is_empty() && !last && head != MARK {
            return None;
        }
        let head = head.strip_prefix(MARK).unwrap_or(head).trim_ascii_start();
        let first = *head.first()?;
        if matches!(first, b'{' | b'[') {
            return Some(Self::Json);
        }
        if first == b'<' {
            return Some(Self::Other);
        }
        if content_type.starts_with("text/event-stream") {
            return Some(Self::Events);
        }
        if FIELDS.iter().any(|field| head.starts_with(field)) {
            return Some(Self::Events);
        }
        let undecided = !last && FIELDS.iter().any(|field| field.starts_with(head));
        (!undecided).then_some(Self::Other)
    }
}

#[cfg(test)]
mod tests;
