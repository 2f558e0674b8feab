//! Values that must never be shown, and taking them out of text somebody else wrote.
//!
//! Memory is not wiped on drop: whoever can read this process's memory can read its environment,
//! where most keys come from.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// What stands where a credential stood.
const MASKED: &str = "[masked]";

/// Length in bytes of the shortest piece of a credential that is masked wherever it appears.
/// Providers echo keys with their middle starred out; pieces shorter than this are ordinary words.
const PIECE: usize = 8;

/// A credential shorter than a [`PIECE`] is masked where it appears whole, down to this length;
/// still shorter ones are placeholders such as `x` for servers that want no key.
const SHORTEST: usize = 4;

/// A credential. Neither `Debug` nor `Display` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Takes a value; blanks and line ends around it, which come from files and copying, are cut.
    pub fn new(value: &str) -> Self {
        Self(value.trim().into())
    }

    /// Whether it is a token of an identity provider (a JWT) rather than a key.
    pub(crate) fn is_token(&self) -> bool {
        self.0.starts_with("eyJ") && self.0.matches('.').count() == 2
    }

    /// The value itself. Every use of this is a place where it may leak.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self::new(&value)
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(MASKED)
    }
}

impl std::fmt::Display for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(MASKED)
    }
}

/// Takes credentials, and pieces of them, out of text.
#[derive(Clone, Default)]
pub(crate) struct Mask {
    pieces: HashSet<[u8; PIECE]>,
    short: Vec<Box<str>>,
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mask")
    }
}

impl Mask {
    /// A mask for all of `secrets`.
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut mask = Self::default();
        secrets.into_iter().for_each(|secret| mask.add(secret));
        mask
    }

    /// Hides `secret` too.
    pub(crate) fn add(&mut self, secret: &str) {
        let windows = secret.as_bytes().windows(PIECE);
        self.pieces.extend(windows.filter_map(|piece| <[u8; PIECE]>::try_from(piece).ok()));
        if (SHORTEST..PIECE).contains(&secret.len()) {
            self.short.push(secret.into());
        }
    }

    /// `text` without any credential in it.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for short in &self.short {
            if out.contains(&**short) {
                out = Cow::Owned(out.replace(&**short, MASKED));
            }
        }
        let covered = self.covered(out.as_bytes());
        if !covered.contains(&true) {
            return out;
        }
        let mut masked = String::with_capacity(out.len());
        let mut inside = false;
        for (at, c) in out.char_indices() {
            let hidden = covered[at..at + c.len_utf8()].contains(&true);
            if !hidden {
                masked.push(c);
            } else if !inside {
                masked.push_str(MASKED);
            }
            inside = hidden;
        }
        Cow::Owned(masked)
    }

    /// For every byte of `text`, whether it belongs to a piece of a credential.
    fn covered(&self, text: &[u8]) -> Vec<bool> {
        let mut covered = vec![false; text.len()];
        if self.pieces.is_empty() {
            return covered;
        }
        for (at, window) in text.windows(PIECE).enumerate() {
            if self.pieces.contains(window) {
                covered[at..at + PIECE].fill(true);
            }
        }
        covered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::new(" sk-proj-0123456789abcdef\n");
        assert_eq!(format!("{secret} {secret:?}"), "[masked] [masked]");
        assert_eq!(secret.expose(), "sk-proj-0123456789abcdef");
    }

    #[test]
    fn whole_keys_and_pieces_of_eight_are_masked() {
        let mask = Mask::new(["sk-proj-0123456789abcdef"]);
        let cases = [
            ("key sk-proj-0123456789abcdef!", "key [masked]!"),
            (
                "Incorrect key: sk-proj-0123*******9abcdef.",
                "Incorrect key: [masked]*******9abcdef.",
            ),
            ("ends in 89abcdef, é89abcdefé", "ends in [masked], é[masked]é"),
            ("seven 9abcdef stay", "seven 9abcdef stay"),
            ("sk-proj-", "[masked]"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(mask.text(text), expected, "{text}");
        }
    }

    #[test]
    fn short_keys_are_masked_whole_and_placeholders_are_left() {
        let mask = Mask::new(["hunter2", "x"]);
        assert_eq!(mask.text("hunter2 hunter xx"), "[masked] hunter xx");
        assert_eq!(Mask::new(["héllo wörld"]).text("say héllo wörld é"), "say [masked] é");
    }
}
