//! From a tool's result to what the model sees: parts become content, and what is too long is kept
//! whole elsewhere while the model gets its ends and is told how to read the rest.

use base64::Engine;

use super::history;
use super::turn::Turn;
use crate::failure::Failure;
use crate::message::{Content, ContentPart, ImageUrl, Message, ToolCall};
use crate::text;
use crate::tool::{Body, Part, ToolResult};

/// What remains of a result that is too long: its start …
const HEAD_BYTES: usize = 4000;

/// … and its end, where programs put their verdict.
const TAIL_BYTES: usize = 1000;

/// Most of a failure's message; a longer one would be a result in disguise.
const FAILURE_BYTES: usize = 4000;

/// The message that answers `call`.
pub(super) async fn deliver(turn: &Turn<'_>, call: &ToolCall, result: ToolResult) -> Message {
    let ToolResult { outcome, effect, attributes, .. } = result;
    let (content, failure) = match outcome {
        Ok(parts) => (content(turn, call, parts).await, None),
        Err(failure) => (Content::from(failure_text(&failure)), Some(failure.code)),
    };
    let mut message = Message::tool(call, content);
    message.effect = Some(effect);
    message.failure = failure;
    message.attributes = attributes;
    message
}

fn failure_text(failure: &Failure) -> String {
    let wait =
        failure.retry_after.map(|wait| format!(" (try again in {} s)", wait.as_secs_f64().ceil()));
    let message = text::ellipsis(&failure.message, FAILURE_BYTES);
    format!("error [{}]: {message}{}", failure.code, wait.unwrap_or_default())
}

/// The content of a successful result, never blank and never over the limit.
async fn content(turn: &Turn<'_>, call: &ToolCall, parts: Vec<Part>) -> Content {
    let limit = turn.agent.limits.result_bytes;
    let text_bytes: usize = parts.iter().filter(|part| is_text(part)).map(Part::len).sum();
    let unshown = parts.iter().any(|part| !is_text(part) && !is_image(part));
    let note =
        if text_bytes > limit || unshown { keep(turn, call, &parts).await } else { String::new() };

    let mut shown: Vec<ContentPart> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for part in parts {
        match part.body {
            Body::Text(text) => texts.push(text),
            Body::Bytes(bytes) if part.mime.starts_with("image/") => {
                let data = base64::engine::general_purpose::STANDARD.encode(bytes);
                let url = format!("data:{};base64,{data}", part.mime);
                if url.len() > turn.agent.limits.image_bytes {
                    let (size, most) = (url.len(), turn.agent.limits.image_bytes);
                    texts.push(format!(
                        "[an image of {size} bytes is left out: a request may carry {most}; make it smaller]"
                    ));
                } else {
                    shown.push(ContentPart::ImageUrl { image_url: ImageUrl { url } });
                }
            }
            Body::Bytes(bytes) => texts.push(format!("[{} bytes of {}]", bytes.len(), part.mime)),
        }
    }
    let mut text = texts.join("\n");
    if text.len() > limit {
        text = ends_of(&text, limit);
    }
    text.push_str(&note);
    if text.trim().is_empty() && shown.is_empty() {
        text = history::NO_OUTPUT.into();
    }
    if !text.is_empty() {
        shown.insert(0, ContentPart::Text { text });
    }
    Content(shown)
}

fn is_text(part: &Part) -> bool {
    matches!(part.body, Body::Text(_))
}

fn is_image(part: &Part) -> bool {
    !is_text(part) && part.mime.starts_with("image/")
}

/// Start and end of a text that is too long.
fn ends_of(text: &str, limit: usize) -> String {
    let head = text::prefix(text, HEAD_BYTES.min(limit));
    let tail = text::suffix(text, TAIL_BYTES.min(limit));
    let left_out = text.len() - head.len() - tail.len().min(text.len() - head.len());
    format!("{head}\n[… {left_out} bytes left out …]\n{tail}")
}

/// Keeps the whole result and says how to read it.
async fn keep(turn: &Turn<'_>, call: &ToolCall, parts: &[Part]) -> String {
    let bytes: usize = parts.iter().map(Part::len).sum();
    match (
        turn.agent.spill.keep(&turn.session_id, &call.id, parts).await,
        &turn.agent.limits.result_reader,
    ) {
        (Ok(()), Some(reader)) => format!(
            "\n[the whole result, {bytes} bytes, is kept; read more with {reader} {{\"call_id\": {:?}, \"offset\": {HEAD_BYTES}}}]",
            call.id
        ),
        (Ok(()), None) => {
            format!("\n[the whole result, {bytes} bytes, is kept under call {}]", call.id)
        }
        (Err(error), _) => format!("\n[the rest of the result could not be kept: {error}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b140_a_cut_never_falls_inside_a_character() {
        let text = "é".repeat(6000) + &"世".repeat(6000) + &"👩\u{200d}💻".repeat(500);
        for shift in 0..8 {
            let cut = ends_of(&text[shift * 2..], 100);
            assert!(cut.len() < 300 && cut.contains("bytes left out"));
        }
    }
}
