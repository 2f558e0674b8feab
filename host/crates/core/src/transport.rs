//! The port to a model: one request in, one stream of deltas out.
//!
//! A transport never retries, stores or prints. It classifies its own failures, because only it
//! sees the status and the body; what to do about them is the loop's decision.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::Stream;
use serde::{Deserialize, Serialize};

use crate::message::{FinishReason, Message};
use crate::tool::ToolSpec;
use crate::usage::Usage;

/// One model call.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The model's name, as the provider knows it.
    pub model: String,
    /// The system prompt; byte-stable within a session.
    pub system: Arc<str>,
    /// The sanitised history: every tool call is followed by its result, and a
    /// [`Message::replay`] that is present was written by this transport for this model.
    pub messages: Vec<Arc<Message>>,
    /// The tools on offer, in a stable order; empty means the model may not call any.
    pub tools: Arc<[ToolSpec]>,
    /// How to sample.
    pub sampling: Sampling,
    /// Whether to ask for a stream of deltas rather than one whole reply.
    pub stream: bool,
    /// The session, for providers that route their prompt cache by such a key.
    pub session_id: Arc<str>,
}

/// Sampling parameters; absent ones are not sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampling {
    /// 0 to 2 with most providers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Most tokens to generate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Anything else the provider understands, sent as it is at the top level of the request.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// A piece of a streamed reply. A reply that was not streamed arrives as whole deltas.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// Visible text.
    Text(String),
    /// Readable reasoning.
    Reasoning(String),
    /// Part of a tool call. The transport has already told apart calls that share a wire index.
    ToolCall {
        /// Which call of the reply, counted from 0 in the order they opened.
        slot: usize,
        /// The provider's id, once, when known; empty if the provider sent none.
        id: Option<String>,
        /// The tool's name, once, when known.
        name: Option<String>,
        /// More of the arguments' JSON text.
        arguments: String,
    },
    /// Why the reply ended. Sent once; usage may still follow.
    Finish(FinishReason),
    /// Tokens; the last one sent counts.
    Usage(Usage),
    /// What this provider wants back next time, opaque to everyone but the transport. The loop
    /// stamps it with the api mode, provider and model, and hands it back to those alone.
    Replay(serde_json::Value),
    /// The model that really answered, where it differs from the one asked for.
    Model(String),
}

/// The deltas of one reply. Dropping it drops the connection.
pub type DeltaStream = std::pin::Pin<Box<dyn Stream<Item = Result<Delta, TransportError>> + Send>>;

/// Speaks one wire format to one provider.
#[async_trait]
pub trait Transport: Send + Sync {
    /// The wire format it speaks, such as `chat_completions`.
    fn api_mode(&self) -> &str;

    /// Sends one request. Contract: fails with a kind, never panics, never retries; a stream that
    /// ends without [`Delta::Finish`] has ended in an error item.
    async fn send(&self, request: &ModelRequest) -> Result<DeltaStream, TransportError>;

    /// Gets another credential after `refused` one: a fresh one first, then the next of several.
    /// `true` means that asking again is worth it; each credential is offered once until one
    /// works, so that a caller who asks on cannot loop.
    async fn renew_credential(&self, refused: &TransportError) -> bool {
        let _ = refused;
        false
    }
}

/// A change of the request after which the same provider may well accept it. Applied at most once
/// of each kind in a turn, and costs no attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Ask for at most this many output tokens; absent: do not ask for a number at all.
    MaxTokens(Option<u64>),
    /// Send a text note in place of each image.
    WithoutImages,
    /// Send no [`Message::replay`]: the provider no longer accepts what it signed.
    WithoutReplay,
    /// Leave out this request parameter.
    WithoutParameter(String),
    /// Ask for a whole reply instead of a stream.
    WithoutStream,
}

/// What went wrong, in words the loop and the user share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The key is missing, wrong or not allowed.
    Auth,
    /// The account cannot pay for it.
    Billing,
    /// Too many requests or tokens for now.
    RateLimited,
    /// The provider is overloaded or broken (5xx).
    Overloaded,
    /// Nothing came in time.
    Timeout,
    /// The connection could not be made or broke.
    Connection,
    /// The provider refuses the request's form.
    BadRequest,
    /// The request is longer than the model's window.
    ContextOverflow,
    /// No such model.
    ModelNotFound,
    /// The provider or model refuses the content.
    ContentFilter,
    /// What came back is not a reply.
    MalformedReply,
    /// The reply holds neither text nor a tool call.
    EmptyReply,
    /// The reply was cut by the output limit.
    Truncated,
    /// The model keeps making calls that fail the same way.
    ToolLoop,
    /// The session could not be stored.
    Store,
    /// A bug of ours.
    Internal,
}

impl ErrorKind {
    /// Whether the same request may well succeed a little later.
    pub fn passes(self) -> bool {
        use ErrorKind::{Connection, EmptyReply, MalformedReply, Overloaded, RateLimited, Timeout};
        matches!(
            self,
            RateLimited | Overloaded | Timeout | Connection | MalformedReply | EmptyReply
        )
    }

    /// The word used in results and events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::BadRequest => "bad_request",
            Self::ContextOverflow => "context_overflow",
            Self::ModelNotFound => "model_not_found",
            Self::ContentFilter => "content_filter",
            Self::MalformedReply => "malformed_reply",
            Self::EmptyReply => "empty_reply",
            Self::Truncated => "truncated",
            Self::ToolLoop => "tool_loop",
            Self::Store => "store",
            Self::Internal => "internal",
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed model call, with the evidence. Never holds a credential.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct TransportError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// For the user: what was wrong, with which value, and what to do next.
    pub message: String,
    /// The HTTP status, if an answer came.
    pub status: Option<u16>,
    /// The provider's own error code, if it sent one.
    pub code: Option<String>,
    /// Response headers that say when to come back or which request it was (lower-case names);
    /// no others are kept.
    pub headers: Vec<(String, String)>,
    /// The first bytes of the body, at most [`TransportError::BODY_BYTES`], credentials masked.
    pub body: String,
    /// How long the provider asks us to wait.
    pub retry_after: Option<Duration>,
    /// Whether the request may have been acted on: some of the reply had arrived.
    pub delivered: bool,
    /// What to change so that the same provider may accept the request.
    pub remedy: Option<Remedy>,
    /// Which of its credentials the transport had used, by a number only the transport knows the
    /// meaning of: [`Transport::renew_credential`] changes that one and no other.
    pub credential: Option<u64>,
}

impl TransportError {
    /// Most bytes of a body that are kept: enough for every provider's error object, little
    /// enough for a terminal.
    pub const BODY_BYTES: usize = 2048;

    /// A failure without an HTTP answer.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            code: None,
            headers: Vec::new(),
            body: String::new(),
            retry_after: None,
            delivered: false,
            remedy: None,
            credential: None,
        }
    }
}
