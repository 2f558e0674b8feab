//! Random valid histories, read by a server that forgives nothing.

use proptest::prelude::*;

use super::*;

/// One turn, to be given ids by its place in the history.
#[derive(Debug, Clone)]
struct Turn {
    user: Content,
    texts: Vec<String>,
    /// The start of an id, and the result.
    calls: Vec<(Option<String>, Content)>,
    /// Which of the reply's items come after a thought.
    thoughts: Vec<bool>,
    /// Whether texts and calls are mixed, rather than the texts first.
    mixed: bool,
    /// What was lost since: a call with its result, or all that was said.
    lost: Option<bool>,
}

fn content() -> impl Strategy<Value = Content> {
    let part = prop_oneof![
        any::<String>().prop_map(|text| ContentPart::Text { text }),
        "https://[a-z]{1,8}".prop_map(|url| image(&url)),
    ];
    proptest::collection::vec(part, 0..4).prop_map(Content)
}

fn turn() -> impl Strategy<Value = Turn> {
    let calls = proptest::collection::vec((any::<Option<String>>(), content()), 0..4);
    let thoughts = proptest::collection::vec(any::<bool>(), 8);
    let texts = proptest::collection::vec(any::<String>(), 0..3);
    (content(), texts, calls, thoughts, any::<bool>(), any::<Option<bool>>()).prop_map(
        |(user, texts, calls, thoughts, mixed, lost)| Turn {
            user,
            texts,
            calls,
            thoughts,
            mixed,
            lost,
        },
    )
}

/// The entries a reply with these texts and calls is stored with.
fn entries(n: usize, turn: &Turn, ids: &[String]) -> Value {
    let texts = turn.texts.iter().map(|text| replay::text(text.len(), Some("commentary")));
    let mut items: Vec<Value> = texts.collect();
    for (at, id) in ids.iter().enumerate() {
        let place = if turn.mixed { at.min(items.len()) } else { items.len() };
        items.insert(place, replay::call(id));
    }
    let mut entries = Vec::new();
    for (at, item) in items.into_iter().enumerate() {
        if turn.thoughts[at] {
            entries.extend(replay::reasoning(&format!("rs_{n}_{at}"), &[], "sealed"));
        }
        entries.push(item);
    }
    Value::Array(entries)
}

fn messages(n: usize, turn: Turn) -> Vec<Message> {
    let id = |at: usize, start: &Option<String>| {
        format!("{}-{n}-{at}", start.as_deref().unwrap_or("call"))
    };
    let ids: Vec<String> =
        turn.calls.iter().enumerate().map(|(at, (start, _))| id(at, start)).collect();
    let calls: Vec<&str> = ids.iter().map(String::as_str).collect();
    let text = turn.texts.join(replay::BETWEEN_TEXTS);
    let mut reply = replayed(&text, &calls, entries(n, &turn, &ids));
    let results = reply.tool_calls.iter().zip(turn.calls);
    let mut results: Vec<Message> =
        results.map(|(call, (_, content))| Message::tool(call, content)).collect();
    match turn.lost {
        Some(true) if !results.is_empty() => {
            reply.tool_calls.remove(0);
            results.remove(0);
        }
        Some(false) => reply.content = Content::default(),
        _ => {}
    }
    let mut all = vec![Message::user(turn.user), reply];
    all.append(&mut results);
    all
}

/// What the schema cannot say: calls and results in pairs and next to each other, reasoning with
/// its partner, no text without text.
fn check(items: &[Value]) {
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str().unwrap() {
            "reasoning" => {
                assert!(seen.insert(item["id"].as_str().unwrap()), "{item}");
                assert!(!item["encrypted_content"].as_str().unwrap().is_empty());
                let next = items.get(at + 1).expect("reasoning is not last");
                let partner = next["type"] == "function_call" || next["role"] == "assistant";
                assert!(partner, "{item} before {next}");
            }
            "function_call" => {
                assert!((1..=64).contains(&id.len()) && seen.insert(id), "{item}");
                open.push(id);
            }
            "function_call_output" => {
                let asked = open.iter().position(|call| *call == id);
                open.remove(asked.expect("a result has its call"));
                assert!(item["output"] != json!("") && item["output"] != json!([]));
            }
            "message" => {
                assert!(item["role"] == "assistant" || open.is_empty(), "calls are answered first");
                assert!(item["content"].as_str().is_none_or(|text| !text.trim().is_empty()));
                assert_ne!(item["content"], json!([]));
            }
            other => panic!("{other}"),
        }
        let lists = [&item["content"], &item["output"]].map(Value::as_array);
        for part in lists.into_iter().flatten().flatten() {
            assert!(part.get("text").is_none_or(|text| !text.as_str().unwrap().trim().is_empty()));
        }
    }
    assert!(open.is_empty(), "every call has its result");
}

/// All texts of a body's items, joined.
fn spoken(items: &[Value]) -> String {
    items.iter().filter_map(|item| item["content"].as_str()).collect()
}

proptest! {
    #[test]
    fn every_history_makes_a_valid_body(
        turns in proptest::collection::vec(turn(), 0..5),
        system in any::<String>(),
        session in any::<String>(),
        stream in any::<bool>(),
    ) {
        let turns = turns.into_iter().enumerate();
        let list: Vec<Message> = turns.flat_map(|(n, turn)| messages(n, turn)).collect();
        let replies = list.iter().filter(|message| message.role == Role::Assistant);
        let said: String = replies.map(|message| message.content.text()).collect();
        let session_id = session.into();
        let request = ModelRequest { system: system.into(), stream, session_id, ..request(list) };
        let body = body(&request);
        let items = body["input"].as_array().unwrap();
        check(items);
        // Whatever order it went in, nothing the model said is lost but white space.
        let dense = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(dense(&spoken(items)), dense(&said));
    }
}
