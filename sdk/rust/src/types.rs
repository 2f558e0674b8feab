//! The values of `plugin-types`, as a plugin author meets them. The generated bindings use these very
//! structs, so nothing is converted on the way; their fields and variants follow the contract.

use std::fmt;
use std::io;

use serde_json::Value;

/// A named extra value. A reader skips the names it does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Lower case with hyphens, such as `read-only`.
    pub name: String,
    /// The value as JSON text.
    pub value: String,
}

impl Attribute {
    /// An attribute with a value of any JSON type.
    pub fn new(name: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { name: name.into(), value: value.into().to_string() }
    }
}

/// What the model is told about one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name the model calls.
    pub name: String,
    /// A short name for people.
    pub title: Option<String>,
    /// What the tool does and when to use it.
    pub description: String,
    /// A JSON Schema of the arguments object, as compact text.
    pub parameters: String,
    /// Hints for the host, such as `read-only`.
    pub attributes: Vec<Attribute>,
}

/// The circumstances of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallInfo {
    /// Names this call in logs, events and receipts.
    pub call_id: String,
    /// The conversation the call belongs to.
    pub session_id: String,
    /// Which user input of the session led to the call, counted from 1.
    pub turn: u32,
    /// Milliseconds that remained when the call began; [`progress::remaining_ms`] tells it now.
    ///
    /// [`progress::remaining_ms`]: crate::progress::remaining_ms
    pub deadline_ms: u64,
    /// Bytes the result may hold over all its parts.
    pub max_result_bytes: u32,
    /// Extra values.
    pub attributes: Vec<Attribute>,
}

/// A call for unit tests: first turn, the host's usual 30 seconds and 1 MiB.
impl Default for CallInfo {
    fn default() -> Self {
        Self {
            call_id: "call".to_owned(),
            session_id: "session".to_owned(),
            turn: 1,
            deadline_ms: 30_000,
            max_result_bytes: 1 << 20,
            attributes: Vec::new(),
        }
    }
}

/// The content of a [`Part`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text(String),
    /// Anything else, such as an image.
    Bytes(Vec<u8>),
}

/// One piece of a result; a result is a list of them, kept in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The media type of the body.
    pub mime: String,
    /// The content.
    pub body: Body,
    /// Extra values.
    pub attributes: Vec<Attribute>,
}

impl Part {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            mime: "text/plain".to_owned(),
            body: Body::Text(text.into()),
            attributes: Vec::new(),
        }
    }

    /// Bytes of a media type, such as `image/png`.
    pub fn bytes(mime: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { mime: mime.into(), body: Body::Bytes(bytes.into()), attributes: Vec::new() }
    }

    /// Adds an extra value.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.attributes.push(Attribute::new(name, value));
        self
    }

    /// The text, if this part is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            Body::Text(text) => Some(text),
            Body::Bytes(_) => None,
        }
    }
}

/// Why something was not done: an answer the model reads and can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The kind of failure, one of those the constructors name or one this version does not know.
    pub code: String,
    /// What was wrong, with which value, and what to do next.
    pub message: String,
    /// Milliseconds after which trying again is worthwhile.
    pub retry_after_ms: Option<u64>,
    /// Extra values.
    pub attributes: Vec<Attribute>,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        impl Failure {
            $($(#[$doc])*
            pub fn $name(message: impl Into<String>) -> Self {
                Self::new($code, message)
            })*
        }
    };
}

codes! {
    /// The arguments are wrong and the model has to change them.
    invalid_arguments = "invalid-arguments";
    /// What was named does not exist.
    not_found = "not-found";
    /// A credential is missing or was refused.
    auth_required = "auth-required";
    /// A grant or policy forbids it; trying again does not help.
    denied = "denied";
    /// Too many requests; see [`Failure::retry_after`].
    rate_limited = "rate-limited";
    /// It took too long.
    timeout = "timeout";
    /// The user gave the call up.
    cancelled = "cancelled";
    /// The other side cannot be reached or is down.
    unavailable = "unavailable";
    /// Over a limit on bytes, counts or depth.
    too_large = "too-large";
    /// Somebody changed it first.
    conflict = "conflict";
    /// A fault of the plugin itself.
    internal = "internal";
}

impl Failure {
    /// A failure of a kind the constructors do not name.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            retry_after_ms: None,
            attributes: Vec::new(),
        }
    }

    /// Adds an extra value.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.attributes.push(Attribute::new(name, value));
        self
    }

    /// Says after how many milliseconds trying again is worthwhile.
    #[must_use]
    pub fn retry_after(mut self, ms: u64) -> Self {
        self.retry_after_ms = Some(ms);
        self
    }
}

/// `code: message`.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}

/// A missing file is `not-found`, a refused one `denied`, the rest `internal`. The error knows no
/// path, so a tool that has one does better to name it.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let message = error.to_string();
        match error.kind() {
            io::ErrorKind::NotFound => Self::not_found(message),
            io::ErrorKind::PermissionDenied => Self::denied(message),
            _ => Self::internal(message),
        }
    }
}
