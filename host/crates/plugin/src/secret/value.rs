//! The value of a credential: which values can be one, and that it is never shown.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// Fewest bytes. A shorter value is an ordinary word, and blotting it out would garble what a
/// plugin reads.
const MIN_BYTES: usize = 8;

/// Most bytes. Longer than any token, and short enough for a header.
const MAX_BYTES: usize = 4096;

/// A value. Neither `Debug` nor `Display` shows it, and its memory is wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<Zeroizing<String>>);

impl Secret {
    /// Takes a value: one line of 8 to 4096 bytes. Blanks and line ends around it, which come from
    /// files and copying, are cut.
    ///
    /// # Errors
    /// It cannot be a secret; the text says why, and nothing of the value.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the value is empty".into());
        }
        if text.len() < MIN_BYTES {
            return Err(format!(
                "the value has fewer than {MIN_BYTES} bytes, so it could not be told from an \
                 ordinary word and kept out of results"
            ));
        }
        if text.len() > MAX_BYTES {
            return Err(format!(
                "the value has more than {MAX_BYTES} bytes; a header takes no more"
            ));
        }
        if text.contains(char::is_control) {
            return Err("the value must be one line without control characters".into());
        }
        Ok(Self(Arc::new(Zeroizing::new(text.to_owned()))))
    }

    /// The value itself. Every use of this is a place where it may leak.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_value_is_never_shown() {
        let secret = Secret::parse(" hunter2-hunter2\n").unwrap();
        assert_eq!(secret.expose(), "hunter2-hunter2");
        assert_eq!(format!("{secret} {secret:?}"), "[secret] [secret]");
    }

    #[test]
    fn what_cannot_be_kept_out_of_results_or_sent_is_no_secret() {
        for (text, expected) in [
            ("  \n", "the value is empty"),
            ("1234567", "the value has fewer than 8 bytes"),
            ("two lines\nof text", "the value must be one line"),
            (&"x".repeat(4097), "the value has more than 4096 bytes"),
        ] {
            let problem = Secret::parse(text).unwrap_err();
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}
