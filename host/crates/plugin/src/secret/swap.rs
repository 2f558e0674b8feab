//! The swap: an outgoing request with placeholders becomes one with values, or is refused. A pure
//! function; the door that sends keeps the request as it was for everything that is shown or logged.
//!
//! A placeholder is swapped in header values, in query values, and in a JSON body where the manifest
//! says so; in `Basic` credentials also where they are in base64 already. Anything that would carry a
//! placeholder or a value to another origin than its audience is refused, in whatever form the
//! [`Redactor`] finds.

mod basic;
mod place;

use bytes::Bytes;
use hermes_core::failure::code;
use http::{HeaderMap, HeaderValue, Method};
use url::{Origin, Url};

use super::placeholder::{Placeholders, tokens_in};
use super::redactor::Redactor;
use super::rule::{Inject, SecretRule, missing};
use super::value::Secret;
use super::vault::Vault;

/// One request, or one hop of it.
#[derive(Clone)]
pub struct Outgoing {
    /// Its method.
    pub method: Method,
    /// Where it goes.
    pub url: Url,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, empty for none.
    pub body: Bytes,
}

/// Why a request cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The failure's code.
    pub code: &'static str,
    /// What is wrong and what to do: a whole sentence.
    pub message: String,
}

impl Refused {
    fn new(code: &'static str, message: String) -> Self {
        Self { code, message }
    }
}

/// The request as it is sent: placeholders swapped, and what the rules inject put in.
///
/// # Errors
/// A placeholder nobody gave out in this call, one that stands where none may, a secret that would
/// reach somebody else than its audience, or one that is granted and has no value.
pub fn swap(
    request: &Outgoing,
    vault: &Vault,
    placeholders: &Placeholders,
) -> Result<Outgoing, Refused> {
    let mut sent = request.clone();
    refuse_unknown(request, placeholders)?;
    refuse_misdirected(request, vault, placeholders)?;
    for (name, token) in placeholders.issued() {
        let mine = |rule: &&SecretRule| rule.name == name && rule.is_for(&request.url);
        let Some(rule) = vault.rules().iter().find(mine) else { continue };
        place::refuse_misplaced(&sent, rule, token)?;
        if place::holds(&sent, token) {
            let value = value(vault, rule)?;
            place::swap_token(&mut sent, token, &value)
                .map_err(|what| Refused::new(code::INVALID_ARGUMENTS, what))?;
        }
    }
    for rule in vault.rules().iter().filter(|rule| rule.is_for(&request.url)) {
        inject(&mut sent, rule, vault)?;
    }
    Ok(sent)
}

fn refuse_unknown(request: &Outgoing, placeholders: &Placeholders) -> Result<(), Refused> {
    for text in place::texts(request) {
        if tokens_in(text).any(|token| !placeholders.knows(token)) {
            let message = "the request holds a placeholder that was not given out in this call. A \
                           placeholder is good for one call: ask for a new one";
            return Err(Refused::new(code::INVALID_ARGUMENTS, message.into()));
        }
    }
    Ok(())
}

/// Refuses what would carry a secret, or what stands for one, to somebody else.
fn refuse_misdirected(
    request: &Outgoing,
    vault: &Vault,
    placeholders: &Placeholders,
) -> Result<(), Refused> {
    for rule in vault.rules() {
        let for_it = |other: &SecretRule| other.name == rule.name && other.is_for(&request.url);
        if vault.rules().iter().any(for_it) {
            continue;
        }
        let known = vault.values();
        let values = known.iter().filter(|(name, _)| *name == rule.name).map(|(_, v)| v.expose());
        let tokens = placeholders.issued().filter(|(name, _)| *name == rule.name).map(|(_, t)| t);
        let redactor = Redactor::for_values(values.chain(tokens));
        if place::texts(request).into_iter().any(|text| redactor.finds(text)) {
            return Err(misdirected(rule, &request.url.origin(), &redactor));
        }
    }
    Ok(())
}

fn misdirected(rule: &SecretRule, origin: &Origin, redactor: &Redactor) -> Refused {
    let (name, audience) = (&rule.name, rule.audience.ascii_serialization());
    // A host's name is a place to hide something in as well.
    let origin = redactor.redact_text(&origin.ascii_serialization()).into_owned();
    tracing::warn!(secret = %name, %audience, %origin, "a secret was kept from another origin");
    let message = format!(
        "denied: the secret {name:?} goes to {audience} only, and this request goes to {origin}. \
         Not retryable"
    );
    Refused::new(code::DENIED, message)
}

/// The value of a secret that is granted.
fn value(vault: &Vault, rule: &SecretRule) -> Result<Secret, Refused> {
    let value = vault.value(&rule.name);
    let value = value.map_err(|error| Refused::new(code::UNAVAILABLE, error.to_string()))?;
    value.ok_or_else(|| Refused::new(code::AUTH_REQUIRED, missing(rule)))
}

fn inject(sent: &mut Outgoing, rule: &SecretRule, vault: &Vault) -> Result<(), Refused> {
    match &rule.inject {
        Inject::Placeholder => {}
        Inject::Header { header, prefix } => {
            let text = format!("{prefix}{}", value(vault, rule)?.expose());
            let text = basic::encoded(text.as_bytes()).unwrap_or(text.into_bytes());
            let put = http::HeaderName::try_from(header.as_str()).ok().zip(sensitive(&text));
            let Some((name, value)) = put else {
                let message = format!("the header {header:?} cannot hold {:?}", rule.name);
                return Err(Refused::new(code::INVALID_ARGUMENTS, message));
            };
            sent.headers.insert(name, value);
        }
        Inject::Query { query } => {
            place::set_parameter(sent, query, &value(vault, rule)?);
        }
    }
    Ok(())
}

/// A header value that is shown by nothing.
fn sensitive(bytes: &[u8]) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_bytes(bytes).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests;
