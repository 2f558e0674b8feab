//! From deltas to a reply: assembling what a transport streams into one assistant message.
//! Pure; asking, retrying and telling the front end happen elsewhere.

use crate::id;
use crate::message::{FinishReason, Message, Replay, ToolCall};
use crate::router::Route;
use crate::transport::{Delta, ErrorKind, TransportError};
use crate::usage::Usage;

/// A reply as far as it has arrived.
#[derive(Default)]
pub(super) struct PartialReply {
    text: String,
    reasoning: String,
    calls: Vec<PartialCall>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    replay: Option<serde_json::Value>,
    model: Option<String>,
}

#[derive(Default)]
struct PartialCall {
    id: String,
    name: String,
    arguments: String,
}

/// A whole reply.
pub(super) struct Reply {
    pub(super) message: Message,
    /// The model that answered, where the provider named another than was asked for.
    pub(super) model: Option<String>,
    /// What the provider wants back.
    replay: Option<serde_json::Value>,
}

impl Reply {
    /// Marks what the provider wants back as coming from `route`.
    pub(super) fn stamp(&mut self, route: &Route) {
        self.message.replay = self.replay.take().map(|data| Replay {
            api_mode: route.transport.api_mode().to_owned(),
            provider: route.provider.clone(),
            model: route.model.clone(),
            data,
        });
    }
}

impl PartialReply {
    /// Adds one delta.
    pub(super) fn add(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::Reasoning(text) => self.reasoning.push_str(&text),
            Delta::ToolCall { slot, id, name, arguments } => {
                if self.calls.len() <= slot {
                    self.calls.resize_with(slot + 1, PartialCall::default);
                }
                let call = &mut self.calls[slot];
                call.id = id.unwrap_or_else(|| std::mem::take(&mut call.id));
                call.name = name.unwrap_or_else(|| std::mem::take(&mut call.name));
                call.arguments.push_str(&arguments);
            }
            // Sticky: whichever chunk carried it, it stays.
            Delta::Finish(reason) => self.finish = self.finish.or(Some(reason)),
            Delta::Usage(usage) => self.usage = Some(usage),
            Delta::Replay(replay) => self.replay = Some(replay),
            Delta::Model(model) => self.model = Some(model),
        }
    }

    /// Whether the person has seen any of it.
    pub(super) fn was_seen(&self) -> bool {
        !self.text.is_empty()
    }

    /// Its tokens, as far as they were reported.
    pub(super) fn usage(&self) -> Usage {
        self.usage.unwrap_or_default()
    }

    /// The reply, now that the stream has ended.
    ///
    /// # Errors
    /// It holds neither text nor a tool call.
    pub(super) fn finish(self) -> Result<Reply, TransportError> {
        if self.text.trim().is_empty() && self.calls.is_empty() {
            return Err(self.nothing_in_it());
        }
        let reason = match self.finish {
            // Some servers say `stop` beside tool calls; what they mean is in the calls.
            Some(FinishReason::Stop) | None if !self.calls.is_empty() => FinishReason::ToolCalls,
            Some(FinishReason::ToolCalls) if self.calls.is_empty() => FinishReason::Stop,
            Some(reason) => reason,
            None => FinishReason::Incomplete,
        };
        Ok(self.into_reply(reason))
    }

    /// What the person has already seen of a reply that was cut. Half-received calls are dropped:
    /// they must never run.
    pub(super) fn cut(mut self) -> Option<Reply> {
        self.calls.clear();
        self.replay = None;
        (!self.text.trim().is_empty()).then(|| self.into_reply(FinishReason::Incomplete))
    }

    fn nothing_in_it(&self) -> TransportError {
        if self.finish == Some(FinishReason::ContentFilter) {
            return TransportError::new(
                ErrorKind::ContentFilter,
                "the provider's content filter stopped the reply before any text",
            );
        }
        if self.finish == Some(FinishReason::Length) {
            return TransportError::new(
                ErrorKind::Truncated,
                "the output limit was reached before any text or tool call; raise max_tokens under params, or have the \
                 model reason less",
            );
        }
        let reasoned = if self.reasoning.is_empty() { "" } else { " (only reasoning came)" };
        TransportError::new(
            ErrorKind::EmptyReply,
            format!("the model's reply held neither text nor a tool call{reasoned}"),
        )
    }

    fn into_reply(self, reason: FinishReason) -> Reply {
        let mut message = Message::assistant(self.text);
        message.tool_calls = self.calls.into_iter().map(PartialCall::into_call).collect();
        message.reasoning = (!self.reasoning.is_empty()).then_some(self.reasoning);
        message.finish_reason = Some(reason);
        message.usage = self.usage;
        Reply { message, model: self.model, replay: self.replay }
    }
}

impl PartialCall {
    fn into_call(self) -> ToolCall {
        let id = if self.id.trim().is_empty() { format!("call_{}", id::fresh()) } else { self.id };
        ToolCall { id, name: self.name, arguments: self.arguments }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn reply(deltas: impl IntoIterator<Item = Delta>) -> Result<Reply, TransportError> {
        let mut partial = PartialReply::default();
        deltas.into_iter().for_each(|delta| partial.add(delta));
        partial.finish()
    }

    fn call(slot: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> Delta {
        Delta::ToolCall {
            slot,
            id: id.map(Into::into),
            name: name.map(Into::into),
            arguments: arguments.into(),
        }
    }

    #[test]
    fn fragments_of_calls_find_their_slots() {
        let message = reply([
            call(0, Some("a"), Some("read"), "{\"p\""),
            call(1, Some("b"), Some("list"), ""),
            call(0, None, None, ":1}"),
            Delta::Finish(FinishReason::Stop),
        ])
        .unwrap()
        .message;
        let got: Vec<_> =
            message.tool_calls.iter().map(|c| (&*c.id, &*c.name, &*c.arguments)).collect();
        assert_eq!(got, [("a", "read", "{\"p\":1}"), ("b", "list", "")]);
        assert_eq!(message.finish_reason, Some(FinishReason::ToolCalls));
    }

    #[test]
    fn b001_a_finish_reason_is_sticky_and_usage_may_follow_it() {
        let usage = Usage { input: 9, output: 2, ..Usage::default() };
        let message = reply([
            Delta::Text("done.".into()),
            Delta::Finish(FinishReason::Stop),
            Delta::Usage(usage),
        ])
        .unwrap()
        .message;
        assert_eq!((message.finish_reason, message.usage), (Some(FinishReason::Stop), Some(usage)));
    }

    #[test]
    fn a_reply_of_nothing_or_of_reasoning_alone_is_empty() {
        assert_eq!(reply([]).err().unwrap().kind, ErrorKind::EmptyReply);
        let error = reply([Delta::Reasoning("hm".into()), Delta::Finish(FinishReason::Stop)])
            .err()
            .unwrap();
        assert_eq!(
            error.message,
            "the model's reply held neither text nor a tool call (only reasoning came)"
        );
        let filtered = reply([Delta::Finish(FinishReason::ContentFilter)]).err().unwrap();
        assert_eq!(filtered.kind, ErrorKind::ContentFilter);
    }

    #[test]
    fn what_was_seen_of_a_cut_reply_stays_and_its_calls_do_not() {
        let mut partial = PartialReply::default();
        partial.add(Delta::Text("I will".into()));
        partial.add(call(0, Some("a"), Some("rm"), "{\"path\": \"/"));
        let message = partial.cut().unwrap().message;
        assert_eq!(message.content.text(), "I will");
        assert!(message.tool_calls.is_empty());
        assert!(PartialReply::default().cut().is_none());
    }
}
