//! HTTP with whole bodies. Without a host every request fails as `unavailable`.

use crate::types::Failure;

pub use crate::bindings::imports::hermes::plugin::http::{Header, Request, Response};

impl Request {
    /// A request without headers and body.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            headers: Vec::new(),
            body: None,
            timeout_ms: None,
        }
    }

    /// A `GET`.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// A `POST` with a body.
    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let mut request = Self::new("POST", url);
        request.body = Some(body.into());
        request
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push(Header { name: name.into(), value: value.into() });
        self
    }
}

impl Response {
    /// The first header of this name, in any letter case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))
            .map(|header| header.value.as_slice())
    }

    /// The body as text, with what is not UTF-8 replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends a request and waits for the whole response, whatever its status.
///
/// # Errors
///
/// What kept it from a response: `denied`, `invalid-arguments`, `too-large`, `rate-limited`,
/// `timeout`, `cancelled` or `unavailable`.
pub fn fetch(request: &Request) -> Result<Response, Failure> {
    #[cfg(target_family = "wasm")]
    return crate::bindings::imports::hermes::plugin::http::fetch(request);
    #[cfg(not(target_family = "wasm"))]
    Err(Failure::unavailable(format!("{} {} needs a host", request.method, request.url)))
}
