//! Ids of tool calls in the letters Anthropic allows: `^[a-zA-Z0-9_-]+$`.
//!
//! A history may hold ids of another provider (`functions.read:0`). They are rewritten by a
//! function of the id alone, so that two ids never become one, call and result still agree, and
//! the same id looks the same in every later request.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Starts every rewritten id. A legal id that starts like this is rewritten too, or it could meet
/// a rewritten one.
const MARK: &str = "enc-";

/// `id` in legal letters. Different ids stay different.
pub(super) fn legal(id: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_legal = !id.is_empty() && id.bytes().all(|byte| plain(byte) || byte == b'_');
    if is_legal && !id.starts_with(MARK) {
        return Cow::Borrowed(id);
    }
    let mut out = String::from(MARK);
    for byte in id.bytes() {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            // `_` itself is written this way, which keeps the writing unambiguous.
            let _ = write!(out, "_{byte:02x}");
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_must_be_is_rewritten() {
        let cases = [
            ("toolu_01A-b", "toolu_01A-b"),
            ("functions.read:0", "enc-functions_2eread_3a0"),
            ("a_b c", "enc-a_5fb_20c"),
            ("é", "enc-_c3_a9"),
            ("", "enc-"),
            ("enc-a", "enc-enc-a"),
        ];
        for (id, expected) in cases {
            assert_eq!(legal(id), expected, "{id:?}");
        }
    }

    proptest! {
        #[test]
        fn ids_become_legal_and_stay_apart(a in "(enc-)?[a-b_:. é-]{0,4}", b in "(enc-)?[a-b_:. é-]{0,4}") {
            let (x, y) = (legal(&a), legal(&b));
            prop_assert!(!x.is_empty());
            prop_assert!(x.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
            prop_assert_eq!(a == b, x == y);
        }
    }
}
