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

/// A token that stands for the secret in a header or query value of a request during this call,
/// and in a JSON body where the manifest says `body = true`. The host puts the value in its place
/// on the way to the secret's audience, and denies the request to anybody else.
///
/// For a user and password, write `Basic USER:TOKEN` into `Authorization`: the host encodes it once
/// the value is there.
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
