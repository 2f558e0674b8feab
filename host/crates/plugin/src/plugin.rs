//! A loaded plugin: its code, its identity, and the tools and hooks it becomes for the loop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_core::hook::{Observer, PostToolCall, PreToolCall};
use hermes_core::tool::Tool;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::code::Code;
use crate::guest::{Identity, Scope};
use crate::hook::{HookOptions, ObserverOptions, WasmGate, WasmObserver, WasmReview};
use crate::inspect::{Inspected, RawSpec};
use crate::policy::{Effective, Limits};
use crate::sandbox::Sandbox;
use crate::secret::Vault;
use crate::tool::WasmTool;

/// Tool calls of one plugin that can be under way at once; more wait. A call that hangs in a file
/// operation counts until that ends, so that one plugin cannot take the threads of all.
const CALLS: usize = 16;

/// One loaded revision of a plugin.
pub struct Plugin {
    pub(crate) identity: Arc<Identity>,
    calls: Arc<Semaphore>,
    pub(crate) code: Arc<Code>,
    pub(crate) digest: String,
    specs: Vec<RawSpec>,
}

impl Plugin {
    /// A plugin with these powers, limits and settings.
    pub fn new(
        sandbox: &Arc<Sandbox>,
        name: impl Into<String>,
        inspected: Inspected,
        effective: Effective,
        limits: Limits,
        config: Map<String, Value>,
    ) -> Arc<Self> {
        let state = Arc::clone(&sandbox.state);
        let vault = Vault::new(effective.secrets.clone(), Arc::clone(&sandbox.secrets));
        let identity = Identity { name: name.into(), effective, limits, config, state, vault };
        let Inspected { digest, specs, code, .. } = inspected;
        let calls = Arc::new(Semaphore::new(CALLS));
        Arc::new(Self { identity: Arc::new(identity), calls, code, digest, specs })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.identity.name
    }

    /// Its tools. `describe` may add to what the model is told about each.
    pub fn tools(self: &Arc<Self>, describe: impl Fn(&RawSpec) -> String) -> Vec<Arc<dyn Tool>> {
        let tool = |spec: &RawSpec| -> Arc<dyn Tool> {
            Arc::new(WasmTool::new(Arc::clone(self), spec, describe(spec)))
        };
        self.specs.iter().map(tool).collect()
    }

    /// Its hook before tool calls.
    pub fn gate(self: &Arc<Self>, options: HookOptions) -> Arc<dyn PreToolCall> {
        Arc::new(WasmGate::new(Arc::clone(self), options))
    }

    /// Its hook after tool calls.
    pub fn review(self: &Arc<Self>, options: HookOptions) -> Arc<dyn PostToolCall> {
        Arc::new(WasmReview::new(Arc::clone(self), options))
    }

    /// Its observer.
    pub fn observer(self: &Arc<Self>, options: ObserverOptions) -> Arc<dyn Observer> {
        Arc::new(WasmObserver::new(Arc::clone(self), options))
    }

    /// The scope of one tool call.
    pub(crate) fn tool_scope(&self, wall: Duration, cancel: CancellationToken) -> Scope {
        Scope {
            identity: Arc::clone(&self.identity),
            namespace: self.name().into(),
            folders: true,
            writes: true,
            secrets: true,
            permits: Some(Arc::clone(&self.calls)),
            ends: Instant::now() + wall,
            cancel,
            progress: None,
        }
    }

    /// The scope of one question to a hook. Hooks have neither the granted folders and secrets nor the
    /// state of their plugin's tools: a hook hears of every call, and what it hears must not reach a tool
    /// that can phone home.
    pub(crate) fn hook_scope(&self, wall: Duration, cancel: CancellationToken) -> Scope {
        Scope {
            namespace: format!("{}/hooks", self.name()).into(),
            folders: false,
            writes: false,
            secrets: false,
            permits: None,
            ..self.tool_scope(wall, cancel)
        }
    }
}
