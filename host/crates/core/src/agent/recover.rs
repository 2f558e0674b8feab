//! What is done about a model call that failed for good, before the turn ends with it: a shorter
//! history, another form of the request, a nudge, another credential, another model. Each path is bounded:
//! compressions by the turn's allowance, remedies once a kind and model, credentials by
//! [`MAX_RENEWALS`] a model, models by the length of the chain.

use std::sync::Arc;

use serde_json::Value;

use super::compress::Occasion;
use super::turn::Turn;
use crate::event::EventKind;
use crate::health::COOL_DOWN;
use crate::message::{Content, ContentPart, Message};
use crate::router::Route;
use crate::store::StoreError;
use crate::transport::{ErrorKind, ModelRequest, Remedy, TransportError};

/// Credentials tried for one model in a turn: one that is refreshed, and a handful of keys.
const MAX_RENEWALS: u32 = 8;

/// What stands where an image was that the provider did not take.
const NO_IMAGE: &str = "[an image stood here; the provider does not accept it]";

/// What a model is told whose replies were empty; never stored.
const NUDGE: &str =
    "[Your replies were empty. Answer in words, or call a tool if something is left to do.]";

/// What has been tried in this turn.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// Which of the router's main routes is asked.
    pub(super) route: usize,
    /// What the current route's requests are changed by.
    remedies: Vec<Remedy>,
    renewals: u32,
    /// Whether the next request ends with a word about replies that were empty.
    pub(super) nudged: bool,
}

impl Recovery {
    /// Begins with the first route that is not to be left alone, or with the primary.
    pub(super) fn begin(turn: &Turn<'_>) -> Self {
        let health = &turn.agent.health;
        let mut routes = turn.agent.router.main();
        let route = routes.position(|route| !health.is_blocked(&name(route))).unwrap_or(0);
        Self { route, ..Self::default() }
    }

    /// Changes a request by what has been learned about the route.
    pub(super) fn apply(&self, request: &mut ModelRequest) {
        for remedy in &self.remedies {
            apply(remedy, request);
        }
        if self.nudged {
            request.messages.push(Arc::new(Message::user(NUDGE)));
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
        turn.recovery.remedies.push(remedy);
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
        if turn.route().transport.renew_credential(error).await {
            return Ok(true);
        }
    }
    Ok(fall_back(turn, error))
}

/// A remedy helps once: one of the same kind that is already applied did not.
fn is_new(turn: &Turn<'_>, remedy: &Remedy) -> bool {
    let same = |known: &Remedy| match (known, remedy) {
        (Remedy::WithoutParameter(known), Remedy::WithoutParameter(name)) => known == name,
        _ => std::mem::discriminant(known) == std::mem::discriminant(remedy),
    };
    let parameters = turn.recovery.remedies.len() < 8;
    parameters && !turn.recovery.remedies.iter().any(same)
}

/// Goes on with the next model of the chain, if there is one.
fn fall_back(turn: &mut Turn<'_>, error: &TransportError) -> bool {
    // What the content filter of one provider refuses, another need not be shown.
    if matches!(error.kind, ErrorKind::ContentFilter | ErrorKind::Internal | ErrorKind::Store) {
        return false;
    }
    let routes: Vec<&Route> = turn.agent.router.main().collect();
    let failed = name(turn.route());
    let pause = error.retry_after.unwrap_or(COOL_DOWN);
    if !matches!(error.kind, ErrorKind::BadRequest | ErrorKind::ContextOverflow) {
        turn.agent.health.failed(&failed, pause);
    }
    let Some(next) = routes.get(turn.recovery.route + 1) else { return false };
    turn.recovery = Recovery { route: turn.recovery.route + 1, ..Recovery::default() };
    turn.model = None;
    let reason = error.message.clone();
    turn.emitter.emit(EventKind::Fallback { from: failed, to: name(next), reason });
    true
}

fn apply(remedy: &Remedy, request: &mut ModelRequest) {
    match remedy {
        Remedy::MaxTokens(most) => request.sampling.max_tokens = *most,
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
