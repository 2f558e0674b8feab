//! The forms of a value that are looked for as they are: plain, base64 and hex. Escapes, which may
//! touch any of its characters or none, are undone by [`super::view`] instead.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// One form of a value. Holds the value, so it can be shown by nothing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    pub(super) text: Vec<u8>,
    /// Whether the character before it holds bits of the value too.
    pub(super) ragged_start: bool,
    /// Whether the character after it does.
    pub(super) ragged_end: bool,
}

/// All forms of a value.
pub(super) fn of(value: &str) -> Vec<Pattern> {
    let mut patterns = vec![whole(value.to_owned())];
    if value.contains(' ') {
        // As a form sends it.
        patterns.push(whole(value.replace(' ', "+")));
    }
    let lower = value.bytes().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    patterns.push(whole(lower.to_uppercase()));
    patterns.push(whole(lower));
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        patterns.extend((0..3).map(|before| base64(engine, value, before)));
    }
    patterns
}

fn whole(text: String) -> Pattern {
    Pattern { text: text.into_bytes(), ragged_start: false, ragged_end: false }
}

/// The characters that the value alone decides, where `before` bytes (modulo 3) stand before it.
fn base64(engine: &GeneralPurpose, value: &str, before: usize) -> Pattern {
    let mut bytes = vec![0; before];
    bytes.extend(value.as_bytes());
    let text = engine.encode(&bytes).into_bytes();
    let first = [0, 2, 3][before];
    let bits = bytes.len() * 8;
    let last = bits / 6;
    Pattern {
        text: text.get(first..last).unwrap_or_default().to_vec(),
        ragged_start: before > 0,
        ragged_end: !bits.is_multiple_of(6),
    }
}

/// Whether a byte can be part of base64, in either alphabet.
pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte)
}
