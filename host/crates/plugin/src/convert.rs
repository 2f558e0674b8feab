//! Between the contract's types and the core's. Nothing is decided here.

use std::borrow::Cow;
use std::time::Duration;

use hermes_core::failure::{Attributes, Failure, code};
use hermes_core::tool::{Body, Outcome, Part};
use serde_json::Value;

use crate::bindings::plugin_types as wit;
use crate::secret::Redactor;

/// Most bytes of one result, whatever a plugin's own limits: beyond this it is data, not an answer.
pub(crate) const RESULT_BYTES: usize = 16 << 20;

/// Most parts of one result.
const PARTS: usize = 1000;

/// Longest media type; real ones have some tens of bytes.
const MIME_BYTES: usize = 256;

/// Longest code of a failure: a word.
const CODE_BYTES: usize = 64;

/// Longest message of a failure: a model reads all of it.
const MESSAGE_BYTES: usize = 16 << 10;

/// Most bytes of the attributes of one thing; what is over it is left out.
const ATTRIBUTES_BYTES: usize = 64 << 10;

/// Attributes as the core has them: values are JSON text; text that is no JSON stays text.
pub(crate) fn attributes(attributes: Vec<wit::Attribute>) -> Attributes {
    let value = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
    let mut left = ATTRIBUTES_BYTES;
    let mut fits = |attribute: &wit::Attribute| {
        let rest = left.checked_sub(attribute.name.len() + attribute.value.len());
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    attributes
        .into_iter()
        .take_while(|attribute| fits(attribute))
        .map(|attribute| (attribute.name, value(attribute.value)))
        .collect()
}

fn cut(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    hermes_core::text::ellipsis(&text, most).into_owned()
}

fn attributes_out(attributes: &Attributes) -> Vec<wit::Attribute> {
    let one = |(name, value): (&String, &Value)| wit::Attribute {
        name: name.clone(),
        value: value.to_string(),
    };
    attributes.iter().map(one).collect()
}

fn part(part: wit::Part) -> Part {
    let body = match part.body {
        wit::Body::Text(text) => Body::Text(text),
        wit::Body::Bytes(bytes) => Body::Bytes(bytes),
    };
    Part { mime: cut(part.mime, MIME_BYTES), body, attributes: attributes(part.attributes) }
}

/// A guest's parts as the core's.
///
/// # Errors
/// They are too many or too large; the text says how many and how large.
pub(crate) fn parts(parts: Vec<wit::Part>) -> Result<Vec<Part>, String> {
    let (count, bytes) = (parts.len(), bytes(&parts));
    if bytes > RESULT_BYTES {
        let most = RESULT_BYTES >> 20;
        return Err(format!("the result has {bytes} bytes; at most {most} MiB are allowed"));
    }
    if count > PARTS {
        return Err(format!("the result has {count} parts; at most {PARTS} are allowed"));
    }
    Ok(parts.into_iter().map(part).collect())
}

/// Size of the bodies of some parts.
pub(crate) fn bytes(parts: &[wit::Part]) -> usize {
    let body = |part: &wit::Part| match &part.body {
        wit::Body::Text(text) => text.len(),
        wit::Body::Bytes(bytes) => bytes.len(),
    };
    parts.iter().map(body).sum()
}

/// A guest's failure as the core's.
pub(crate) fn failure(failure: wit::Failure) -> Failure {
    Failure {
        code: match failure.code {
            empty if empty.is_empty() => code::INTERNAL.into(),
            code => cut(code, CODE_BYTES),
        },
        message: cut(failure.message, MESSAGE_BYTES),
        retry_after: failure.retry_after_ms.map(Duration::from_millis),
        attributes: attributes(failure.attributes),
    }
}

/// Takes the values of secrets out of an outcome.
pub(crate) fn redact(outcome: &mut Outcome, redactor: &Redactor) {
    let in_text = |text: &mut String| {
        if let Cow::Owned(clean) = redactor.redact_text(text) {
            *text = clean;
        }
    };
    let in_attributes = |attributes: &mut Attributes| {
        for (_, value) in attributes.iter_mut() {
            let text = value.to_string();
            if let Cow::Owned(clean) = redactor.redact_text(&text) {
                // Where a blot breaks the JSON, what is left of it is text.
                *value = serde_json::from_str(&clean).unwrap_or(Value::String(clean));
            }
        }
    };
    match outcome {
        Ok(parts) => {
            for part in parts {
                in_text(&mut part.mime);
                in_attributes(&mut part.attributes);
                match &mut part.body {
                    Body::Text(text) => in_text(text),
                    Body::Bytes(bytes) => {
                        if let Cow::Owned(clean) = redactor.redact_bytes(bytes) {
                            *bytes = clean;
                        }
                    }
                }
            }
        }
        Err(failure) => {
            in_text(&mut failure.code);
            in_text(&mut failure.message);
            in_attributes(&mut failure.attributes);
        }
    }
}

/// A failure of the host's for a guest.
pub(crate) fn refusal(code: &str, message: impl Into<String>) -> wit::Failure {
    wit::Failure {
        code: code.into(),
        message: message.into(),
        retry_after_ms: None,
        attributes: Vec::new(),
    }
}

/// An outcome for a guest that reviews it.
pub(crate) fn outcome_out(outcome: &Outcome) -> Result<Vec<wit::Part>, wit::Failure> {
    let part = |part: &Part| wit::Part {
        mime: part.mime.clone(),
        body: match &part.body {
            Body::Text(text) => wit::Body::Text(text.clone()),
            Body::Bytes(bytes) => wit::Body::Bytes(bytes.clone()),
        },
        attributes: attributes_out(&part.attributes),
    };
    match outcome {
        Ok(parts) => Ok(parts.iter().map(part).collect()),
        Err(failure) => Err(wit::Failure {
            code: failure.code.clone(),
            message: failure.message.clone(),
            retry_after_ms: failure
                .retry_after
                .map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX)),
            attributes: attributes_out(&failure.attributes),
        }),
    }
}
