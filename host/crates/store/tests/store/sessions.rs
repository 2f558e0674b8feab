//! Sessions and what is said in them.

use hermes_core::message::ToolCall;
use hermes_core::result::{EndKind, TurnEnd};
use hermes_core::store::{StoreError, TurnRecord};
use hermes_core::usage::{Cost, Usage};

use super::*;

#[tokio::test]
async fn messages_come_back_whole_and_in_order() {
    let home = Home::new();
    let store = home.open();
    let new = NewSession { system: "You are terse.".into(), ..NewSession::default() };
    let session = store.create(new).await.unwrap();
    let call =
        ToolCall { id: "call_1".into(), name: "read_file".into(), arguments: "{\"a\":1}".into() };
    let messages: Vec<Arc<Message>> = [
        Message::user("look"),
        Message { tool_calls: vec![call.clone()], ..Message::assistant("") },
        Message::tool(&call, "fn main() {}"),
        Message::assistant("done"),
    ]
    .map(Arc::new)
    .into();
    append(&store, &session, &messages[..1]).await;
    store.append(&session, &messages[1..3], Durability::Power).await.unwrap();
    append(&store, &session, &messages[3..]).await;
    let loaded = store.load(&session).await.unwrap();
    assert_eq!(loaded.id, session);
    assert_eq!(loaded.system, "You are terse.");
    assert_eq!(loaded.turns, 0);
    assert_eq!(loaded.messages, messages);
    assert_eq!(
        home.rows("SELECT position, role, tool_call_id, archived FROM messages ORDER BY key"),
        ["0|user|NULL|0", "1|assistant|NULL|0", "2|tool|call_1|0", "3|assistant|NULL|0"]
    );
}

#[tokio::test]
async fn b083_what_was_appended_is_in_the_file_before_append_returns() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    for durability in [Durability::Process, Durability::Power] {
        store.append(&session, &said(&["kept"]), durability).await.unwrap();
    }
    assert_eq!(home.rows("SELECT count(*) FROM messages"), ["2"]);
}

#[tokio::test]
async fn an_append_is_all_or_nothing() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["before"])).await;
    home.sql()
        .execute_batch(
            "CREATE TRIGGER refuse BEFORE INSERT ON messages WHEN NEW.body LIKE '%poison%'
             BEGIN SELECT raise(ABORT, 'poison'); END",
        )
        .unwrap();
    let before = home.rows("SELECT * FROM sessions");
    home.pass(1);
    let messages = said(&["good", "poison", "never"]);
    for durability in [Durability::Process, Durability::Power] {
        let error = store.append(&session, &messages, durability).await.unwrap_err();
        let path = home.file().display().to_string();
        assert_eq!(
            error,
            StoreError::Broken(format!("{path}: SQLite refused a statement (poison)"))
        );
    }
    assert_eq!(home.rows("SELECT * FROM sessions"), before);
    assert_eq!(texts(&store.load(&session).await.unwrap()), ["before"]);
}

#[tokio::test]
async fn a_session_that_is_not_there_is_named() {
    let home = Home::new();
    let store = home.open();
    let missing = StoreError::NoSession("nowhere".into());
    assert_eq!(store.load("nowhere").await.unwrap_err(), missing);
    let appended = store.append("nowhere", &said(&["hello"]), Durability::Process).await;
    assert_eq!(appended.unwrap_err(), missing);
    assert_eq!(store.archive("nowhere", &["x".into()], &[]).await.unwrap_err(), missing);
    assert_eq!(store.finish_turn("nowhere", &turn(1)).await.unwrap_err(), missing);
    assert_eq!(store.delete_session("nowhere").await.unwrap_err(), missing);
    assert_eq!(store.find_session("nowhere").await.unwrap_err(), missing);
    let orphan = NewSession { parent: Some("nowhere".into()), ..NewSession::default() };
    assert_eq!(store.create(orphan).await.unwrap_err(), missing);
    assert_eq!(home.rows("SELECT count(*) FROM sessions"), ["0"]);
}

