//! Finds secrets in a text and masks them, in one pass over its bytes.

use crate::shape::{self, Found};

/// What stands where a secret stood.
pub(crate) const MASK: &str = "[masked]";

/// From this length on, the first four and last two characters stay, so that a person can tell
/// which key it was.
const RECOGNISABLE: usize = 16;

/// What the user adds to and takes from the known shapes.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Beginnings of further tokens.
    pub(crate) prefixes: Vec<String>,
    /// Texts that are no secrets.
    pub(crate) allow: Vec<String>,
}

/// A text with its secrets masked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Masked {
    /// The text.
    pub(crate) text: String,
    /// How many were masked.
    pub(crate) count: usize,
}

/// The text with its secrets masked, if it holds any.
pub(crate) fn mask(text: &str, settings: &Settings) -> Option<Masked> {
    let mut out = String::new();
    let (mut copied, mut at, mut count) = (0, 0, 0);
    while let Some(found) = shape::next(text, at, &settings.prefixes) {
        let Found { start, end, token } = found;
        at = end;
        let secret = &text[start..end];
        if secret.contains(MASK) || settings.allow.iter().any(|allowed| allowed == secret) {
            continue;
        }
        out.push_str(&text[copied..start]);
        push_masked(&mut out, secret, token);
        copied = end;
        count += 1;
    }
    if count == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(Masked { text: out, count })
}

/// Passwords go whole; of long tokens the ends stay.
fn push_masked(out: &mut String, secret: &str, token: bool) {
    if token && secret.is_ascii() && secret.len() >= RECOGNISABLE {
        out.push_str(&secret[..4]);
        out.push_str(MASK);
        out.push_str(&secret[secret.len() - 2..]);
    } else {
        out.push_str(MASK);
    }
}
