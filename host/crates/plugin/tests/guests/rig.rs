//! What these tests share: the built guests, a sandbox, and one-line calls.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use globset::{Glob, GlobSetBuilder};
use hermes_core::approver::Unattended;
use hermes_core::failure::Failure;
use hermes_core::hook::HookCall;
use hermes_core::keep::{PluginState, StateEntry, StateError, StateQuota};
use hermes_core::tool::{Body, Tool, ToolInvocation, ToolResult};
use hermes_plugin::policy::{Effective, HookPowers, Limits};
use hermes_plugin::secret::{NoSecrets, SecretSource};
use hermes_plugin::{HookOptions, Plugin, Sandbox, SandboxOptions};
use serde_json::{Map, Value, json};

/// The folder of the built guests. Cargo builds them once a run; an unchanged tree costs nothing.
static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/guests");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--target", "wasm32-wasip2"])
        .current_dir(&workspace)
        // Set for our own build, it must not reach that of another target.
        .env_remove("RUSTFLAGS")
        .status()
        .unwrap();
    assert!(status.success(), "the guests do not build");
    workspace.join("target/wasm32-wasip2/release")
});

/// The component of a guest.
pub(super) fn guest(name: &str) -> PathBuf {
    BUILT.join(format!("guest_{name}.wasm"))
}

/// A sandbox that keeps compiled code of the guests for all tests of this run.
pub(super) fn sandbox() -> Arc<Sandbox> {
    static CACHE: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());
    sandbox_at(CACHE.path())
}

pub(super) fn sandbox_at(cache: &Path) -> Arc<Sandbox> {
    sandbox_with(cache, Arc::new(NoSecrets))
}

/// A sandbox with places for secrets.
pub(super) fn sandbox_with(cache: &Path, secrets: Arc<dyn SecretSource>) -> Arc<Sandbox> {
    let state = Arc::new(Shelf::default());
    let options = SandboxOptions { cache_dir: Some(cache.to_owned()), state, secrets };
    Sandbox::new(options).unwrap()
}

/// The limits of the hostile guest's manifest.
pub(super) fn limits() -> Limits {
    Limits { memory_bytes: 64 << 20, wall: Duration::from_secs(1), ..Limits::default() }
}

pub(super) fn hostile(effective: Effective) -> Arc<Plugin> {
    let sandbox = sandbox();
    let inspected = sandbox.inspect(&guest("hostile")).unwrap();
    Plugin::new(&sandbox, "hostile", inspected, effective, limits(), Map::new())
}

pub(super) fn tool(plugin: &Arc<Plugin>, name: &str) -> Arc<dyn Tool> {
    let tools = plugin.tools(|spec| spec.description.clone());
    tools.into_iter().find(|tool| tool.spec().name == name).unwrap()
}

pub(super) fn invocation(arguments: Value) -> ToolInvocation {
    ToolInvocation {
        call_id: "c1".into(),
        session_id: "s1".into(),
        turn: 1,
        arguments: arguments.to_string().into(),
        cancel: Default::default(),
        deadline: None,
        progress: Arc::new(|_| {}),
        approver: Arc::new(Unattended),
    }
}

pub(super) async fn call(plugin: &Arc<Plugin>, name: &str, arguments: Value) -> ToolResult {
    tool(plugin, name).call(invocation(arguments)).await
}

/// The text of a result, or the failure.
pub(super) fn text(result: ToolResult) -> Result<String, Failure> {
    let parts = result.outcome?;
    let texts = parts.into_iter().map(|part| match part.body {
        Body::Text(text) => text,
        Body::Bytes(bytes) => format!("{} bytes", bytes.len()),
    });
    Ok(texts.collect())
}

pub(super) fn failure(result: ToolResult) -> Failure {
    result.outcome.unwrap_err()
}

/// A plugin of hooks that behaves as `settings` say.
pub(super) fn gate(settings: Value, powers: HookPowers) -> Arc<Plugin> {
    let sandbox = sandbox();
    let inspected = sandbox.inspect(&guest("gate")).unwrap();
    let effective = Effective { hook_powers: powers, ..Effective::default() };
    let config = settings.as_object().unwrap().clone();
    Plugin::new(&sandbox, "gate", inspected, effective, Limits::default(), config)
}

pub(super) fn hook_options() -> HookOptions {
    let tools = GlobSetBuilder::new().add(Glob::new("*").unwrap()).build().unwrap();
    HookOptions { tools, priority: 50, timeout: hermes_plugin::DEFAULT_TIMEOUT, trusted: false }
}

pub(super) fn pending(arguments: &Value) -> HookCall {
    HookCall {
        call_id: "c1".into(),
        session_id: "s1".into(),
        turn: 1,
        tool: "echo".into(),
        source: "hostile".into(),
        arguments: arguments.to_string().into(),
        cancel: Default::default(),
    }
}

pub(super) fn misbehave(how: &str) -> Value {
    json!({"how": how})
}

/// State in memory, with the quota the real store enforces left to its own tests.
#[derive(Default)]
struct Shelf(std::sync::Mutex<std::collections::BTreeMap<(String, String), StateEntry>>);

#[async_trait::async_trait]
impl PluginState for Shelf {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<StateEntry>, StateError> {
        Ok(self.0.lock().unwrap().get(&(namespace.into(), key.into())).cloned())
    }

    async fn put(
        &self,
        namespace: &str,
        key: &str,
        value: &[u8],
        _expected: Option<u64>,
        _ttl_s: Option<u32>,
        _quota: StateQuota,
    ) -> Result<Option<u64>, StateError> {
        let entry = StateEntry { value: value.to_vec(), revision: 1 };
        self.0.lock().unwrap().insert((namespace.into(), key.into()), entry);
        Ok(Some(1))
    }

    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, StateError> {
        Ok(self.0.lock().unwrap().remove(&(namespace.into(), key.into())).is_some())
    }

    async fn list_keys(
        &self,
        namespace: &str,
        prefix: &str,
        _after: Option<&str>,
        _limit: u32,
    ) -> Result<Vec<String>, StateError> {
        let shelf = self.0.lock().unwrap();
        let keys =
            shelf.keys().filter(|(space, key)| space == namespace && key.starts_with(prefix));
        Ok(keys.map(|(_, key)| key.clone()).collect())
    }
}
