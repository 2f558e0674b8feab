//! The hooks of a plugin, as the loop asks them: a gate before tool calls, a review after them, an
//! observer. What fails here is the hook's failure; that failure means refusal is decided in the
//! loop.

mod gate;
mod observer;
mod review;
mod slot;

use std::sync::Arc;
use std::time::Duration;

use globset::GlobSet;
use hermes_core::hook::{HookCall, HookFailure};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::bindings::plugin_types as wit;
use crate::call::{self, AsyncGuest, Bounds, Ended};
use crate::plugin::Plugin;
use slot::Slot;

pub(crate) use gate::WasmGate;
pub use observer::ObserverOptions;
pub(crate) use observer::WasmObserver;
pub(crate) use review::WasmReview;

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
    let scope = plugin.hook_scope(wall, cancel.clone());
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

/// What identifies a hook that is asked, for a type around [`Asked`].
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

use hook;

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
