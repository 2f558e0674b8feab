//! One turn: from what the person says until the model has nothing more to do. The loop stands in
//! [`Turn::iterate`]; each of its steps is a file of this folder.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::ask::{Asked, ask};
use super::execute::execute;
use super::finish::{self, Ending};
use super::guardrail::{Guardrail, Observed};
use super::prepare::prepare;
use super::reply::Reply;
use super::{Agent, Steer, TurnInput, admit, history};
use crate::budget::IterationBudget;
use crate::event::{Emitter, EventKind};
use crate::id;
use crate::message::{FinishReason, Message, Role};
use crate::result::{EndKind, IterationInfo, ToolErrorInfo, TurnResult};
use crate::router::Route;
use crate::store::{Durability, NewSession, StoreError, TurnLease};
use crate::tool::{Progress, ProgressSink};
use crate::transport::{ErrorKind, ModelRequest, TransportError};
use crate::usage::Usage;

/// A turn under way.
pub(super) struct Turn<'a> {
    pub(super) agent: &'a Agent,
    pub(super) session_id: Arc<str>,
    /// Keeps other processes out of the session as long as the turn runs.
    _lease: TurnLease,
    /// The turn within the session, from 1.
    pub(super) number: u32,
    pub(super) task_id: String,
    pub(super) emitter: Arc<Emitter>,
    pub(super) cancel: CancellationToken,
    pub(super) steer: Steer,
    system: Arc<str>,
    history: Vec<Arc<Message>>,
    /// Where this turn begins in `history`.
    first: usize,
    call_ids: HashSet<String>,
    budget: IterationBudget,
    guardrail: Guardrail,
    pub(super) iterations: Vec<IterationInfo>,
    pub(super) api_calls: u32,
    pub(super) usage: Usage,
    /// The model that answered last, where the provider named another than was asked for.
    pub(super) model: Option<String>,
}

/// Runs one turn of `agent` to its end.
pub(super) async fn run(agent: &Agent, input: TurnInput) -> TurnResult {
    let mut session = agent.session.lock().await;
    let task_id = input.task_id.clone().unwrap_or_else(id::fresh);
    match Turn::begin(agent, &mut session, input, task_id.clone()).await {
        Ok(mut turn) => {
            let ending = turn.iterate().await.unwrap_or_else(Ending::from);
            finish::finish(turn, ending).await
        }
        Err(ending) => finish::never_began(agent, session.as_deref(), task_id, ending),
    }
}

impl<'a> Turn<'a> {
    /// Loads or makes the session and stores what the person says, before the model is asked.
    async fn begin(
        agent: &'a Agent,
        session: &mut Option<String>,
        input: TurnInput,
        task_id: String,
    ) -> Result<Self, Ending> {
        let opened = open(agent, session, &input).await?;
        let session_id: Arc<str> = opened.id.into();
        let number = opened.turns + 1;
        let seq = Arc::clone(&agent.seq);
        let emitter = Emitter::new(Arc::clone(&agent.events), seq, Arc::clone(&session_id), number);
        let first = opened.messages.len();
        let calls = opened.messages.iter().flat_map(|message| &message.tool_calls);
        let mut turn = Self {
            agent,
            number,
            task_id,
            emitter: Arc::new(emitter),
            cancel: input.cancel,
            steer: input.steer,
            system: input.system.unwrap_or(opened.system).into(),
            call_ids: calls.map(|call| call.id.clone()).collect(),
            history: opened.messages,
            first,
            session_id,
            _lease: opened.lease,
            budget: IterationBudget::new(agent.limits.max_turns),
            guardrail: Guardrail::default(),
            iterations: Vec::new(),
            api_calls: 0,
            usage: Usage::default(),
            model: None,
        };
        match input.user {
            Some(content) if !content.is_blank() => {
                turn.append(Message::user(content), false).await?;
            }
            _ if turn.history.last().is_some_and(|last| last.role == Role::Tool) => {}
            _ => {
                let message = "there is nothing to answer: say something, or go on from completed tool results";
                return Err(Ending::failed(TransportError::new(ErrorKind::BadRequest, message)));
            }
        }
        turn.emitter.emit(EventKind::TurnStarted);
        finish::observe(&turn, "turn_start").await;
        Ok(turn)
    }

