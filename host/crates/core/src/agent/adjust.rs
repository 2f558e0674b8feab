//! What is changed about the requests to one model after it refused some: their form, and the
//! credential they carry. Both are bounded, by [`MAX_REMEDIES`] and [`MAX_RENEWALS`].

use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::vision::Descriptions;
use crate::health::COOL_DOWN;
use crate::message::{Content, ContentPart, Message};
use crate::router::Route;
use crate::transport::{ErrorKind, ModelRequest, Remedy, TransportError};

/// Credentials tried for one model in a turn: one that is refreshed, and a handful of keys.
const MAX_RENEWALS: u32 = 8;

/// Remedies tried for one model in a turn.
const MAX_REMEDIES: usize = 8;

/// What stands where an image was that the provider did not take.
const NO_IMAGE: &str = "[an image stood here; the provider does not accept it]";

/// What is changed about the requests to one model.
#[derive(Debug, Default)]
pub(super) struct Adjustments {
    remedies: Vec<Remedy>,
    added: usize,
    renewals: u32,
}

impl Adjustments {
    /// What was learned about the route before.
    pub(super) fn known(agent: &Agent, route: &Route) -> Self {
        let remedies = agent.learned().get(&name(route)).cloned().unwrap_or_default();
        Self { remedies, ..Self::default() }
    }

    /// Changes what may help after `error`: the form of the request as the error suggests, or the
    /// credential it refuses. Gives what was changed, for people; nothing if asking again is
    /// pointless.
    pub(super) async fn adjust(
        &mut self,
        agent: &Agent,
        route: &Route,
        error: &TransportError,
        cancel: &CancellationToken,
    ) -> Option<&'static str> {
        if let Some(remedy) = error.remedy.clone().filter(|remedy| self.is_new(remedy)) {
            tracing::debug!("model call failed: {error}; trying {remedy:?}");
            self.add(remedy);
            agent.learn(&name(route), &self.remedies);
            return Some("asked in another form then");
        }
        let of_credential =
            matches!(error.kind, ErrorKind::Auth | ErrorKind::RateLimited | ErrorKind::Billing);
        if !of_credential || self.renewals == MAX_RENEWALS {
            return None;
        }
        self.renewals += 1;
        let renewed = tokio::select! {
            biased;
            // The next request notices it.
            () = cancel.cancelled() => true,
            renewed = route.transport.renew_credential(error) => renewed,
        };
        renewed.then_some("another credential was tried then")
    }

    /// Whether requests carry no images.
    pub(super) fn drop_images(&self) -> bool {
        self.remedies.contains(&Remedy::WithoutImages)
    }

    /// Changes a request by all of it.
    pub(super) fn apply(&self, agent: &Agent, request: &mut ModelRequest) {
        for remedy in &self.remedies {
            apply(remedy, &agent.descriptions, request);
        }
    }

    /// Adds a remedy, in place of a weaker one of its kind.
    fn add(&mut self, remedy: Remedy) {
        self.remedies.retain(|known| !is_same(known, &remedy));
        self.remedies.push(remedy);
        self.added += 1;
    }

    /// A remedy helps once: one of the same kind that is already applied did not, unless it asks for
    /// still fewer tokens.
    fn is_new(&self, remedy: &Remedy) -> bool {
        let known = self.remedies.iter().find(|known| is_same(known, remedy));
        let helps = match (known, remedy) {
            (None, _) => true,
            (Some(Remedy::MaxTokens(Some(known))), Remedy::MaxTokens(Some(most))) => most < known,
            (Some(Remedy::MaxTokens(Some(_))), Remedy::MaxTokens(None)) => true,
            (Some(_), _) => false,
        };
        helps && self.added < MAX_REMEDIES
    }
}

/// `provider/model`.
pub(super) fn name(route: &Route) -> String {
    format!("{}/{}", route.provider, route.model)
}

/// Routes in the order they are asked: those that failed lately come last.
pub(super) fn by_health<'a>(
    agent: &Agent,
    routes: impl Iterator<Item = &'a Route>,
) -> Vec<(usize, &'a Route)> {
    let (blocked, free): (Vec<_>, Vec<_>) =
        routes.enumerate().partition(|(_, route)| agent.health.is_blocked(&name(route)));
    free.into_iter().chain(blocked).collect()
}

/// Leaves a route alone for a while if it failed in a way that lasts. An odd reply or a request it
/// does not take says nothing about the next turn.
pub(super) fn leave_alone(agent: &Agent, route: &Route, error: &TransportError) {
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
        agent.health.failed(&name(route), error.retry_after.unwrap_or(COOL_DOWN));
    }
}

fn is_same(one: &Remedy, other: &Remedy) -> bool {
    match (one, other) {
        (Remedy::WithoutParameter(one), Remedy::WithoutParameter(other)) => one == other,
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

fn apply(remedy: &Remedy, descriptions: &Descriptions, request: &mut ModelRequest) {
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
        Remedy::WithoutImages => change(request, |message| {
            let image = |part: &ContentPart| matches!(part, ContentPart::ImageUrl { .. });
            message.content.0.iter().any(image).then(|| Message {
                content: in_words(&message.content, descriptions),
                ..message.clone()
            })
        }),
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

/// A content whose images are told in words, or only named where nobody could tell.
fn in_words(content: &Content, descriptions: &Descriptions) -> Content {
    let part = |part: &ContentPart| match part {
        ContentPart::ImageUrl { image_url } => {
            let shown = descriptions.of(image_url);
            let shown =
                shown.map(|shown| format!("[an image, as another model describes it:\n{shown}]"));
            ContentPart::Text { text: shown.unwrap_or_else(|| NO_IMAGE.into()) }
        }
        text @ ContentPart::Text { .. } => text.clone(),
    };
    Content(content.0.iter().map(part).collect())
}
