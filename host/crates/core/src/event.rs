//! What a front end sees of a turn, as it happens. Carries no secret and no unbounded text; the
//! last event of a turn is always its end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::id;
use crate::result::{TurnResult, WIRE_VERSION};

/// One thing that happened.
#[derive(Debug, Clone, Serialize)]
pub struct Event {
    /// [`WIRE_VERSION`].
    pub v: u32,
    /// Counts up within an agent, without gaps.
    pub seq: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub time: u64,
    /// The session.
    pub session_id: Arc<str>,
    /// The turn within the session, from 1.
    pub turn: u32,
    /// The iteration within the turn, from 1; 0 before the first.
    pub iteration: u32,
    /// The child agent it comes from, if not the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Arc<str>>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What can happen.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    // ---- the turn ----
    /// The user's message is stored; the model will be asked.
    TurnStarted,
    /// One more model call.
    IterationStarted,
    /// The turn is over. Always last.
    TurnEnded {
        /// What it came to.
        result: Box<TurnResult>,
    },

    // ---- the reply ----
    /// More of the answer.
    Delta {
        /// The text.
        text: String,
    },
    /// More of the reasoning.
    ReasoningDelta {
        /// The text.
        text: String,
    },

    // ---- tool calls ----
    /// A call was allowed and runs now, or was refused and is about to be answered.
    ToolCallStarted {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
        /// Where the tool comes from.
        plugin: String,
        /// The start of the arguments.
        arguments_preview: String,
    },
    /// A running call tells how far it is.
    ToolCallProgress {
        /// The call.
        call_id: String,
        /// For the person watching.
        message: String,
        /// Units done.
        #[serde(skip_serializing_if = "Option::is_none")]
        done: Option<u64>,
        /// Units in all.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
    },
    /// A call has its result.
    ToolCallFinished {
        /// The call.
        call_id: String,
        /// `ok`, or the failure's code.
        outcome: String,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
        /// The start of what the model sees.
        preview: String,
    },
    /// A hook said something other than to go on.
    HookVerdict {
        /// The call.
        call_id: String,
        /// The hook.
        hook: String,
        /// `deny`, `ask`, `rewrite`, `replace`, `note`, `withhold`, or `failed`.
        verdict: String,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The person is asked.
    ApprovalAsked {
        /// The call that waits.
        call_id: String,
        /// Who asks.
        asked_by: String,
        /// The question.
        question: String,
    },
    /// The person answered.
    ApprovalAnswered {
        /// The call that waited.
        call_id: String,
        /// What they said.
        answer: crate::approver::Approval,
    },

    // ---- everything else ----
    /// Something worth a line to the person.
    Status {
        /// The line.
        message: String,
    },
    /// History was shortened.
    Compressed {
        /// Messages archived.
        archived: u64,
        /// Tokens before, estimated.
        tokens_before: u64,
        /// Tokens after, estimated.
        tokens_after: u64,
    },
    /// Another provider took over.
    Fallback {
        /// `provider/model` that failed.
        from: String,
        /// `provider/model` that took over.
        to: String,
        /// Why.
        reason: String,
    },
}

/// Where events go. Called in order, from one turn at a time; a slow sink slows the turn, which is
/// what keeps memory constant.
pub type EventSink = Arc<dyn Fn(Event) + Send + Sync>;

/// Stamps and sends the events of one turn.
pub struct Emitter {
    sink: EventSink,
    seq: Arc<AtomicU64>,
    session_id: Arc<str>,
    turn: u32,
    iteration: std::sync::atomic::AtomicU32,
    /// Lines kept back.
    held: Mutex<Vec<String>>,
}

/// Most lines kept back; a turn that fails is explained by the latest ones.
const HELD_LINES: usize = 12;

impl Emitter {
    /// An emitter for one turn; `seq` is shared by all turns of an agent.
    pub fn new(sink: EventSink, seq: Arc<AtomicU64>, session_id: Arc<str>, turn: u32) -> Self {
        Self { sink, seq, session_id, turn, iteration: 0.into(), held: Mutex::default() }
    }

    /// An emitter for the rest of the turn, which goes on in another session.
    pub fn of_session(&self, session_id: &Arc<str>) -> Self {
        let (sink, seq) = (Arc::clone(&self.sink), Arc::clone(&self.seq));
        let other = Self::new(sink, seq, Arc::clone(session_id), self.turn);
        other.set_iteration(self.iteration.load(Ordering::Relaxed));
        other
    }

    /// Events from now on belong to this iteration.
    pub fn set_iteration(&self, n: u32) {
        self.iteration.store(n, Ordering::Relaxed);
    }

    /// Keeps back a line about trouble that may pass: nobody needs to read of what went well in the
    /// end.
    pub fn hold(&self, line: impl Into<String>) {
        let mut held = self.held();
        if held.len() == HELD_LINES {
            held.remove(0);
        }
        held.push(line.into());
    }

    /// Forgets what was kept back: it went well.
    pub fn forget_held(&self) {
        self.held().clear();
    }

    /// Tells what was kept back, as one status: it did not go well.
    pub fn tell_held(&self) {
        let held = std::mem::take(&mut *self.held());
        if !held.is_empty() {
            self.emit(EventKind::Status { message: format!("tried before: {}", held.join("; ")) });
        }
    }

    fn held(&self) -> MutexGuard<'_, Vec<String>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends one event.
    pub fn emit(&self, kind: EventKind) {
        (self.sink)(Event {
            v: WIRE_VERSION,
            seq: self.seq.fetch_add(1, Ordering::Relaxed),
            time: id::now_ms(),
            session_id: Arc::clone(&self.session_id),
            turn: self.turn,
            iteration: self.iteration.load(Ordering::Relaxed),
            agent_id: None,
            kind,
        });
    }
}