    /// The loop.
    async fn iterate(&mut self) -> Result<Ending, StoreError> {
        loop {
            if self.cancel.is_cancelled() {
                return Ok(Ending::interrupted());
            }
            if !self.budget.consume() {
                return Ok(Ending::budget_spent(self.budget.max()));
            }
            self.emitter.set_iteration(self.budget.used());
            self.emitter.emit(EventKind::IterationStarted);

            let reply = match self.ask().await? {
                ControlFlow::Continue(reply) => reply,
                ControlFlow::Break(ending) => return Ok(ending),
            };
            if reply.tool_calls.is_empty() {
                return Ok(Ending::of_reply(&reply));
            }
            let prepared = prepare(self, &reply).await;
            let results = execute(self, prepared).await?;
            self.history.extend_from_slice(&results);
            if let Some(problem) = self.observe(&reply, &results) {
                return Ok(Ending::failed(TransportError::new(ErrorKind::ToolLoop, problem)));
            }
            if let Some(text) = self.steer.take() {
                self.append(Message::user(text), false).await?;
            }
        }
    }

    /// Asks the model and stores its reply, before any of its calls runs.
    async fn ask(&mut self) -> Result<ControlFlow<Ending, Arc<Message>>, StoreError> {
        let route = self.route();
        let request = ModelRequest {
            model: route.model.clone(),
            system: Arc::clone(&self.system),
            messages: history::replayable(history::outgoing(&self.history), route),
            tools: self.agent.tools.specs(),
            sampling: route.sampling.clone(),
            stream: route.stream,
            session_id: Arc::clone(&self.session_id),
        };
        let (asked, calls) = ask(route, &request, &self.emitter, &self.cancel).await;
        self.api_calls += calls;
        let (seen, ending) = match asked {
            Asked::Reply(reply) => {
                return Ok(ControlFlow::Continue(self.append_reply(reply, &request).await?));
            }
            Asked::Interrupted(seen) => (seen, Ending::interrupted()),
            Asked::Failed(error, seen) => (seen, Ending::failed(error)),
        };
        if let Some(reply) = seen {
            self.append_reply(reply, &request).await?;
        }
        Ok(ControlFlow::Break(ending))
    }

    async fn append_reply(
        &mut self,
        reply: Reply,
        request: &ModelRequest,
    ) -> Result<Arc<Message>, StoreError> {
        let mut reply = reply;
        reply.stamp(self.route());
        let Reply { mut message, model, .. } = reply;
        let usage = message.usage.unwrap_or_else(|| estimate(request, &message));
        self.usage += usage;
        message.usage = Some(usage);
        self.model = model.or(self.model.take());
        admit::admit(&mut message, &self.agent.tools, &mut self.call_ids);
        self.iterations.push(IterationInfo {
            n: self.budget.used(),
            reasoning: message.reasoning.clone(),
            finish_reason: message.finish_reason.unwrap_or(FinishReason::Incomplete),
            tool_errors: Vec::new(),
        });
        let effects = message.tool_calls.iter().any(|call| {
            let entry = self.agent.tools.find(&call.name);
            entry.is_some_and(|entry| !entry.tool.spec().traits.read_only)
        });
        self.append(message, effects).await
    }

    /// Takes in what the calls came to; `Some` says why the turn should end.
    fn observe(&mut self, reply: &Message, results: &[Arc<Message>]) -> Option<String> {
        let pairs = || reply.tool_calls.iter().zip(results);
        let failed = pairs().filter_map(|(call, result)| {
            let code = result.failure.clone()?;
            let (call_id, tool) = (call.id.clone(), call.name.clone());
            Some(ToolErrorInfo { call_id, tool, code, message: result.content.text() })
        });
        if let Some(iteration) = self.iterations.last_mut() {
            iteration.tool_errors.extend(failed);
        }
        let observed = pairs().map(|(call, result)| Observed {
            tool: &call.name,
            arguments: &call.arguments,
            failure: result.failure.as_deref(),
        });
        self.guardrail.observe(&observed.collect::<Vec<_>>())
    }

