//! One turn: from what the person says until the model has nothing more to do. The loop stands in
//! [`Turn::iterate`]; each of its steps is a file of this folder.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::adjust::name;
use super::ask::{Asked, ask};
use super::execute::execute;
use super::finish::{self, Ending};
use super::grace::last_words;
use super::guardrail::{Guardrail, Observed};
use super::open::open;
use super::prepare::prepare;
use super::recover::{Recovery, recover};
use super::reply::Reply;
use super::title::{Titling, beside};
use super::truncated::{Truncation, reconnect, take_in};
use super::{Agent, Steer, TurnInput, admit, history};
use crate::budget::{Reached, Spent, TurnBudget};
use crate::event::{Emitter, EventKind};
use crate::id;
use crate::message::{FinishReason, Message, Role};
use crate::result::{EndKind, IterationInfo, ToolErrorInfo, TurnResult};
use crate::router::Route;
use crate::store::{Durability, StoreError, TurnLease};
use crate::tokens::ContextSize;
use crate::tool::{Progress, ProgressSink};
use crate::transport::{ErrorKind, ModelRequest, TransportError};
use crate::usage::{Cost, Usage};

/// A turn under way.
pub(super) struct Turn<'a> {
    pub(super) agent: &'a Agent,
    pub(super) session_id: Arc<str>,
    /// Keeps other processes out of the session as long as the turn runs.
    pub(super) lease: TurnLease,
    /// The turn within the session, from 1.
    pub(super) number: u32,
    pub(super) task_id: String,
    pub(super) emitter: Arc<Emitter>,
    pub(super) cancel: CancellationToken,
    pub(super) steer: Steer,
    pub(super) system: Arc<str>,
    /// What a request carries.
    pub(super) history: Vec<Arc<Message>>,
    /// What this turn said, archived or not.
    said: Vec<Arc<Message>>,
    /// How many tokens the next request comes to.
    pub(super) size: ContextSize,
    /// What has been tried about failed calls, and which model is asked.
    pub(super) recovery: Recovery,
    /// What the output limit cut.
    pub(super) truncation: Truncation,
    /// Summaries tried to shorten the history.
    pub(super) summaries: u32,
    call_ids: HashSet<String>,
    pub(super) budget: TurnBudget,
    began: Instant,
    guardrail: Guardrail,
    /// Folders kept in this turn.
    pub(super) kept_folders: Mutex<HashSet<PathBuf>>,
    pub(super) iterations: Vec<IterationInfo>,
    pub(super) api_calls: u32,
    pub(super) usage: Usage,
    /// Money, as far as prices are known.
    pub(super) cost: Option<Cost>,
    /// The model that answered last, where the provider named another than was asked for.
    pub(super) model: Option<String>,
}

