//! Sixteen real processes on one file: each writes a session of its own and one they share, reads and
//! searches. `HERMES_STORE_SECONDS` says for how long; without it each does a fixed number of rounds.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a process did, told to its parent"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hermes_core::search::{SearchQuery, SessionSearch};

use super::*;

/// Where the writer finds the file, the shared session, and its own number.
const TASK: &str = "HERMES_STORE_WRITER";

/// How many processes.
const PROCESSES: usize = 16;

/// Rounds of a process whose time is not limited.
const ROUNDS: usize = 100;

fn seconds() -> Option<Duration> {
    let seconds = std::env::var("HERMES_STORE_SECONDS").ok()?;
    Some(Duration::from_secs(seconds.parse().unwrap()))
}

#[test]
fn sixteen_processes_lose_nothing_and_meet_no_lock() {
    let home = Home::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = runtime.block_on(async { home.open() });
    let shared = runtime.block_on(new_session(&store));
    let writers: Vec<_> = (0..PROCESSES)
        .map(|number| {
            Command::new(std::env::current_exe().unwrap())
                .args(["processes::one_of_them", "--exact", "--nocapture"])
                .env(TASK, format!("{}\n{shared}\n{number}", home.file().display()))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut rounds = Vec::new();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        let count = said.lines().find_map(|line| line.split("rounds: ").nth(1)).unwrap();
        rounds.push(count.trim().parse::<usize>().unwrap());
    }
    let whole = texts(&runtime.block_on(store.load(&shared)).unwrap());
    for (number, rounds) in rounds.iter().enumerate() {
        let begins = format!("{number}.");
        let own: Vec<_> = whole.iter().filter(|text| text.starts_with(&begins)).cloned().collect();
        let expected: Vec<_> = (0..*rounds).map(|round| format!("{number}.{round}")).collect();
        assert_eq!(own, expected, "everything once, in order");
    }
    assert_eq!(whole.len(), rounds.iter().sum::<usize>());
    let stored = format!("{}|{}", whole.len() * 2, whole.len() * 2);
    assert_eq!(home.rows("SELECT count(*), count(DISTINCT id) FROM messages"), [stored]);
    assert_eq!(home.rows("PRAGMA integrity_check"), ["ok"]);
    if let Some(time) = seconds() {
        eprintln!("{} appends in {time:?}", whole.len() * 2);
    }
}

/// What each process does; nothing where nobody gives it a task.
#[test]
fn one_of_them() {
    let Ok(task) = std::env::var(TASK) else { return };
    let task: Vec<&str> = task.split('\n').collect();
    let [file, shared, number] = task[..] else { panic!("{task:?}") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(file).unwrap();
        let own = new_session(&store).await;
        let (began, time) = (Instant::now(), seconds());
        let mut round = 0;
        while time.map_or(round < ROUNDS, |time| began.elapsed() < time) {
            let text = format!("{number}.{round}");
            append(&store, shared, &said(&[&text])).await;
            let durability = if round % 8 == 0 { Durability::Power } else { Durability::Process };
            store.append(&own, &said(&[&text]), durability).await.unwrap();
            if round % 8 == 7 {
                let query = SearchQuery { text: text.clone(), limit: 5, ..SearchQuery::default() };
                store.search(&query).await.unwrap();
                assert_eq!(store.load(&own).await.unwrap().messages.len(), round + 1);
            }
            round += 1;
        }
        println!("\nrounds: {round}");
    });
}
