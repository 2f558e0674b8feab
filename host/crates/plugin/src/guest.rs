//! What a store holds for the one call it lives for: the guest's powers in this call, its limits,
//! and what it did.

use std::sync::Arc;
use std::time::Instant;

use hermes_core::keep::PluginState;
use hermes_core::tool::ProgressSink;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use wasmtime::ResourceLimiter;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::WasiHttpCtx;

use crate::policy::{Effective, Limits};
use crate::printed::Printed;
use crate::secret::{Placeholders, Vault};

/// What is the same for every call of a plugin.
pub(crate) struct Identity {
    /// The plugin's name.
    pub(crate) name: String,
    /// Its powers.
    pub(crate) effective: Effective,
    /// Its limits.
    pub(crate) limits: Limits,
    /// Its settings.
    pub(crate) config: serde_json::Map<String, Value>,
    /// Where its state is kept.
    pub(crate) state: Arc<dyn PluginState>,
    /// The secrets it may use.
    pub(crate) vault: Vault,
}

/// What one call is about.
pub(crate) struct Scope {
    /// Whose call it is.
    pub(crate) identity: Arc<Identity>,
    /// Which part of the plugin's state it sees.
    pub(crate) namespace: Arc<str>,
    /// Whether it sees the granted folders.
    pub(crate) folders: bool,
    /// Whether it may change what is in them, as far as that is granted.
    pub(crate) writes: bool,
    /// Whether it may use the granted secrets.
    pub(crate) secrets: bool,
    /// How many such calls may be under way at once; `None` for no limit.
    pub(crate) permits: Option<Arc<Semaphore>>,
    /// When its time is up.
    pub(crate) ends: Instant,
    /// Fires when the turn is interrupted.
    pub(crate) cancel: CancellationToken,
    /// Where it reports to.
    pub(crate) progress: Option<ProgressSink>,
}

/// The data of a store.
pub(crate) struct Guest {
    pub(crate) scope: Scope,
    pub(crate) wasi: WasiCtx,
    pub(crate) table: ResourceTable,
    pub(crate) http: WasiHttpCtx,
    pub(crate) http_hooks: crate::wasi::NoHttp,
    pub(crate) memory: MemoryLimiter,
    /// Bytes of log written so far.
    pub(crate) logged: usize,
    /// What the guest said when it panicked.
    pub(crate) panic: Option<String>,
    /// What it printed.
    pub(crate) printed: Printed,
    /// What stands for secrets in this call.
    pub(crate) placeholders: Placeholders,
    /// When it last reported how far it is.
    pub(crate) reported: Option<Instant>,
}

impl Guest {
    /// A guest with the powers of its scope and nothing done yet.
    ///
    /// # Errors
    /// A granted folder is not there any more; the text names it.
    pub(crate) fn new(scope: Scope, memory_bytes: usize) -> Result<Self, String> {
        let printed = Printed::default();
        if scope.secrets {
            scope.identity.vault.learn();
        }
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES);
        Ok(Self {
            wasi: crate::wasi::context(&scope, &printed)?,
            table,
            http: WasiHttpCtx::default(),
            http_hooks: crate::wasi::NoHttp,
            memory: MemoryLimiter::new(memory_bytes),
            logged: 0,
            panic: None,
            printed,
            placeholders: Placeholders::default(),
            reported: None,
            scope,
        })
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// Most resources a guest may hold at once. Each may be an open file of this process, which has
/// often no more than 1024 of them for everything.
const RESOURCES: usize = 512;

/// Most entries of all tables together.
const TABLE_ELEMENTS: usize = 200_000;

/// Limits the sum of all memories and tables of a store.
pub(crate) struct MemoryLimiter {
    limit: usize,
    used: usize,
    table_elements: usize,
    /// The most that was ever in use.
    pub(crate) peak: usize,
    /// Whether something was refused.
    pub(crate) refused: bool,
}

impl MemoryLimiter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, used: 0, table_elements: 0, peak: 0, refused: false }
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let used = self.used.saturating_add(desired.saturating_sub(current));
        if used > self.limit || maximum.is_some_and(|maximum| desired > maximum) {
            self.refused |= used > self.limit;
            return Ok(false);
        }
        self.used = used;
        self.peak = self.peak.max(used);
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let elements = self.table_elements.saturating_add(desired.saturating_sub(current));
        if elements > TABLE_ELEMENTS {
            self.refused = true;
            return Ok(false);
        }
        self.table_elements = elements;
        Ok(true)
    }

    fn instances(&self) -> usize {
        256
    }

    fn tables(&self) -> usize {
        256
    }

    fn memories(&self) -> usize {
        16
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn all_memories_share_one_limit() {
        let mut limiter = MemoryLimiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.memory_growing(0, 40, None).unwrap());
        assert!(!limiter.memory_growing(40, 41, None).unwrap());
        assert_eq!((limiter.peak, limiter.refused), (100, true));
    }
}
