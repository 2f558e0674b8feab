//! What identifies bytes: SHA-256 as 64 small hexadecimal digits.

use sha2::{Digest as _, Sha256};

/// The digest of some bytes.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Whether text is such a digest.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// The first digits of a digest, for people.
pub(crate) fn short(digest: &str) -> &str {
    hermes_core::text::prefix(digest, 12)
}
