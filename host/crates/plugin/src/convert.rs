//! Between the contract's types and the core's. Nothing is decided here.

use std::time::Duration;

use hermes_core::failure::{Attributes, Failure, code};
use hermes_core::tool::{Body, Outcome, Part};
use serde_json::Value;

use crate::bindings::plugin_types as wit;

/// Attributes as the core has them: values are JSON text; text that is no JSON stays text.
pub(crate) fn attributes(attributes: Vec<wit::Attribute>) -> Attributes {
    let value = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
    attributes.into_iter().map(|attribute| (attribute.name, value(attribute.value))).collect()
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
    Part { mime: part.mime, body, attributes: attributes(part.attributes) }
}

/// A guest's parts as the core's.
pub(crate) fn parts(parts: Vec<wit::Part>) -> Vec<Part> {
    parts.into_iter().map(part).collect()
}

/// A guest's failure as the core's.
pub(crate) fn failure(failure: wit::Failure) -> Failure {
    Failure {
        code: if failure.code.is_empty() { code::INTERNAL.into() } else { failure.code },
        message: failure.message,
        retry_after: failure.retry_after_ms.map(Duration::from_millis),
        attributes: attributes(failure.attributes),
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
