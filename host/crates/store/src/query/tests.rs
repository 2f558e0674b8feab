//! How what is typed is understood.

use super::*;

fn expressions(text: &str) -> Vec<String> {
    Query::parse(text).map(|query| query.expressions().collect()).unwrap_or_default()
}

#[test]
fn words_are_a_conjunction_quotes_a_phrase_and_or_an_alternative() {
    let table: &[(&str, &[&str])] = &[
        ("fix tests", &[r#""fix" AND "tests""#]),
        ("fix AND tests", &[r#""fix" AND "tests""#]),
        (r#""Fix the" tests"#, &[r#""fix the" AND "tests""#]),
        ("alpha OR wrong-book OR beta", &[r#""alpha""#, r#""wrong book""#, r#""beta""#]),
        ("a b OR c", &[r#""a" AND "b""#, r#""c""#]),
        ("fix fix", &[r#""fix""#]),
        ("OR", &[r#""or""#]),
        ("AND foo AND", &[r#""and" AND "foo""#]),
        ("a OR OR b", &[r#""a""#, r#""b""#]),
        ("not or near", &[r#""not" AND "or" AND "near""#]),
    ];
    for (text, expected) in table {
        assert_eq!(expressions(text), *expected, "{text}");
    }
}

#[test]
fn signs_are_only_signs() {
    let table: &[(&str, &[&str])] = &[
        ("src/main.py", &[r#""src main py""#]),
        (r#""unbalanced"#, &[r#""unbalanced""#]),
        (r#"5" tall"#, &[r#""5" AND "tall""#]),
        ("key:value", &[r#""key value""#]),
        ("C++", &[r#""c""#]),
        ("*", &[r#""-2a""#]),
        ("a -> b", &[r#""a" AND "-2d-3e" AND "b""#]),
        ("👍", &[r#""👍""#]),
        (r#""""#, &[]),
        ("  \t", &[]),
        ("", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(expressions(text), *expected, "{text}");
    }
}

#[test]
fn pieces_of_dense_text_and_identifiers_are_phrases() {
    let table: &[(&str, &str)] = &[
        ("服务端", r#""服务 务端""#),
        ("昨晚", r#""昨晚""#),
        ("猫", r#""猫""#),
        ("改youer", r#""改 youer""#),
        ("youer修", r#""youer 修" *"#),
        ("getUserName", r#"("getusername" OR "get user name")"#),
        ("get_user_name", r#""get user name""#),
    ];
    for (text, expected) in table {
        assert_eq!(expressions(text), [*expected], "{text}");
    }
}

#[test]
fn places_are_those_of_the_words_as_they_stand() {
    let marked = |query: &str, text: &str| -> Vec<String> {
        let query = Query::parse(query).expect("a query");
        query.places(text).into_iter().map(|(n, place)| format!("{n}:{}", &text[place])).collect()
    };
    assert_eq!(marked("tests fix", "Fix all Tests."), ["1:Fix", "0:Tests"]);
    assert_eq!(marked("main.rs", "src/main.rs or main rs"), ["0:main.rs", "0:main rs"]);
    assert_eq!(marked("服务端", "修改服务端的"), ["0:服务端"]);
    assert_eq!(marked("改", "修改youer"), ["0:改"]);
    assert_eq!(marked("youer修", "youer修改"), ["0:youer修改"]);
    assert_eq!(marked("user", "setUserId user"), ["0:setUserId", "0:user"]);
    assert_eq!(
        marked("getUserName", "get_user_name getUserName"),
        ["0:get_user_name", "0:getUserName"]
    );
    assert_eq!(marked("user_name", "getUserName"), ["0:getUserName"]);
    assert_eq!(marked("->", "a -> b"), ["0:->"]);
}

#[test]
fn signs_tell_apart_what_words_cannot() {
    let query = Query::parse("C++").expect("a query");
    assert!(query.has_signs());
    assert!(query.is_literal_in("I like c++ best"));
    assert!(!query.is_literal_in("I like C best"));
    assert!(!Query::parse("plain words").expect("a query").has_signs());
}

#[test]
fn a_pasted_text_counts_by_its_beginning() {
    let words: Vec<String> = (0..5000).map(|n| format!("w{n}")).collect();
    let [expression] = &expressions(&words.join(" "))[..] else { panic!("one alternative") };
    assert_eq!(expression.matches(" AND ").count(), 63);
}
