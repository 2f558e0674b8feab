//! Compressing a history: old tool output is pruned, then the middle is summed up by a model and
//! archived. What is decided stands in [`crate::compress`]; here it is done, and here is what keeps
//! it from being done again and again in vain. A step that fails leaves the history as it was.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::auxiliary::{self, Question, SideCost};
use super::{Agent, finish, history};
use crate::compress::summary_tokens;
use crate::compress::{Plan, Request, SYSTEM, Sizes, digest, notes_of, plan, prune, replacement};
use crate::event::{Emitter, EventKind};
use crate::failure::Attributes;
use crate::message::Message;
use crate::router::Route;
use crate::store::StoreError;
use crate::tokens::{ContextSize, Overhead, message_tokens};
use crate::tool::ToolSpec;
use crate::transport::{ErrorKind, TransportError};

/// Name of the side task, as in the configuration.
const TASK: &str = "compression";

/// Pauses after summaries that failed in a row; the last one holds from then on.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(60), Duration::from_secs(300), Duration::from_secs(900)];

/// After this many attempts in a row that left the history over the threshold, nothing more is
/// tried on its own.
const MAX_INEFFECTIVE: u32 = 2;

/// Pruning alone is enough if it brings the history this far below the threshold, in percent of it;
/// less would have the next result fill it again.
const ENOUGH_PERCENT: u64 = 80;

/// Most of the window a turn begins with, in percent, however high the threshold is set: nobody may
/// be there to compress a session that has grown over many turns.
const BEGINNING_PERCENT: u64 = 85;

/// A window after an overflow, in percent of what did not fit.
const LEARNED_PERCENT: u64 = 90;

/// Part of a summariser's window its material may take, in percent; the rest is for the notes so
/// far, the instructions and the answer.
const MATERIAL_PERCENT: u64 = 50;

/// Most pieces a middle is summed up in: a model call each.
const MAX_PIECES: usize = 16;

/// Why a history is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// The next request would be over the threshold.
    Threshold,
    /// The provider said that it was too long.
    Overflow,
    /// The person asked for it.
    Asked,
}

/// What an agent remembers from one compression to the next.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Attempts in a row that left too much.
    ineffective: u32,
    /// Summaries in a row that failed.
    failures: u32,
    /// No summary is tried before.
    not_before: Option<Instant>,
    /// Windows that turned out smaller than was thought, by provider and model.
    learned: Vec<(String, String, u64)>,
}

/// What compressing came to.
#[derive(Debug, Default)]
pub(super) struct Compressed {
    /// Whether the history is shorter now.
    pub(super) shorter: bool,
    /// Whether a summary was tried.
    pub(super) tried: bool,
    /// What the summaries cost.
    pub(super) side: SideCost,
}

/// One history to compress, and everything it takes.
pub(super) struct Compressor<'a> {
    pub(super) agent: &'a Agent,
    pub(super) session_id: &'a Arc<str>,
    /// The turn within the session.
    pub(super) turn: u32,
    pub(super) system: &'a str,
    pub(super) tools: Arc<[ToolSpec]>,
    pub(super) route: &'a Route,
    pub(super) emitter: &'a Emitter,
    pub(super) cancel: &'a CancellationToken,
    /// Whether a model may be asked; without it, only old tool output goes.
    pub(super) may_ask: bool,
}

/// How much there is and how much there may be, in tokens.
struct Measure {
    before: u64,
    threshold: u64,
    window: u64,
    overhead: u64,
}

/// Compresses the agent's session because the person asked for it.
pub(super) async fn on_request(
    agent: &Agent,
    topic: Option<&str>,
    cancel: CancellationToken,
) -> Result<bool, StoreError> {
    let mut session = agent.session.lock().await;
    let Some(id) = &*session else { return Ok(false) };
    let _lease = agent.store.begin_turn(id).await?;
    let stored = agent.store.load(id).await?;
    let session_id: Arc<str> = stored.id.into();
    let (sink, seq) = (Arc::clone(&agent.events), Arc::clone(&agent.seq));
    let emitter = Emitter::new(sink, seq, Arc::clone(&session_id), stored.turns);
    let mut history = history::in_call_order(stored.messages);
    let compressor = Compressor {
        agent,
        session_id: &session_id,
        turn: stored.turns,
        system: &stored.system,
        tools: agent.tools.specs(),
        route: agent.router.primary(),
        emitter: &emitter,
        cancel: &cancel,
        may_ask: true,
    };
    let shorter = compressor.run(&mut history, Occasion::Asked, topic).await?.shorter;
    if shorter && agent.limits.compression.in_child {
        *session = Some(branch(agent, &emitter, &session_id, &history).await?);
    }
    Ok(shorter)
}

/// Makes a session that continues another with a compressed history, and tells of it.
pub(super) async fn branch(
    agent: &Agent,
    emitter: &Emitter,
    session_id: &str,
    history: &[Arc<Message>],
) -> Result<String, StoreError> {
    let child = agent.store.branch(session_id, history).await?;
    let message = format!("the conversation goes on as session {child}");
    emitter.emit(EventKind::Status { message });
    Ok(child)
}