#[tokio::test]
async fn a_message_that_cannot_be_read_is_left_out() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["one", "two", "three", "four"])).await;
    home.sql()
        .execute_batch(
            "UPDATE messages SET body = '{\"half\":' WHERE position = 1;
             UPDATE messages SET body = CAST(X'FF22FF' AS TEXT) WHERE position = 2;",
        )
        .unwrap();
    assert_eq!(texts(&store.load(&session).await.unwrap()), ["one", "four"]);
}

#[tokio::test]
async fn sessions_are_listed_by_what_changed_last() {
    let home = Home::new();
    let store = home.open();
    let new = |model: &str, parent: Option<&String>| NewSession {
        model: model.into(),
        source: "cli".into(),
        parent: parent.cloned(),
        ..NewSession::default()
    };
    let first = store.create(new("small", None)).await.unwrap();
    home.pass(10);
    let second = store.create(new("large", Some(&first))).await.unwrap();
    assert_eq!(store.latest_session_id().await.unwrap(), Some(second.clone()));
    home.pass(10);
    append(&store, &first, &said(&["first question\nwith details", "another"])).await;
    let expected = [
        SessionSummary {
            session_id: first.clone(),
            title: Some("first question".into()),
            started: 1_000_000,
            updated: 1_000_020,
            messages: 2,
            model: "small".into(),
            parent: None,
            root: first.clone(),
            source: "cli".into(),
            turns: 0,
            tokens: 0,
            cost_usd: None,
        },
        SessionSummary {
            session_id: second.clone(),
            title: None,
            started: 1_000_010,
            updated: 1_000_010,
            messages: 0,
            model: "large".into(),
            parent: Some(first.clone()),
            root: first.clone(),
            source: "cli".into(),
            turns: 0,
            tokens: 0,
            cost_usd: None,
        },
    ];
    assert_eq!(listed(&store, 10).await, expected);
    assert_eq!(listed(&store, 1).await, expected[..1]);
    assert_eq!(store.latest_session_id().await.unwrap(), Some(first));
}

#[tokio::test]
async fn the_first_thing_said_stays_the_title() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &[Arc::new(Message::assistant("Welcome")), said(&[" "]).remove(0)])
        .await;
    append(&store, &session, &said(&["\n  the question ", "more"])).await;
    append(&store, &session, &said(&["a later one"])).await;
    let listed = listed(&store, 1).await;
    assert_eq!(listed[0].title.as_deref(), Some("the question"));
}

#[tokio::test]
async fn a_child_belongs_to_the_line_of_its_first_ancestor() {
    let home = Home::new();
    let store = home.open();
    let root = new_session(&store).await;
    let child =
        |parent: &String| NewSession { parent: Some(parent.clone()), ..NewSession::default() };
    let middle = store.create(child(&root)).await.unwrap();
    let leaf = store.create(child(&middle)).await.unwrap();
    assert_eq!(
        home.rows("SELECT id, parent, root FROM sessions ORDER BY key"),
        [
            format!("{root}|NULL|{root}"),
            format!("{middle}|{root}|{root}"),
            format!("{leaf}|{middle}|{root}")
        ]
    );
}

#[tokio::test]
async fn a_session_is_found_by_a_start_of_its_id_that_no_other_has() {
    let home = Home::new();
    let store = home.open();
    let insert = "INSERT INTO sessions (id, source, model, root, created_ms, updated_ms)
                  VALUES (?1, '', '', ?1, 0, 0)";
    for id in ["ab", "abc1", "abd", "b%", "b_x"] {
        home.sql().execute(insert, [id]).unwrap();
    }
    for (prefix, id) in [("ab", "ab"), ("abc", "abc1"), ("abc1", "abc1"), ("b%", "b%")] {
        assert_eq!(store.find_session(prefix).await.unwrap(), id, "{prefix}");
    }
    for prefix in ["", "abc2", "c", "%", "_"] {
        let error = store.find_session(prefix).await.unwrap_err();
        assert_eq!(error, StoreError::NoSession(prefix.into()));
    }
    let ambiguous = |error: StoreError| error.to_string().split_once(": ").unwrap().1.to_owned();
    assert_eq!(
        ambiguous(store.find_session("a").await.unwrap_err()),
        r#"several sessions start with "a": ab, abc1, abd; give more of the id"#
    );
    for n in 0..6 {
        home.sql().execute(insert, [format!("z{n}")]).unwrap();
    }
    assert_eq!(
        ambiguous(store.find_session("z").await.unwrap_err()),
        r#"several sessions start with "z": z0, z1, z2, z3, z4 and more; give more of the id"#
    );
}

