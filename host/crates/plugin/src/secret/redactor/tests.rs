//! Values in every form that is looked for, alone and inside something, whole and in pieces; and
//! text without them.
#![allow(clippy::unwrap_used)]

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::*;

const VALUE: &str = "s3cr3t/Va+lue?~>~";

fn redacted(text: &str) -> String {
    Redactor::for_values([VALUE]).redact_text(text).into_owned()
}

#[test]
fn each_form_is_blotted_out_and_nothing_else() {
    let escaped: String = VALUE.bytes().map(|byte| format!("\\u{:04X}", u16::from(byte))).collect();
    let percent: String = VALUE.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let hex: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = STANDARD.encode(VALUE);
    for form in [
        VALUE.to_owned(),
        "s3cr3t%2FVa%2Blue%3F~%3E~".into(),
        percent.clone(),
        percent.replace('%', "%25"),
        "s3cr3t\\/Va+lue?~>~".into(),
        "s3cr3t\\/Va\\u002blue?~\\u003e~".into(),
        escaped.clone(),
        escaped.replace('\\', "\\\\"),
        escaped.replace('\\', "%5C"),
        "s3cr3t\\x2fVa+lue?~>~".into(),
        hex.to_uppercase(),
        hex,
        "s3cr3t/\nVa+lue\r\n?~>~".into(),
        base64.trim_end_matches('=').to_owned(),
        URL_SAFE_NO_PAD.encode(VALUE),
        base64.trim_end_matches('=').replace('+', "%2B").replace('/', "%2F"),
    ] {
        assert_eq!(redacted(&form), BLOT, "{form}");
        assert_eq!(redacted(&format!("<{form}> {form}.")), format!("<{BLOT}> {BLOT}."), "{form}");
    }
    assert_eq!(redacted(&format!("{VALUE}{VALUE}")), BLOT);
}

#[test]
fn base64_hides_a_value_at_no_offset() {
    for before in ["", "u", "us", "user:"] {
        for after in ["", "x", "xy", "xyz"] {
            for text in [
                STANDARD.encode(format!("{before}{VALUE}{after}")),
                URL_SAFE_NO_PAD.encode(format!("{before}{VALUE}{after}")),
            ] {
                let clean = redacted(&format!("Basic {text}"));
                assert!(clean.contains(BLOT), "{before:?} {after:?}: {clean}");
                let left = clean.len() - "Basic ".len() - BLOT.len();
                assert!(left <= before.len() + after.len() + 8, "{before:?} {after:?}: {clean}");
            }
        }
    }
}

#[test]
fn what_is_not_looked_for_is_left_alone() {
    let reversed: String = VALUE.chars().rev().collect();
    for text in [reversed, VALUE[1..].to_owned(), STANDARD.encode(STANDARD.encode(VALUE))] {
        assert_eq!(redacted(&text), text);
    }
}

#[test]
fn values_that_overlap_are_all_blotted_out() {
    let redactor = Redactor::for_values(["abcdefgh", "efghijkl"]);
    assert_eq!(redactor.redact_text("-abcdefghijkl-"), format!("-{BLOT}-"));
    assert_eq!(Redactor::for_values([]).redact_text("anything"), "anything");
}

/// A value in one of the forms, chosen by `form`.
fn written(value: &str, form: usize) -> String {
    let each = |write: fn(u8) -> String| value.bytes().map(write).collect::<String>();
    let quoted = || {
        let text = serde_json::Value::from(value).to_string();
        text[1..text.len() - 1].to_owned()
    };
    match form {
        0 => value.to_owned(),
        1 => each(|byte| format!("%{byte:02X}")),
        2 => url::form_urlencoded::byte_serialize(value.as_bytes()).collect(),
        3 => each(|byte| format!("\\u{:04x}", u16::from(byte))),
        4 => STANDARD.encode(value),
        5 => URL_SAFE_NO_PAD.encode(value),
        6 => each(|byte| format!("{byte:02x}")),
        7 => each(|byte| format!("{byte:02X}")),
        8 => STANDARD.encode(format!("user:{value}")),
        9 => quoted(),
        _ => each(|byte| format!("%25{byte:02x}")),
    }
}

fn in_pieces(redactor: &Redactor, bytes: &[u8], window: usize, cuts: &[usize]) -> Vec<u8> {
    let mut stream = Stream::new(redactor, window);
    let (mut out, mut rest) = (Vec::new(), bytes);
    for cut in cuts {
        let (piece, after) = rest.split_at(cut % (rest.len() + 1));
        out.extend(stream.push(piece));
        rest = after;
    }
    out.extend(stream.push(rest));
    out.extend(stream.finish());
    out
}

proptest! {
    #[test]
    fn a_value_survives_in_no_form_at_no_place_in_no_pieces(
        value in "[!-~]{8,40}",
        form in 0usize..11,
        before in "[ -~]{0,40}",
        after in "[ -~\n]{0,4000}",
        cuts in prop::collection::vec(0usize..3000, 0..8),
        window in 1usize..300,
    ) {
        // A backslash or percent sign right before would make the form another one.
        let before = before.trim_end_matches(['\\', '%']);
        let text = format!("{before} {} {after}", written(&value, form));
        let redactor = Redactor::for_values([value.as_str()]);
        let whole = redactor.redact_bytes(text.as_bytes()).into_owned();
        prop_assert!(String::from_utf8_lossy(&whole).contains(BLOT), "{form}: {text}");
        prop_assert!(!redactor.finds(&whole) || BLOT.contains(&value), "{form}: {text}");
        let pieces = in_pieces(&redactor, text.as_bytes(), window, &cuts);
        prop_assert_eq!(String::from_utf8_lossy(&pieces), String::from_utf8_lossy(&whole));
    }

    #[test]
    fn text_without_a_value_passes_byte_for_byte(
        bytes in prop::collection::vec(any::<u8>(), 0..3000),
        cuts in prop::collection::vec(0usize..3000, 0..8),
        window in 1usize..300,
    ) {
        let redactor = Redactor::for_values(["a-value-that-no-random-bytes-hold"]);
        prop_assert!(matches!(redactor.redact_bytes(&bytes), Cow::Borrowed(same) if same == bytes));
        prop_assert_eq!(in_pieces(&redactor, &bytes, window, &cuts), bytes);
    }

    #[test]
    fn nothing_makes_it_panic(text in "[%\\\\ux0-9a-fdD8Cc\n/é]{0,300}", value in "[%\\\\u0-9a-f/é]{8,12}") {
        let redactor = Redactor::for_values([value.as_str()]);
        let _ = redactor.redact_text(&text);
    }
}