impl Compressor<'_> {
    /// Whether a request of this many tokens is over the threshold, or, if it is the `first` of a
    /// turn, over what a turn should begin with.
    pub(super) fn is_needed(&self, tokens: u64, first: bool) -> bool {
        let beginning = self.window(self.route) * BEGINNING_PERCENT / 100;
        let most = if first { self.threshold().min(beginning) } else { self.threshold() };
        self.agent.limits.compression.enabled && tokens >= most
    }

    /// Compresses `history`, in the store as well.
    ///
    /// # Errors
    /// The store is broken. A model that gives no summary is no error: the history stays whole.
    pub(super) async fn run(
        &self,
        history: &mut Vec<Arc<Message>>,
        occasion: Occasion,
        topic: Option<&str>,
    ) -> Result<Compressed, StoreError> {
        if occasion == Occasion::Overflow {
            self.learn_window(self.tokens(history).min(self.window(self.route)));
        }
        if occasion == Occasion::Threshold && self.record().ineffective >= MAX_INEFFECTIVE {
            return Ok(Compressed::default());
        }
        let mut fields = Attributes::new();
        fields.insert("messages".into(), history.len().into());
        finish::notify(self.agent, self.session_id, "pre_compress", fields).await;
        let measure = self.measure(history);
        let before = history.len();
        let mut done =
            Compressed { shorter: self.prune(history, occasion).await?, ..Default::default() };
        let enough = measure.threshold * ENOUGH_PERCENT / 100;
        if occasion == Occasion::Asked || self.tokens(history) > enough {
            self.sum_up(history, &measure, occasion, topic, &mut done).await?;
        }
        self.conclude(history, &measure, before, &done);
        Ok(done)
    }

    /// Prunes old tool output.
    async fn prune(
        &self,
        history: &mut [Arc<Message>],
        occasion: Occasion,
    ) -> Result<bool, StoreError> {
        let protected = self.agent.limits.compression.protect_last_n;
        let until = match occasion {
            // Whatever is left must fit at all; only what was just said stays.
            Occasion::Overflow => history.len().saturating_sub(1),
            Occasion::Threshold | Occasion::Asked => history.len().saturating_sub(protected),
        };
        let pruned = prune(history, until);
        let shorter = !pruned.is_empty();
        for (at, short) in pruned {
            let short = Arc::new(short);
            self.archive(std::slice::from_ref(&history[at]), std::slice::from_ref(&short)).await?;
            history[at] = short;
        }
        Ok(shorter)
    }

    /// Has the middle summed up and archives it.
    async fn sum_up(
        &self,
        history: &mut Vec<Arc<Message>>,
        measure: &Measure,
        occasion: Occasion,
        topic: Option<&str>,
        done: &mut Compressed,
    ) -> Result<(), StoreError> {
        let Some(plan) = self.plan(history, measure, occasion) else { return Ok(()) };
        let paused = self.record().not_before.is_some_and(|until| Instant::now() < until);
        if !self.may_ask || (occasion == Occasion::Threshold && paused) {
            return Ok(());
        }
        done.tried = true;
        self.flush_memory(&history[plan.middle.clone()], done).await;
        match self.summary(&history[plan.middle.clone()], topic, done).await {
            Ok(summary) => {
                let instead = replacement(history, &plan, &summary);
                self.archive(&history[plan.middle.clone()], &instead).await?;
                history.splice(plan.middle, instead);
                done.shorter = true;
                let mut record = self.record();
                (record.failures, record.not_before) = (0, None);
            }
            Err(_) if self.cancel.is_cancelled() => {}
            Err(error) => self.failed(&error),
        }
        Ok(())
    }

    fn plan(
        &self,
        history: &[Arc<Message>],
        measure: &Measure,
        occasion: Occasion,
    ) -> Option<Plan> {
        let counter = &self.agent.counter;
        let sizes: Vec<u64> = history.iter().map(|m| message_tokens(m, counter)).collect();
        let most = match occasion {
            Occasion::Threshold | Occasion::Overflow => measure.threshold,
            // Whoever asks wants it shorter than it is, however much would fit.
            Occasion::Asked => measure.threshold.min(self.tokens(history)),
        };
        let room = most.saturating_sub(measure.overhead).max(1);
        let sizes = Sizes { messages: &sizes, room, summary: summary_tokens(measure.window) };
        plan(history, sizes, &self.agent.limits.compression)
    }

    /// The summary of `middle`, made piece by piece where it is more than the summariser can read.
    async fn summary(
        &self,
        middle: &[Arc<Message>],
        topic: Option<&str>,
        done: &mut Compressed,
    ) -> Result<String, TransportError> {
        let window = self.summariser_window();
        let pieces = digest(middle, self.material_tokens(), &self.agent.counter);
        if pieces.len() > MAX_PIECES {
            return Err(TransportError::new(
                ErrorKind::ContextOverflow,
                format!(
                    "the window of the model for compression, {window} tokens, is too small for this history; name one \
                     with a larger window under [auxiliary.compression]"
                ),
            ));
        }
        let mut notes = middle.iter().find(|message| message.is_summary()).map(|m| notes_of(m));
        for piece in &pieces {
            let tokens = summary_tokens(window);
            let request = Request { previous: notes.as_deref(), piece, topic, tokens };
            let text = request.text();
            let content = text.into();
            let question = Question { task: TASK, system: SYSTEM, content, tools: Arc::default() };
            let answer =
                auxiliary::ask_chain(self.agent, self.session_id, &question, self.cancel).await;
            done.side.add(answer.side);
            notes = Some(answer.text()?);
        }
        notes
            .ok_or_else(|| TransportError::new(ErrorKind::EmptyReply, "there is nothing to sum up"))
    }

    /// The smallest window of the models that may be asked for a summary.
    fn summariser_window(&self) -> u64 {
        let windows = self.agent.router.auxiliary(TASK).map(|route| self.window(route));
        windows.min().unwrap_or(self.agent.limits.compression.default_window)
    }

    /// How much a summariser is shown at once, in tokens.
    pub(super) fn material_tokens(&self) -> u64 {
        self.summariser_window() * MATERIAL_PERCENT / 100
    }

    /// A summary that failed: nothing is lost, it is told once, and not tried again at once.
    fn failed(&self, error: &TransportError) {
        let pause = {
            let mut record = self.record();
            let nth = usize::try_from(record.failures).unwrap_or(usize::MAX);
            let pause = PAUSES.get(nth).or(PAUSES.last()).copied().unwrap_or_default();
            record.failures = record.failures.saturating_add(1);
            record.not_before = Some(Instant::now() + pause);
            pause
        };
        let message = format!(
            "the history could not be summed up and stays as it is ({error}); the next try is in {} s",
            pause.as_secs()
        );
        self.emitter.emit(EventKind::Status { message });
    }

    /// Tells what was reached, and remembers whether it was enough.
    fn conclude(
        &self,
        history: &[Arc<Message>],
        measure: &Measure,
        before: usize,
        done: &Compressed,
    ) {
        let after = self.tokens(history);
        if done.shorter {
            self.emitter.emit(EventKind::Compressed {
                archived: u64::try_from(before.saturating_sub(history.len())).unwrap_or(u64::MAX),
                tokens_before: measure.before,
                tokens_after: after,
            });
        }
        let mut record = self.record();
        let paused = record.not_before.is_some();
        if after < measure.threshold {
            record.ineffective = 0;
        } else if !paused {
            record.ineffective += 1;
            if record.ineffective == MAX_INEFFECTIVE {
                let message = format!(
                    "compressing leaves about {after} tokens, over the threshold of {}; it is not tried again on its own \
                     (use a model with a larger window, or begin a new session)",
                    measure.threshold
                );
                self.emitter.emit(EventKind::Status { message });
            }
        }
    }

    async fn archive(
        &self,
        archived: &[Arc<Message>],
        instead: &[Arc<Message>],
    ) -> Result<(), StoreError> {
        if self.agent.limits.compression.in_child {
            return Ok(()); // the history there was stays whole; see `branch`
        }
        let ids: Vec<String> = archived.iter().map(|message| message.id.clone()).collect();
        self.agent.store.archive(self.session_id, &ids, instead).await
    }

    fn measure(&self, history: &[Arc<Message>]) -> Measure {
        Measure {
            before: self.tokens(history),
            threshold: self.threshold(),
            window: self.window(self.route),
            overhead: self.overhead().tokens(&self.agent.counter),
        }
    }

    pub(super) fn threshold(&self) -> u64 {
        let settings = &self.agent.limits.compression;
        settings.threshold(self.window(self.route), self.route.sampling.max_tokens)
    }

    fn tokens(&self, history: &[Arc<Message>]) -> u64 {
        ContextSize::of(history, self.overhead(), &self.agent.counter).tokens()
    }

    fn overhead(&self) -> Overhead<'_> {
        Overhead { system: self.system, tools: &self.tools }
    }

    /// The window of a route's model: as configured or as learned, whichever is smaller.
    fn window(&self, route: &Route) -> u64 {
        let known = route.context_window.unwrap_or(self.agent.limits.compression.default_window);
        let record = self.record();
        let is_this =
            |entry: &&(String, String, u64)| entry.0 == route.provider && entry.1 == route.model;
        record.learned.iter().find(is_this).map_or(known, |entry| known.min(entry.2)).max(1)
    }

    /// Remembers that this many tokens did not fit.
    fn learn_window(&self, tokens: u64) {
        let window = (tokens * LEARNED_PERCENT / 100).max(1);
        let (provider, model) = (self.route.provider.clone(), self.route.model.clone());
        let mut record = self.record();
        record.learned.retain(|entry| entry.0 != provider || entry.1 != model);
        record.learned.push((provider, model, window));
    }

    fn record(&self) -> std::sync::MutexGuard<'_, Record> {
        self.agent.compression.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
