//! Which words a text has.

use proptest::prelude::*;

use super::*;

/// The words of a text, each with what of the text it is.
fn shown(text: &str) -> Vec<String> {
    all(text).into_iter().map(|(word, place)| format!("{word}={}", &text[place])).collect()
}

#[test]
fn words_end_at_signs_and_lose_case_accents_and_width() {
    assert_eq!(shown("Don't  panic!"), ["don=Don", "t=t", "panic=panic"]);
    assert_eq!(shown("src/Main.rs:12"), ["src=src", "main=Main", "rs=rs", "12=12"]);
    assert_eq!(shown("Café cafe\u{301}"), ["cafe=Café", "cafe=cafe\u{301}"]);
    assert_eq!(shown("ＡＢＣ１"), ["abc1=ＡＢＣ１"]);
    assert_eq!(shown("ΟΔΟΣ οδος"), ["οδοσ=ΟΔΟΣ", "οδοσ=οδος"]);
    assert_eq!(shown("می\u{200C}رود"), ["میرود=می\u{200C}رود"]);
    assert_eq!(shown("* -> ++ 👍 。"), [""; 0]);
}

#[test]
fn dense_scripts_give_pairs_and_the_last_character() {
    assert_eq!(shown("昨晚开会"), ["昨晚=昨晚", "晚开=晚开", "开会=开会", "会=会"]);
    assert_eq!(shown("改youer服务"), ["改=改", "youer=youer", "服务=服务", "务=务"]);
    assert_eq!(shown("한국 말"), ["한국=한국", "국=국", "말=말"]);
    assert_eq!(shown("がｶﾞ"), ["がガ=がｶﾞ", "ガ=がｶﾞ"]);
}

#[test]
fn identifiers_come_apart() {
    let parts = |word| identifier_parts(word).map(|parts| parts.join(" "));
    assert_eq!(parts("getUserName").as_deref(), Some("get user name"));
    assert_eq!(parts("HTTPServer2Go").as_deref(), Some("http server2 go"));
    assert_eq!(parts("XMLHttp").as_deref(), Some("xml http"));
    for whole in ["name", "Name", "NAME", "n", "utf8", ""] {
        assert_eq!(parts(whole), None, "{whole}");
    }
}

#[test]
fn what_is_indexed_has_parts_behind_the_words_and_each_once() {
    assert_eq!(indexed("getName = getName"), "getname getname - get name - -3d");
    assert_eq!(indexed("a猫だ b猫"), "a 猫だ だ b 猫 - だ 猫");
    assert_eq!(indexed("ok 👍 C++ ++"), "ok c - -2b-2b 👍");
    assert_eq!(indexed(""), "");
}

#[test]
fn endless_words_count_by_their_beginning() {
    assert_eq!(all(&"x".repeat(10_000))[0].0, "x".repeat(96));
    assert_eq!(all(&"é".repeat(10_000))[0].0, "e".repeat(96));
}

proptest! {
    /// FTS5 cuts at spaces only what we cut at spaces: no word holds a sign of ASCII or a space.
    #[test]
    fn words_of_any_text_are_clean_and_in_order(text in any::<String>()) {
        let mut start = 0;
        for (word, place) in all(&text) {
            prop_assert!(!word.is_empty());
            prop_assert!(word.chars().all(|c| !c.is_ascii() || c.is_ascii_lowercase() || c.is_ascii_digit()), "{word:?}");
            prop_assert!(place.start >= start && place.end <= text.len());
            start = place.start;
            let _ = &text[place];
        }
        let clean = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '-' || c == ' ';
        prop_assert!(indexed(&text).chars().all(clean));
    }
}
