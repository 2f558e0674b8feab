//! Asking a model on the side: a summary, a title. No tools, nothing of it enters the history, and
//! the person watching sees nothing of it.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Agent;
use super::ask::{Asked, ask};
use crate::event::Emitter;
use crate::message::Message;
use crate::transport::{ErrorKind, ModelRequest, TransportError};
use crate::usage::Usage;

/// Longest time one model gets for a side task, attempts and pauses included.
const TIMEOUT: Duration = Duration::from_secs(300);

/// What is asked.
pub(super) struct Question<'a> {
    /// The task's name in the configuration; it has a chain of models of its own.
    pub(super) task: &'a str,
    /// What the model is told it is.
    pub(super) system: &'a str,
    /// What it is asked.
    pub(super) text: &'a str,
}

/// What came of it.
pub(super) struct Answer {
    /// The answer, or why no model of the chain gave one.
    pub(super) text: Result<String, TransportError>,
    /// Model calls made.
    pub(super) api_calls: u32,
    /// Their tokens, as far as they were reported.
    pub(super) usage: Usage,
}

/// Asks the models of the task's chain in order until one answers.
pub(super) async fn ask_chain(
    agent: &Agent,
    session_id: &Arc<str>,
    question: &Question<'_>,
    cancel: &CancellationToken,
) -> Answer {
    let nothing = || TransportError::new(ErrorKind::Internal, "no model is configured");
    let mut answer = Answer { text: Err(nothing()), api_calls: 0, usage: Usage::default() };
    let silent = Emitter::new(Arc::new(|_| {}), Arc::default(), Arc::clone(session_id), 0);
    let mut routes = agent.router.auxiliary(question.task).peekable();
    while let Some(route) = routes.next() {
        let request = ModelRequest {
            model: route.model.clone(),
            system: question.system.into(),
            messages: vec![Arc::new(Message::user(question.text))],
            tools: Arc::default(),
            sampling: route.sampling.clone(),
            stream: route.stream,
            session_id: Arc::clone(session_id),
        };
        let asking = ask(route, &request, &silent, cancel, routes.peek().is_some());
        let Ok((asked, spent)) = tokio::time::timeout(TIMEOUT, asking).await else {
            answer.api_calls += 1;
            answer.text = Err(TransportError::new(
                ErrorKind::Timeout,
                format!("{}/{} did not answer within {TIMEOUT:?}", route.provider, route.model),
            ));
            continue;
        };
        answer.api_calls += spent.calls;
        answer.usage += spent.wasted;
        match asked {
            Asked::Reply(reply) => {
                answer.usage += reply.message.usage.unwrap_or_default();
                let text = reply.message.content.text();
                if !text.trim().is_empty() {
                    answer.text = Ok(text);
                    return answer;
                }
                let message = "the model answered without any text";
                answer.text = Err(TransportError::new(ErrorKind::EmptyReply, message));
            }
            Asked::Failed(error, _) => answer.text = Err(error),
            Asked::Interrupted(_) => {
                let message = "interrupted by the user";
                answer.text = Err(TransportError::new(ErrorKind::Internal, message));
                return answer;
            }
        }
    }
    answer
}
