//! What a server wants back with a reply: reasoning, and what stands beside tool calls.
//!
//! Gathered while the reply is read, kept as one opaque value, and written back exactly. Its shape
//! is `{"reasoning_content": text, "reasoning_details": [piece], "extra_content": [one a call]}`,
//! each part only where there was one.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::quirks::{Quirks, ReasoningReplay};

/// Fields of a piece that come bit by bit.
const GROWING: [&str; 3] = ["text", "summary", "data"];

/// What Google's documentation gives in place of the signature of a call its model did not make.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Gathers what is wanted back.
#[derive(Debug, Default)]
pub(super) struct Gatherer {
    kind: ReasoningReplay,
    signatures: bool,
    reasoning: String,
    details: Vec<Map<String, Value>>,
    extras: Vec<Value>,
}

impl Gatherer {
    pub(super) fn new(quirks: &Quirks) -> Self {
        let Quirks { reasoning: kind, thought_signatures: signatures, .. } = *quirks;
        Self { kind, signatures, ..Self::default() }
    }

    /// Takes (a bit of) the text of `reasoning_content`.
    pub(super) fn reasoning(&mut self, text: &str) {
        if self.kind == ReasoningReplay::ReasoningContent {
            self.reasoning.push_str(text);
        }
    }

    /// Takes pieces, or bits of them, of `reasoning_details`.
    pub(super) fn details(&mut self, raw: Option<&RawValue>) {
        if self.kind != ReasoningReplay::ReasoningDetails {
            return;
        }
        let pieces = raw.and_then(|raw| serde_json::from_str::<Vec<Value>>(raw.get()).ok());
        for piece in pieces.into_iter().flatten() {
            if let Value::Object(piece) = piece {
                self.detail(piece);
            }
        }
    }

    fn detail(&mut self, piece: Map<String, Value>) {
        let goes_on = |last: &Map<String, Value>| {
            let same = |key: &str| last.get(key) == piece.get(key);
            let known = |map: &Map<String, Value>| map.get("id").is_some_and(|id| !id.is_null());
            same("type") && same("index") && (same("id") || !known(last) || !known(&piece))
        };
        let Some(last) = self.details.last_mut().filter(|last| goes_on(last)) else {
            return self.details.push(piece);
        };
        for (key, value) in piece {
            match (last.get_mut(&key), value) {
                (Some(Value::String(known)), Value::String(more))
                    if GROWING.contains(&key.as_str()) =>
                {
                    known.push_str(&more);
                }
                (Some(_), Value::Null) => {}
                (_, value) => {
                    last.insert(key, value);
                }
            }
        }
    }

    /// Takes what stands beside the call in `slot`.
    pub(super) fn extra(&mut self, slot: usize, raw: Option<&RawValue>) {
        let value = raw.filter(|_| self.signatures);
        let value = value.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        let Some(value) = value.filter(|value| value.is_object()) else { return };
        if self.extras.len() <= slot {
            self.extras.resize(slot + 1, Value::Null);
        }
        self.extras[slot] = value;
    }

    /// Everything that is wanted back of a reply with this many calls; none if nothing is.
    pub(super) fn finish(&mut self, calls: usize) -> Option<Value> {
        let mut data = Map::new();
        if !self.reasoning.is_empty() {
            data.insert("reasoning_content".into(), std::mem::take(&mut self.reasoning).into());
        }
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details).into_iter().map(Value::Object);
            data.insert("reasoning_details".into(), details.collect());
        }
        if !self.extras.is_empty() {
            self.extras.resize(calls, Value::Null);
            data.insert("extra_content".into(), std::mem::take(&mut self.extras).into());
        }
        (!data.is_empty()).then_some(Value::Object(data))
    }
}

/// What goes back beside the call at `index` of a message with `calls` calls, whose replay is
/// `data`.
pub(super) fn extra(
    quirks: &Quirks,
    data: Option<&Value>,
    index: usize,
    calls: usize,
) -> Option<Value> {
    if !quirks.thought_signatures {
        return None;
    }
    // Should calls have been added or left out, what belongs to which is no longer known.
    let extras = data.and_then(|data| data["extra_content"].as_array());
    let extras = extras.filter(|extras| extras.len() == calls);
    match extras.and_then(|extras| extras.get(index)) {
        Some(extra) => Some(extra).filter(|extra| extra.is_object()).cloned(),
        // Of several calls made together only the first is signed.
        None => (index == 0).then(|| json!({ "google": { "thought_signature": NO_SIGNATURE } })),
    }
}
