//! The input's text to values. jaq reads a superset of JSON and says only at which byte it stopped,
//! so the text is first checked strictly, with line and column.

use std::borrow::Cow;
use std::fmt;

use hermes_plugin_sdk::prelude::*;
use jaq_json::{Val, read};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// Bytes of input; the values take some ten times as much memory.
const MAX_INPUT: usize = 4 << 20;

/// Levels of arrays and objects in the input.
const MAX_LEVELS: usize = 512;

/// What is wrong with a text, as the end of a sentence.
#[derive(Debug)]
pub(super) enum Fault {
    /// More bytes than [`MAX_INPUT`].
    Long(usize),
    /// More levels than [`MAX_LEVELS`].
    Deep,
    /// Why and where it is no JSON.
    Malformed(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long(bytes) => {
                write!(f, "has {bytes} bytes, more than {MAX_INPUT}; pass a part of it")
            }
            Self::Deep => write!(f, "has more than {MAX_LEVELS} levels"),
            Self::Malformed(reason) => write!(f, "is not JSON: {reason}"),
        }
    }
}

/// The documents in an argument: a string holds them as text, anything else is one itself.
pub(super) fn documents(argument: &RawValue) -> Result<Vec<Val>, Failure> {
    let raw = argument.get().trim();
    let text: Cow<'_, str> = if raw.starts_with('"') {
        serde_json::from_str(raw).map_err(|error| {
            Failure::invalid_arguments(format!("`json` cannot be read: {error}"))
        })?
    } else {
        raw.into()
    };
    parse(&text).map_err(|fault| {
        let message = format!("`json` {fault}");
        match fault {
            Fault::Malformed(_) => Failure::invalid_arguments(message),
            Fault::Long(_) | Fault::Deep => Failure::too_large(message),
        }
    })
}

/// The documents in a text.
pub(super) fn parse(text: &str) -> Result<Vec<Val>, Fault> {
    let text = text.trim_start_matches('\u{feff}');
    if text.len() > MAX_INPUT {
        return Err(Fault::Long(text.len()));
    }
    if levels(text) > MAX_LEVELS {
        return Err(Fault::Deep);
    }
    for document in serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>() {
        document.map_err(|error| Fault::Malformed(error.to_string()))?;
    }
    read::parse_many(text.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| Fault::Malformed(error.to_string()))
}

/// The deepest level of brackets outside strings.
fn levels(text: &str) -> usize {
    let (mut level, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => level += 1,
            b']' | b'}' if !quoted => level = level.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(level);
    }
    deepest
}
