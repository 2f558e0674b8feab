//! The one message type of a conversation, in the shape of OpenAI's chat messages.
//!
//! Everything a conversation is made of is a [`Message`]; a provider's own shapes exist only
//! inside its transport. What only one provider understands rides in [`Replay`], which only the
//! transport that wrote it reads.

mod content;

use serde::{Deserialize, Serialize};

pub use content::{Content, ContentPart, ImageUrl};

use crate::failure::Attributes;
use crate::usage::Usage;
use crate::{id, text};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions; never stored as part of a history, always sent first.
    System,
    /// The person, or a program in their place.
    User,
    /// The model.
    Assistant,
    /// The result of one tool call.
    Tool,
}

/// Why a reply ended: one set for all providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The model waits for tool results.
    ToolCalls,
    /// The output limit was reached.
    Length,
    /// The provider or the model refused.
    ContentFilter,
    /// The reply was cut: interrupted, or the connection ended.
    Incomplete,
}

/// What a finished or abandoned tool call did to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing: it only read, or it never ran.
    None,
    /// It ran to its end.
    Applied,
    /// It started and nobody saw it end; look before trying again.
    Unknown,
}

/// One tool call the model asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Unique within the session.
    pub id: String,
    /// A legal tool name (`[a-zA-Z0-9_-]{1,64}`), whatever the model wrote.
    pub name: String,
    /// The model's own arguments, as JSON text. Validated before a tool sees them.
    pub arguments: String,
}

/// Bytes only one transport understands (signed reasoning, encrypted items), replayed exactly
/// to the provider and model that sent them and dropped for any other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The wire format that wrote it.
    pub api_mode: String,
    /// The provider that sent it.
    pub provider: String,
    /// The model that sent it.
    pub model: String,
    /// Opaque to everyone but the transport.
    pub data: serde_json::Value,
}

/// One entry of a conversation.
///
/// Serialises to OpenAI's chat message plus fields of ours; that JSON is also what the store
/// keeps, so every field must survive a round trip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Stable for the life of the session; sorts by creation time.
    pub id: String,
    /// Who speaks.
    pub role: Role,
    /// What is said; empty for a reply that only calls tools.
    #[serde(default)]
    pub content: Content,
    /// Assistant only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Tool only: the call this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Tool only: the tool that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Assistant only: readable reasoning. Shown, stored, never sent back as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Assistant only: why the reply ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// Tool only: what the call did to the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Tool only: the failure's code, absent on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Assistant only: tokens of the call that produced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Assistant only: what one provider wants back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// Open facts about the message; never sent to a provider.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
    /// When it was made, in milliseconds since 1970-01-01 UTC.
    #[serde(default)]
    pub created_ms: u64,
}

impl Message {
    /// A message of `role` with this content and nothing else.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Self {
            id: id::fresh(),
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            reasoning: None,
            finish_reason: None,
            effect: None,
            failure: None,
            usage: None,
            replay: None,
            attributes: Attributes::new(),
            created_ms: id::now_ms(),
        }
    }

    /// Attribute of a message that stands for archived ones, with what kind of replacement it is.
    pub const COMPRESSED: &str = "compressed";

    /// Whether it came into the history when it was compressed, in place of archived messages.
    pub fn is_replacement(&self) -> bool {
        self.attributes.contains_key(Self::COMPRESSED)
    }

    /// Whether it sums up archived messages.
    pub fn is_summary(&self) -> bool {
        self.attributes.get(Self::COMPRESSED).is_some_and(|kind| kind == "summary")
    }

    /// What the person said.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new(Role::User, content)
    }

    /// What the model said.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// The answer to `call`.
    pub fn tool(call: &ToolCall, content: impl Into<Content>) -> Self {
        Self {
            tool_call_id: Some(call.id.clone()),
            name: Some(call.name.clone()),
            ..Self::new(Role::Tool, content)
        }
    }
}

impl ToolCall {
    /// The name providers accept in place of one that no tool could have: blank or illegal
    /// characters (`[a-zA-Z0-9_-]{1,64}` is the rule of OpenAI's and Anthropic's APIs).
    pub fn legal_name(name: &str) -> String {
        let name = name.trim();
        if name.is_empty() {
            return "invalid_tool_call".into();
        }
        let legal = |c: char| {
            if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }
        };
        text::prefix(&name.chars().map(legal).collect::<String>(), 64).into()
    }
}

/// The nesting OpenAI gives a tool call on the wire.
#[derive(Serialize, Deserialize)]
struct WireCall<'a> {
    id: std::borrow::Cow<'a, str>,
    #[serde(rename = "type")]
    kind: std::borrow::Cow<'a, str>,
    function: WireFunction<'a>,
}

#[derive(Serialize, Deserialize)]
struct WireFunction<'a> {
    name: std::borrow::Cow<'a, str>,
    arguments: std::borrow::Cow<'a, str>,
}

impl Serialize for ToolCall {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let function =
            WireFunction { name: (&*self.name).into(), arguments: (&*self.arguments).into() };
        WireCall { id: (&*self.id).into(), kind: "function".into(), function }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WireCall { id, function, .. } = WireCall::deserialize(deserializer)?;
        Ok(Self {
            id: id.into_owned(),
            name: function.name.into_owned(),
            arguments: function.arguments.into_owned(),
        })
    }
}

#[cfg(test)]
mod tests;
