//! What is done about a model call that failed for good, before the turn ends with it: a shorter
//! history, another form of the request, a nudge, another credential, another model. Each path is bounded:
//! compressions by the turn's allowance, remedies once a kind and model, credentials by
//! [`MAX_RENEWALS`] a model, models by the length of the chain.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use super::compress::Occasion;
use super::turn::Turn;
use super::{Agent, history};
use crate::event::{Emitter, EventKind};
use crate::health::COOL_DOWN;
use crate::message::{Content, ContentPart, Message};
use crate::router::Route;
use crate::store::StoreError;
use crate::transport::{ErrorKind, ModelRequest, Remedy, TransportError};

/// Credentials tried for one model in a turn: one that is refreshed, and a handful of keys.
const MAX_RENEWALS: u32 = 8;

/// Remedies tried for one model in a turn.
const MAX_REMEDIES: usize = 8;

/// What stands where an image was that the provider did not take.
const NO_IMAGE: &str = "[an image stood here; the provider does not accept it]";

/// What a model is told whose replies were empty; never stored.
const NUDGE: &str =
    "[Your replies were empty. Answer in words, or call a tool if something is left to do.]";

/// What has been tried in this turn.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// The router's main routes that are left to ask, the current one first.
    routes: VecDeque<usize>,
    /// What the current route's requests are changed by.
    remedies: Vec<Remedy>,
    added: usize,
    renewals: u32,
    /// Whether the next request ends with a word about replies that were empty.
    pub(super) nudged: bool,
}

impl Recovery {
    /// Begins with the routes that need not be left alone; the others are asked when those fail.
    pub(super) fn begin(agent: &Agent) -> Self {
        let health = &agent.health;
        let routes: Vec<&Route> = agent.router.main().collect();
        let (blocked, free): (Vec<usize>, Vec<usize>) =
            (0..routes.len()).partition(|&at| health.is_blocked(&name(routes[at])));
        let mut recovery =
            Self { routes: free.into_iter().chain(blocked).collect(), ..Self::default() };
        recovery.remember(agent);
        recovery
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
        *self = Self { routes, ..Self::default() };
        self.remember(agent);
    }

    /// Takes up what an earlier turn learned about the route.
    fn remember(&mut self, agent: &Agent) {
        let Some(route) = agent.router.main().nth(self.route()) else { return };
        let known = agent.learned();
        self.remedies = known.get(&name(route)).cloned().unwrap_or_default();
    }

    /// Adds a remedy, in place of a weaker one of its kind.
    fn add(&mut self, remedy: Remedy) {
        self.remedies.retain(|known| !is_same(known, &remedy));
        self.remedies.push(remedy);
        self.added += 1;
    }

    /// Changes a request by what has been learned about the route.
    pub(super) fn apply(&self, request: &mut ModelRequest) {
        for remedy in &self.remedies {
            apply(remedy, request);
        }
        if self.nudged {
            history::say_last(&mut request.messages, NUDGE);
        }
    }
}

/// `provider/model`.
pub(super) fn name(route: &Route) -> String {
    format!("{}/{}", route.provider, route.model)
}

