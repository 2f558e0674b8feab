//! What differs between servers, most of it between those that speak `chat_completions`, as data: nothing in this crate
//! knows a provider by its name. A provider's row, or `[providers.NAME.quirks]`, says it.

use serde::Deserialize;

/// The ways of one server. The default is what OpenAI's own documentation promises.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// What the most tokens to generate are called.
    pub max_tokens: MaxTokensName,
    /// Whose words the system prompt is.
    pub system_role: SystemRole,
    /// How a reply's reasoning is sent back.
    pub reasoning: ReasoningReplay,
    /// Whether tool calls without reasoning are sent with an empty `reasoning_content`: some
    /// servers refuse calls from before, or of another model, without the field.
    pub pad_reasoning: bool,
    /// Whether tool calls carry Google's thought signatures. Calls of another model get the value
    /// that Google's documentation gives for them, since it refuses calls without any.
    pub thought_signatures: bool,
    /// Whether a stream may be asked for its usage.
    pub stream_options: bool,
    /// Whether the session is named for routing the prompt cache.
    pub prompt_cache_key: bool,
    /// Parts of the names of those models that cache only what is marked.
    pub cache_marked_models: Vec<String>,
    /// Whether tool results may hold images; otherwise a user message behind them does.
    pub images_in_tool_results: bool,
    /// Whether a tool result names its tool.
    pub tool_names: bool,
    /// Whether a key goes into the header `api-key`, in any api mode. A token of an identity provider
    /// (a JWT) is a bearer token all the same. Azure wants it so:
    /// <https://learn.microsoft.com/en-us/azure/ai-services/openai/reference#authentication>.
    pub api_key_header: bool,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            max_tokens: MaxTokensName::default(),
            system_role: SystemRole::default(),
            reasoning: ReasoningReplay::default(),
            pad_reasoning: false,
            thought_signatures: false,
            stream_options: true,
            prompt_cache_key: false,
            cache_marked_models: Vec::new(),
            images_in_tool_results: false,
            tool_names: false,
            api_key_header: false,
        }
    }
}

/// A name for the most tokens to generate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensName {
    /// `max_tokens`, which nearly every server understands.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, the only one OpenAI's reasoning models understand.
    MaxCompletionTokens,
}

impl MaxTokensName {
    /// The field of a request.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// The role of the system prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    /// `system`.
    #[default]
    System,
    /// `developer`.
    Developer,
}

impl SystemRole {
    /// The role of a message.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
        }
    }
}

/// The field in which a reply's reasoning goes back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningReplay {
    /// In none: servers that do not know the field may refuse it.
    #[default]
    None,
    /// `reasoning_content`, text (DeepSeek, Moonshot).
    ReasoningContent,
    /// `reasoning_details`, signed or encrypted pieces (OpenRouter).
    ReasoningDetails,
}
