//! What to change in a request so that the provider that refused it may accept it.
//!
//! Providers tell it in words, beside a field `param` at best. Each remedy has its table of
//! phrases, in lower case, as they stand in real answers; a phrase must be specific enough never
//! to fit an answer about something else. Whether to apply a remedy is the loop's decision.

mod output;
mod parameter;

use hermes_core::transport::Remedy;

use crate::classify::body::Report;

/// Reasoning that was signed or encrypted and is no longer accepted, or stands alone.
const REPLAY: &[&str] = &[
    "invalid `signature` in `thinking`",
    "invalid signature in thinking block",
    "thought_signature",
    "thought signature is not valid",
    "corrupted thought signature",
    "latest assistant message cannot be modified",
    "encrypted content could not be",
    "could not be verified. reason: encrypted content",
    "invalid_encrypted_content",
    "without its required following item",
    "without its required 'reasoning' item",
    "items are not persisted when `store` is set to false",
];

/// Whole replies only.
const STREAM: &[&str] = &[
    "must be verified to stream this model",
    "'stream' does not support true",
    "does not support streaming",
    "streaming is not supported",
    "streaming not supported",
    "streaming is disabled",
    "stream is not supported",
];

/// Images that are too large, too many, not readable, or not wanted at all.
const IMAGES: &[&str] = &[
    "image exceeds",
    "image dimensions exceed",
    "image too large",
    "image is too large",
    "image_too_large",
    "image size exceeds",
    "too many images",
    "image(s) may be provided",
    "could not process image",
    "unable to process input image",
    "unsupported image",
    "invalid image",
    "image_parse_error",
    "provided image is not valid",
    "must be a base64 encoded image",
    "no endpoints found that support image",
    "does not support image",
    "do not support image",
    "not support images",
    "doesn't support image",
    "image input is not supported",
    "image inputs are not supported",
    "images are not supported",
    "data required for image input",
    "unknown variant `image_url`",
    "unknown variant image_url",
    "image_url is only supported by",
    "only text tool_result blocks",
    "is not a multimodal model",
];

/// The change that `report`, the answer to a request with this `status`, asks for. `body` is what
/// to read where the report has no sentence.
pub(crate) fn of(status: Option<u16>, report: &Report, body: &str) -> Option<Remedy> {
    let text = report.message.as_deref().unwrap_or(body).to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    match status {
        // Whatever is said there, it is the key that was refused, or the pace.
        Some(401 | 403 | 408 | 429) => return None,
        Some(402) => return output::affordable(&text),
        _ => {}
    }
    let param = report.param.as_deref().unwrap_or_default();
    let code = report.code.as_deref().unwrap_or_default();
    if says(REPLAY) || code == "invalid_encrypted_content" {
        return Some(Remedy::WithoutReplay);
    }
    if says(STREAM) || (param == "stream" && code.starts_with("unsupported")) {
        return Some(Remedy::WithoutStream);
    }
    if says(IMAGES) {
        return Some(Remedy::WithoutImages);
    }
    // A server that does not know the parameter may name the one to use instead.
    parameter::of(code, param, &text).or_else(|| output::of(param, &text))
}

#[cfg(test)]
mod tests;
