//! The turn's eye on the model's window: how many tokens the next request comes to, and when the
//! history is compressed for it.

use std::sync::Arc;

use super::auxiliary::SideCost;
use super::compress::{Compressed, Compressor, Occasion, branch};
use super::history;
use super::turn::Turn;
use crate::message::Message;
use crate::notice::Pressure;
use crate::store::StoreError;
use crate::tokens::{ContextSize, Overhead, TokenCounter, message_tokens};
use crate::transport::ModelRequest;
use crate::usage::{Cost, Usage};

/// Iterations that earn a turn one more summary.
const EARNED_EVERY: usize = 8;

impl Turn<'_> {
    /// Compresses the history if the next request would be over the threshold.
    pub(super) async fn keep_within_window(&mut self) -> Result<(), StoreError> {
        let tokens = self.size.with(&self.history, &self.agent.counter);
        if self.compressor().is_needed(tokens, self.iterations.is_empty()) {
            self.compress(Occasion::Threshold).await?;
        }
        Ok(())
    }

    /// Compresses the history; whether it is shorter now.
    pub(super) async fn compress(&mut self, occasion: Occasion) -> Result<bool, StoreError> {
        let mut history = std::mem::take(&mut self.history);
        let compressed = self.compressor().run(&mut history, occasion, None).await;
        self.history = history;
        let Compressed { shorter, tried, side } = compressed?;
        self.summaries += u32::from(tried);
        self.book_side(side);
        if shorter {
            self.size = self.measured();
            if self.agent.limits.compression.in_child {
                self.go_on_in_child().await?;
            }
        }
        Ok(shorter)
    }

    /// Goes on in a session that continues the one so far, with the history as it is now.
    async fn go_on_in_child(&mut self) -> Result<(), StoreError> {
        let child = branch(self.agent, &self.emitter, &self.session_id, &self.history).await?;
        self.lease = self.agent.store.begin_turn(&child).await?;
        self.session_id = child.into();
        self.emitter = Arc::new(self.emitter.of_session(&self.session_id));
        Ok(())
    }

    /// Ends a request with what the notices say about it.
    pub(super) fn add_notices(&self, request: &mut ModelRequest) {
        if self.agent.notices.is_empty() {
            return;
        }
        let pressure = Pressure {
            iterations: self.budget.used(),
            max_iterations: self.budget.max(),
            budget_percent: self.budget.percent(&self.spent()),
            context_tokens: self.size.tokens(),
            compress_at: self.compressor().threshold(),
        };
        let said = self.agent.notices.iter().filter_map(|notice| notice.notice(&pressure));
        let said = said.collect::<Vec<_>>().join(" ");
        if !said.is_empty() {
            let text = format!("[A notice of the program you run in, not of the user: {said}]");
            history::say_last(&mut request.messages, &text);
        }
    }

    fn compressor(&self) -> Compressor<'_> {
        Compressor {
            agent: self.agent,
            session_id: &self.session_id,
            turn: self.number,
            system: &self.system,
            tools: self.agent.tools.specs(),
            route: self.route(),
            emitter: &self.emitter,
            cancel: &self.cancel,
            may_ask: self.summaries < self.allowed_summaries(),
        }
    }

    /// Summaries the turn may have tried by now, whatever the occasion. A turn that gets on earns
    /// further ones: in a small window a long turn needs many, and one that thrashes gets nowhere.
    fn allowed_summaries(&self) -> u32 {
        let earned = u32::try_from(self.iterations.len() / EARNED_EVERY).unwrap_or(u32::MAX);
        self.agent.limits.compression.per_turn.saturating_add(earned)
    }

    /// The size of the next request, counted anew.
    pub(super) fn measured(&self) -> ContextSize {
        let tools = self.agent.tools.specs();
        let overhead = Overhead { system: &self.system, tools: &tools };
        ContextSize::of(&self.history, overhead, &self.agent.counter)
    }

    /// Adds tokens, and what they cost with the provider that was asked.
    pub(super) fn book(&mut self, usage: Usage) {
        let mut spent = SideCost::default();
        spent.spend(self.route(), usage);
        self.book_side(spent);
    }

    /// Adds what was asked on the side.
    pub(super) fn book_side(&mut self, spent: SideCost) {
        self.api_calls += spent.api_calls;
        self.usage += spent.usage;
        if let Some(tree) = &self.agent.tree {
            tree.spend(spent.usage, spent.cost);
        }
        if let Some(cost) = spent.cost {
            *self.cost.get_or_insert(Cost { usd: 0.0, estimated: false }) += cost;
        }
    }

    /// The tokens of the call that brought `reply`: as the provider reported them, or else as we
    /// count them.
    pub(super) fn account(&mut self, reply: &Message) -> Usage {
        if let Some(usage) = reply.usage {
            if let Some(counted) = self.size.reported(&usage) {
                self.agent.counter.learn(counted, &usage);
            }
            return usage;
        }
        let counter = &self.agent.counter;
        let reasoning = reply.reasoning.as_deref().map_or(0, |text| counter.count(text));
        Usage {
            input: self.size.tokens(),
            output: message_tokens(reply, counter) + reasoning,
            reasoning,
            estimated: true,
            ..Usage::default()
        }
    }
}
