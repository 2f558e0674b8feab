//! A small store of the plugin's own that outlives calls, sessions and the process. Without a host it
//! lives in memory, one for each thread, so that tests do not see each other's entries; a lifetime
//! is ignored there.

use crate::types::Failure;

pub use crate::bindings::imports::hermes::plugin::state::Entry;

#[cfg(target_family = "wasm")]
use crate::bindings::imports::hermes::plugin::state as wire;
#[cfg(not(target_family = "wasm"))]
use memory as wire;

/// Reads a key; none if it is absent or has expired.
///
/// # Errors
///
/// If the host's store cannot be read.
pub fn get(key: &str) -> Result<Option<Entry>, Failure> {
    wire::get(key)
}

/// Writes a key, whatever it held, and answers with the new revision. `ttl_s` is its life in seconds;
/// without it the entry stays until deleted.
///
/// # Errors
///
/// `too-large` over the plugin's quota.
pub fn set(key: &str, value: &[u8], ttl_s: Option<u32>) -> Result<u64, Failure> {
    wire::set(key, value, ttl_s)
}

/// Writes a key if it is still at `revision` (0: if it does not exist) and answers with the new
/// revision, or none if somebody else was first.
///
/// # Errors
///
/// `too-large` over the plugin's quota.
pub fn compare_and_set(key: &str, revision: u64, value: &[u8]) -> Result<Option<u64>, Failure> {
    wire::compare_and_set(key, revision, value)
}

/// Removes a key; whether it was there.
///
/// # Errors
///
/// If the host's store cannot be written.
pub fn delete(key: &str) -> Result<bool, Failure> {
    wire::delete(key)
}

/// At most `limit` keys that begin with `prefix` and sort after `after`; none means no more follow.
///
/// # Errors
///
/// If the host's store cannot be read.
pub fn list_keys(prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<String>, Failure> {
    wire::list_keys(prefix, after, limit)
}

/// The store of a native build.
#[cfg(not(target_family = "wasm"))]
mod memory {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use super::Entry;
    use crate::types::Failure;

    #[derive(Default)]
    struct Store {
        entries: BTreeMap<String, Entry>,
        /// Counts the writes of all keys, so that no revision comes back when a key does.
        writes: u64,
    }

    thread_local! {
        static STORE: RefCell<Store> = RefCell::default();
    }

    pub(super) fn get(key: &str) -> Result<Option<Entry>, Failure> {
        Ok(STORE.with_borrow(|store| store.entries.get(key).cloned()))
    }

    pub(super) fn set(key: &str, value: &[u8], _ttl_s: Option<u32>) -> Result<u64, Failure> {
        Ok(STORE.with_borrow_mut(|store| {
            store.writes += 1;
            let entry = Entry { value: value.to_vec(), revision: store.writes };
            store.entries.insert(key.to_owned(), entry);
            store.writes
        }))
    }

    pub(super) fn compare_and_set(
        key: &str,
        revision: u64,
        value: &[u8],
    ) -> Result<Option<u64>, Failure> {
        let current = get(key)?.map_or(0, |entry| entry.revision);
        if current != revision {
            return Ok(None);
        }
        set(key, value, None).map(Some)
    }

    pub(super) fn delete(key: &str) -> Result<bool, Failure> {
        Ok(STORE.with_borrow_mut(|store| store.entries.remove(key).is_some()))
    }

    pub(super) fn list_keys(
        prefix: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, Failure> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(STORE.with_borrow(|store| {
            store
                .entries
                .keys()
                .filter(|key| {
                    key.starts_with(prefix) && after.is_none_or(|after| key.as_str() > after)
                })
                .take(limit)
                .cloned()
                .collect()
        }))
    }
}
