//! The places of a request where a placeholder may stand, and those where it may not.

use hermes_core::failure::code;
use http::HeaderMap;
use memchr::memmem;
use serde::de::IgnoredAny;
use url::form_urlencoded::{byte_serialize, parse};

use super::{Outgoing, Refused, basic, sensitive};
use crate::secret::rule::SecretRule;
use crate::secret::value::Secret;

/// Everything of a request that reaches the other side.
pub(super) fn texts(request: &Outgoing) -> Vec<&[u8]> {
    let mut texts = vec![request.method.as_str().as_bytes(), request.url.as_str().as_bytes()];
    for (name, value) in &request.headers {
        texts.extend([name.as_str().as_bytes(), value.as_bytes()]);
    }
    texts.push(&request.body);
    texts
}

/// Refuses a placeholder where none is swapped: sent as it is it would be no use, and hiding that
/// from the plugin would be no help.
pub(super) fn refuse_misplaced(
    request: &Outgoing,
    rule: &SecretRule,
    token: &str,
) -> Result<(), Refused> {
    let Outgoing { method, url, headers, body } = request;
    let place = if method.as_str().contains(token) {
        "the method"
    } else if [url.path(), url.username(), url.password().unwrap_or_default()]
        .iter()
        .any(|part| part.contains(token))
    {
        "the URL before its query"
    } else if pairs(request).any(|pair| has(&key(pair), token)) {
        "the name of a query parameter"
    } else if headers.keys().any(|name| name.as_str().contains(token)) {
        "the name of a header"
    } else if has(body, token) && !rule.body {
        "the body, and its manifest does not say body = true"
    } else if has(body, token) && !is_json(headers, body) {
        "a body that is not JSON with the content type application/json"
    } else {
        return Ok(());
    };
    let message = format!(
        "the placeholder of the secret {:?} stands in {place}. It may stand in the value of a header \
         or of a query parameter, and with body = true in a JSON body",
        rule.name
    );
    Err(Refused::new(code::INVALID_ARGUMENTS, message))
}

/// Whether a placeholder stands where it is swapped.
pub(super) fn holds(request: &Outgoing, token: &str) -> bool {
    let in_header = |value: &http::HeaderValue| {
        has(value.as_bytes(), token)
            || basic::decoded(value.as_bytes()).is_some_and(|plain| has(&plain, token))
    };
    request.headers.values().any(in_header)
        || pairs(request).any(|pair| has(&value_of(pair), token))
        || has(&request.body, token)
}

/// Puts a value where its placeholder stands.
///
/// # Errors
/// It cannot stand there.
pub(super) fn swap_token(
    request: &mut Outgoing,
    token: &str,
    secret: &Secret,
) -> Result<(), String> {
    for (name, value) in &mut request.headers {
        let Some(swapped) = in_header(value.as_bytes(), token, secret) else { continue };
        *value = sensitive(&swapped)
            .ok_or_else(|| format!("the header {name} cannot hold the value of the secret"))?;
    }
    if pairs(request).any(|pair| has(&value_of(pair), token)) {
        let swapped: Vec<String> =
            pairs(request).map(|pair| in_pair(pair, token, secret)).collect();
        request.url.set_query(Some(&swapped.join("&")));
    }
    if has(&request.body, token) {
        let quoted = serde_json::Value::from(secret.expose()).to_string();
        let inside = &quoted[1..quoted.len() - 1];
        request.body = replaced(&request.body, token, inside.as_bytes()).into();
    }
    Ok(())
}

/// Puts a parameter into the query in place of any of its name.
pub(super) fn set_parameter(request: &mut Outgoing, name: &str, secret: &Secret) {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let others = pairs(request).filter(|pair| key(pair) != name.as_bytes()).map(str::to_owned);
    let own = format!("{}={}", encoded(name), encoded(secret.expose()));
    let all: Vec<String> = others.chain([own]).collect();
    request.url.set_query(Some(&all.join("&")));
}

fn in_header(value: &[u8], token: &str, secret: &Secret) -> Option<Vec<u8>> {
    let plain = match has(value, token) {
        true => value.to_vec(),
        false => basic::decoded(value).filter(|plain| has(plain, token))?,
    };
    let swapped = replaced(&plain, token, secret.expose().as_bytes());
    Some(basic::encoded(&swapped).unwrap_or(swapped))
}

fn in_pair(pair: &str, token: &str, secret: &Secret) -> String {
    let value = value_of(pair);
    if !has(&value, token) {
        return pair.to_owned();
    }
    let name = pair.split_once('=').map_or(pair, |(name, _)| name);
    let swapped = replaced(&value, token, secret.expose().as_bytes());
    format!("{name}={}", byte_serialize(&swapped).collect::<String>())
}

/// The raw parameters of the query.
fn pairs(request: &Outgoing) -> impl Iterator<Item = &str> {
    request
        .url
        .query()
        .into_iter()
        .flat_map(|query| query.split('&'))
        .filter(|pair| !pair.is_empty())
}

fn key(pair: &str) -> Vec<u8> {
    parse(pair.as_bytes()).next().map(|(key, _)| key.into_owned().into_bytes()).unwrap_or_default()
}

fn value_of(pair: &str) -> Vec<u8> {
    parse(pair.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned().into_bytes())
        .unwrap_or_default()
}

fn is_json(headers: &HeaderMap, body: &[u8]) -> bool {
    let kind = headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    (kind == "application/json" || kind.ends_with("+json"))
        && serde_json::from_slice::<IgnoredAny>(body).is_ok()
}

fn has(bytes: &[u8], token: &str) -> bool {
    memmem::find(bytes, token.as_bytes()).is_some()
}

fn replaced(bytes: &[u8], token: &str, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for found in memmem::find_iter(bytes, token) {
        out.extend(&bytes[at..found]);
        out.extend(value);
        at = found + token.len();
    }
    out.extend(&bytes[at..]);
    out
}
