//! The hook before tool calls: it may object, ask, or put other arguments in place of the model's.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use hermes_core::hook::{Hook, HookCall, HookFailure, PreToolCall, PreVerdict};
use wasmtime::Store;

use super::{Asked, HookOptions, capped, hook, unready};
use crate::bindings::gate::GatePluginPre;
use crate::bindings::gate::exports::hermes::plugin::pre_tool_call as gate;
use crate::call::AsyncGuest;
use crate::guest::Guest;
use crate::plugin::Plugin;

/// Speaks before tool calls.
pub(crate) struct WasmGate(Asked);

impl WasmGate {
    pub(crate) fn new(plugin: Arc<Plugin>, options: HookOptions) -> Self {
        Self(Asked::new(plugin, options))
    }
}

/// What a gate guest answers.
type Checked = Result<gate::Verdict, String>;

struct Check {
    pre: GatePluginPre<Guest>,
    pending: gate::PendingCall,
}

impl AsyncGuest<Checked> for Check {
    async fn enter(
        self,
        store: &mut Store<Guest>,
        instantiated: &mut Option<Instant>,
    ) -> wasmtime::Result<Checked> {
        let plugin = self.pre.instantiate_async(&mut *store).await?;
        *instantiated = Some(Instant::now());
        plugin.hermes_plugin_pre_tool_call().call_check(store, &self.pending).await
    }
}

#[async_trait]
impl PreToolCall for WasmGate {
    async fn check(&self, call: &HookCall) -> Result<PreVerdict, HookFailure> {
        let asked = &self.0;
        let (linked, _) = asked.plugin.code.ready().await.map_err(unready)?;
        let pre = linked.gate.clone().ok_or_else(|| unready("no pre-tool-call export".into()))?;
        let pending = gate::PendingCall {
            tool: call.tool.clone(),
            source: call.source.clone(),
            arguments: asked.sees(&call.arguments),
            info: asked.info(call),
        };
        match asked.ask(&call.cancel, Check { pre, pending }).await? {
            gate::Verdict::Proceed => Ok(PreVerdict::Proceed),
            gate::Verdict::Deny(reason) => Ok(PreVerdict::Deny { reason: capped(reason) }),
            gate::Verdict::Ask(question) => Ok(PreVerdict::Ask { question: capped(question) }),
            gate::Verdict::Rewrite(arguments)
                if asked.plugin.identity.effective.hook_powers.rewrite =>
            {
                Ok(PreVerdict::Rewrite { arguments })
            }
            gate::Verdict::Rewrite(_) => Err(HookFailure {
                reason: "rewrote the arguments without the power to".into(),
                detail: format!(
                    "allow it: hermes-host plugins grant {} hook:rewrite",
                    asked.plugin.name()
                ),
            }),
        }
    }
}

hook!(WasmGate);
