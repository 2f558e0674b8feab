//! The hooks of a plugin, as the loop asks them: a gate before tool calls, a review after them, an
//! observer. What fails here is the hook's failure; that failure means refusal is decided in the
//! loop.

mod slot;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use globset::GlobSet;
use hermes_core::failure::Attributes;
use hermes_core::hook::{
    FinishedCall, Hook, HookCall, HookFailure, Observer, PostToolCall, PostVerdict, PreToolCall,
    PreVerdict,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use wasmtime::Store;

use crate::bindings::gate::GatePluginPre;
use crate::bindings::gate::exports::hermes::plugin::pre_tool_call as gate;
use crate::bindings::observer::ObserverPluginPre;
use crate::bindings::plugin_types as wit;
use crate::bindings::review::ReviewPluginPre;
use crate::bindings::review::exports::hermes::plugin::post_tool_call as review;
use crate::call::{self, AsyncGuest, Bounds, Ended};
use crate::convert;
use crate::guest::{Guest, Scope};
use crate::plugin::Plugin;
use slot::Slot;

/// Time a hook has where its manifest says nothing.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_millis(50);

/// Most time a hook can have: it stands before every call.
pub const MAX_TIMEOUT: Duration = Duration::from_millis(250);

/// The clock on the wall runs this many times longer than a hook's own time, since on a busy
/// machine waiting is not the hook's doing.
const WALL_FACTOR: u32 = 20;

/// Memory of a hook.
const MEMORY_BYTES: usize = 64 << 20;

/// Longest reason, question or note.
const REASON_BYTES: usize = 2 << 10;

/// Longest string in arguments a hook without the power `full` sees.
const CUT_BYTES: usize = 256;

/// When a hook is asked.
#[derive(Debug, Clone)]
pub struct HookOptions {
    /// The tools it wants.
    pub tools: GlobSet,
    /// Lower runs first.
    pub priority: i32,
    /// Time for one answer.
    pub timeout: Duration,
    /// Whether the model may read its own words.
    pub trusted: bool,
}

/// When an observer is told.
#[derive(Debug, Clone)]
pub struct ObserverOptions {
    /// The points it wants.
    pub points: GlobSet,
    /// Time for one notice.
    pub timeout: Duration,
}

/// What gate and review share.
struct Asked {
    plugin: Arc<Plugin>,
    options: HookOptions,
    slot: Slot,
}

impl Asked {
    fn new(plugin: Arc<Plugin>, mut options: HookOptions) -> Self {
        options.timeout = options.timeout.min(MAX_TIMEOUT);
        Self { plugin, options, slot: Slot::default() }
    }

    /// Runs one question through the guest.
    async fn ask<T, F>(&self, cancel: &CancellationToken, guest: F) -> Result<T, HookFailure>
    where
        T: Send + 'static,
        F: AsyncGuest<Result<T, String>>,
    {
        self.slot.open()?;
        let ended = enter(&self.plugin, self.options.timeout, cancel, guest).await;
        self.slot.judge(ended.value)
    }

    fn sees(&self, json: &str) -> String {
        if self.plugin.identity.effective.hook_powers.full {
            json.to_owned()
        } else {
            shortened(json)
        }
    }

    fn info(&self, call: &HookCall) -> wit::CallInfo {
        wit::CallInfo {
            call_id: call.call_id.clone(),
            session_id: call.session_id.to_string(),
            turn: call.turn,
            deadline_ms: u64::try_from(self.options.timeout.as_millis()).unwrap_or(u64::MAX),
            max_result_bytes: 16 << 20,
            attributes: Vec::new(),
        }
    }
}

async fn enter<T, F>(
    plugin: &Plugin,
    timeout: Duration,
    cancel: &CancellationToken,
    guest: F,
) -> Ended<T>
where
    T: Send + 'static,
    F: AsyncGuest<T>,
{
    let wall = timeout * WALL_FACTOR;
    let memory_bytes = plugin.identity.limits.memory_bytes.min(MEMORY_BYTES);
    let bounds = Bounds { memory_bytes, wall, busy: Some(timeout) };
    let scope: Scope = plugin.scope(true, wall, cancel.clone());
    call::run(&plugin.code.sandbox().runtime, scope, bounds, guest).await
}

/// Arguments with every long string cut: a hook that was not trusted with everything.
fn shortened(json: &str) -> String {
    fn cut(value: &mut Value) {
        match value {
            Value::String(text) if text.len() > CUT_BYTES => {
                *text = hermes_core::text::ellipsis(text, CUT_BYTES).into_owned();
            }
            Value::Array(items) => items.iter_mut().for_each(cut),
            Value::Object(fields) => fields.values_mut().for_each(cut),
            _ => {}
        }
    }
    let Ok(mut value) = serde_json::from_str::<Value>(json) else { return "{}".into() };
    cut(&mut value);
    value.to_string()
}

fn capped(text: String) -> String {
    hermes_core::text::ellipsis(&text, REASON_BYTES).into_owned()
}

/// A hook that stays silent because its code is not there.
fn unready(problem: String) -> HookFailure {
    HookFailure { reason: "could not be started".into(), detail: problem }
}

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

/// Speaks after tool calls.
pub(crate) struct WasmReview(Asked);

impl WasmReview {
    pub(crate) fn new(plugin: Arc<Plugin>, options: HookOptions) -> Self {
        Self(Asked::new(plugin, options))
    }
}

/// What a review guest answers.
type Reviewed = Result<review::Verdict, String>;

struct Review {
    pre: ReviewPluginPre<Guest>,
    finished: review::FinishedCall,
}

impl AsyncGuest<Reviewed> for Review {
    async fn enter(
        self,
        store: &mut Store<Guest>,
        instantiated: &mut Option<Instant>,
    ) -> wasmtime::Result<Reviewed> {
        let plugin = self.pre.instantiate_async(&mut *store).await?;
        *instantiated = Some(Instant::now());
        plugin.hermes_plugin_post_tool_call().call_review(store, &self.finished).await
    }
}

#[async_trait]
impl PostToolCall for WasmReview {
    fn guards(&self) -> bool {
        self.0.plugin.identity.effective.hook_powers.replace
    }

    async fn review(&self, call: &FinishedCall) -> Result<PostVerdict, HookFailure> {
        let asked = &self.0;
        let (linked, _) = asked.plugin.code.ready().await.map_err(unready)?;
        let pre =
            linked.review.clone().ok_or_else(|| unready("no post-tool-call export".into()))?;
        let mut outcome = convert::outcome_out(&call.outcome);
        if !asked.plugin.identity.effective.hook_powers.full {
            shorten_outcome(&mut outcome);
        }
        let finished = review::FinishedCall {
            tool: call.call.tool.clone(),
            source: call.call.source.clone(),
            arguments: asked.sees(&call.call.arguments),
            outcome,
            duration_ms: u64::try_from(call.duration.as_millis()).unwrap_or(u64::MAX),
            info: asked.info(&call.call),
        };
        match asked.ask(&call.call.cancel, Review { pre, finished }).await? {
            review::Verdict::Keep => Ok(PostVerdict::Keep),
            review::Verdict::Note(text) => Ok(PostVerdict::Note { text: capped(text) }),
            review::Verdict::Withhold(reason) => {
                Ok(PostVerdict::Withhold { reason: capped(reason) })
            }
            review::Verdict::Replace(parts) if self.guards() => {
                Ok(PostVerdict::Replace { parts: convert::parts(parts) })
            }
            review::Verdict::Replace(_) => {
                let plugin = asked.plugin.name();
                tracing::warn!(%plugin, "replacement dropped: no power `replace`; allow it: hermes-host plugins grant {plugin} hook:replace");
                Ok(PostVerdict::Keep)
            }
        }
    }
}

fn shorten_outcome(outcome: &mut Result<Vec<wit::Part>, wit::Failure>) {
    let Ok(parts) = outcome else { return };
    for part in parts {
        match &mut part.body {
            wit::Body::Text(text) => {
                *text = hermes_core::text::ellipsis(text, CUT_BYTES).into_owned()
            }
            wit::Body::Bytes(bytes) => bytes.truncate(CUT_BYTES),
        }
    }
}

macro_rules! hook {
    ($type:ty) => {
        impl Hook for $type {
            fn name(&self) -> &str {
                self.0.plugin.name()
            }
            fn priority(&self) -> i32 {
                self.0.options.priority
            }
            fn matches(&self, tool: &str) -> bool {
                self.0.options.tools.is_match(tool)
            }
            fn trusted(&self) -> bool {
                self.0.options.trusted
            }
        }
    };
}

hook!(WasmGate);
hook!(WasmReview);

/// Listens.
pub(crate) struct WasmObserver {
    plugin: Arc<Plugin>,
    options: ObserverOptions,
    slot: Slot,
}

impl WasmObserver {
    pub(crate) fn new(plugin: Arc<Plugin>, mut options: ObserverOptions) -> Self {
        options.timeout = options.timeout.min(MAX_TIMEOUT);
        Self { plugin, options, slot: Slot::default() }
    }
}

struct Notify {
    pre: ObserverPluginPre<Guest>,
    point: String,
    fields: Vec<wit::Attribute>,
}

impl AsyncGuest<()> for Notify {
    async fn enter(
        self,
        store: &mut Store<Guest>,
        instantiated: &mut Option<Instant>,
    ) -> wasmtime::Result<()> {
        let plugin = self.pre.instantiate_async(&mut *store).await?;
        *instantiated = Some(Instant::now());
        plugin.hermes_plugin_observer().call_notify(store, &self.point, &self.fields).await
    }
}

#[async_trait]
impl Observer for WasmObserver {
    fn name(&self) -> &str {
        self.plugin.name()
    }

    fn matches(&self, point: &str) -> bool {
        self.options.points.is_match(point)
    }

    async fn notify(&self, point: &str, fields: &Attributes) {
        if self.slot.failures() >= slot::FAILURES {
            return;
        }
        let Ok((linked, _)) = self.plugin.code.ready().await else { return };
        let Some(pre) = linked.observer.clone() else { return };
        let fields = fields
            .iter()
            .map(|(name, value)| wit::Attribute { name: name.clone(), value: value.to_string() });
        let guest = Notify { pre, point: point.to_owned(), fields: fields.collect() };
        let ended =
            enter(&self.plugin, self.options.timeout, &CancellationToken::new(), guest).await;
        if let Err(stopped) = ended.value {
            let failures = self.slot.count();
            let plugin = self.plugin.name();
            tracing::warn!(%plugin, failures, "observer failed: {stopped:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_power_full_long_strings_are_cut() {
        let long = "é".repeat(300);
        let json = serde_json::json!({"a": [long], "b": {"c": "short"}}).to_string();
        let cut: Value = serde_json::from_str(&shortened(&json)).unwrap_or_default();
        assert_eq!(cut["b"]["c"], "short");
        assert_eq!(cut["a"][0].as_str().map(str::len), Some(255), "cut at a character");
    }
}
