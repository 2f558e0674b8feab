//! A loaded plugin: its code, its identity, and the tools and hooks it becomes for the loop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_core::hook::{Observer, PostToolCall, PreToolCall};
use hermes_core::tool::Tool;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::code::Code;
use crate::guest::{Identity, Scope};
use crate::hook::{HookOptions, ObserverOptions, WasmGate, WasmObserver, WasmReview};
use crate::inspect::{Inspected, RawSpec};
use crate::policy::{Effective, Limits};
use crate::sandbox::Sandbox;
use crate::tool::WasmTool;

/// One loaded revision of a plugin.
pub struct Plugin {
    pub(crate) identity: Arc<Identity>,
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
        let identity = Identity { name: name.into(), effective, limits, config, state };
        let Inspected { digest, specs, code, .. } = inspected;
        Arc::new(Self { identity: Arc::new(identity), code, digest, specs })
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

    /// The scope of one call. Hooks see a namespace of state apart from their plugin's tools: what
    /// a hook overhears must not reach a tool that can phone home.
    pub(crate) fn scope(&self, hook: bool, wall: Duration, cancel: CancellationToken) -> Scope {
        let name = &self.identity.name;
        let namespace = if hook { format!("{name}/hooks") } else { name.clone() };
        Scope {
            identity: Arc::clone(&self.identity),
            namespace: namespace.into(),
            ends: Instant::now() + wall,
            cancel,
            progress: None,
        }
    }
}