    async fn append(
        &mut self,
        message: Message,
        effects: bool,
    ) -> Result<Arc<Message>, StoreError> {
        let message = Arc::new(message);
        self.store(&message, effects).await?;
        self.history.push(Arc::clone(&message));
        Ok(message)
    }

    /// Stores one message; where the world changes around it, so that a power cut cannot lose it.
    pub(super) async fn store(
        &self,
        message: &Arc<Message>,
        effects: bool,
    ) -> Result<(), StoreError> {
        let durability = if effects { Durability::Power } else { Durability::Process };
        let messages = std::slice::from_ref(message);
        self.agent.store.append(&self.session_id, messages, durability).await
    }

    /// The messages of this turn.
    pub(super) fn messages(&self) -> &[Arc<Message>] {
        &self.history[self.first..]
    }

    /// The model this turn talks to.
    pub(super) fn route(&self) -> &'a Route {
        self.agent.router.primary()
    }

    /// Where a running call reports to.
    pub(super) fn progress_sink(&self, call_id: &str) -> ProgressSink {
        let emitter = Arc::clone(&self.emitter);
        let call_id = call_id.to_owned();
        Arc::new(move |Progress { message, done, total }| {
            emitter.emit(EventKind::ToolCallProgress {
                call_id: call_id.clone(),
                message,
                done,
                total,
            });
        })
    }
}

/// A session as the turn begins.
struct Opened {
    lease: TurnLease,
    id: String,
    system: String,
    turns: u32,
    messages: Vec<Arc<Message>>,
}

async fn open(
    agent: &Agent,
    session: &mut Option<String>,
    input: &TurnInput,
) -> Result<Opened, StoreError> {
    if let (Some(id), None) = (&*session, &input.history) {
        let lease = agent.store.begin_turn(id).await?;
        let stored = agent.store.load(id).await?;
        let mut messages = stored.messages;
        let missing = history::missing_results(&messages, |tool| {
            agent.tools.find(tool).is_some_and(|entry| entry.tool.spec().traits.read_only)
        });
        if !missing.is_empty() {
            agent.store.append(id, &missing, Durability::Power).await?;
            messages.extend(missing);
        }
        let messages = history::in_call_order(messages);
        let (id, system, turns) = (stored.id, stored.system, stored.turns);
        return Ok(Opened { lease, id, system, turns, messages });
    }
    let system = input.system.clone().unwrap_or_else(|| agent.system.clone());
    let new = NewSession {
        system: system.clone(),
        model: agent.router.primary().model.clone(),
        source: agent.source.clone(),
        parent: None,
    };
    let id = agent.store.create(new).await?;
    let lease = agent.store.begin_turn(&id).await?;
    let messages: Vec<_> = input.history.iter().flatten().cloned().map(Arc::new).collect();
    if !messages.is_empty() {
        agent.store.append(&id, &messages, Durability::Process).await?;
    }
    *session = Some(id.clone());
    Ok(Opened { lease, id, system, turns: 0, messages })
}

/// Tokens of a call whose provider told none: four bytes each, the usual rule of thumb.
fn estimate(request: &ModelRequest, reply: &Message) -> Usage {
    let tokens = |bytes: usize| u64::try_from(bytes / 4).unwrap_or(u64::MAX);
    let size = |message: &Message| {
        let calls = message.tool_calls.iter().map(|call| call.name.len() + call.arguments.len());
        message.content.text().len() + calls.sum::<usize>()
    };
    let tools =
        request.tools.iter().map(|tool| tool.description.len() + tool.parameters.get().len());
    let sent = request.system.len()
        + tools.sum::<usize>()
        + request.messages.iter().map(|message| size(message)).sum::<usize>();
    let reasoning = reply.reasoning.as_ref().map_or(0, String::len);
    Usage {
        input: tokens(sent),
        output: tokens(size(reply) + reasoning),
        reasoning: tokens(reasoning),
        estimated: true,
        ..Usage::default()
    }
}

impl Ending {
    /// How a turn ends whose last reply calls no tool.
    fn of_reply(reply: &Message) -> Self {
        match reply.finish_reason {
            Some(FinishReason::ContentFilter) => Self::failed(TransportError::new(
                ErrorKind::ContentFilter,
                "the provider's content filter or the model refused to go on",
            )),
            _ => Self::of(EndKind::Finished, ""),
        }
    }
}
