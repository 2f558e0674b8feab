//! What a plugin asks of the network: the `[[request.http]]` tables of a manifest.

use std::collections::BTreeSet;

use crate::document::{DocumentError, Reader};
use crate::http_rule::{HostPattern, HttpRule, Scheme, method};
use crate::manifest::request::unsigned;
use crate::pattern::Words;

/// One `[[request.http]]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// Every combination of the table's schemes, hosts, ports and paths.
    pub rules: Vec<HttpRule>,
    /// Most bytes of a request's body.
    pub max_request_bytes: Option<u64>,
    /// Most bytes of a response's body.
    pub max_response_bytes: Option<u64>,
    /// Most requests in a minute.
    pub per_minute: Option<u32>,
}

impl HttpRequest {
    pub(super) fn read(table: Reader<'_>) -> Result<Self, DocumentError> {
        let hosts = table.texts("hosts", HostPattern::parse)?;
        let hosts = table.required("hosts", hosts, "hosts = [\"api.example.com\"]")?;
        let schemes = table.texts("schemes", Scheme::parse)?.unwrap_or(vec![Scheme::Https]);
        let ports = table.integers("ports", 1..=65535)?;
        let methods = table.texts("methods", method)?.unwrap_or(vec!["GET".into()]);
        let methods: BTreeSet<String> = methods.into_iter().collect();
        let paths = table.texts("paths", Words::from_path)?;
        let paths = paths.unwrap_or_else(|| vec![Words::everything()]);
        let private = table.flag("allow_private")?.unwrap_or(false);
        let mut rules = Vec::new();
        for (scheme, host) in schemes.iter().flat_map(|s| hosts.iter().map(move |h| (*s, h))) {
            let ports: Vec<u16> = match &ports {
                Some(ports) => ports.iter().filter_map(|port| u16::try_from(*port).ok()).collect(),
                None => vec![scheme.default_port()],
            };
            for (port, path) in ports.iter().flat_map(|p| paths.iter().map(move |x| (*p, x))) {
                let (host, path, methods) = (host.clone(), path.clone(), Some(methods.clone()));
                rules.push(HttpRule { scheme, host, port, methods, path, private });
            }
        }
        let read = Self {
            rules,
            max_request_bytes: table.integer("max_request_bytes", 0..=MAX_BODY)?.map(unsigned),
            max_response_bytes: table.integer("max_response_bytes", 1..=MAX_BODY)?.map(unsigned),
            per_minute: table
                .integer("per_minute", 1..=6000)?
                .and_then(|number| u32::try_from(number).ok()),
        };
        table.finish()?;
        Ok(read)
    }
}

/// The host's own cap on one body over the network, in bytes: a manifest may ask for less.
const MAX_BODY: i64 = 64 << 20;
