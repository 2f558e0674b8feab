//! A reply's events, or its one whole body, as deltas.
//!
//! Pure and incremental. An event of a type we do not know says nothing to us. A refusal is text
//! the person should read, and a reply of nothing else ends as filtered content.

use hermes_core::message::FinishReason;
use hermes_core::text;
use hermes_core::transport::Delta;
use hermes_core::usage::Usage;
use serde_json::value::RawValue;

use super::items::{Items, Place};
use super::usage;
use super::wire::{self, Frame, Item, Response};
use crate::mode::report::{is_error, reports_error};
use crate::mode::{Decode, Deltas, Fault, Flow};
use crate::sse::Event;

/// Decodes one reply.
#[derive(Debug)]
pub struct Decoder {
    /// The model asked for, until another one has answered.
    asked: Option<String>,
    items: Items,
    usage: Option<Usage>,
    finished: bool,
}

impl Decoder {
    /// A decoder for the reply of `model`.
    pub fn new(model: &str) -> Self {
        Self {
            asked: Some(model.to_owned()),
            items: Items::default(),
            usage: None,
            finished: false,
        }
    }

    fn frame(&mut self, kind: &str, frame: &Frame<'_>, out: &mut Deltas) -> Result<Flow, Fault> {
        let id = &frame.item_id.0;
        let place = Place { index: frame.output_index.0, id, call_id: "" };
        let item = || frame.item.map(item).unwrap_or_default();
        match kind {
            "response.output_text.delta" => self.items.text(place, &frame.delta.0, false, out),
            "response.output_text.done" => self.items.whole_text(place, &frame.text.0, false, out),
            "response.refusal.delta" => self.items.text(place, &frame.delta.0, true, out),
            "response.refusal.done" => self.items.whole_text(place, &frame.refusal.0, true, out),
            "response.function_call_arguments.delta" => {
                self.items.arguments(place, &frame.delta.0, out);
            }
            "response.function_call_arguments.done" => {
                self.items.whole_arguments(place, &wire::arguments(frame.arguments), out);
            }
            "response.output_item.added" => self.items.added(place.index, &item(), out),
            "response.output_item.done" => self.items.done(place.index, &item(), out),
            "response.created" | "response.in_progress" | "response.queued" => {
                let response = frame.response.map(response).unwrap_or_default();
                self.model(&response.model.0, out);
            }
            "response.completed"
            | "response.done"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let response = frame.response.map(response).unwrap_or_default();
                let implied = kind.trim_start_matches("response.");
                self.conclude(&response, implied, out)?;
                return Ok(Flow::Done);
            }
            thinks if thinks.contains("reasoning") && thinks.ends_with(".delta") => {
                let summary = thinks.contains("summary");
                let number = if summary { frame.summary_index } else { frame.content_index };
                let thought = (summary, number.0.unwrap_or_default());
                self.items.reasoning(place, thought, &frame.delta.0, out);
            }
            _ => {}
        }
        Ok(Flow::More)
    }

    /// Reads the frame of a reply that is over. `implied` stands in for a status it does not say.
    fn conclude(
        &mut self,
        response: &Response<'_>,
        implied: &str,
        out: &mut Deltas,
    ) -> Result<(), Fault> {
        self.model(&response.model.0, out);
        self.items.complete(&output(response.output), out);
        let status = match &*response.status.0 {
            // Sent beside the event that says otherwise by a server that never updates it.
            "" | "in_progress" | "queued" => implied,
            status => status,
        };
        self.count(response.usage, out);
        match status {
            "failed" | "cancelled" => Err(failed(response, status)),
            "incomplete" => {
                self.close(incomplete(&response.incomplete_reason()), out);
                Ok(())
            }
            _ => {
                self.close(FinishReason::Stop, out);
                Ok(())
            }
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
        let Some(usage) = raw.and_then(usage::read) else { return };
        if self.usage != Some(usage) {
            self.usage = Some(usage);
            out.push_back(Delta::Usage(usage));
        }
    }

    /// Sends what was held back, and the finish last.
    fn close(&mut self, finish: FinishReason, out: &mut Deltas) {
        self.items.flush(out);
        out.extend(self.items.replay().map(Delta::Replay));
        out.push_back(Delta::Finish(match finish {
            FinishReason::Stop if self.items.has_calls() => FinishReason::ToolCalls,
            FinishReason::Stop if self.items.is_refusal() => FinishReason::ContentFilter,
            other => other,
        }));
        self.finished = true;
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: &Event<'_>, out: &mut Deltas) -> Result<Flow, Fault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            if !self.items.has_sent() {
                return Err(Fault::Empty);
            }
            self.close(FinishReason::Stop, out);
            return Ok(Flow::Done);
        }
        let json = text::mend_lone_surrogates(data);
        let frame = match serde_json::from_str::<Frame<'_>>(&json) {
            Ok(frame) => frame,
            Err(_) if event.name == "error" => return Err(Fault::Reported(data.to_owned())),
            // Cut in the middle: the end of the stream decides what that means.
            Err(_) if !event.complete => return Ok(Flow::More),
            Err(error) => return Err(Fault::unparsable(&error, data)),
        };
        let kind = if frame.kind.0.is_empty() { event.name } else { &frame.kind.0 };
        let error = frame.error.filter(|error| is_error(error));
        if kind == "error" || error.is_some() {
            let report = error.map_or(data, RawValue::get);
            return Err(Fault::Reported(report.to_owned()));
        }
        let typed = &frame.kind.0;
        if (typed.is_empty() || typed.ends_with("error")) && reports_error(&json) {
            return Err(Fault::Reported(data.to_owned()));
        }
        self.frame(kind, &frame, out)
    }

    fn whole(&mut self, body: &str, out: &mut Deltas) -> Result<(), Fault> {
        let json = text::mend_lone_surrogates(body);
        let response: Response<'_> =
            serde_json::from_str(&json).map_err(|error| Fault::unparsable(&error, body))?;
        if let Some(error) = response.error.filter(|error| is_error(error)) {
            return Err(Fault::Reported(error.get().to_owned()));
        }
        if response.output.is_none() && response.status.0.is_empty() {
            return Err(match reports_error(&json) {
                true => Fault::Reported(body.to_owned()),
                false => Fault::malformed("it has no `output`", body),
            });
        }
        if matches!(&*response.status.0, "queued" | "in_progress") {
            return Err(Fault::malformed("it is a reply that is still being written", body));
        }
        self.conclude(&response, "completed", out)
    }

    fn end(&mut self, out: &mut Deltas) -> Result<(), Fault> {
        self.items.flush(out);
        Err(Fault::Cut)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    fn has_delivered(&self) -> bool {
        self.items.has_sent()
    }
}

/// An item of a reply; one that cannot be read is one of no known kind.
fn item(raw: &RawValue) -> Item<'_> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn response(raw: &RawValue) -> Response<'_> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn output(raw: Option<&RawValue>) -> Vec<Item<'_>> {
    let items = raw.and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
    items.unwrap_or_default().into_iter().map(item).collect()
}

/// The finish of a reply that is incomplete for this reason.
fn incomplete(reason: &str) -> FinishReason {
    match reason {
        "max_output_tokens" | "max_tokens" | "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        _ => FinishReason::Incomplete,
    }
}

/// A reply that came to nothing, in the server's own words where it has any.
fn failed(response: &Response<'_>, status: &str) -> Fault {
    Fault::Reported(match response.error.filter(|error| is_error(error)) {
        Some(error) => error.get().to_owned(),
        None => {
            let message = format!("the provider ended the reply with status {status:?}");
            serde_json::json!({ "code": "server_error", "message": message }).to_string()
        }
    })
}

#[cfg(test)]
mod tests;