#[tokio::test]
async fn a_deleted_session_leaves_nothing_and_its_children_stay() {
    use hermes_core::keep::{Receipt, Receipts, Spill};
    use hermes_core::tool::Part;
    let home = Home::new();
    let store = home.open();
    let kept = new_session(&store).await;
    let gone = new_session(&store).await;
    for session in [&gone, &kept] {
        append(&store, session, &said(&["hello"])).await;
        store.finish_turn(session, &turn(1)).await.unwrap();
        store.keep(session, "call_1", &[Part::text("long")]).await.unwrap();
        store.record(Receipt { session_id: session.clone(), ..Receipt::default() });
    }
    let child = NewSession { parent: Some(gone.clone()), ..NewSession::default() };
    let child = store.create(child).await.unwrap();
    store.record(Receipt { session_id: gone.clone(), ..Receipt::default() });
    store.delete_session(&gone).await.unwrap();
    assert_eq!(store.load(&gone).await.unwrap_err(), StoreError::NoSession(gone.clone()));
    assert_eq!(
        home.rows("SELECT id, parent, root FROM sessions ORDER BY key"),
        [format!("{kept}|NULL|{kept}"), format!("{child}|NULL|{gone}")]
    );
    for (table, rows) in
        [("messages", 1), ("turns", 1), ("system_prompts", 2), ("receipts", 1), ("spills", 1)]
    {
        assert_eq!(
            home.rows(&format!("SELECT count(*) FROM {table}")),
            [rows.to_string()],
            "{table}"
        );
    }
}

fn turn(turn: u32) -> TurnRecord {
    TurnRecord {
        turn,
        end: TurnEnd { kind: EndKind::Finished, detail: String::new() },
        api_calls: 3,
        usage: Usage {
            input: 100,
            output: 20,
            cached: 50,
            cache_write: 7,
            reasoning: 5,
            estimated: false,
        },
        cost: None,
    }
}

#[tokio::test]
async fn turns_are_recorded_and_summed_up() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    let sums = "SELECT turns, api_calls, input_tokens, output_tokens, cached_tokens,
                cache_write_tokens, reasoning_tokens, usage_estimated, cost_usd, cost_estimated
                FROM sessions";
    store.finish_turn(&session, &turn(1)).await.unwrap();
    assert_eq!(home.rows(sums), ["1|3|100|20|50|7|5|0|NULL|0"]);
    let second = TurnRecord {
        end: TurnEnd { kind: EndKind::BudgetSpent, detail: "after 3 calls".into() },
        cost: Some(Cost { usd: 0.25, estimated: true }),
        usage: Usage { estimated: true, ..turn(2).usage },
        ..turn(2)
    };
    store.finish_turn(&session, &second).await.unwrap();
    // Told twice, counted once.
    store.finish_turn(&session, &second).await.unwrap();
    assert_eq!(home.rows(sums), ["2|6|200|40|100|14|10|1|0.25|1"]);
    assert_eq!(
        home.rows("SELECT turn, end_kind, end_detail, api_calls, cost_usd FROM turns"),
        ["1|finished||3|NULL", "2|budget_spent|after 3 calls|3|0.25"]
    );
    assert_eq!(store.load(&session).await.unwrap().turns, 2);
}

#[tokio::test]
async fn absurd_numbers_of_a_provider_break_no_sum() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    for n in 1..=4 {
        let usage = Usage { input: u64::MAX, ..Usage::default() };
        let cost = Some(Cost { usd: f64::NAN, estimated: false });
        store.finish_turn(&session, &TurnRecord { usage, cost, ..turn(n) }).await.unwrap();
    }
    assert_eq!(
        home.rows("SELECT turns, input_tokens, cost_usd FROM sessions"),
        [format!("4|{}|NULL", 4_u64 << 44)]
    );
}
