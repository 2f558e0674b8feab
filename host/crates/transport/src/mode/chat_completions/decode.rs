//! A reply's chunks, or its one whole body, as deltas.
//!
//! Pure and incremental: what has been decoded is kept only as far as the next chunk's meaning
//! depends on it. Statuses, headers and credentials are not known here.

use hermes_core::message::FinishReason;
use hermes_core::text;
use hermes_core::transport::Delta;
use hermes_core::usage::Usage;
use serde_json::value::RawValue;

use super::calls::Calls;
use super::replay::Gatherer;
use super::usage;
use super::wire::{Choice, Chunk, Fragment, Said};
use crate::mode::report::{is_error, reports_error};
use crate::mode::{Decode, Deltas, Fault, Flow};
use crate::quirks::Quirks;
use crate::sse::Event;

/// Decodes one reply.
#[derive(Debug)]
pub struct Decoder {
    /// The model asked for, until another one has answered.
    asked: Option<String>,
    calls: Calls,
    replay: Gatherer,
    /// Visible text that is no refusal has come.
    spoke: bool,
    refused: bool,
    delivered: bool,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
}

impl Decoder {
    /// A decoder for the reply of `model`, from a server with these quirks.
    pub fn new(model: &str, quirks: &Quirks) -> Self {
        Self {
            asked: Some(model.to_owned()),
            calls: Calls::default(),
            replay: Gatherer::new(quirks),
            spoke: false,
            refused: false,
            delivered: false,
            finish: None,
            usage: None,
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, whole: bool, out: &mut Deltas) -> Result<(), Fault> {
        if let Some(error) = chunk.error.filter(|error| is_error(error)) {
            return Err(Fault::Reported(error.get().to_owned()));
        }
        self.model(&chunk.model.0, out);
        self.count(chunk.usage, out);
        match chunk.choices.and_then(|choices| choices.0) {
            Some(choice) if whole || choice.index.0.unwrap_or_default() == 0 => {
                self.choice(choice, whole, out)
            }
            _ => Ok(()),
        }
    }

    fn choice(&mut self, choice: Choice<'_>, whole: bool, out: &mut Deltas) -> Result<(), Fault> {
        if let Some(error) = choice.error.filter(|error| is_error(error)) {
            return Err(Fault::Reported(error.get().to_owned()));
        }
        self.count(choice.usage, out);
        // A stream's last chunk may repeat the whole message beside an empty delta.
        let said = match (choice.delta, choice.message) {
            (_, Some(message)) if whole => Some(*message),
            (Some(delta), _) => Some(delta),
            (None, message) => message.filter(|_| !self.delivered).map(|message| *message),
        };
        if let Some(said) = said {
            self.said(said, whole, out);
        }
        let reason = choice.finish_reason.0;
        if !reason.is_empty() && self.finish.is_none() {
            self.finish = Some(finish_of(&reason).ok_or_else(|| failed_finish(&reason))?);
        }
        Ok(())
    }

    fn said(&mut self, said: Said<'_>, whole: bool, out: &mut Deltas) {
        self.replay.reasoning(&said.reasoning_content.0);
        self.replay.details(said.reasoning_details);
        let reasoning = [said.reasoning_content.0, said.reasoning.0, said.content.thinking.into()];
        if let Some(reasoning) = reasoning.into_iter().find(|text| !text.is_empty()) {
            self.delivered = true;
            out.push_back(Delta::Reasoning(reasoning.into_owned()));
        }
        if !said.content.text.is_empty() {
            self.delivered = true;
            self.spoke = true;
            out.push_back(Delta::Text(said.content.text.into_owned()));
        }
        if !said.refusal.0.is_empty() && !self.spoke {
            self.delivered = true;
            self.refused = true;
            out.push_back(Delta::Text(said.refusal.0.into_owned()));
        }
        for fragment in said.tool_calls.into_iter().flatten().flatten() {
            self.delivered |= self.call(fragment, whole, out);
        }
    }

    fn call(&mut self, fragment: Fragment<'_>, whole: bool, out: &mut Deltas) -> bool {
        let extra = fragment.extra_content;
        let slot = match whole {
            true => self.calls.add_whole(fragment, out),
            false => self.calls.add(fragment, out),
        };
        slot.into_iter().for_each(|slot| self.replay.extra(slot, extra));
        slot.is_some()
    }

    fn model(&mut self, model: &str, out: &mut Deltas) {
        if model.is_empty() || self.asked.as_deref().is_none_or(|asked| asked == model) {
            return;
        }
        self.asked = None;
        out.push_back(Delta::Model(model.to_owned()));
    }

    fn count(&mut self, raw: Option<&RawValue>, out: &mut Deltas) {
        let Some(usage) = raw.and_then(usage::read) else { return };
        if self.usage != Some(usage) {
            self.usage = Some(usage);
            out.push_back(Delta::Usage(usage));
        }
    }

    /// Sends what was held back, and the finish last. `fallback` stands in for a finish reason
    /// that never came.
    fn close(
        &mut self,
        fallback: Result<FinishReason, Fault>,
        out: &mut Deltas,
    ) -> Result<(), Fault> {
        self.calls.flush(out);
        let finish = self.finish.map_or(fallback, Ok)?;
        out.extend(self.replay.finish(self.calls.len()).map(Delta::Replay));
        out.push_back(Delta::Finish(match finish {
            FinishReason::Stop if self.calls.len() > 0 => FinishReason::ToolCalls,
            FinishReason::Stop if self.refused && !self.spoke => FinishReason::ContentFilter,
            other => other,
        }));
        Ok(())
    }

    /// The finish of a reply that is whole but does not say why it ended.
    fn unsaid(&self) -> Result<FinishReason, Fault> {
        if self.delivered { Ok(FinishReason::Stop) } else { Err(Fault::Empty) }
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: &Event<'_>, out: &mut Deltas) -> Result<Flow, Fault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.close(self.unsaid(), out)?;
            return Ok(Flow::Done);
        }
        if event.name == "error" {
            return Err(Fault::Reported(data.to_owned()));
        }
        let json = text::mend_lone_surrogates(data);
        match serde_json::from_str::<Chunk<'_>>(&json) {
            Ok(chunk) if chunk.is_foreign() && reports_error(&json) => {
                Err(Fault::Reported(data.to_owned()))
            }
            Ok(chunk) => self.chunk(chunk, false, out).map(|()| Flow::More),
            // Cut in the middle: the end of the stream decides what that means.
            Err(_) if !event.complete => Ok(Flow::More),
            Err(error) => Err(Fault::unparsable(&error, data)),
        }
    }

    fn whole(&mut self, body: &str, out: &mut Deltas) -> Result<(), Fault> {
        let json = text::mend_lone_surrogates(body);
        let chunk: Chunk<'_> =
            serde_json::from_str(&json).map_err(|error| Fault::unparsable(&error, body))?;
        if chunk.is_foreign() {
            return Err(match reports_error(&json) {
                true => Fault::Reported(body.to_owned()),
                false => Fault::malformed("it has no `choices`", body),
            });
        }
        self.chunk(chunk, true, out)?;
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

impl Chunk<'_> {
    /// Whether it has nothing a chunk has.
    fn is_foreign(&self) -> bool {
        self.choices.is_none() && self.usage.is_none() && self.error.is_none_or(|e| !is_error(e))
    }
}

/// The finish reason a server means; none for its word for a failure.
fn finish_of(reason: &str) -> Option<FinishReason> {
    Some(match reason.to_ascii_lowercase().as_str() {
        "tool_calls" | "tool_call" | "tool_use" | "function_call" => FinishReason::ToolCalls,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" | "refusal" | "sensitive" => FinishReason::ContentFilter,
        // DeepSeek's, vLLM's and Zhipu's words for a reply they gave up on.
        "insufficient_system_resource" | "abort" | "network_error" => FinishReason::Incomplete,
        "error" => return None,
        _ => FinishReason::Stop,
    })
}

fn failed_finish(reason: &str) -> Fault {
    let message = format!("the provider ended the reply with finish_reason {reason:?}");
    Fault::Reported(serde_json::json!({ "code": "server_error", "message": message }).to_string())
}

#[cfg(test)]
mod tests;
