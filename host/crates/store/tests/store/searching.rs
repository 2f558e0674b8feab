//! Finding what was said: whatever is typed, whoever said it, wherever it stands.

use hermes_core::message::{Role, ToolCall};
use hermes_core::search::{SearchHit, SearchOrder, SearchQuery, SessionSearch};
use hermes_core::store::StoreError;
use proptest::prelude::*;

use super::*;

fn query(text: &str) -> SearchQuery {
    SearchQuery { text: text.into(), limit: 10, ..SearchQuery::default() }
}

/// The snippets of what is found, with brackets where the words are.
async fn found(store: &SqliteStore, query: &SearchQuery) -> Vec<String> {
    store.search(query).await.unwrap().into_iter().map(marked).collect()
}

fn marked(hit: SearchHit) -> String {
    let mut snippet = hit.snippet;
    for mark in hit.marks.iter().rev() {
        snippet.insert(mark.end, ']');
        snippet.insert(mark.start, '[');
    }
    snippet
}

/// A session for each text.
async fn sessions(store: &SqliteStore, all: &[&str]) -> Vec<String> {
    let mut ids = Vec::new();
    for text in all {
        let session = new_session(store).await;
        append(store, &session, &said(&[text])).await;
        ids.push(session);
    }
    ids
}

const B080: &[&str] = &[
    "#123",
    "src/main.py",
    "don't",
    "50%",
    "ops@example.com",
    "$5",
    "a,b",
    ".env",
    "--force",
    "rm -rf",
    "key:value",
    "C++",
    "P2.2",
    "my-app.config.ts",
    "\"unbalanced",
    "(paren",
    "AND",
    "foo AND",
    "NOT x",
    "*",
    "^x",
    "3 spaces",
    "wrong-book",
    "alpha OR wrong-book OR beta",
    "{a b} : c",
    "NEAR(a b)",
    "a + b",
    "words : \"x\"",
    "'; DROP TABLE messages; --",
    "\\",
    "%_",
    "-",
];

