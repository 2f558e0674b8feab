#![allow(clippy::unwrap_used)]
use hermes_core::approver::Unattended;
use hermes_core::message::{Message, ToolCall};
use hermes_core::schema::Validator;
use hermes_core::store::{Durability, NewSession};
use hermes_core::testing::MemoryStore;
use hermes_core::tool::Body;

use super::*;

async fn call(tool: &Todo, session: &str, arguments: &str) -> Result<String, String> {
    let schema = serde_json::from_str(tool.spec().parameters.get()).unwrap();
    let parsed = serde_json::from_str(arguments).unwrap();
    assert_eq!(Validator::new(&schema).unwrap().check(&parsed), Ok(()));
    let invocation = ToolInvocation {
        call_id: "c1".into(),
        session_id: session.into(),
        turn: 1,
        arguments: arguments.into(),
        cancel: Default::default(),
        deadline: None,
        progress: Arc::new(|_| {}),
        approver: Arc::new(Unattended),
    };
    let parts = tool.call(invocation).await.outcome.map_err(|failure| failure.to_string())?;
    let Body::Text(text) = &parts[0].body else { return Err("bytes".into()) };
    Ok(text.clone())
}

async fn session(store: &MemoryStore, messages: Vec<Message>) -> String {
    let id = store.create(NewSession::default()).await.unwrap();
    let messages: Vec<_> = messages.into_iter().map(Arc::new).collect();
    store.append(&id, &messages, Durability::Process).await.unwrap();
    id
}

const EMPTY: &str =
    r#"{"todos":[],"summary":{"total":0,"pending":0,"in_progress":0,"completed":0,"cancelled":0}}"#;

/// The answer for one pending item.
fn one(id: &str, content: &str) -> String {
    format!(
        r#"{{"todos":[{{"id":"{id}","content":"{content}","status":"pending"}}],"summary":{{"total":1,"pending":1,"in_progress":0,"completed":0,"cancelled":0}}}}"#
    )
}

#[tokio::test]
async fn a_list_is_replaced_merged_and_read() {
    let store = Arc::new(MemoryStore::default());
    let id = session(&store, Vec::new()).await;
    let tool = Todo::new(store);
    assert_eq!(call(&tool, &id, "{}").await.unwrap(), EMPTY);
    let first = r#"{"todos":[{"id":"a","content":" first ","status":"pending"},{"id":"b","content":"x","status":"pending"},{"id":"b","content":"second","status":"in_progress"}]}"#;
    assert_eq!(
        call(&tool, &id, first).await.unwrap(),
        r#"{"todos":[{"id":"a","content":"first","status":"pending"},{"id":"b","content":"second","status":"in_progress"}],"summary":{"total":2,"pending":1,"in_progress":1,"completed":0,"cancelled":0}}"#
    );
    let more = r#"{"merge":true,"todos":[{"id":"c","content":"third","status":"cancelled"},{"id":"a","content":"first","status":"completed"}]}"#;
    let merged = r#"{"todos":[{"id":"a","content":"first","status":"completed"},{"id":"b","content":"second","status":"in_progress"},{"id":"c","content":"third","status":"cancelled"}],"summary":{"total":3,"pending":0,"in_progress":1,"completed":1,"cancelled":1}}"#;
    assert_eq!(call(&tool, &id, more).await.unwrap(), merged);
    assert_eq!(call(&tool, &id, "{}").await.unwrap(), merged);
    assert_eq!(call(&tool, &id, r#"{"todos":[]}"#).await.unwrap(), EMPTY);
}

#[tokio::test]
async fn a_resumed_session_finds_its_list_in_the_newest_answer_to_a_real_call() {
    let called = |id: &str, name: &str| {
        let call = ToolCall { id: id.into(), name: name.into(), arguments: "{}".into() };
        let reply = Message { tool_calls: vec![call.clone()], ..Message::assistant("") };
        (reply, call)
    };
    let (old, old_call) = called("c1", "todo");
    let (new, new_call) = called("c2", "todo");
    let (failed, failed_call) = called("c3", "todo");
    let (other, other_call) = called("c4", "evil");
    let forged = ToolCall { id: "c9".into(), ..new_call.clone() };
    let store = Arc::new(MemoryStore::default());
    let messages = vec![
        old,
        Message::tool(&old_call, one("o", "old")),
        new,
        Message::tool(&new_call, one("n", "new") + "\n[a hook's note]"),
        failed,
        Message { failure: Some("too-large".into()), ..Message::tool(&failed_call, "error") },
        other,
        Message { name: Some("todo".into()), ..Message::tool(&other_call, one("e", "evil")) },
        Message::tool(&forged, one("f", "forged")),
    ];
    let id = session(&store, messages).await;
    let elsewhere = session(&store, Vec::new()).await;
    let tool = Todo::new(store);
    assert_eq!(call(&tool, &id, "{}").await.unwrap(), one("n", "new"));
    assert_eq!(call(&tool, &elsewhere, "{}").await.unwrap(), EMPTY, "each session has its own");
}

#[tokio::test]
async fn a_list_that_would_be_too_long_is_refused_and_the_old_one_stays() {
    let store = Arc::new(MemoryStore::default());
    let id = session(&store, Vec::new()).await;
    let tool = Todo::new(store);
    let items = |range: std::ops::Range<usize>, content: &str| {
        let items = range.map(
            |n| serde_json::json!({"id": n.to_string(), "content": content, "status": "pending"}),
        );
        serde_json::json!({"merge": true, "todos": items.collect::<Vec<_>>()}).to_string()
    };
    let kept = call(&tool, &id, &items(0..256, "x")).await.unwrap();
    assert_eq!(
        call(&tool, &id, &items(256..257, "x")).await.unwrap_err(),
        "too-large: the list would have 257 items of at most 256; leave out what is done"
    );
    let long = call(&tool, &id, &items(0..20, &"x".repeat(4000))).await.unwrap_err();
    assert!(long.starts_with("too-large: the list would take 9"), "{long}");
    assert_eq!(call(&tool, &id, "{}").await.unwrap(), kept);
}

#[tokio::test]
async fn lists_of_many_sessions_are_found_again_in_history_at_most() {
    let store = Arc::new(MemoryStore::default());
    let tool = Todo::new(store.clone());
    for _ in 0..=REMEMBERED {
        let id = session(&store, Vec::new()).await;
        call(&tool, &id, "{}").await.unwrap();
    }
    assert_eq!(tool.lists.lock().unwrap().len(), REMEMBERED);
}
