//! What the host adds to an iteration: a scripted model that calls a tool that does nothing, with
//! the real store and every message and receipt kept. Guests have a benchmark of their own.
#![allow(missing_docs, clippy::unwrap_used, reason = "criterion's macros")]

use std::sync::Arc;

use async_trait::async_trait;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hermes_core::agent::{Agent, TurnInput};
use hermes_core::message::Effect;
use hermes_core::router::{ModelRouter, Route};
use hermes_core::testing::{ScriptedTransport, call, text};
use hermes_core::tool::{Part, Tool, ToolInvocation, ToolResult, ToolSpec, ToolTraits};
use hermes_core::transport::Sampling;
use hermes_store::SqliteStore;
use serde_json::value::RawValue;

/// Iterations of one turn.
const ITERATIONS: u32 = 50;

struct Noop(ToolSpec);

#[async_trait]
impl Tool for Noop {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }
    async fn call(&self, _: ToolInvocation) -> ToolResult {
        ToolResult::new(Ok(vec![Part::text("done")]), Effect::None)
    }
}

fn agent(store: &Arc<SqliteStore>) -> Agent {
    let calls = (0..ITERATIONS).map(|n| call(&[(&format!("c{n}"), "noop", "{}")]));
    let script = calls.chain([text("done")]);
    let route = Route {
        provider: "scripted".into(),
        model: "scripted".into(),
        context_window: None,
        prices: None,
        sampling: Sampling::default(),
        stream: true,
        transport: Arc::new(ScriptedTransport::new(script)),
    };
    let spec = ToolSpec {
        name: "noop".into(),
        title: None,
        description: "Does nothing.".into(),
        parameters: RawValue::from_string("{\"type\":\"object\"}".into()).unwrap().into(),
        source: "bench".into(),
        traits: ToolTraits { read_only: true, parallel_safe: true, ..ToolTraits::default() },
    };
    let tool: Arc<dyn Tool> = Arc::new(Noop(spec));
    Agent::builder(ModelRouter::new(route), Arc::clone(store)).tools([tool]).build().unwrap()
}

fn turn(criterion: &mut Criterion) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = {
        let _guard = runtime.enter();
        Arc::new(SqliteStore::open(folder.path().join("state.db")).unwrap())
    };
    let mut group = criterion.benchmark_group("turn");
    group.throughput(Throughput::Elements(u64::from(ITERATIONS)));
    group.bench_function("iterations", |bench| {
        bench.to_async(&runtime).iter(|| async {
            let result = agent(&store).run_turn(TurnInput::user("go")).await;
            assert!(result.completed);
        });
    });
    group.finish();
}

criterion_group!(benches, turn);
criterion_main!(benches);