#[tokio::test]
async fn b080_punctuation_is_never_syntax() {
    let home = Home::new();
    let store = home.open();
    let texts: Vec<String> = B080.iter().map(|text| format!("before {text} after")).collect();
    let ids = sessions(&store, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    for (text, id) in B080.iter().zip(ids) {
        let hits = store.search(&SearchQuery { limit: 50, ..query(text) }).await.unwrap();
        assert!(hits.iter().any(|hit| hit.session_id == id), "{text}: {hits:?}");
    }
    for nothing in ["", "   ", "\"\"", "\u{200B}"] {
        assert_eq!(store.search(&query(nothing)).await.unwrap(), [], "{nothing:?}");
    }
}

#[tokio::test]
async fn b080_operators_keep_their_meaning() {
    let home = Home::new();
    let store = home.open();
    sessions(&store, &["alpha one", "the wrong book", "book wrong", "one beta alpha"]).await;
    let table: &[(&str, &[&str])] = &[
        ("alpha OR wrong-book", &["[alpha] one", "one beta [alpha]", "the [wrong book]"]),
        ("alpha AND beta", &["one [beta] [alpha]"]),
        ("alpha beta", &["one [beta] [alpha]"]),
        ("\"wrong book\"", &["the [wrong book]"]),
        ("wrong book", &["[book] [wrong]", "the [wrong] [book]"]),
        ("\"beta one\"", &[]),
        ("ALPHA or", &[]),
    ];
    for (text, expected) in table {
        let mut hits = found(&store, &query(text)).await;
        hits.sort();
        assert_eq!(hits, *expected, "{text}");
    }
}

#[tokio::test]
async fn b082_text_without_spaces_is_found_by_any_piece() {
    let home = Home::new();
    let store = home.open();
    sessions(
        &store,
        &["修改youer服务端的计划，昨晚开会", "ひらがなとカタカナ", "한국어 문장입니다"],
    )
    .await;
    let table: &[(&str, &[&str])] = &[
        ("youer", &["修改[youer]服务端的计划，昨晚开会"]),
        ("服务端", &["修改youer[服务端]的计划，昨晚开会"]),
        ("昨晚", &["修改youer服务端的计划，[昨晚]开会"]),
        ("广西 OR 昨晚", &["修改youer服务端的计划，[昨晚]开会"]),
        ("改youer服", &["修[改youer服务]端的计划，昨晚开会"]),
        ("会", &["修改youer服务端的计划，昨晚开[会]"]),
        ("服", &["修改youer[服]务端的计划，昨晚开会"]),
        ("计划，昨晚", &["修改youer服务端的[计划，昨晚]开会"]),
        ("服端", &[]),
        ("カタ", &["ひらがなと[カタ]カナ"]),
        ("ｶﾀｶﾅ", &["ひらがなと[カタカナ]"]),
        ("문장", &["한국어 [문장]입니다"]),
    ];
    for (text, expected) in table {
        let hits = found(&store, &query(text)).await;
        assert_eq!(hits, *expected, "{text}");
    }
}

#[tokio::test]
async fn identifiers_are_found_whole_and_in_parts() {
    let home = Home::new();
    let store = home.open();
    let text = "call getUserName(user_id) in hermes.core::agent_loop";
    sessions(&store, &[text]).await;
    for (text, expected) in [
        ("getUserName", "call [getUserName](user_id) in hermes.core::agent_loop"),
        ("getusername", "call [getUserName](user_id) in hermes.core::agent_loop"),
        ("get_user_name", "call [getUserName](user_id) in hermes.core::agent_loop"),
        ("UserName", "call [getUserName](user_id) in hermes.core::agent_loop"),
        ("name", "call [getUserName](user_id) in hermes.core::agent_loop"),
        ("user_id", "call getUserName([user_id]) in hermes.core::agent_loop"),
        ("userId", "call getUserName([user_id]) in hermes.core::agent_loop"),
        ("core::agent_loop", "call getUserName(user_id) in hermes.[core::agent_loop]"),
    ] {
        assert_eq!(found(&store, &query(text)).await, [expected], "{text}");
    }
    assert_eq!(found(&store, &query("nameId")).await, [""; 0]);
}

#[tokio::test]
async fn calls_are_found_by_tool_and_arguments() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    let call = ToolCall {
        id: "c1".into(),
        name: "write_file".into(),
        arguments: r#"{"path":"notes/today.md","content":"line\nbreak \u732b"}"#.into(),
    };
    let asks = Message { tool_calls: vec![call.clone()], ..Message::assistant("Writing.") };
    let answers = Message::tool(&call, "ok: 12 bytes");
    append(&store, &session, &[Arc::new(asks), Arc::new(answers)]).await;
    for (text, expected) in [
        ("today.md", "Writing. write_file notes/[today.md] line break 猫"),
        ("break", "Writing. write_file notes/today.md line [break] 猫"),
        ("猫", "Writing. write_file notes/today.md line break [猫]"),
        ("bytes", "ok: 12 [bytes]"),
    ] {
        assert_eq!(found(&store, &query(text)).await, [expected], "{text}");
    }
    let only = |role| SearchQuery { roles: vec![role], ..query("ok OR writing") };
    assert_eq!(found(&store, &only(Role::Tool)).await, ["[ok]: 12 bytes"]);
    assert_eq!(found(&store, &only(Role::User)).await, [""; 0]);
}

#[tokio::test]
async fn a_line_of_sessions_is_told_once() {
    let home = Home::new();
    let store = home.open();
    let first = sessions(&store, &["deploy the server"]).await.remove(0);
    let new = NewSession { parent: Some(first.clone()), ..NewSession::default() };
    let second = store.create(new).await.unwrap();
    append(&store, &second, &said(&["deploy", "deploy again and again"])).await;
    let other = sessions(&store, &["how to deploy a cat"]).await.remove(0);
    let hits = store.search(&query("deploy")).await.unwrap();
    let told: Vec<_> = hits.iter().map(|hit| (&*hit.session_id, &*hit.root, hit.more)).collect();
    assert_eq!(told, [(&*second, &*first, 2), (&*other, &*other, 0)]);

    let without = SearchQuery { without: Some(second.clone()), ..query("deploy") };
    assert_eq!(found(&store, &without).await, ["how to [deploy] a cat"]);
    let only = SearchQuery { session: Some(second), ..query("deploy") };
    assert_eq!(found(&store, &only).await, ["[deploy]", "[deploy] again and again"]);
    let error = store.search(&SearchQuery { session: Some("x".into()), ..query("deploy") }).await;
    assert_eq!(error.unwrap_err(), StoreError::NoSession("x".into()));
}

