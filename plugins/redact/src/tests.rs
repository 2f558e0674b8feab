#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::mask::{MASK, mask};
use super::*;

fn masked(text: &str) -> String {
    mask(text, &Settings::default()).map_or_else(|| text.to_owned(), |masked| masked.text)
}

#[test]
fn secrets_are_masked_and_what_surrounds_them_stays() {
    let hex = "0123456789abcdef0123456789abcdef";
    let table = [
        ("key: sk-live-51Hq8ZtVbN3xYwKp0Lr7Tg2Mf\n".to_owned(), "key: sk-l[masked]Mf\n".to_owned()),
        (format!("(ghp_{hex}9876)"), "(ghp_[masked]76)".to_owned()),
        (format!("github_pat_{hex}"), "gith[masked]ef".to_owned()),
        ("AKIAIOSFODNN7EXAMPLE".to_owned(), "AKIA[masked]LE".to_owned()),
        (
            "x AIzaSyA1234567890abcdefghijklmnopqrstuvw y".to_owned(),
            "x AIza[masked]vw y".to_owned(),
        ),
        ("glpat-abc123DEF456ghi789".to_owned(), "glpa[masked]89".to_owned()),
        ("xoxb-123456789012-abcDEF".to_owned(), "xoxb[masked]EF".to_owned()),
        (format!("hf_{hex}"), "hf_0[masked]ef".to_owned()),
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4".to_owned(),
            "eyJh[masked]T4".to_owned(),
        ),
        (format!("Authorization: Bearer {hex}"), "Authorization: Bearer [masked]".to_owned()),
        (
            "postgres://app:hunter2@db:5432/x".to_owned(),
            "postgres://app:[masked]@db:5432/x".to_owned(),
        ),
        ("DB_PASSWORD=correcthorse\n".to_owned(), "DB_PASSWORD=[masked]\n".to_owned()),
        ("export API_KEY=\"two words here\"".to_owned(), "export API_KEY=\"[masked]\"".to_owned()),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\n"
                .to_owned(),
            "-----BEGIN RSA PRIVATE KEY-----\n[masked]-----END RSA PRIVATE KEY-----\n".to_owned(),
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIE cut".to_owned(),
            "-----BEGIN PRIVATE KEY-----\n[masked]".to_owned(),
        ),
    ];
    for (text, wanted) in table {
        assert_eq!(masked(&text), wanted);
    }
}

#[test]
fn ordinary_text_is_left_alone() {
    for text in [
        "commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "sk-learn-style-names-without-any-digits-at-all",
        "task-1234567890123456789012345",
        "AKIAshort and AKIAlowercaseletters12",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "https://example.com:8080/a?b=c@d",
        "API_KEY=$SECRET_FROM_ENV and TOKEN=<your token>",
        "MONKEY=bananas12 is a word that ends in KEY",
        "let key=12345678; token = abcdefghij",
        "eyJust a word",
        "Bearer of bad news",
        "日本語のテキスト = 秘密:鍵 🔑",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn the_user_adds_shapes_and_takes_some_away() {
    let settings =
        Settings { prefixes: vec!["acme_".into()], allow: vec!["AKIAIOSFODNN7EXAMPLE".into()] };
    let text = "acme_a1b2c3d4e5f6g7 AKIAIOSFODNN7EXAMPLE";
    assert_eq!(mask(text, &settings).unwrap().text, "acme[masked]g7 AKIAIOSFODNN7EXAMPLE");
}

#[test]
fn parts_are_replaced_only_where_something_was_masked() {
    let keep = parts_verdict(vec![Part::text("nothing")], &Settings::default());
    assert_eq!(keep, PostVerdict::Keep);
    let parts = vec![Part::text("PASSWORD=swordfish"), Part::text("nothing")];
    let PostVerdict::Replace(parts) = parts_verdict(parts, &Settings::default()) else { panic!() };
    assert_eq!(parts[0].as_text(), Some("PASSWORD=[masked]"));
    assert_eq!(parts[0].attributes, [Attribute { name: "masked".into(), value: "1".into() }]);
    assert_eq!(parts[1], Part::text("nothing"));
}

proptest! {
    #[test]
    fn masking_twice_is_masking_once(text in "(sk-|ghp_|AKIA|://u:|KEY=|Bearer |[a-zA-Z0-9@ é\n]{1,40}){0,12}") {
        let once = masked(&text);
        prop_assert_eq!(masked(&once), once);
    }

    #[test]
    fn any_text_is_survived(text in ".*") {
        let _ = masked(&text);
    }

    #[test]
    fn no_planted_token_survives(before in "[a-z ]{0,20}", body in "[a-zA-Z][0-9][a-zA-Z0-9]{34}") {
        let text = format!("{before} ghp_{body} after");
        prop_assert!(!masked(&text).contains(&body));
        prop_assert!(masked(&text).contains(MASK));
    }
}
