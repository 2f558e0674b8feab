//! Receipts: recorded at once, written in order, never in the way.

use hermes_core::keep::{Receipt, Receipts};

use super::*;

fn receipt(session: &str, n: u64) -> Receipt {
    Receipt {
        call_id: format!("call_{n}"),
        session_id: session.into(),
        tool: "read_file".into(),
        source: "files".into(),
        component: Some("ab".repeat(32)),
        outcome: "ok".into(),
        total_us: n,
        verdicts: vec!["guard: allow".into()],
        rewritten_arguments: Some("{}".into()),
        ..Receipt::default()
    }
}

#[tokio::test]
async fn receipts_come_back_whole_and_in_order() {
    let home = Home::new();
    let store = home.open();
    let expected: Vec<_> = (0..200).map(|n| receipt("s", n)).collect();
    for (n, one) in expected.iter().enumerate() {
        store.record(one.clone());
        store.record(receipt("other", n as u64));
    }
    assert_eq!(store.receipts("s").await.unwrap(), expected);
    assert_eq!(store.receipts("nowhere").await.unwrap(), []);
    assert_eq!(
        home.rows(
            "SELECT session_id, call_id, tool, source, outcome, recorded_ms FROM receipts LIMIT 1"
        ),
        ["s|call_0|read_file|files|ok|1000000"]
    );
}

#[tokio::test]
async fn receipts_go_along_with_the_next_append() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    store.record(receipt(&session, 1));
    store.record(receipt(&session, 2));
    assert_eq!(home.rows("SELECT count(*) FROM receipts"), ["0"]);
    append(&store, &session, &said(&["hello"])).await;
    assert_eq!(home.rows("SELECT call_id FROM receipts ORDER BY key"), ["call_1", "call_2"]);
}

#[tokio::test]
async fn receipts_wait_for_a_transaction_that_succeeds() {
    let home = Home::new();
    let store = home.open();
    store.record(receipt("s", 1));
    store.append("nowhere", &said(&["hello"]), Durability::Process).await.unwrap_err();
    store.record(receipt("s", 2));
    assert_eq!(home.rows("SELECT count(*) FROM receipts"), ["0"]);
    assert_eq!(store.receipts("s").await.unwrap(), [receipt("s", 1), receipt("s", 2)]);
}

#[tokio::test]
async fn flushing_and_closing_write_what_waits() {
    let home = Home::new();
    let store = home.open();
    store.record(receipt("s", 1));
    store.flush().await.unwrap();
    assert_eq!(home.rows("SELECT call_id FROM receipts"), ["call_1"]);
    store.record(receipt("s", 2));
    drop(store);
    assert_eq!(home.rows("SELECT call_id FROM receipts ORDER BY key"), ["call_1", "call_2"]);
}

#[test]
fn many_receipts_are_written_without_any_other_write_or_runtime() {
    let home = Home::new();
    let store = home.open();
    (0..64).for_each(|n| store.record(receipt("s", n)));
    assert_eq!(home.rows("SELECT count(*) FROM receipts"), ["64"]);
}

#[tokio::test]
async fn a_receipt_that_cannot_be_written_fails_nothing() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    home.sql()
        .execute_batch(
            "CREATE TRIGGER refuse BEFORE INSERT ON receipts
             BEGIN SELECT raise(ABORT, 'no receipts today'); END",
        )
        .unwrap();
    store.record(receipt(&session, 1));
    append(&store, &session, &said(&["hello"])).await;
    assert_eq!(texts(&store.load(&session).await.unwrap()), ["hello"]);
    assert_eq!(store.receipts(&session).await.unwrap(), []);
}

#[tokio::test]
async fn a_receipt_that_cannot_be_read_is_left_out() {
    let home = Home::new();
    let store = home.open();
    (1..=3).for_each(|n| store.record(receipt("s", n)));
    store.flush().await.unwrap();
    home.sql().execute("UPDATE receipts SET body = '[' WHERE call_id = 'call_2'", []).unwrap();
    assert_eq!(store.receipts("s").await.unwrap(), [receipt("s", 1), receipt("s", 3)]);
}