#[tokio::test]
async fn hits_come_in_the_order_that_is_asked_for() {
    let home = Home::new();
    let store = home.open();
    let texts =
        ["a cat and a dog and a bird", "cat", "not here", "cat cat and a lot of other things"];
    sessions(&store, &texts).await;
    let ordered = |order| SearchQuery { order, ..query("cat") };
    let [long, short, twice] =
        ["a [cat] and a dog and a bird", "[cat]", "[cat] [cat] and a lot of other things"];
    assert_eq!(found(&store, &ordered(SearchOrder::Newest)).await, [twice, short, long]);
    assert_eq!(found(&store, &ordered(SearchOrder::Oldest)).await, [long, short, twice]);
    assert_eq!(found(&store, &ordered(SearchOrder::Rank)).await, [short, twice, long]);
    let one = SearchQuery { limit: 1, ..query("cat") };
    assert_eq!(found(&store, &one).await, [short]);
    let none = SearchQuery { limit: 0, ..query("cat") };
    assert_eq!(found(&store, &none).await, [""; 0]);
}

#[tokio::test]
async fn what_was_typed_sign_by_sign_comes_first() {
    let home = Home::new();
    let store = home.open();
    sessions(&store, &["C", "I prefer C++ to other languages, as we said", "vitamin C"]).await;
    let hits = found(&store, &query("C++")).await;
    assert_eq!(hits[0], "I prefer [C]++ to other languages, as we said");
    assert_eq!(hits.len(), 3);
}

#[tokio::test]
async fn archived_messages_are_found_and_deleted_ones_are_not() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    let messages = said(&["the zebra", "the lion"]);
    append(&store, &session, &messages).await;
    store.archive(&session, &[messages[0].id.clone()], &said(&["a summary"])).await.unwrap();
    let hit = store.search(&query("zebra")).await.unwrap().remove(0);
    assert_eq!((hit.archived, hit.message_id), (true, messages[0].id.clone()));
    store.delete_session(&session).await.unwrap();
    assert_eq!(store.search(&query("zebra")).await.unwrap(), []);
    // SQLite gives the deleted keys again; what they stand for now is found.
    sessions(&store, &["a new zebra"]).await;
    assert_eq!(found(&store, &query("zebra")).await, ["a new [zebra]"]);
    assert_eq!(found(&store, &query("lion")).await, [""; 0]);
}

#[tokio::test]
async fn a_source_can_be_asked_for() {
    let home = Home::new();
    let store = home.open();
    for source in ["cli", "my editor", ""] {
        let new = NewSession { source: source.into(), ..NewSession::default() };
        let session = store.create(new).await.unwrap();
        append(&store, &session, &said(&[&format!("word from {source:?}")])).await;
    }
    let from = |source: &str| SearchQuery { source: Some(source.into()), ..query("word") };
    assert_eq!(found(&store, &from("my editor")).await, ["[word] from \"my editor\""]);
    assert_eq!(found(&store, &from("")).await, ["[word] from \"\""]);
    assert_eq!(found(&store, &from("nobody")).await, [""; 0]);
}

#[tokio::test]
async fn a_store_of_the_version_before_is_found_whole() {
    let home = Home::new();
    let conn = home.sql();
    conn.execute_batch(include_str!("../../src/migrations/0001_sessions.sql")).unwrap();
    conn.execute_batch("PRAGMA application_id = 0x4865726D; PRAGMA user_version = 1").unwrap();
    let message = Message::user("written long ago");
    conn.execute_batch(&format!(
        "INSERT INTO sessions (key, id, source, model, root, created_ms, updated_ms)
         VALUES (1, 's', 'cli', 'm', 's', 0, 0);
         INSERT INTO messages (session, position, id, role, created_ms, body)
         VALUES (1, 0, '{}', 'user', 0, '{}')",
        message.id,
        serde_json::to_string(&message).unwrap()
    ))
    .unwrap();
    drop(conn);
    assert_eq!(found(&home.open(), &query("long")).await, ["written [long] ago"]);
}

