//! The ports through which adapters leave things behind without seeing each other: a plugin's
//! durable state, receipts of calls, and results too long for the model.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::store::StoreError;
use crate::tool::Part;

/// What one tool call cost and what was said about it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receipt {
    /// The call.
    pub call_id: String,
    /// The session it belongs to.
    pub session_id: String,
    /// The tool.
    pub tool: String,
    /// Where the tool comes from.
    pub source: String,
    /// The plugin's bytes that ran (SHA-256, hex), if it was a plugin.
    pub component: Option<String>,
    /// `ok`, or the failure's code.
    pub outcome: String,
    /// Whole call, in microseconds.
    pub total_us: u64,
    /// Reading and preparing compiled code, in microseconds; 0 when it was ready.
    pub prepare_us: u64,
    /// Making the instance, in microseconds.
    pub instantiate_us: u64,
    /// Inside the guest, host calls included, in microseconds.
    pub guest_us: u64,
    /// Most linear memory in use, in bytes.
    pub peak_memory_bytes: u64,
    /// Size of the result before any cut, in bytes.
    pub result_bytes: u64,
    /// Each hook's verdict, in order, as `name: verdict`.
    pub verdicts: Vec<String>,
    /// The arguments that ran, where a hook rewrote the model's own.
    pub rewritten_arguments: Option<String>,
}

/// Remembers receipts.
pub trait Receipts: Send + Sync {
    /// Contract: returns at once; a lost receipt is logged and fails nothing.
    fn record(&self, receipt: Receipt);
}

/// Keeps results that are too long for the model, so that what is cut can be read.
#[async_trait]
pub trait Spill: Send + Sync {
    /// Keeps the parts of one call's result.
    async fn keep(&self, session_id: &str, call_id: &str, parts: &[Part])
    -> Result<(), StoreError>;

    /// Text of a kept result from byte `offset`, at most `limit` bytes, cut at characters, and its
    /// whole length in bytes; `None` if nothing is kept under that call.
    async fn read(
        &self,
        session_id: &str,
        call_id: &str,
        offset: u64,
        limit: usize,
    ) -> Result<Option<(String, u64)>, StoreError>;
}

/// One stored value of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateEntry {
    /// The value.
    pub value: Vec<u8>,
    /// Grows with every write of this key; never 0.
    pub revision: u64,
}

/// How much one plugin may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateQuota {
    /// Keys and values together, in bytes.
    pub max_bytes: u64,
    /// Number of keys.
    pub max_keys: u64,
}

/// Why a write to plugin state failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Over the quota; the text names it.
    #[error("{0}")]
    OverQuota(String),
    /// The store is broken.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Durable key-value state, a namespace apart for each plugin.
#[async_trait]
pub trait PluginState: Send + Sync {
    /// Reads a key; expired values are absent.
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<StateEntry>, StateError>;

    /// Writes a key if its revision is `expected` (`None`: whatever it is; `Some(0)`: it must not
    /// exist) and returns the new revision, or `None` if the revision was another. `ttl_s` is how
    /// long it lives, in seconds.
    async fn put(
        &self,
        namespace: &str,
        key: &str,
        value: &[u8],
        expected: Option<u64>,
        ttl_s: Option<u32>,
        quota: StateQuota,
    ) -> Result<Option<u64>, StateError>;

    /// Deletes a key; whether it was there.
    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, StateError>;

    /// Keys that start with `prefix` and sort after `after`, sorted, at most `limit`.
    async fn list_keys(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, StateError>;
}
