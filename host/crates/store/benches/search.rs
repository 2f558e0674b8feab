//! Finding among many messages, and taking up a long session beside them.
//!
//! The data is made up, always the same: sessions of 100 messages with 10 to 60 words each, drawn
//! from 50 000 by Zipf's law as in real text; every tenth message has an identifier, every
//! twentieth a stretch of Chinese. There are 100 000 messages, or as many as the environment
//! variable `HERMES_BENCH_MESSAGES` says. Queries are made from the same words, so that what is
//! rare and what is common is known.

use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use hermes_core::message::{Message, Role};
use hermes_core::search::{SearchQuery, SessionSearch};
use hermes_core::store::{Durability, NewSession, Store};
use hermes_store::SqliteStore;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Different words.
const VOCABULARY: usize = 50_000;

/// Messages of a session.
const SESSION: usize = 100;

/// Messages of the session that is taken up.
const LONG: usize = 2000;

/// What is looked for: a name, the words, and whose messages.
const QUERIES: &[(&str, &str, &[Role])] = &[
    ("rare", "w20000", &[]),
    ("middling", "w300", &[]),
    ("common", "w0", &[]),
    ("two_words", "w20 w300", &[]),
    ("two_common_words", "w0 w1", &[]),
    ("phrase", "\"w3 w7\"", &[]),
    ("either", "w20000 OR w0", &[]),
    ("people_and_model", "w20 w300", &[Role::User, Role::Assistant]),
    ("identifier", "readUserName77", &[]),
    ("identifier_part", "user", &[]),
    ("chinese", "服务端", &[]),
    ("chinese_character", "昨", &[]),
    ("absent", "nowhere", &[]),
];

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % below
    }

    /// The number of a word: word n is about n times as rare as the first.
    fn word(&mut self) -> usize {
        let unit =
            f64::from(u32::try_from(self.roll(1 << 30)).unwrap_or_default()) / f64::from(1 << 30);
        let rank = (f64::from(u32::try_from(VOCABULARY).unwrap_or_default()).ln() * unit).exp();
        // Within the vocabulary, so it fits.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rank = rank as usize;
        rank.saturating_sub(1)
    }

    fn text(&mut self) -> String {
        let mut words: Vec<String> =
            (0..10 + self.roll(50)).map(|_| format!("w{}", self.word())).collect();
        if self.roll(10) == 0 {
            words.push(format!("readUserName{}", self.roll(1000)));
        }
        if self.roll(20) == 0 {
            const STRETCHES: [&str; 4] =
                ["修改服务端的计划", "昨晚开会讨论数据库", "测试没有通过", "请检查日志文件"];
            words.push(STRETCHES[self.roll(4)].into());
        }
        words.join(" ")
    }
}

async fn fill(store: &SqliteStore, count: usize) {
    let mut dice = Dice(1);
    for _ in 0..count / SESSION {
        let session = store.create(NewSession::default()).await.expect("a session");
        let messages: Vec<_> = (0..SESSION)
            .map(|n| {
                let role = [Role::User, Role::Assistant, Role::Tool, Role::Assistant][n % 4];
                Arc::new(Message::new(role, dice.text()))
            })
            .collect();
        store.append(&session, &messages, Durability::Process).await.expect("an append");
    }
}

fn search(c: &mut Criterion) {
    let count = std::env::var("HERMES_BENCH_MESSAGES").ok().and_then(|count| count.parse().ok());
    let runtime = Runtime::new().expect("a runtime");
    let folder = TempDir::new().expect("a folder");
    let store = SqliteStore::open(folder.path().join("state.db")).expect("a store");
    runtime.block_on(fill(&store, count.unwrap_or(100_000)));
    let long = runtime.block_on(store.create(NewSession::default())).expect("a session");
    let mut dice = Dice(2);
    let messages: Vec<_> = (0..LONG).map(|_| Arc::new(Message::user(dice.text()))).collect();
    runtime.block_on(store.append(&long, &messages, Durability::Process)).expect("an append");

    let mut group = c.benchmark_group("search");
    for (name, text, roles) in QUERIES {
        let query = SearchQuery {
            text: (*text).into(),
            roles: roles.to_vec(),
            limit: 10,
            ..SearchQuery::default()
        };
        // The first search indexes what is not indexed yet.
        runtime.block_on(store.search(&query)).expect("an answer");
        group.bench_function(*name, |b| {
            b.iter(|| runtime.block_on(store.search(&query)).expect("an answer"));
        });
    }
    group.finish();
    c.bench_function("resume_2000_messages_among_many", |b| {
        b.iter(|| runtime.block_on(store.load(&long)).expect("a session"));
    });
    c.bench_function("list_50_sessions_among_many", |b| {
        b.iter(|| runtime.block_on(store.recent(50)).expect("a list"));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(50);
    targets = search
}
criterion_main!(benches);
