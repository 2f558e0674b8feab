//! Archiving hides messages and puts others in their place; it destroys nothing.

use hermes_core::store::StoreError;
use proptest::prelude::*;

use super::*;

/// Archives the messages that say `gone` and puts new ones that say `instead` in their place.
async fn replace(store: &SqliteStore, session: &str, gone: &[&str], instead: &[&str]) {
    let loaded = store.load(session).await.unwrap();
    let ids: Vec<String> = loaded
        .messages
        .iter()
        .filter(|message| gone.contains(&message.content.text().as_str()))
        .map(|message| message.id.clone())
        .collect();
    assert_eq!(ids.len(), gone.len());
    store.archive(session, &ids, &said(instead)).await.unwrap();
}

#[tokio::test]
async fn replacements_stand_where_the_first_archived_message_stood() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["a", "b", "c", "d", "e"])).await;
    replace(&store, &session, &["c", "b"], &["summary"]).await;
    append(&store, &session, &said(&["f"])).await;
    assert_eq!(texts(&store.load(&session).await.unwrap()), ["a", "summary", "d", "e", "f"]);
    // A second compression takes the first summary along.
    replace(&store, &session, &["summary", "d", "e"], &["s1", "s2"]).await;
    assert_eq!(texts(&store.load(&session).await.unwrap()), ["a", "s1", "s2", "f"]);
    assert_eq!(listed(&store, 1).await[0].messages, 4);
    assert_eq!(home.rows("SELECT count(*), sum(archived) FROM messages"), ["9|5"]);
}

#[tokio::test]
async fn more_replacements_than_archived_messages_find_room() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["a", "b", "c"])).await;
    replace(&store, &session, &["b"], &["1", "2", "3"]).await;
    replace(&store, &session, &["2"], &["2a", "2b"]).await;
    replace(&store, &session, &["c"], &["x", "y"]).await;
    append(&store, &session, &said(&["z"])).await;
    let expected = ["a", "1", "2a", "2b", "3", "x", "y", "z"];
    assert_eq!(texts(&store.load(&session).await.unwrap()), expected);
}

#[tokio::test]
async fn archived_messages_can_be_restored_to_their_place() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["a", "b", "c", "d"])).await;
    replace(&store, &session, &["b", "c"], &["summary"]).await;
    home.sql().execute_batch("UPDATE messages SET archived = NOT archived").unwrap();
    assert_eq!(texts(&store.load(&session).await.unwrap()), ["b", "c"]);
    home.sql().execute_batch("UPDATE messages SET archived = body LIKE '%summary%'").unwrap();
    assert_eq!(texts(&store.load(&session).await.unwrap()), ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn nothing_is_archived_unless_all_named_messages_are_there() {
    let home = Home::new();
    let store = home.open();
    let (session, other) = (new_session(&store).await, new_session(&store).await);
    let messages = said(&["a", "b"]);
    append(&store, &session, &messages).await;
    let foreign = said(&["elsewhere"]);
    append(&store, &other, &foreign).await;
    let named = [messages[0].id.clone(), foreign[0].id.clone()];
    let error = store.archive(&session, &named, &said(&["summary"])).await.unwrap_err();
    let path = home.file().display().to_string();
    assert_eq!(
        error,
        StoreError::Broken(format!(
            "{path}: message {:?} is not among the live messages of its session, so nothing was \
             archived; load the session again",
            foreign[0].id
        ))
    );
    let error = store.archive(&session, &[], &said(&["summary"])).await.unwrap_err();
    assert_eq!(
        error,
        StoreError::Broken(format!("{path}: no message is named, so nothing was archived"))
    );
    assert_eq!(texts(&store.load(&session).await.unwrap()), ["a", "b"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any sequence of appends and archivings, beside the same on a plain list.
    #[test]
    fn order_is_that_of_a_list(steps in prop::collection::vec((0..4_usize, 0..8_usize, 1..4_usize), 1..16)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let home = Home::new();
            let store = home.open();
            let session = new_session(&store).await;
            let mut list: Vec<Arc<Message>> = Vec::new();
            for (n, (instead, at, many)) in steps.into_iter().enumerate() {
                let names: Vec<String> = (0..instead.max(1)).map(|k| format!("{n}.{k}")).collect();
                let new = said(&names.iter().map(String::as_str).collect::<Vec<_>>());
                if at >= list.len() {
                    append(&store, &session, &new).await;
                    list.extend(new);
                } else {
                    // Every other one from `at` on, so that live messages stand between.
                    let gone: Vec<_> = list[at..].iter().step_by(2).take(many).cloned().collect();
                    let ids: Vec<_> = gone.iter().map(|message| message.id.clone()).collect();
                    let new = if instead == 0 { Vec::new() } else { new };
                    store.archive(&session, &ids, &new).await.unwrap();
                    list.retain(|message| !gone.contains(message));
                    list.splice(at..at, new);
                }
                let loaded = store.load(&session).await.unwrap();
                assert_eq!(loaded.messages, list);
                let count = listed(&store, 1).await[0].messages;
                assert_eq!(count, list.len() as u64);
            }
        });
    }
}
