//! A reply's events, or its one whole body, as deltas.
//!
//! Pure and incremental. Text and arguments are handed on at once; only thinking is kept, since
//! the provider wants it back whole.

use hermes_core::message::FinishReason;
use hermes_core::text;
use hermes_core::transport::Delta;
use hermes_core::usage::Usage;
use serde_json::value::RawValue;

use super::replay::{Layout, Piece};
use super::usage;
use super::wire::{self, Whole};
use crate::mode::lenient::Word;
use crate::mode::report::{is_error, reports_error};
use crate::mode::{Decode, Deltas, Fault, Flow};
use crate::sse::Event;

/// Decodes one reply.
#[derive(Debug)]
pub struct Decoder {
    /// The model asked for, until another one has answered.
    asked: Option<String>,
    /// Blocks of the reply, by the order they began in.
    blocks: Vec<Open>,
    /// How many calls there are among them.
    calls: usize,
    delivered: bool,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
}

/// A block, as far as it has come.
#[derive(Debug)]
struct Open {
    index: u64,
    /// Absent for kinds that are of no interest here.
    piece: Option<Piece<'static>>,
    /// Of a call: its slot, and what stands for its arguments if none are streamed.
    call: Option<(usize, Option<String>)>,
}

impl Decoder {
    /// A decoder for the reply of `model`.
    pub fn new(model: &str) -> Self {
        Self {
            asked: Some(model.to_owned()),
            blocks: Vec::new(),
            calls: 0,
            delivered: false,
            finish: None,
            usage: None,
        }
    }

    fn take(
        &mut self,
        event: wire::Event<'_>,
        name: &str,
        out: &mut Deltas,
    ) -> Result<Flow, Fault> {
        let kind = if event.kind.0.is_empty() { name } else { &*event.kind.0 };
        let index = event.index.0.unwrap_or_default();
        match kind {
            "message_start" => {
                if let Some(head) = event.message {
                    self.model(&head.model.0, out);
                    self.count(head.usage, out);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.open(index, *block, out);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.grow(index, delta, out);
                }
            }
            "content_block_stop" => {
                let block = self.blocks.iter_mut().rfind(|block| block.index == index);
                block.into_iter().for_each(|block| block.close(out));
            }
            "message_delta" => {
                self.count(event.usage, out);
                self.stop(&event.delta.unwrap_or_default().stop_reason.0);
            }
            "message_stop" => return self.close(Err(Fault::Cut), out).map(|()| Flow::Done),
            _ => {} // `ping`, and whatever comes to be
        }
        Ok(Flow::More)
    }

    /// A block begins, with whatever of it has come.
    fn open(&mut self, index: u64, block: wire::Block<'_>, out: &mut Deltas) {
        let mut call = None;
        let piece = match &*block.kind.0 {
            "text" => Some(Piece::Text { bytes: 0 }),
            "thinking" => Some(Piece::Thinking { thinking: "".into(), signature: "".into() }),
            "redacted_thinking" => {
                Some(Piece::RedactedThinking { data: block.data.0.into_owned().into() })
            }
            "tool_use" => {
                let slot = self.calls;
                self.calls += 1;
                self.delivered = true;
                call = Some((slot, Some(arguments(block.input))));
                out.push_back(Delta::ToolCall {
                    slot,
                    id: Some(block.id.0.trim().to_owned()),
                    name: Some(block.name.0.into_owned()),
                    arguments: String::new(),
                });
                Some(Piece::ToolUse)
            }
            _ => None,
        };
        self.blocks.push(Open { index, piece, call });
        let at = self.blocks.len() - 1;
        self.text(at, block.text.0.into_owned(), out);
        self.thinking(at, block.thinking.0.into_owned(), &block.signature.0, out);
    }

    fn grow(&mut self, index: u64, delta: wire::Delta<'_>, out: &mut Deltas) {
        let kind = match &*delta.kind.0 {
            "text_delta" => "text",
            "thinking_delta" | "signature_delta" => "thinking",
            "input_json_delta" => "tool_use",
            _ => return, // citations among others
        };
        let at = self.blocks.iter().rposition(|block| block.index == index);
        let at = at.unwrap_or_else(|| {
            // Some servers leave out the start of a block; only a call cannot do without.
            let kind = if kind == "tool_use" { "" } else { kind };
            self.open(index, wire::Block { kind: Word(kind.into()), ..Default::default() }, out);
            self.blocks.len() - 1
        });
        match kind {
            "text" => self.text(at, delta.text.0.into_owned(), out),
            "thinking" => {
                self.thinking(at, delta.thinking.0.into_owned(), &delta.signature.0, out);
            }
            _ => self.arguments(at, delta.partial_json.0.into_owned(), out),
        }
    }

    fn text(&mut self, at: usize, more: String, out: &mut Deltas) {
        if let Some(Piece::Text { bytes }) = &mut self.blocks[at].piece
            && !more.is_empty()
        {
            *bytes += more.len();
            self.delivered = true;
            out.push_back(Delta::Text(more));
        }
    }

    fn thinking(&mut self, at: usize, more: String, proof: &str, out: &mut Deltas) {
        let Some(Piece::Thinking { thinking, signature }) = &mut self.blocks[at].piece else {
            return;
        };
        signature.to_mut().push_str(proof);
        if !more.is_empty() {
            thinking.to_mut().push_str(&more);
            self.delivered = true;
            out.push_back(Delta::Reasoning(more));
        }
    }