/// Runs one turn of `agent` to its end.
pub(super) async fn run(agent: &Agent, input: TurnInput) -> TurnResult {
    let mut session = agent.session.lock().await;
    let task_id = input.task_id.clone().unwrap_or_else(id::fresh);
    match Turn::begin(agent, &mut session, input, task_id.clone()).await {
        Ok(mut turn) => {
            let titling = Titling::of(&turn);
            let (ending, titled) = beside(turn.iterate(), titling).await;
            let ending = ending.unwrap_or_else(Ending::from);
            if let Some(side) = titled {
                turn.book_side(side);
            }
            *session = Some(turn.session_id.to_string());
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
            size: ContextSize::default(),
            recovery: Recovery::default(),
            truncation: Truncation::default(),
            summaries: 0,
            history: opened.messages,
            said: Vec::new(),
            session_id,
            lease: opened.lease,
            budget: TurnBudget::new(agent.limits.max_turns, agent.limits.budget),
            began: Instant::now(),
            guardrail: Guardrail::default(),
            kept_folders: Mutex::default(),
            iterations: Vec::new(),
            api_calls: 0,
            usage: Usage::default(),
            cost: None,
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
        turn.recovery = Recovery::begin(agent);
        turn.size = turn.measured();
        turn.emitter.emit(EventKind::TurnStarted);
        turn.recovery.tell_start(agent, &turn.emitter);
        finish::observe(&turn, "turn_start").await;
        Ok(turn)
    }

    /// The loop.
    async fn iterate(&mut self) -> Result<Ending, StoreError> {
        loop {
            if self.cancel.is_cancelled() {
                return Ok(Ending::interrupted());
            }
            if let Err(reached) = self.consume() {
                return last_words(self, reached).await;
            }
            self.emitter.set_iteration(self.budget.used());
            self.emitter.emit(EventKind::IterationStarted);
            if let Some(text) = self.steer.take() {
                self.append(Message::user(text), false).await?;
            }

            self.keep_within_window().await?;
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
            self.said.extend_from_slice(&results);
            if let Some(problem) = self.observe(&reply, &results) {
                return Ok(Ending::failed(TransportError::new(ErrorKind::ToolLoop, problem)));
            }
        }
    }

    /// Asks the model and stores its reply, before any of its calls runs. A call that failed for
    /// good is made again where something can be changed about it.
    async fn ask(&mut self) -> Result<ControlFlow<Ending, Arc<Message>>, StoreError> {
        loop {
            let (seen, ending) = match self.ask_once().await {
                Asked::Reply(reply) => match take_in(self, reply).await? {
                    ControlFlow::Continue(None) => continue,
                    ControlFlow::Continue(Some(reply)) => return Ok(ControlFlow::Continue(reply)),
                    ControlFlow::Break(ending) => return Ok(ControlFlow::Break(ending)),
                },
                Asked::Interrupted(seen) => (seen, Ending::interrupted()),
                Asked::Failed(error, None) if recover(self, &error).await? => continue,
                Asked::Failed(error, None) => (None, Ending::failed(error)),
                Asked::Failed(error, Some(seen)) => match reconnect(self, &error, seen).await? {
                    None => continue,
                    seen => (seen, Ending::failed(error)),
                },
            };
            if let Some(reply) = seen {
                self.append_reply(reply).await?;
            }
            self.emitter.tell_held();
            return Ok(ControlFlow::Break(ending));
        }
    }

    async fn ask_once(&mut self) -> Asked {
        if self.recovery.drops_images() {
            self.describe_images().await;
        }
        let route = self.route();
        let request = self.request(route);
        let other = self.recovery.has_alternative();
        let (asked, spent) = ask(route, &request, &self.emitter, &self.cancel, other).await;
        self.api_calls += spent.calls;
        self.book(spent.wasted);
        if let Asked::Reply(_) = asked {
            self.agent.health.answered(&name(route));
            self.recovery.nudged = false;
            self.emitter.forget_held();
        }
        asked
    }

    /// What the model is asked next: the history as any provider accepts it.
    pub(super) fn request(&self, route: &Route) -> ModelRequest {
        let mut request = ModelRequest {
            model: route.model.clone(),
            system: Arc::clone(&self.system),
            messages: history::replayable(history::outgoing(&self.history), route),
            tools: self.agent.tools.specs(),
            sampling: route.sampling.clone(),
            stream: route.stream,
            session_id: Arc::clone(&self.session_id),
        };
        if let Some(room) = self.truncation.room(route.sampling.max_tokens) {
            request.sampling.max_tokens = Some(room);
        }
        self.recovery.apply(self.agent, &mut request);
        self.add_notices(&mut request);
        request
    }

    /// Takes one iteration out of the turn's budget and that of the tree.
    fn consume(&mut self) -> Result<(), Reached> {
        self.budget.consume(&self.spent())?;
        self.agent.tree.as_ref().map_or(Ok(()), |tree| tree.consume())
    }

    pub(super) fn spent(&self) -> Spent {
        Spent { usage: self.usage, cost: self.cost, wall: self.began.elapsed() }
    }

    pub(super) async fn append_reply(
        &mut self,
        mut reply: Reply,
    ) -> Result<Arc<Message>, StoreError> {
        reply.stamp(self.route());
        let Reply { mut message, model, .. } = reply;
        let usage = self.account(&message);
        self.book(usage);
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

    pub(super) async fn append(
        &mut self,
        message: Message,
        effects: bool,
    ) -> Result<Arc<Message>, StoreError> {
        let message = Arc::new(message);
        self.store(&message, effects).await?;
        self.history.push(Arc::clone(&message));
        self.said.push(Arc::clone(&message));
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
        &self.said
    }

    /// The model this turn talks to.
    pub(super) fn route(&self) -> &'a Route {
        let mut routes = self.agent.router.main();
        routes.nth(self.recovery.route()).unwrap_or(self.agent.router.primary())
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
