//! The settings the user made for this plugin. Without a host nothing is set.

use serde::de::DeserializeOwned;

use crate::types::Failure;

/// A setting as JSON text, or none where it is unset and has no default.
#[must_use]
pub fn get(key: &str) -> Option<String> {
    #[cfg(target_family = "wasm")]
    return crate::bindings::imports::hermes::plugin::config::get(key);
    #[cfg(not(target_family = "wasm"))]
    {
        let _ = key;
        None
    }
}

/// A setting as a value.
///
/// # Errors
///
/// `internal`, naming the setting, if it is set to something else than a `T`.
pub fn get_as<T: DeserializeOwned>(key: &str) -> Result<Option<T>, Failure> {
    let Some(text) = get(key) else { return Ok(None) };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| Failure::internal(format!("the setting `{key}` cannot be used: {error}")))
}