    fn arguments(&mut self, at: usize, more: String, out: &mut Deltas) {
        if let Some((slot, fallback)) = &mut self.blocks[at].call
            && !more.is_empty()
        {
            *fallback = None;
            out.push_back(Delta::ToolCall { slot: *slot, id: None, name: None, arguments: more });
        }
    }

    fn stop(&mut self, reason: &str) {
        if self.finish.is_none() && !reason.is_empty() {
            self.finish = Some(finish_of(reason));
        }
    }

    fn model(&mut self, model: &str, out: &mut Deltas) {
        if model.is_empty() || self.asked.as_deref().is_none_or(|asked| asked == model) {
            return;
        }
        self.asked = None;
        out.push_back(Delta::Model(model.to_owned()));
    }

    fn count(&mut self, raw: Option<&RawValue>, out: &mut Deltas) {
        let usage = raw.map_or(self.usage, |raw| usage::updated(self.usage, raw));
        if let Some(told) = usage.filter(|_| usage != self.usage) {
            self.usage = usage;
            out.push_back(Delta::Usage(told));
        }
    }

    /// Sends what was kept, and the finish last. `fallback` stands in for a stop reason that
    /// never came.
    fn close(
        &mut self,
        fallback: Result<FinishReason, Fault>,
        out: &mut Deltas,
    ) -> Result<(), Fault> {
        let finish = self.finish.map_or(fallback, Ok)?;
        self.blocks.iter_mut().for_each(|block| block.close(out));
        let blocks = self.blocks.drain(..).filter_map(|block| block.piece).collect();
        if let Some(replay) = (Layout { blocks }).keep() {
            out.push_back(Delta::Replay(replay));
        }
        out.push_back(Delta::Finish(match finish {
            FinishReason::Stop if self.calls > 0 => FinishReason::ToolCalls,
            other => other,
        }));
        Ok(())
    }

    /// The finish of a reply that is whole but does not say why it ended.
    fn unsaid(&self) -> Result<FinishReason, Fault> {
        if self.delivered { Ok(FinishReason::Stop) } else { Err(Fault::Empty) }
    }
}

impl Open {
    /// A call whose arguments were not streamed has those it began with.
    fn close(&mut self, out: &mut Deltas) {
        let Some((slot, rest)) = &mut self.call else { return };
        if let Some(arguments) = rest.take() {
            out.push_back(Delta::ToolCall { slot: *slot, id: None, name: None, arguments });
        }
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: &Event<'_>, out: &mut Deltas) -> Result<Flow, Fault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return self.close(Err(Fault::Cut), out).map(|()| Flow::Done);
        }
        if event.name == "error" {
            return Err(Fault::Reported(data.to_owned()));
        }
        let json = text::mend_lone_surrogates(data);
        match serde_json::from_str::<wire::Event<'_>>(&json) {
            Ok(told) if told.kind.0 == "error" || told.error.is_some_and(is_error) => {
                Err(Fault::Reported(data.to_owned()))
            }
            Ok(told) if told.kind.0.is_empty() && event.name.is_empty() => {
                Err(match reports_error(&json) {
                    true => Fault::Reported(data.to_owned()),
                    false => Fault::malformed("an event of it has no `type`", data),
                })
            }
            Ok(told) => self.take(told, event.name, out),
            // Cut in the middle: the end of the stream decides what that means.
            Err(_) if !event.complete => Ok(Flow::More),
            Err(error) => Err(Fault::unparsable(&error, data)),
        }
    }

    fn whole(&mut self, body: &str, out: &mut Deltas) -> Result<(), Fault> {
        let json = text::mend_lone_surrogates(body);
        let whole: Whole<'_> =
            serde_json::from_str(&json).map_err(|error| Fault::unparsable(&error, body))?;
        if whole.kind.0 == "error" || whole.error.is_some_and(is_error) {
            return Err(Fault::Reported(body.to_owned()));
        }
        let Some(content) = whole.content else {
            return Err(match reports_error(&json) {
                true => Fault::Reported(body.to_owned()),
                false => Fault::malformed("it has no `content`", body),
            });
        };
        self.model(&whole.model.0, out);
        for (index, block) in (0..).zip(content) {
            self.open(index, block, out);
        }
        self.count(whole.usage, out);
        self.stop(&whole.stop_reason.0);
        self.close(self.unsaid(), out)
    }

    fn end(&mut self, out: &mut Deltas) -> Result<(), Fault> {
        self.close(Err(Fault::Cut), out)
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn has_delivered(&self) -> bool {
        self.delivered
    }
}

/// A call's arguments as they stand at the start of its block: an object, empty while they are to
/// be streamed, or its text from some servers.
fn arguments(input: Option<&RawValue>) -> String {
    let input = input.map(RawValue::get).unwrap_or_default();
    let text = serde_json::from_str::<String>(input).unwrap_or_else(|_| input.to_owned());
    if text.trim().is_empty() || text == "null" { "{}".to_owned() } else { text }
}

/// The finish reason a server means.
fn finish_of(reason: &str) -> FinishReason {
    match reason.to_ascii_lowercase().as_str() {
        "tool_use" | "tool_calls" => FinishReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" | "length" => FinishReason::Length,
        "refusal" | "content_filter" | "sensitive" => FinishReason::ContentFilter,
        // The provider's own tools took so long that it wants to be asked again.
        "pause_turn" => FinishReason::Incomplete,
        _ => FinishReason::Stop,
    }
}

#[cfg(test)]
mod tests;
