//! Naming, finding by name, and throwing away.

use hermes_core::store::StoreError;

use super::*;

#[tokio::test]
async fn a_name_is_clean_and_nobody_elses() {
    let home = Home::new();
    let store = home.open();
    let (first, second) = (new_session(&store).await, new_session(&store).await);
    let third = new_session(&store).await;
    let name = async |id: &str, title: &str| store.rename_session(id, title).await.unwrap();
    assert_eq!(name(&first, " Fix\u{1b}[31m \u{202E}the\n tests ").await, "Fix [31m the tests");
    assert_eq!(name(&first, "Tests").await, "Tests");
    assert_eq!(name(&first, "Tests").await, "Tests");
    assert_eq!(name(&second, "tests").await, "tests #2");
    assert_eq!(name(&third, "TESTS").await, "TESTS #3");
    assert_eq!(name(&first, &"x".repeat(200)).await, "x".repeat(100));
    assert_eq!(name(&second, &"x".repeat(100)).await, "x".repeat(97) + " #2");
    let error = store.rename_session(&first, "\n\u{202E}").await.unwrap_err().to_string();
    assert!(error.contains("has nothing that could be shown as a title"), "{error}");
    let error = store.rename_session("nobody", "x").await.unwrap_err();
    assert_eq!(error, StoreError::NoSession("nobody".into()));
}

#[tokio::test]
async fn a_proposed_name_gives_way_to_a_persons() {
    let home = Home::new();
    let store = home.open();
    let (unnamed, named) = (new_session(&store).await, new_session(&store).await);
    for id in [&unnamed, &named] {
        append(&store, id, &said(&["fix the parser\nplease"])).await;
    }
    store.rename_session(&named, "Mine").await.unwrap();
    for id in [&unnamed, &named] {
        store.propose_title(id, "Fixing it").await.unwrap();
        store.propose_title(id, "Too late").await.unwrap();
    }
    let titles = home.rows("SELECT title FROM sessions ORDER BY key");
    assert_eq!(titles, ["Fixing it", "Mine"]);
}

#[tokio::test]
async fn a_session_is_found_by_its_title_or_the_start_of_it() {
    let home = Home::new();
    let store = home.open();
    let (first, second) = (new_session(&store).await, new_session(&store).await);
    store.rename_session(&first, "Deploy").await.unwrap();
    store.rename_session(&second, "Deploy the 50% server").await.unwrap();
    assert_eq!(store.find_session("deploy").await.unwrap(), first);
    assert_eq!(store.find_session("deploy the 50%").await.unwrap(), second);
    assert_eq!(store.find_session(&first).await.unwrap(), first);
    assert_eq!(store.find_session("server").await, Err(StoreError::NoSession("server".into())));
    let path = home.file().display().to_string();
    assert_eq!(
        store.find_session("dep").await.unwrap_err().to_string(),
        format!(
            "{path}: several sessions have a title that starts with \"dep\": {second} (Deploy the \
             50% server), {first} (Deploy); give the id"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn pruning_takes_old_lines_whole() {
    let home = Home::new();
    let store = home.open();
    let old = new_session(&store).await;
    let line = new_session(&store).await;
    let running = new_session(&store).await;
    append(&store, &old, &said(&["an old zebra"])).await;
    home.pass(1000);
    let new = NewSession { parent: Some(line.clone()), ..NewSession::default() };
    let continued = store.create(new).await.unwrap();
    let lease = store.begin_turn(&running).await.unwrap();
    assert_eq!(store.prune_sessions(1_000_500).await.unwrap(), 1);
    let ids = |sessions: Vec<SessionSummary>| -> Vec<String> {
        sessions.into_iter().map(|session| session.session_id).collect()
    };
    assert_eq!(ids(listed(&store, 9).await), [continued, running.clone(), line]);
    assert_eq!(home.rows("SELECT count(*) FROM messages"), ["0"]);
    drop(lease);
    assert_eq!(store.prune_sessions(1_000_500).await.unwrap(), 1);
    assert_eq!(store.prune_sessions(1_002_000).await.unwrap(), 2);
    assert_eq!(ids(listed(&store, 9).await), [""; 0]);
}
