//! `state`: durable key-value state, a namespace apart for each plugin and, within one, for its
//! hooks.

use hermes_core::failure::code;
use hermes_core::keep::StateError;

use crate::bindings::plugin_types::Failure;
use crate::bindings::state::{Entry, Host};
use crate::convert::refusal;
use crate::guest::Guest;

/// Longest key in bytes.
const KEY_BYTES: usize = 256;

/// Most keys of one listing.
const LISTED_KEYS: u32 = 1000;

impl Guest {
    async fn put(
        &mut self,
        key: &str,
        value: &[u8],
        expected: Option<u64>,
        ttl_s: Option<u32>,
    ) -> Result<Option<u64>, Failure> {
        check_key(key)?;
        let scope = &self.scope;
        let quota = scope.identity.effective.state;
        let state = &scope.identity.state;
        state.put(&scope.namespace, key, value, expected, ttl_s, quota).await.map_err(failed)
    }
}

impl Host for Guest {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Entry>, Failure>> {
        let scope = &self.scope;
        let entry = scope.identity.state.get(&scope.namespace, &key).await;
        let entry = entry
            .map(|entry| entry.map(|entry| Entry { value: entry.value, revision: entry.revision }));
        Ok(entry.map_err(failed))
    }

    async fn set(
        &mut self,
        key: String,
        value: Vec<u8>,
        ttl_s: Option<u32>,
    ) -> wasmtime::Result<Result<u64, Failure>> {
        let revision = self.put(&key, &value, None, ttl_s).await;
        // Without an expected revision a write cannot lose to another.
        Ok(revision.map(Option::unwrap_or_default))
    }

    async fn compare_and_set(
        &mut self,
        key: String,
        revision: u64,
        value: Vec<u8>,
    ) -> wasmtime::Result<Result<Option<u64>, Failure>> {
        Ok(self.put(&key, &value, Some(revision), None).await)
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<bool, Failure>> {
        let scope = &self.scope;
        Ok(scope.identity.state.delete(&scope.namespace, &key).await.map_err(failed))
    }

    async fn list_keys(
        &mut self,
        prefix: String,
        after: Option<String>,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<String>, Failure>> {
        let scope = &self.scope;
        let limit = limit.min(LISTED_KEYS);
        let state = &scope.identity.state;
        let keys = state.list_keys(&scope.namespace, &prefix, after.as_deref(), limit).await;
        Ok(keys.map_err(failed))
    }
}

fn check_key(key: &str) -> Result<(), Failure> {
    if key.is_empty() || key.len() > KEY_BYTES {
        let length = key.len();
        let message = format!("a state key has 1 to {KEY_BYTES} bytes, not {length}");
        return Err(refusal(code::INVALID_ARGUMENTS, message));
    }
    Ok(())
}

fn failed(error: StateError) -> Failure {
    match error {
        StateError::OverQuota(message) => refusal(code::TOO_LARGE, message),
        StateError::Store(error) => refusal(code::UNAVAILABLE, error.to_string()),
    }
}
