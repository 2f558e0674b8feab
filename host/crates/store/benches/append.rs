//! What storing costs: an append beside the bare commit it cannot do without, and what stands on
//! the path of a start.
//!
//! Appends here follow each other without a pause, so the mean holds a share of copying the log
//! back, which waits for the disk some three times in every 300 appends. In a conversation that
//! falls into the time the model takes.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use hermes_core::keep::{PluginState, Receipt, Receipts, StateQuota};
use hermes_core::message::{Message, ToolCall};
use hermes_core::store::{Durability, NewSession, Store};
use hermes_store::SqliteStore;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A store with one session, and the runtime it is used in.
struct Setup {
    runtime: Runtime,
    store: SqliteStore,
    session: String,
    folder: TempDir,
}

impl Setup {
    fn new() -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let folder = TempDir::new().expect("a folder");
        let store = SqliteStore::open(folder.path().join("state.db")).expect("a store");
        let new = NewSession { system: "You are terse.".repeat(500), ..NewSession::default() };
        let session = runtime.block_on(store.create(new)).expect("a session");
        Self { runtime, store, session, folder }
    }

    fn append(&self, messages: &[Arc<Message>], durability: Durability) {
        self.runtime
            .block_on(self.store.append(&self.session, messages, durability))
            .expect("an append");
    }
}

/// A tool call's result, as most messages of a long session are.
fn message() -> Arc<Message> {
    let call = ToolCall { id: "call_1".into(), name: "read_file".into(), arguments: "{}".into() };
    Arc::new(Message::tool(&call, "fn main() { println!(\"hello\"); }\n".repeat(8)))
}

/// The cheapest durable write there is: one row, one statement.
fn bare(folder: &Path, synchronous: &str) -> Connection {
    let conn = Connection::open(folder.join("bare.db")).expect("a database");
    conn.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
         CREATE TABLE IF NOT EXISTS rows (key INTEGER PRIMARY KEY, body TEXT NOT NULL)"
    ))
    .expect("a table");
    conn
}

fn commits(c: &mut Criterion) {
    let mut group = c.benchmark_group("append");
    let message = message();
    let body = serde_json::to_string(&message).expect("JSON");
    for (name, synchronous, durability) in
        [("process", "NORMAL", Durability::Process), ("power", "FULL", Durability::Power)]
    {
        let folder = TempDir::new().expect("a folder");
        let conn = bare(folder.path(), synchronous);
        group.bench_function(format!("bare_commit_{name}"), |b| {
            b.iter(|| {
                conn.prepare_cached("INSERT INTO rows (body) VALUES (?1)")
                    .and_then(|mut insert| insert.execute([&body]))
                    .expect("a row")
            });
        });
        let setup = Setup::new();
        let messages = [Arc::clone(&message)];
        group.bench_function(name, |b| b.iter(|| setup.append(&messages, durability)));
    }
    let setup = Setup::new();
    let messages = [message];
    group.bench_function("process_with_receipt", |b| {
        b.iter(|| {
            setup.store.record(Receipt { session_id: setup.session.clone(), ..Receipt::default() });
            setup.append(&messages, Durability::Process);
        });
    });
    group.finish();
}

fn starts(c: &mut Criterion) {
    let setup = Setup::new();
    let messages = vec![message(); 2000];
    setup.append(&messages, Durability::Process);
    c.bench_function("load_2000_messages", |b| {
        b.iter(|| setup.runtime.block_on(setup.store.load(&setup.session)).expect("a session"));
    });
    let path = setup.folder.path().join("state.db");
    drop(setup);
    c.bench_function("open_existing", |b| {
        b.iter_with_large_drop(|| SqliteStore::open(&path).expect("a store"));
    });
    c.bench_function("open_new", |b| {
        b.iter_batched(
            || TempDir::new().expect("a folder"),
            |folder| {
                let store = SqliteStore::open(folder.path().join("state.db")).expect("a store");
                (store, folder)
            },
            criterion::BatchSize::PerIteration,
        );
    });
}

fn state(c: &mut Criterion) {
    let setup = Setup::new();
    let quota = StateQuota { max_bytes: 1 << 20, max_keys: 1000 };
    c.bench_function("state_put", |b| {
        b.iter(|| {
            let put = setup.store.put("guard", "count", b"12345678", None, None, quota);
            setup.runtime.block_on(put).expect("a revision")
        });
    });
    c.bench_function("state_get", |b| {
        b.iter(|| {
            let get = setup.store.get("guard", black_box("count"));
            setup.runtime.block_on(get).expect("a value")
        });
    });
}

criterion_group!(benches, commits, starts, state);
criterion_main!(benches);
