//! What servers send, read leniently. Unknown fields are skipped unread.

use serde_json::value::RawValue;

use crate::mode::lenient::{Count, Word};

/// One event of a stream, whichever it is.
#[derive(serde::Deserialize)]
pub(super) struct Frame<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Word<'a>,
    #[serde(borrow, default)]
    pub(super) item_id: Word<'a>,
    #[serde(default)]
    pub(super) output_index: Count,
    #[serde(default)]
    pub(super) summary_index: Count,
    #[serde(default)]
    pub(super) content_index: Count,
    #[serde(borrow, default)]
    pub(super) delta: Word<'a>,
    /// Of a finished text.
    #[serde(borrow, default)]
    pub(super) text: Word<'a>,
    /// Of a finished refusal.
    #[serde(borrow, default)]
    pub(super) refusal: Word<'a>,
    /// Of a finished call.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// A reply's frame: in the events that begin and end it, or the whole body.
#[derive(Default, serde::Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow, default)]
    pub(super) model: Word<'a>,
    #[serde(borrow, default)]
    pub(super) status: Word<'a>,
    #[serde(borrow, default)]
    pub(super) output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) incomplete_details: Option<&'a RawValue>,
}

impl Response<'_> {
    /// Why it is incomplete, in the server's word.
    pub(super) fn incomplete_reason(&self) -> String {
        #[derive(serde::Deserialize)]
        struct Details<'a> {
            #[serde(borrow, default)]
            reason: Word<'a>,
        }
        self.incomplete_details
            .and_then(|raw| serde_json::from_str::<Details<'_>>(raw.get()).ok())
            .map(|details| details.reason.0.into_owned())
            .unwrap_or_default()
    }
}

/// One item of a reply's output.
#[derive(Default, serde::Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Word<'a>,
    #[serde(borrow, default)]
    pub(super) id: Word<'a>,
    #[serde(borrow, default)]
    pub(super) phase: Word<'a>,
    #[serde(borrow, default)]
    pub(super) call_id: Word<'a>,
    #[serde(borrow, default)]
    pub(super) name: Word<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    /// Of a message or of readable reasoning.
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) encrypted_content: Word<'a>,
}

impl Item<'_> {
    /// The texts of its content.
    pub(super) fn content(&self) -> Vec<Text> {
        texts(self.content)
    }

    /// The texts of its summary.
    pub(super) fn summary(&self) -> Vec<Text> {
        texts(self.summary)
    }
}

/// A text of an item.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) is_refusal: bool,
}

/// The texts in `raw`: a list of parts by the book, a bare string from some servers.
fn texts(raw: Option<&RawValue>) -> Vec<Text> {
    #[derive(serde::Deserialize)]
    struct Part<'a> {
        #[serde(borrow, default)]
        text: Word<'a>,
        #[serde(borrow, default)]
        refusal: Word<'a>,
    }
    let Some(raw) = raw.map(RawValue::get) else { return Vec::new() };
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        return vec![Text { text, is_refusal: false }];
    }
    let parts: Vec<Part<'_>> = serde_json::from_str(raw).unwrap_or_default();
    let text = |part: Part<'_>| match part.refusal.0.is_empty() {
        true => Text { text: part.text.0.into_owned(), is_refusal: false },
        false => Text { text: part.refusal.0.into_owned(), is_refusal: true },
    };
    parts.into_iter().map(text).collect()
}

/// Arguments as text: the content of a string, or the JSON of anything else as it came.
pub(super) fn arguments(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw.map(RawValue::get).filter(|raw| *raw != "null") else {
        return String::new();
    };
    serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned())
}
