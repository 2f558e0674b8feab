//! Before a part of the history is summed up, the model is asked once what of it later sessions
//! should know, and may say so through the memory's own tool. Nothing of this enters the history,
//! and its failure costs nothing: what is summed up is archived, not lost.

use std::sync::Arc;

use super::auxiliary::{self, Question};
use super::compress::{Compressed, Compressor};
use crate::compress::{MEMORY_QUESTION, digest, fenced};
use crate::event::EventKind;
use crate::hook::{HookCall, PreVerdict};
use crate::message::{Message, ToolCall};
use crate::schema;
use crate::tool::ToolInvocation;
use crate::toolset::Entry;

/// Name of the side task whose models are asked, as in the configuration.
const TASK: &str = "compression";

/// Most changes of the memory one flush may make.
const MAX_CALLS: usize = 8;

impl Compressor<'_> {
    /// Has the model keep what is worth keeping of `middle`, of which it is shown what fits its
    /// window, the newest.
    pub(super) async fn flush_memory(&self, middle: &[Arc<Message>], done: &mut Compressed) {
        let tool = self.agent.limits.compression.memory_tool.as_deref();
        let Some(entry) = tool.and_then(|name| self.agent.tools.find(name)) else { return };
        let pieces = digest(middle, self.material_tokens(), &self.agent.counter);
        let Some(piece) = pieces.last() else { return };
        let text = format!("{MEMORY_QUESTION}\n\n{}", fenced("conversation", piece));
        let question = Question {
            task: TASK,
            // It holds the memory as it was when the session began.
            system: self.system,
            content: text.into(),
            tools: [entry.tool.spec().clone()].into(),
        };
        let answer =
            auxiliary::ask_chain(self.agent, self.session_id, &question, self.cancel).await;
        done.side.add(answer.side);
        let calls = match answer.reply {
            Ok(reply) => reply.tool_calls,
            Err(error) => return tracing::debug!("the memory is not flushed: {error}"),
        };
        let mut kept = 0;
        for call in calls.iter().take(MAX_CALLS) {
            match self.keep(entry, call).await {
                Ok(()) => kept += 1,
                Err(problem) => tracing::debug!("the memory is not flushed: {problem}"),
            }
        }
        if kept > 0 {
            let message = format!("before compressing, {kept} changes were made to the memory");
            self.emitter.emit(EventKind::Status { message });
        }
    }

    /// Makes one change, if it is one and no hook has anything against it.
    async fn keep(&self, entry: &Entry, call: &ToolCall) -> Result<(), String> {
        let spec = entry.tool.spec();
        if call.name != spec.name {
            return Err(format!("{:?} is not offered", call.name));
        }
        let arguments = entry.fit(schema::parse_arguments(&call.arguments)?)?;
        let arguments: Arc<str> = arguments.to_string().into();
        let pending = HookCall {
            call_id: call.id.clone(),
            session_id: Arc::clone(self.session_id),
            turn: self.turn,
            tool: spec.name.clone(),
            source: spec.source.clone(),
            arguments: Arc::clone(&arguments),
            cancel: self.cancel.clone(),
        };
        for hook in self.agent.hooks.pre.iter().filter(|hook| hook.matches(&spec.name)) {
            // Nobody is there to ask, and what a hook would rewrite can wait for the model.
            if !matches!(hook.check(&pending).await, Ok(PreVerdict::Proceed)) {
                return Err(format!("policy {} is against it", hook.name()));
            }
        }
        let invocation = ToolInvocation {
            call_id: call.id.clone(),
            session_id: Arc::clone(self.session_id),
            turn: self.turn,
            arguments,
            cancel: self.cancel.clone(),
            deadline: Some(self.agent.limits.segment_timeout),
            progress: Arc::new(|_| {}),
            approver: Arc::clone(&self.agent.approver),
        };
        entry.tool.call(invocation).await.outcome.map(drop).map_err(|failure| failure.message)
    }
}
