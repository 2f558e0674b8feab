//! What a tool answers when it could not do what was asked. A failure is an answer to the model,
//! never an error of the host.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Extra facts about a result: open vocabulary, JSON values.
pub type Attributes = serde_json::Map<String, serde_json::Value>;

/// Why a tool call gave no result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// One of the constants of [`code`], or a plugin's own word.
    pub code: String,
    /// For the model: what was wrong, with which value, and what to do next.
    pub message: String,
    /// How long to wait before trying the same again, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retry_after: Option<Duration>,
    /// Extra facts.
    #[serde(skip_serializing_if = "Attributes::is_empty", default)]
    pub attributes: Attributes,
}

impl Failure {
    /// A failure with no further facts.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            retry_after: None,
            attributes: Attributes::new(),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// The codes the host itself uses. Plugins may use others.
pub mod code {
    /// The arguments do not parse or do not fit the tool's schema.
    pub const INVALID_ARGUMENTS: &str = "invalid-arguments";
    /// The named thing, or the tool itself, does not exist.
    pub const NOT_FOUND: &str = "not-found";
    /// A credential is missing.
    pub const AUTH_REQUIRED: &str = "auth-required";
    /// A policy, a hook, a missing grant or the user said no.
    pub const DENIED: &str = "denied";
    /// Too many requests.
    pub const RATE_LIMITED: &str = "rate-limited";
    /// The deadline passed.
    pub const TIMEOUT: &str = "timeout";
    /// The turn was interrupted.
    pub const CANCELLED: &str = "cancelled";
    /// Something the tool depends on is not there now.
    pub const UNAVAILABLE: &str = "unavailable";
    /// Over a size limit.
    pub const TOO_LARGE: &str = "too-large";
    /// The state of the world is not the one the call assumed.
    pub const CONFLICT: &str = "conflict";
    /// A bug, a trap, or garbage from a guest.
    pub const INTERNAL: &str = "internal";
}
