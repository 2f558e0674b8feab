//! Many processes on one file at once, each with a store of its own.

use std::collections::BTreeSet;
use std::process::{Child, Command};

use super::*;

const WRITERS: usize = 16;
const EACH: usize = 200;

/// Set for a copy of this program that only writes: the file, the session and its number.
const TASK: &str = "HERMES_STORE_TEST_WRITER";

#[tokio::test]
async fn sixteen_processes_write_one_session_and_lose_nothing() {
    if let Ok(task) = std::env::var(TASK) {
        return write(&task).await;
    }
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    let writers: Vec<Child> = (0..WRITERS)
        .map(|writer| {
            Command::new(std::env::current_exe().unwrap())
                .args(["many::sixteen_processes_write_one_session_and_lose_nothing", "--exact"])
                .env(TASK, format!("{}\n{session}\n{writer}", home.file().display()))
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
    }
    let loaded = texts(&store.load(&session).await.unwrap());
    let expected: BTreeSet<String> =
        (0..WRITERS).flat_map(|w| (0..EACH).map(move |n| format!("{w}.{n}"))).collect();
    assert_eq!(loaded.len(), WRITERS * EACH);
    assert_eq!(loaded.into_iter().collect::<BTreeSet<_>>(), expected);
    assert_eq!(home.rows("SELECT count(DISTINCT position) FROM messages"), ["3200"]);
    assert_eq!(home.rows("PRAGMA integrity_check"), ["ok"]);
}

/// Writes as one of the sixteen, and searches now and then as a person would.
async fn write(task: &str) {
    use hermes_core::search::{SearchQuery, SessionSearch};
    let [file, session, writer] = task.split('\n').collect::<Vec<_>>()[..] else {
        panic!("{task:?}")
    };
    let store = SqliteStore::open(file).unwrap();
    for n in 0..EACH {
        let durability = if n % 50 == 0 { Durability::Power } else { Durability::Process };
        let messages = said(&[format!("{writer}.{n}").as_str()]);
        store.append(session, &messages, durability).await.unwrap();
        if n % 100 == 99 {
            let text = format!("\"{writer}.{n}\"");
            let query = SearchQuery { text, limit: 1, ..SearchQuery::default() };
            assert_eq!(store.search(&query).await.unwrap().len(), 1);
        }
    }
}
