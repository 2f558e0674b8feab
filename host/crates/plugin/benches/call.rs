//! What one guest call costs: a tool and a gate, each in an instance of its own. The components are
//! the test guests; build them first: `cargo build --release --target wasm32-wasip2` in
//! `tests/guests`.
#![allow(missing_docs, clippy::unwrap_used, reason = "criterion's macros")]

use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use globset::{Glob, GlobSetBuilder};
use hermes_core::approver::Unattended;
use hermes_core::hook::HookCall;
use hermes_core::keep::{PluginState, StateEntry, StateError, StateQuota};
use hermes_core::tool::ToolInvocation;
use hermes_plugin::policy::{Effective, HookPowers, Limits};
use hermes_plugin::secret::NoSecrets;
use hermes_plugin::{DEFAULT_TIMEOUT, HookOptions, Plugin, Sandbox, SandboxOptions};
use serde_json::Map;

struct Nothing;

#[async_trait::async_trait]
impl PluginState for Nothing {
    async fn get(&self, _: &str, _: &str) -> Result<Option<StateEntry>, StateError> {
        Ok(None)
    }
    async fn put(
        &self,
        _: &str,
        _: &str,
        _: &[u8],
        _: Option<u64>,
        _: Option<u32>,
        _: StateQuota,
    ) -> Result<Option<u64>, StateError> {
        Ok(Some(1))
    }
    async fn delete(&self, _: &str, _: &str) -> Result<bool, StateError> {
        Ok(false)
    }
    async fn list_keys(
        &self,
        _: &str,
        _: &str,
        _: Option<&str>,
        _: u32,
    ) -> Result<Vec<String>, StateError> {
        Ok(Vec::new())
    }
}

fn plugin(sandbox: &Arc<Sandbox>, name: &str, hook_powers: HookPowers) -> Arc<Plugin> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../tests/guests/target/wasm32-wasip2/release")
        .join(format!("guest_{name}.wasm"));
    let inspected = sandbox.inspect(&built).unwrap();
    let effective = Effective { hook_powers, ..Effective::default() };
    Plugin::new(sandbox, name, inspected, effective, Limits::default(), Map::new())
}

fn call(criterion: &mut Criterion) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let options =
        SandboxOptions { cache_dir: None, state: Arc::new(Nothing), secrets: Arc::new(NoSecrets) };
    let sandbox = Sandbox::new(options).unwrap();
    let tools =
        plugin(&sandbox, "hostile", HookPowers::default()).tools(|spec| spec.description.clone());
    let echo = tools.into_iter().find(|tool| tool.spec().name == "echo").unwrap();
    let invocation = ToolInvocation {
        call_id: "c1".into(),
        session_id: "s1".into(),
        turn: 1,
        arguments: "{\"text\":\"hello\"}".into(),
        cancel: Default::default(),
        deadline: None,
        progress: Arc::new(|_| {}),
        approver: Arc::new(Unattended),
    };
    criterion.bench_function("tool call", |bench| {
        bench.to_async(&runtime).iter(|| echo.call(invocation.clone()));
    });

    let full = HookPowers { full: true, ..HookPowers::default() };
    let globs = GlobSetBuilder::new().add(Glob::new("*").unwrap()).build().unwrap();
    let options =
        HookOptions { tools: globs, priority: 50, timeout: DEFAULT_TIMEOUT, trusted: false };
    let gate = plugin(&sandbox, "gate", full).gate(options);
    let pending = HookCall {
        call_id: "c1".into(),
        session_id: "s1".into(),
        turn: 1,
        tool: "echo".into(),
        source: "hostile".into(),
        arguments: "{\"text\":\"hello\"}".into(),
        cancel: Default::default(),
    };
    criterion.bench_function("gate", |bench| {
        bench.to_async(&runtime).iter(|| gate.check(&pending));
    });
}

criterion_group!(benches, call);
criterion_main!(benches);