#[tokio::test]
async fn many_messages_are_indexed_in_slices() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    let texts: Vec<String> = (0..1000).map(|n| format!("number{n} zebra")).collect();
    append(&store, &session, &said(&texts.iter().map(String::as_str).collect::<Vec<_>>())).await;
    assert_eq!(found(&store, &query("number999")).await, ["[number999] zebra"]);
    let only = SearchQuery { session: Some(session), limit: 2000, ..query("zebra") };
    assert_eq!(store.search(&only).await.unwrap().len(), 1000);
    assert_eq!(home.rows("SELECT up_to FROM search_progress"), ["1000"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any text finds itself if it has words, and everything found has all words of one
    /// alternative.
    #[test]
    fn any_text_is_a_query(text in "[ -~é猫犬\"*👍]{0,40}", other in "[a-c\" OR猫]{0,12}") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let home = Home::new();
            let store = home.open();
            sessions(&store, &["a b c", &text]).await;
            for typed in [&text, &other] {
                for hit in store.search(&query(typed)).await.unwrap() {
                    assert!(!hit.marks.is_empty(), "{typed:?} finds {hit:?}");
                }
            }
            if text.chars().any(|c| c.is_alphanumeric()) {
                let hits = store.search(&query(&text)).await.unwrap();
                assert!(hits.iter().any(|hit| hit.snippet.contains(|c: char| c.is_alphanumeric())), "{text:?}");
                assert!(!hits.is_empty());
            }
        });
    }
}

#[tokio::test]
async fn a_session_is_read_at_its_ends_and_around_a_message() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    let messages = said(&["0", "1", "2", "3", "4", "5"]);
    append(&store, &session, &messages).await;
    store.archive(&session, &[messages[1].id.clone()], &said(&["1b"])).await.unwrap();
    let child = NewSession { parent: Some(session.clone()), ..NewSession::default() };
    let child = store.create(child).await.unwrap();
    for (around, before, after, expected) in [
        (None, 2, 1, "0 (1) … 5 | 0 Some((2, 4)) 0"),
        (None, 9, 9, "0 (1) 1b 2 3 4 5 | 0 None 0"),
        (None, 3, 4, "0 (1) 1b 2 3 4 5 | 0 None 0"),
        (None, 0, 0, "… | 0 Some((0, 7)) 0"),
        (Some(3), 1, 2, "2 3 4 5 | 3 None 0"),
        (Some(0), 5, 0, "0 | 0 None 6"),
    ] {
        // The child has none of them: the session it continues does.
        let asked = if around.is_some() { &child } else { &session };
        let around = around.map(|n: usize| messages[n].id.as_str());
        let page = SessionSearch::read(&store, asked, around, before, after).await.unwrap();
        assert_eq!(page.session.session_id, session);
        let mut texts: Vec<String> = page.messages.iter().map(shown).collect();
        if let Some((at, _)) = page.gap {
            texts.insert(at, "…".into());
        }
        let shown = format!("{} | {} {:?} {}", texts.join(" "), page.before, page.gap, page.after);
        assert_eq!(shown, expected);
    }
    let error = SessionSearch::read(&store, &session, Some("x"), 1, 1).await.unwrap_err();
    let path = home.file().display().to_string();
    assert_eq!(
        error.to_string(),
        format!(
            "{path}: session {session:?} and those it continues have no message \"x\"; search \
             again for its id"
        )
    );
}

/// What a message says, in brackets if it is archived.
fn shown(stored: &hermes_core::search::StoredMessage) -> String {
    let text = stored.message.content.text();
    if stored.archived { format!("({text})") } else { text }
}

#[tokio::test]
async fn a_session_is_walked_through_piece_by_piece() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["0", "1", "2", "3"])).await;
    for size in [1, 3, 4, 9] {
        let (mut seen, mut from) = (Vec::new(), Some(hermes_store::Cursor::START));
        while let Some(place) = from {
            let (messages, next) = store.walk(&session, place, size).await.unwrap();
            assert!(messages.len() <= size);
            seen.extend(messages.iter().map(shown));
            from = next;
        }
        assert_eq!(seen, ["0", "1", "2", "3"], "{size}");
    }
}
