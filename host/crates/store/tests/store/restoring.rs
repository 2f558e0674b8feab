//! Sessions that continue another: with what was archived, or with a compressed history.

use hermes_core::keep::Spill;
use hermes_core::store::StoreError;
use hermes_core::tool::Part;

use super::*;

async fn replace(store: &SqliteStore, session: &str, gone: &[&str], instead: &[&str]) {
    let loaded = store.load(session).await.unwrap();
    let named = |message: &&Arc<Message>| gone.contains(&message.content.text().as_str());
    let ids: Vec<_> = loaded.messages.iter().filter(named).map(|it| it.id.clone()).collect();
    store.archive(session, &ids, &said(instead)).await.unwrap();
}

#[tokio::test]
async fn a_session_comes_back_whole_beside_the_compressed_one() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["a", "b", "c", "d", "e"])).await;
    // Old output is shortened, then the middle is summed up, twice.
    replace(&store, &session, &["b"], &["short b"]).await;
    replace(&store, &session, &["short b", "c", "d"], &["notes", "a again"]).await;
    append(&store, &session, &said(&["f", "g"])).await;
    replace(&store, &session, &["notes", "a again", "e", "f"], &["more notes"]).await;
    append(&store, &session, &said(&["h"])).await;
    let compressed = ["a", "more notes", "g", "h"];
    assert_eq!(texts(&store.load(&session).await.unwrap()), compressed);

    let restored = store.restore_session(&session).await.unwrap();
    let whole = store.load(&restored).await.unwrap();
    assert_eq!(texts(&whole), ["a", "b", "c", "d", "e", "f", "g", "h"]);
    assert_eq!(texts(&store.load(&session).await.unwrap()), compressed, "nothing is taken from it");
    let listed = listed(&store, 9).await;
    assert_eq!((listed[0].messages, listed[0].parent.as_ref()), (8, Some(&session)));
    assert_eq!(listed[0].title.as_deref(), Some("a #2"));
    append(&store, &restored, &said(&["i"])).await;
    assert_eq!(texts(&store.load(&restored).await.unwrap()).last().map(String::as_str), Some("i"));

    let error = store.restore_session(&restored).await.unwrap_err();
    assert!(error.to_string().ends_with("was ever archived, so it is whole as it is"), "{error}");
    let error = store.restore_session("nobody").await.unwrap_err();
    assert_eq!(error, StoreError::NoSession("nobody".into()));
}

#[tokio::test]
async fn a_session_goes_on_in_another_all_or_nothing() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    append(&store, &session, &said(&["fix it", "b", "c"])).await;
    store.keep(&session, "call_1", &[Part::text("all of a long result")]).await.unwrap();
    let child = store.branch(&session, &said(&["fix it", "notes"])).await.unwrap();
    assert_eq!(texts(&store.load(&child).await.unwrap()), ["fix it", "notes"]);
    assert_eq!(texts(&store.load(&session).await.unwrap()), ["fix it", "b", "c"]);
    let newest = &listed(&store, 9).await[0];
    assert_eq!(
        (newest.title.as_deref(), newest.parent.as_ref()),
        (Some("fix it #2"), Some(&session))
    );
    // What an earlier part of the line kept can still be read, and nothing of anybody else's.
    let read = store.read(&child, "call_1", 0, 100).await.unwrap();
    assert_eq!(read.map(|(text, _)| text).as_deref(), Some("all of a long result"));
    let other = new_session(&store).await;
    assert_eq!(store.read(&other, "call_1", 0, 100).await.unwrap(), None);
    assert!(store.branch("nobody", &said(&["x"])).await.is_err());
}
