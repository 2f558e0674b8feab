//! The agent: ports and limits in one hand, and one verb, [`Agent::run_turn`].
//!
//! `turn` is the loop; everything it calls stands in a file of its own, named after the step.

mod adjust;
mod admit;
mod ask;
mod auxiliary;
mod call;
mod checkpoint;
mod compress;
mod deliver;
mod execute;
mod finish;
mod flush;
mod grace;
mod guardrail;
mod history;
mod open;
mod prepare;
mod recover;
mod reply;
mod review;
mod schedule;
mod title;
mod truncated;
mod turn;
mod vision;
mod window;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

pub use history::in_call_order;
use tokio_util::sync::CancellationToken;

use crate::approver::{Approver, Unattended};
use crate::budget::{BudgetLimits, TreeBudget};
use crate::checkpoint::Checkpoints;
use crate::compress::CompressionSettings;
use crate::event::{Event, EventSink};
use crate::health::{Health, MemoryHealth};
use crate::hook::{Observer, PostToolCall, PreToolCall};
use crate::keep::{Receipts, Spill};
use crate::message::{Content, Message};
use crate::notice::PromptNotice;
use crate::result::TurnResult;
use crate::router::ModelRouter;
use crate::store::{Store, StoreError};
use crate::tokens::{Calibrated, Estimate, TokenCounter};
use crate::tool::Tool;
use crate::toolset::{DuplicateTool, ToolSet};
use crate::transport::Remedy;

/// What a turn may use.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Model calls a turn may make. Default 500.
    pub max_turns: u32,
    /// What else it may spend. Default: no limit.
    pub budget: BudgetLimits,
    /// Calls that run side by side. Default 8.
    pub parallel_calls: usize,
    /// How long calls made together, or one made alone, may take. Default 420 s.
    pub segment_timeout: Duration,
    /// Most text of one result that the model sees whole, in bytes. Default 100 000.
    pub result_bytes: usize,
    /// Largest image that enters the history, in bytes of its `data:` URL. Default 5 MiB, the least of
    /// what the large providers take; a larger one would have every later request refused.
    pub image_bytes: usize,
    /// The tool that reads what was cut, if there is one.
    pub result_reader: Option<String>,
    /// When and how far the history is compressed.
    pub compression: CompressionSettings,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_turns: 500,
            budget: BudgetLimits::default(),
            parallel_calls: 8,
            segment_timeout: Duration::from_secs(420),
            result_bytes: 100_000,
            image_bytes: 5 << 20,
            result_reader: None,
            compression: CompressionSettings::default(),
        }
    }
}

/// Everybody who may speak around a tool call, in the order they are asked.
#[derive(Default)]
pub struct Hooks {
    pub(crate) pre: Vec<Arc<dyn PreToolCall>>,
    pub(crate) post: Vec<Arc<dyn PostToolCall>>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
}

/// What starts a turn.
#[derive(Default)]
pub struct TurnInput {
    /// What the person says. Absent: the history ends in completed tool results and goes on.
    pub user: Option<Content>,
    /// A system prompt for this turn instead of the session's own.
    pub system: Option<String>,
    /// Begins a new session from these messages instead of the agent's own session.
    pub history: Option<Vec<Message>>,
    /// The caller's id for this piece of work.
    pub task_id: Option<String>,
    /// Ends the turn early.
    pub cancel: CancellationToken,
    /// What the person types meanwhile.
    pub steer: Steer,
}

impl TurnInput {
    /// A turn that answers `text`.
    pub fn user(text: impl Into<Content>) -> Self {
        Self { user: Some(text.into()), ..Self::default() }
    }
}

/// Text the person types while a turn runs; it reaches the model after the next tool results, as a
/// message of theirs.
#[derive(Clone, Default)]
pub struct Steer(Arc<std::sync::Mutex<Vec<String>>>);

impl Steer {
    /// Adds text; blank text is ignored and gives `false`.
    pub fn push(&self, text: impl Into<String>) -> bool {
        let text = text.into();
        let says_something = !text.trim().is_empty();
        if says_something {
            self.lock().push(text);
        }
        says_something
    }

