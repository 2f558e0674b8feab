//! One small question outside any conversation: JSON out, JSON back. For servers on this machine
//! that describe themselves; no key, no proxy, no redirect.

use reqwest::{Client, redirect};
use serde_json::Value;
use url::Url;

/// Most bytes of an answer: descriptions of models hold whole templates, little more.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// Asks `url`: with a body as `POST`, without one as `GET`. Takes as long as the caller lets it.
///
/// # Errors
/// Nobody answers, or not with success and JSON of at most 4 MiB.
pub async fn ask_json(url: Url, body: Option<&Value>) -> Result<Value, String> {
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none());
    // What is on this machine is asked without TLS, so no certificates need be read.
    let client =
        if url.scheme() == "http" { client.tls_certs_only(std::iter::empty()) } else { client };
    let client = client.build().map_err(|error| error.to_string())?;
    let request = match body {
        Some(body) => {
            client.post(url).header("content-type", "application/json").body(body.to_string())
        }
        None => client.get(url),
    };
    let mut response = request.send().await.map_err(|error| error.to_string())?;
    if !response.status().is_success() {
        return Err(format!("status {}", response.status()));
    }
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| error.to_string())? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > ANSWER_BYTES {
            return Err("the answer is too long".into());
        }
    }
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}
