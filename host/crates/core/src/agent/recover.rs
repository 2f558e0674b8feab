//! What is done about a model call that failed for good, before the turn ends with it: another form
//! of the request or another credential, a shorter history, a nudge, another model. Each path is
//! bounded: what is changed for one model in its own file, compressions by the turn's allowance, the
//! nudge to one, models by the length of the chain.

use std::collections::VecDeque;

use super::adjust::{Adjustments, by_health, leave_alone, name};
use super::compress::Occasion;
use super::turn::Turn;
use super::{Agent, history};
use crate::event::{Emitter, EventKind};
use crate::store::StoreError;
use crate::transport::{ErrorKind, ModelRequest, TransportError};

/// What a model is told whose replies were empty; never stored.
const NUDGE: &str =
    "[Your replies were empty. Answer in words, or call a tool if something is left to do.]";

/// What has been tried in this turn.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// The router's main routes that are left to ask, the current one first.
    routes: VecDeque<usize>,
    /// What the current route's requests are changed by.
    adjustments: Adjustments,
    /// Whether the next request ends with a word about replies that were empty.
    pub(super) nudged: bool,
}

impl Recovery {
    /// Begins with the routes that need not be left alone; the others are asked when those fail.
    pub(super) fn begin(agent: &Agent) -> Self {
        let routes = by_health(agent, agent.router.main());
        Self::of(agent, routes.into_iter().map(|(at, _)| at).collect())
    }

    /// With nothing tried yet, and what earlier turns learned about the first of these routes.
    fn of(agent: &Agent, routes: VecDeque<usize>) -> Self {
        let route = routes.front().and_then(|&at| agent.router.main().nth(at));
        let adjustments = route.map(|route| Adjustments::known(agent, route)).unwrap_or_default();
        Self { routes, adjustments, nudged: false }
    }

    /// Tells of a turn that does not begin with the primary.
    pub(super) fn tell_start(&self, agent: &Agent, emitter: &Emitter) {
        let Some(route) = agent.router.main().nth(self.route()).filter(|_| self.route() > 0) else {
            return;
        };
        emitter.emit(EventKind::Fallback {
            from: name(agent.router.primary()),
            to: name(route),
            reason: "it failed lately and is left alone for a while".into(),
        });
    }

    /// The route that is asked, by its place among the router's main ones.
    pub(super) fn route(&self) -> usize {
        self.routes.front().copied().unwrap_or(0)
    }

    /// Whether another route could be asked.
    pub(super) fn has_alternative(&self) -> bool {
        self.routes.len() > 1
    }

    /// Goes on with the next route.
    fn next(&mut self, agent: &Agent) {
        let mut routes = std::mem::take(&mut self.routes);
        routes.pop_front();
        *self = Self::of(agent, routes);
    }

    /// Whether requests carry no images.
    pub(super) fn drops_images(&self) -> bool {
        self.adjustments.drop_images()
    }

    /// Changes a request by what has been learned about the route.
    pub(super) fn apply(&self, agent: &Agent, request: &mut ModelRequest) {
        self.adjustments.apply(agent, request);
        if self.nudged {
            history::say_last(&mut request.messages, NUDGE);
        }
    }
}

/// Does what may help after `error`; whether asking again is worth it.
pub(super) async fn recover(
    turn: &mut Turn<'_>,
    error: &TransportError,
) -> Result<bool, StoreError> {
    let route = turn.route();
    let adjustments = &mut turn.recovery.adjustments;
    if let Some(what) = adjustments.adjust(turn.agent, route, error, &turn.cancel).await {
        turn.emitter.hold(format!("{} ({what})", error.message));
        return Ok(true);
    }
    if error.kind == ErrorKind::ContextOverflow && turn.compress(Occasion::Overflow).await? {
        return Ok(true);
    }
    // With a status, it is the server that sent nothing; a word to the model does not mend that.
    let of_model = error.kind == ErrorKind::EmptyReply && error.status.is_none();
    if of_model && !turn.recovery.nudged {
        turn.recovery.nudged = true;
        return Ok(true);
    }
    Ok(fall_back(turn, error))
}

/// Goes on with the next model of the chain, if there is one.
fn fall_back(turn: &mut Turn<'_>, error: &TransportError) -> bool {
    if matches!(error.kind, ErrorKind::Internal | ErrorKind::Store) {
        return false;
    }
    let failed = name(turn.route());
    leave_alone(turn.agent, turn.route(), error);
    if !turn.recovery.has_alternative() {
        return false;
    }
    turn.recovery.next(turn.agent);
    let next = turn.route();
    turn.model = None;
    let reason = error.message.clone();
    turn.emitter.emit(EventKind::Fallback { from: failed, to: name(next), reason });
    true
}
