//! Several stores on one file, as several processes have it.

use std::collections::HashSet;
use std::fs;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use rusqlite::TransactionBehavior;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_stores_writing_at_once_lose_no_row() {
    const WRITERS: usize = 4;
    const EACH: usize = 50;
    let home = Home::new();
    let stores = [Arc::new(home.open()), Arc::new(home.open())];
    let session = new_session(&stores[0]).await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, session) = (Arc::clone(&stores[writer % 2]), session.clone());
            tokio::spawn(async move {
                for n in 0..EACH {
                    let durability =
                        if n % 10 == 0 { Durability::Power } else { Durability::Process };
                    let messages = said(&[format!("{writer}.{n}").as_str()]);
                    store.append(&session, &messages, durability).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let loaded = stores[1].load(&session).await.unwrap();
    for writer in 0..WRITERS {
        let own: Vec<String> = texts(&loaded)
            .into_iter()
            .filter(|text| text.starts_with(&format!("{writer}.")))
            .collect();
        let expected: Vec<String> = (0..EACH).map(|n| format!("{writer}.{n}")).collect();
        assert_eq!(own, expected);
    }
    assert_eq!(loaded.messages.len(), WRITERS * EACH);
    assert_eq!(home.rows("SELECT count(DISTINCT position) FROM messages"), ["200"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_held_by_another_program_is_waited_for() {
    let home = Home::new();
    let store = Arc::new(home.open());
    let session = new_session(&store).await;
    let mut other = home.sql();
    let lock = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let appending = {
        let (store, session) = (Arc::clone(&store), session.clone());
        tokio::spawn(async move { append(&store, &session, &said(&["patient"])).await })
    };
    // Reading goes on meanwhile, and the runtime's threads are free.
    assert_eq!(texts(&store.load(&session).await.unwrap()), [""; 0]);
    lock.commit().unwrap();
    appending.await.unwrap();
    assert_eq!(texts(&store.load(&session).await.unwrap()), ["patient"]);
}

#[test]
fn many_can_make_the_same_new_store_at_once() {
    const OPENERS: usize = 8;
    let home = Home::new();
    let path = home.folder.path().join("new/state.db");
    let barrier = Barrier::new(OPENERS);
    thread::scope(|scope| {
        for _ in 0..OPENERS {
            scope.spawn(|| {
                barrier.wait();
                let store = SqliteStore::open(&path).unwrap();
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(new_session(&store));
            });
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = SqliteStore::open(&path).unwrap();
    let listed = runtime.block_on(listed(&store, 100));
    let ids: HashSet<_> = listed.iter().map(|session| &session.session_id).collect();
    assert_eq!(ids.len(), OPENERS);
}

#[tokio::test]
async fn the_log_does_not_grow_without_end() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    let text = "x".repeat(60_000);
    for _ in 0..400 {
        append(&store, &session, &said(&[&text])).await;
    }
    store.flush().await.unwrap();
    let length = |name: &str| fs::metadata(home.folder.path().join(name)).unwrap().len();
    // 24 MB were written; a log is copied back when it reaches 4 MB.
    assert!(length("state.db-wal") < 12_000_000, "{}", length("state.db-wal"));
    assert!(length("state.db") > 12_000_000, "{}", length("state.db"));
}

#[tokio::test]
async fn work_goes_on_after_a_caller_gave_up() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    let messages = said(&["dropped"]);
    {
        let mut append = Box::pin(store.append(&session, &messages, Durability::Power));
        let once = std::future::poll_fn(|context| {
            std::task::Poll::Ready(append.as_mut().poll(context).is_pending())
        });
        assert!(once.await);
    }
    append(&store, &session, &said(&["next"])).await;
    // Which of the two comes first is open; that both come is not.
    let both = async {
        loop {
            let mut all = texts(&store.load(&session).await.unwrap());
            all.sort();
            if all.len() == 2 {
                return all;
            }
        }
    };
    let all = tokio::time::timeout(Duration::from_secs(60), both).await.unwrap();
    assert_eq!(all, ["dropped", "next"]);
}