/// Does what may help after `error`; whether asking again is worth it.
pub(super) async fn recover(
    turn: &mut Turn<'_>,
    error: &TransportError,
) -> Result<bool, StoreError> {
    if let Some(remedy) = error.remedy.clone().filter(|remedy| is_new(turn, remedy)) {
        tracing::debug!("model call failed: {error}; trying {remedy:?}");
        turn.emitter.hold(format!("{} (asked in another form then)", error.message));
        turn.recovery.add(remedy);
        turn.agent.learn(&name(turn.route()), &turn.recovery.remedies);
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
    let of_credential =
        matches!(error.kind, ErrorKind::Auth | ErrorKind::RateLimited | ErrorKind::Billing);
    if of_credential && turn.recovery.renewals < MAX_RENEWALS {
        turn.recovery.renewals += 1;
        let renewed = tokio::select! {
            biased;
            // The next request notices it.
            () = turn.cancel.cancelled() => true,
            renewed = turn.route().transport.renew_credential(error) => renewed,
        };
        if renewed {
            turn.emitter.hold(format!("{} (another credential was tried then)", error.message));
            return Ok(true);
        }
    }
    Ok(fall_back(turn, error))
}

/// A remedy helps once: one of the same kind that is already applied did not, unless it asks for
/// still fewer tokens.
fn is_new(turn: &Turn<'_>, remedy: &Remedy) -> bool {
    let recovery = &turn.recovery;
    let known = recovery.remedies.iter().find(|known| is_same(known, remedy));
    let helps = match (known, remedy) {
        (None, _) => true,
        (Some(Remedy::MaxTokens(Some(known))), Remedy::MaxTokens(Some(most))) => most < known,
        (Some(Remedy::MaxTokens(Some(_))), Remedy::MaxTokens(None)) => true,
        (Some(_), _) => false,
    };
    helps && recovery.added < MAX_REMEDIES
}

fn is_same(one: &Remedy, other: &Remedy) -> bool {
    match (one, other) {
        (Remedy::WithoutParameter(one), Remedy::WithoutParameter(other)) => one == other,
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// Goes on with the next model of the chain, if there is one.
fn fall_back(turn: &mut Turn<'_>, error: &TransportError) -> bool {
    if matches!(error.kind, ErrorKind::Internal | ErrorKind::Store) {
        return false;
    }
    let failed = name(turn.route());
    // An odd reply or a request it does not take says nothing about the next turn.
    let lasts = matches!(
        error.kind,
        ErrorKind::Auth
            | ErrorKind::Billing
            | ErrorKind::RateLimited
            | ErrorKind::Overloaded
            | ErrorKind::Timeout
            | ErrorKind::Connection
            | ErrorKind::ModelNotFound
    );
    if lasts {
        turn.agent.health.failed(&failed, error.retry_after.unwrap_or(COOL_DOWN));
    }
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

fn apply(remedy: &Remedy, request: &mut ModelRequest) {
    match remedy {
        Remedy::MaxTokens(None) => request.sampling.max_tokens = None,
        Remedy::MaxTokens(Some(most)) => {
            let asked = request.sampling.max_tokens.unwrap_or(u64::MAX);
            request.sampling.max_tokens = Some(asked.min(*most));
        }
        Remedy::WithoutStream => request.stream = false,
        Remedy::WithoutParameter(name) => match name.as_str() {
            "temperature" => request.sampling.temperature = None,
            "top_p" => request.sampling.top_p = None,
            "max_tokens" | "max_completion_tokens" | "max_output_tokens" => {
                request.sampling.max_tokens = None;
            }
            // One that the user did not ask for is the wire format's own; a null keeps it away.
            other => match request.sampling.extra.remove(other) {
                Some(_) => {}
                None => drop(request.sampling.extra.insert(other.into(), Value::Null)),
            },
        },
        Remedy::WithoutImages => {
            change(request, |message| {
                let image = |part: &ContentPart| matches!(part, ContentPart::ImageUrl { .. });
                message.content.0.iter().any(image).then(|| Message {
                    content: without_images(&message.content),
                    ..message.clone()
                })
            })
        }
        Remedy::WithoutReplay => change(request, |message| {
            message.replay.is_some().then(|| Message { replay: None, ..message.clone() })
        }),
    }
}

/// Puts changed messages in the place of those that need it.
fn change(request: &mut ModelRequest, changed: impl Fn(&Message) -> Option<Message>) {
    for message in &mut request.messages {
        if let Some(other) = changed(message) {
            *message = Arc::new(other);
        }
    }
}

fn without_images(content: &Content) -> Content {
    let part = |part: &ContentPart| match part {
        ContentPart::ImageUrl { .. } => ContentPart::Text { text: NO_IMAGE.into() },
        text @ ContentPart::Text { .. } => text.clone(),
    };
    Content(content.0.iter().map(part).collect())
}
