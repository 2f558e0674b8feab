//! Asking a model on the side: a summary, a title. Nothing of it enters the history, and the person
//! watching sees nothing of it. What may help after a failure is what helps in a turn.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Agent;
use super::adjust::{Adjustments, by_health, leave_alone, name};
use super::ask::{Asked, ask};
use crate::event::Emitter;
use crate::message::{Content, Message};
use crate::router::Route;
use crate::tool::ToolSpec;
use crate::transport::{ErrorKind, ModelRequest, Remedy, TransportError};
use crate::usage::{Cost, Usage};

/// Longest time one model gets for a side task, attempts and pauses included.
const TIMEOUT: Duration = Duration::from_secs(300);

/// What is asked.
pub(super) struct Question<'a> {
    /// The task's name in the configuration; it has a chain of models of its own.
    pub(super) task: &'a str,
    /// What the model is told it is.
    pub(super) system: &'a str,
    /// What it is asked.
    pub(super) content: Content,
    /// What it may call; whoever asks runs the calls.
    pub(super) tools: Arc<[ToolSpec]>,
}

/// What came of it.
pub(super) struct Answer {
    /// The answer, or why no model of the chain gave one.
    pub(super) reply: Result<Message, TransportError>,
    /// What it cost.
    pub(super) side: SideCost,
}

/// What asking on the side cost.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SideCost {
    /// Model calls made.
    pub(super) api_calls: u32,
    /// Their tokens, as far as they were reported.
    pub(super) usage: Usage,
    /// Their money, as far as prices are known.
    pub(super) cost: Option<Cost>,
}

impl SideCost {
    /// Adds tokens of `route`'s model.
    pub(super) fn spend(&mut self, route: &Route, usage: Usage) {
        if usage == Usage::default() {
            return; // nothing was spent, so no cost is known either
        }
        self.usage += usage;
        if let Some(prices) = route.prices {
            let nothing = Cost { usd: 0.0, estimated: false };
            *self.cost.get_or_insert(nothing) += prices.cost(&usage);
        }
    }

    /// Adds what something else cost.
    pub(super) fn add(&mut self, other: Self) {
        self.api_calls += other.api_calls;
        self.usage += other.usage;
        if let Some(cost) = other.cost {
            *self.cost.get_or_insert(Cost { usd: 0.0, estimated: false }) += cost;
        }
    }
}

impl Answer {
    /// What the answer says.
    ///
    /// # Errors
    /// There is none, or it says nothing.
    pub(super) fn text(self) -> Result<String, TransportError> {
        let text = self.reply?.content.text();
        if text.trim().is_empty() {
            let message = "the model answered without any text";
            return Err(TransportError::new(ErrorKind::EmptyReply, message));
        }
        Ok(text)
    }

    fn fails(&mut self, kind: ErrorKind, message: impl Into<String>) {
        self.reply = Err(TransportError::new(kind, message));
    }
}

/// Asks the models of the task's chain until one answers: in order, but those that failed lately
/// last.
pub(super) async fn ask_chain(
    agent: &Agent,
    session_id: &Arc<str>,
    question: &Question<'_>,
    cancel: &CancellationToken,
) -> Answer {
    let nobody = TransportError::new(ErrorKind::Internal, "no model is configured");
    let mut answer = Answer { reply: Err(nobody), side: SideCost::default() };
    let routes = by_health(agent, agent.router.auxiliary(question.task));
    let mut routes = routes.into_iter().map(|(_, route)| route).peekable();
    while let Some(route) = routes.next() {
        let asking = Asking { agent, session_id, question, cancel, route };
        let others = routes.peek().is_some();
        let Ok(()) = tokio::time::timeout(TIMEOUT, asking.ask_one(others, &mut answer)).await
        else {
            answer.side.api_calls += 1;
            let message = format!("{} did not answer within {TIMEOUT:?}", name(route));
            answer.fails(ErrorKind::Timeout, message);
            continue;
        };
        if answer.reply.is_ok() || cancel.is_cancelled() {
            break;
        }
    }
    answer
}

/// One model asked a question.
struct Asking<'a> {
    agent: &'a Agent,
    session_id: &'a Arc<str>,
    question: &'a Question<'a>,
    cancel: &'a CancellationToken,
    route: &'a Route,
}

impl Asking<'_> {
    /// Asks until the model answers or nothing is left that may help.
    async fn ask_one(&self, others: bool, answer: &mut Answer) {
        let Self { agent, route, cancel, .. } = self;
        let silent = Emitter::new(Arc::new(|_| {}), Arc::default(), Arc::clone(self.session_id), 0);
        let mut adjustments = Adjustments::known(agent, route);
        loop {
            let mut request = self.request();
            adjustments.apply(agent, &mut request);
            let (asked, spent) = ask(route, &request, &silent, cancel, others).await;
            answer.side.api_calls += spent.calls;
            answer.side.spend(route, spent.wasted);
            let error = match asked {
                Asked::Reply(reply) => {
                    agent.health.answered(&name(route));
                    answer.side.spend(route, reply.message.usage.unwrap_or_default());
                    answer.reply = Ok(reply.message);
                    return;
                }
                Asked::Interrupted(_) => {
                    return answer.fails(ErrorKind::Internal, "interrupted by the user");
                }
                Asked::Failed(error, _) => error,
            };
            // A question about an image makes no sense without it.
            let pointless = error.remedy == Some(Remedy::WithoutImages);
            if pointless || adjustments.adjust(agent, route, &error, cancel).await.is_none() {
                leave_alone(agent, route, &error);
                answer.reply = Err(error);
                return;
            }
        }
    }

    fn request(&self) -> ModelRequest {
        ModelRequest {
            model: self.route.model.clone(),
            system: self.question.system.into(),
            messages: vec![Arc::new(Message::user(self.question.content.clone()))],
            tools: Arc::clone(&self.question.tools),
            sampling: self.route.sampling.clone(),
            stream: self.route.stream,
            session_id: Arc::clone(self.session_id),
        }
    }
}
