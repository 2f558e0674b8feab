//! The end of a turn: one whole result, recorded, and told as the turn's last event.

use std::sync::Arc;

use super::Agent;
use super::turn::Turn;
use crate::budget::Reached;
use crate::event::{Emitter, EventKind};
use crate::failure::Attributes;
use crate::message::Role;
use crate::result::{EndKind, ErrorInfo, TurnEnd, TurnResult, WIRE_VERSION};
use crate::router::Route;
use crate::store::{StoreError, TurnRecord};
use crate::transport::{ErrorKind, TransportError};
use crate::usage::Usage;

/// Why a turn ends.
pub(super) struct Ending {
    end: TurnEnd,
    error: Option<TransportError>,
}

impl Ending {
    pub(super) fn of(kind: EndKind, detail: impl Into<String>) -> Self {
        Self { end: TurnEnd { kind, detail: detail.into() }, error: None }
    }

    pub(super) fn interrupted() -> Self {
        Self::of(EndKind::Interrupted, "interrupted by the user")
    }

    pub(super) fn budget_spent(reached: Reached) -> Self {
        Self::of(EndKind::BudgetSpent, reached.to_string())
    }

    pub(super) fn failed(error: TransportError) -> Self {
        let detail = error.message.clone();
        Self { error: Some(error), ..Self::of(EndKind::Failed, detail) }
    }
}

impl From<StoreError> for Ending {
    fn from(error: StoreError) -> Self {
        Self::failed(TransportError::new(ErrorKind::Store, error.to_string()))
    }
}

/// Records the turn and makes its result.
pub(super) async fn finish(turn: Turn<'_>, mut ending: Ending) -> TurnResult {
    let record = TurnRecord {
        turn: turn.number,
        end: ending.end.clone(),
        api_calls: turn.api_calls,
        usage: turn.usage,
        cost: turn.cost,
    };
    if let Err(error) = turn.agent.store.finish_turn(&turn.session_id, &record).await {
        // The first failure is the one worth telling.
        if ending.error.is_none() {
            ending = error.into();
        }
    }
    let answer = turn.messages().last().filter(|last| last.role == Role::Assistant);
    let answer = answer.map(|message| message.content.text()).unwrap_or_default();
    let final_response = Some(turn.truncation.whole(&answer)).filter(|text| !text.is_empty());
    let messages = turn.messages().to_vec();
    let session_id = turn.session_id.to_string();
    let blank = blank(turn.route(), session_id, turn.task_id.clone(), ending);
    let result = TurnResult {
        turn: turn.number,
        final_response,
        messages,
        api_calls: turn.api_calls,
        iterations: turn.iterations.clone(),
        usage: turn.usage,
        cost: turn.cost,
        model: turn.model.clone().unwrap_or_else(|| turn.route().model.clone()),
        pending_steer: turn.steer.take(),
        ..blank
    };
    observe(&turn, "turn_end").await;
    turn.emitter.emit(EventKind::TurnEnded { result: Box::new(result.clone()) });
    result
}

/// The result of a turn that failed before it began.
pub(super) fn never_began(
    agent: &Agent,
    session_id: Option<&str>,
    task_id: String,
    ending: Ending,
) -> TurnResult {
    let session_id = session_id.unwrap_or_default();
    let route = agent.router.primary();
    let result = blank(route, session_id.to_owned(), task_id, ending);
    let emitter =
        Emitter::new(Arc::clone(&agent.events), Arc::clone(&agent.seq), session_id.into(), 0);
    emitter.emit(EventKind::TurnEnded { result: Box::new(result.clone()) });
    result
}

fn blank(route: &Route, session_id: String, task_id: String, ending: Ending) -> TurnResult {
    let Ending { end, error } = ending;
    let of_provider = |error: &TransportError| {
        !matches!(error.kind, ErrorKind::Store | ErrorKind::ToolLoop | ErrorKind::Internal)
    };
    TurnResult {
        v: WIRE_VERSION,
        session_id,
        task_id,
        turn: 0,
        final_response: None,
        completed: end.kind == EndKind::Finished,
        failed: matches!(end.kind, EndKind::Failed | EndKind::StoppedByHook),
        interrupted: end.kind == EndKind::Interrupted,
        error: error.map(|error| ErrorInfo {
            kind: error.kind,
            status: error.status,
            provider: of_provider(&error).then(|| route.provider.clone()),
            message: error.message,
        }),
        end,
        messages: Vec::new(),
        api_calls: 0,
        iterations: Vec::new(),
        usage: Usage::default(),
        cost: None,
        model: route.model.clone(),
        provider: route.provider.clone(),
        api_mode: route.transport.api_mode().to_owned(),
        pending_steer: None,
    }
}

/// Tells observers of a point of the turn.
pub(super) async fn observe(turn: &Turn<'_>, point: &str) {
    let mut fields = Attributes::new();
    fields.insert("turn".into(), turn.number.into());
    notify(turn.agent, &turn.session_id, point, fields).await;
}

/// Tells observers of a point of the session.
pub(super) async fn notify(agent: &Agent, session_id: &str, point: &str, mut fields: Attributes) {
    fields.insert("session_id".into(), session_id.into());
    for observer in agent.hooks.observers.iter().filter(|observer| observer.matches(point)) {
        observer.notify(point, &fields).await;
    }
}
