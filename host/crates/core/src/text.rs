//! Text that comes from outside: cutting it at a character, and cleaning what no later request
//! could carry.
//!
//! Width in columns and grapheme clusters are a renderer's concern and live in the binary.

use std::borrow::Cow;

/// The longest prefix of `text` of at most `max_bytes` bytes that ends at a character.
pub fn prefix(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// The longest suffix of `text` of at most `max_bytes` bytes that starts at a character.
pub fn suffix(text: &str, max_bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max_bytes))..]
}

/// `text` cut to `max_bytes` with an ellipsis where something was left out. The ellipsis counts.
pub fn ellipsis(text: &str, max_bytes: usize) -> Cow<'_, str> {
    const MARK: &str = "…";
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}{MARK}", prefix(text, max_bytes.saturating_sub(MARK.len()))))
}

/// JSON text in which every `\uD800`–`\uDFFF` escape that is not half of a pair is replaced by
/// `\uFFFD`. A lone surrogate is legal in JSON's grammar but no string of ours can hold it and
/// providers refuse it, so it is mended before parsing.
pub fn mend_lone_surrogates(json: &str) -> Cow<'_, str> {
    if !json.contains("\\u") {
        return Cow::Borrowed(json);
    }
    let bytes = json.as_bytes();
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let Some(unit) = unicode_escape(bytes, at) else {
            at += 2; // any other escape, `\\` among them
            continue;
        };
        let pairs = is_high(unit) && unicode_escape(bytes, at + 6).is_some_and(is_low);
        if pairs {
            at += 12;
        } else if is_high(unit) || is_low(unit) {
            out.push_str(&json[copied..at]);
            out.push_str("\\uFFFD");
            at += 6;
            copied = at;
        } else {
            at += 6;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[copied..]);
    Cow::Owned(out)
}

/// The code unit of a `\uXXXX` escape that starts at `at`, if one does.
fn unicode_escape(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    // `from_str_radix` would take a sign.
    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_fall_on_characters_at_every_limit() {
        let text = "aé世👩\u{200d}💻";
        for max in 0..=text.len() + 2 {
            assert!(prefix(text, max).len() <= max);
            assert!(suffix(text, max).len() <= max);
            assert!(ellipsis(text, max).len() <= max.max("…".len()));
        }
        assert_eq!(prefix("世界", 4), "世");
        assert_eq!(suffix("世界", 4), "界");
        assert_eq!(ellipsis("abcdefgh", 6), "abc…");
    }

    #[test]
    fn lone_surrogates_become_the_replacement_character() {
        let mended = |text| mend_lone_surrogates(text).into_owned();
        assert_eq!(mended(r#""bad \ud99c end""#), r#""bad \uFFFD end""#);
        assert_eq!(mended(r#""\udc00\ud800""#), r#""\uFFFD\uFFFD""#);
        assert_eq!(mended(r#""\ud83d\ude42""#), r#""\ud83d\ude42""#);
        assert_eq!(mended(r#""\ud83d\ud83d\ude42""#), r#""\uFFFD\ud83d\ude42""#);
        assert_eq!(mended(r#""\\ud99c""#), r#""\\ud99c""#, "an escaped backslash is no escape");
        assert_eq!(mended(r#""\ud99"#), r#""\ud99"#);
        assert_eq!(mended(r#""\u+123""#), r#""\u+123""#);
    }
}