    /// Takes all of it, line by line, if there is any.
    pub(crate) fn take(&self) -> Option<String> {
        let texts = std::mem::take(&mut *self.lock());
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Holds the ports and the limits of one conversation. Two agents in a process share nothing.
pub struct Agent {
    router: ModelRouter,
    tools: ToolSet,
    hooks: Hooks,
    store: Arc<dyn Store>,
    receipts: Arc<dyn Receipts>,
    spill: Arc<dyn Spill>,
    approver: Arc<dyn Approver>,
    events: EventSink,
    limits: Limits,
    system: String,
    source: String,
    seq: Arc<AtomicU64>,
    /// The session, once there is one. Locked for the length of a turn: turns never interleave.
    session: tokio::sync::Mutex<Option<String>>,
    /// What the person agreed to for the session: hook, tool, question.
    approved: std::sync::Mutex<HashSet<(String, String, String)>>,
    health: Arc<dyn Health>,
    /// What the models turned out not to accept, by `provider/model`.
    learned: std::sync::Mutex<HashMap<String, Vec<Remedy>>>,
    counter: Calibrated,
    notices: Vec<Arc<dyn PromptNotice>>,
    descriptions: vision::Descriptions,
    tree: Option<Arc<TreeBudget>>,
    checkpoints: Option<Arc<dyn Checkpoints>>,
    /// What compressing came to so far.
    compression: std::sync::Mutex<compress::Record>,
}

impl Agent {
    /// An agent that asks `router`'s models and keeps everything in `store`.
    pub fn builder<S>(router: ModelRouter, store: Arc<S>) -> AgentBuilder
    where
        S: Store + Receipts + Spill + 'static,
    {
        AgentBuilder {
            router,
            store: store.clone(),
            receipts: store.clone(),
            spill: store,
            tools: Vec::new(),
            hooks: Hooks::default(),
            approver: Arc::new(Unattended),
            events: Arc::new(|_: Event| {}),
            limits: Limits::default(),
            system: String::new(),
            source: "library".into(),
            session: None,
            health: Arc::new(MemoryHealth::default()),
            counter: Arc::new(Estimate),
            notices: Vec::new(),
            tree: None,
            checkpoints: None,
        }
    }

    /// Runs one turn to its end. Never fails: how it ended is in the result.
    pub async fn run_turn(&self, input: TurnInput) -> TurnResult {
        turn::run(self, input).await
    }

    /// Says something and returns the answer, or an account of why there is none.
    pub async fn chat(&self, text: impl Into<Content>) -> String {
        let result = self.run_turn(TurnInput::user(text)).await;
        let why = result.error.map_or(result.end.detail, |error| error.message);
        result.final_response.unwrap_or(why)
    }

    /// Compresses the session's history now, whatever its size: old tool output goes, the middle is
    /// summed up with most of the space for `topic`, and what they replace is archived. Gives
    /// whether the history is shorter; without a session there is nothing to do.
    ///
    /// # Errors
    /// The store is broken, or somebody else runs a turn in the session.
    pub async fn compress(
        &self,
        topic: Option<&str>,
        cancel: CancellationToken,
    ) -> Result<bool, StoreError> {
        compress::on_request(self, topic, cancel).await
    }

    /// The session's id, once a turn has begun.
    pub async fn session_id(&self) -> Option<String> {
        self.session.lock().await.clone()
    }

    fn learned(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<Remedy>>> {
        self.learned.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Remembers those remedies that will be needed again; the others are of one request.
    fn learn(&self, model: &str, remedies: &[Remedy]) {
        let lasts =
            |remedy: &&Remedy| matches!(remedy, Remedy::MaxTokens(_) | Remedy::WithoutParameter(_));
        let remedies = remedies.iter().filter(lasts).cloned().collect();
        self.learned().insert(model.to_owned(), remedies);
    }

    fn was_approved(&self, what: &(String, String, String)) -> bool {
        self.approved.lock().is_ok_and(|approved| approved.contains(what))
    }

    fn remember_approval(&self, what: (String, String, String)) {
        if let Ok(mut approved) = self.approved.lock() {
            approved.insert(what);
        }
    }
}

/// Puts an [`Agent`] together.
pub struct AgentBuilder {
    router: ModelRouter,
    store: Arc<dyn Store>,
    receipts: Arc<dyn Receipts>,
    spill: Arc<dyn Spill>,
    tools: Vec<Arc<dyn Tool>>,
    hooks: Hooks,
    approver: Arc<dyn Approver>,
    events: EventSink,
    limits: Limits,
    system: String,
    source: String,
    session: Option<String>,
    health: Arc<dyn Health>,
    counter: Arc<dyn TokenCounter>,
    notices: Vec<Arc<dyn PromptNotice>>,
    tree: Option<Arc<TreeBudget>>,
    checkpoints: Option<Arc<dyn Checkpoints>>,
}

impl AgentBuilder {
    /// Adds tools; the model sees them in this order.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a hook before tool calls.
    #[must_use]
    pub fn pre_tool_call(mut self, hook: Arc<dyn PreToolCall>) -> Self {
        self.hooks.pre.push(hook);
        self
    }

    /// Adds a hook after tool calls.
    #[must_use]
    pub fn post_tool_call(mut self, hook: Arc<dyn PostToolCall>) -> Self {
        self.hooks.post.push(hook);
        self
    }

    /// Adds an observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.hooks.observers.push(observer);
        self
    }

    /// Who is asked for approval. Default: nobody, so everything asked is refused.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Where events go. Default: nowhere.
    #[must_use]
    pub fn events(mut self, sink: impl Fn(Event) + Send + Sync + 'static) -> Self {
        self.events = Arc::new(sink);
        self
    }

    /// What a turn may use.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The system prompt of new sessions.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// The front end new sessions come from, such as `cli`. Default `library`.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// What remembers the models that failed. Default: for as long as the agent lives.
    #[must_use]
    pub fn health(mut self, health: Arc<dyn Health>) -> Self {
        self.health = health;
        self
    }

    /// What counts tokens where the provider has not reported any yet. Default: [`Estimate`].
    #[must_use]
    pub fn token_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = counter;
        self
    }

    /// What keeps folders before a turn changes them. Default: nothing does.
    #[must_use]
    pub fn checkpoints(mut self, checkpoints: Arc<dyn Checkpoints>) -> Self {
        self.checkpoints = Some(checkpoints);
        self
    }

    /// A budget shared with other agents, beside the turn's own. Default: none.
    #[must_use]
    pub fn tree_budget(mut self, tree: Arc<TreeBudget>) -> Self {
        self.tree = Some(tree);
        self
    }

    /// Adds a notice, which may end a request with a word about the turn's limits. Default: none.
    #[must_use]
    pub fn notice(mut self, notice: Arc<dyn PromptNotice>) -> Self {
        self.notices.push(notice);
        self
    }

    /// Goes on with a stored session instead of making a new one.
    #[must_use]
    pub fn resume(mut self, session_id: impl Into<String>) -> Self {
        self.session = Some(session_id.into());
        self
    }

    /// The agent.
    ///
    /// # Errors
    /// Two tools have one name.
    pub fn build(mut self) -> Result<Agent, DuplicateTool> {
        self.hooks.pre.sort_by(|a, b| (a.priority(), a.name()).cmp(&(b.priority(), b.name())));
        self.hooks.post.sort_by(|a, b| (a.priority(), a.name()).cmp(&(b.priority(), b.name())));
        Ok(Agent {
            router: self.router,
            tools: ToolSet::new(self.tools)?,
            hooks: self.hooks,
            store: self.store,
            receipts: self.receipts,
            spill: self.spill,
            approver: self.approver,
            events: self.events,
            limits: self.limits,
            system: self.system,
            source: self.source,
            seq: Arc::default(),
            session: tokio::sync::Mutex::new(self.session),
            approved: std::sync::Mutex::default(),
            health: self.health,
            learned: std::sync::Mutex::default(),
            counter: Calibrated::new(self.counter),
            notices: self.notices,
            descriptions: vision::Descriptions::default(),
            tree: self.tree,
            checkpoints: self.checkpoints,
            compression: std::sync::Mutex::default(),
        })
    }
}

#[cfg(test)]
mod tests;
