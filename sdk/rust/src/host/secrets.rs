//! Credentials by name; their values never come here. Without a host there are none.

use crate::types::Failure;

#[cfg(target_family = "wasm")]
use crate::bindings::imports::hermes::plugin::secrets as wire;

/// Whether the secret is granted and has a value.
#[must_use]
pub fn exists(name: &str) -> bool {
    #[cfg(target_family = "wasm")]
    return wire::exists(name);
    #[cfg(not(target_family = "wasm"))]
    {
        let _ = name;
        false
    }
}

/// A token that stands for the secret in a header or query value of a request during this call.
///
/// # Errors
///
/// `denied` where it is not granted, `auth-required` where it has no value yet.
pub fn placeholder(name: &str) -> Result<String, Failure> {
    #[cfg(target_family = "wasm")]
    return wire::placeholder(name);
    #[cfg(not(target_family = "wasm"))]
    Err(Failure::denied(format!("the secret `{name}` needs a host")))
}
