//! A request's body, written straight from the borrowed history.
//!
//! Every item says its type and carries no id but a reasoning item's own. What the model said is
//! sent as plain text, the one form that needs no id in OpenAI's published types. Images of a tool
//! result stay in it: a user message behind it would end the stretch over which OpenAI's models
//! remember their reasoning.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use hermes_core::message::{Content, ContentPart, Message, Role, ToolCall};
use hermes_core::text;
use hermes_core::tool::ToolSpec;
use hermes_core::transport::ModelRequest;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::replay::{self, Part};

/// Keys that are written from the request itself and so never taken from the extra parameters.
const OWN_KEYS: [&str; 6] = ["model", "instructions", "input", "tools", "store", "stream"];

/// Most bytes OpenAI takes of a call's id, and of a prompt cache key.
const ID_BYTES: usize = 64;

/// Beginnings of the names of models that do not reason: OpenAI answers 400 when it is asked for
/// the encrypted reasoning of one.
const WITHOUT_REASONING: [&str; 3] = ["gpt-3.5", "gpt-4", "chatgpt-"];

/// Stands for a result that says nothing, since an output is required and an empty one is refused
/// by some servers.
const NO_OUTPUT: &str = "(no output)";

/// The body for `request`. The same request gives the same bytes.
pub fn encode(request: &ModelRequest) -> Vec<u8> {
    serde_json::to_vec(&Body(request))
        .expect("memory takes every write, and all keys of the body are strings")
}

struct Body<'a>(&'a ModelRequest);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(request) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", &request.model)?;
        if !request.system.trim().is_empty() {
            map.serialize_entry("instructions", &request.system)?;
        }
        map.serialize_entry("input", &Input(&request.messages))?;
        if !request.tools.is_empty() {
            map.serialize_entry("tools", &Tools(&request.tools))?;
        }
        map.serialize_entry("store", &false)?;
        map.serialize_entry("stream", &request.stream)?;
        self.parameters(&mut map)?;
        map.end()
    }
}

impl Body<'_> {
    /// What may also be given as an extra parameter, then the extra parameters. An extra one that
    /// is null takes ours out.
    fn parameters<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Self(request) = self;
        let sampling = &request.sampling;
        let extra = &sampling.extra;
        if reasons(&request.model) && !extra.contains_key("include") {
            map.serialize_entry("include", &["reasoning.encrypted_content"])?;
        }
        let key = text::prefix(&request.session_id, ID_BYTES);
        if !key.is_empty() && !extra.contains_key("prompt_cache_key") {
            map.serialize_entry("prompt_cache_key", key)?;
        }
        if let Some(temperature) = sampling.temperature {
            map.serialize_entry("temperature", &temperature)?;
        }
        if let Some(top_p) = sampling.top_p {
            map.serialize_entry("top_p", &top_p)?;
        }
        if let Some(max_tokens) = sampling.max_tokens {
            map.serialize_entry("max_output_tokens", &max_tokens)?;
        }
        for (key, value) in extra {
            let taken = OWN_KEYS.contains(&key.as_str())
                || value.is_null()
                || (key == "temperature" && sampling.temperature.is_some())
                || (key == "top_p" && sampling.top_p.is_some())
                || (key == "max_output_tokens" && sampling.max_tokens.is_some())
                || (key == "stream_options" && !request.stream);
            if !taken {
                map.serialize_entry(key, value)?;
            }
        }
        Ok(())
    }
}

/// Whether a model reasons, as far as its name tells. `gpt-5-chat` and its like do not either.
fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let chats = name.starts_with("gpt-") && name.contains("-chat");
    !chats && !WITHOUT_REASONING.iter().any(|start| name.starts_with(start))
}

struct Input<'a>(&'a [Arc<Message>]);

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let mut thoughts = HashSet::new();
        for message in self.0 {
            match message.role {
                Role::Assistant => reply(message, &mut thoughts, &mut list)?,
                Role::Tool => list.serialize_element(&Output::of(message))?,
                Role::User | Role::System if !message.content.is_blank() => {
                    list.serialize_element(&Said {
                        role: message.role,
                        content: &message.content,
                    })?;
                }
                Role::User | Role::System => {}
            }
        }
        list.end()
    }
}

/// The items of one reply. `thoughts` holds the ids of the reasoning items so far: a server
/// refuses the same one twice.
fn reply<'a, L: SerializeSeq>(
    message: &'a Message,
    thoughts: &mut HashSet<&'a str>,
    list: &mut L,
) -> Result<(), L::Error> {
    let text = plain(&message.content);
    for part in replay::parts(message, &text) {
        match part {
            Part::Reasoning(item) => {
                if thoughts.insert(item.get("id").and_then(Value::as_str).unwrap_or_default()) {
                    list.serialize_element(item)?;
                }
            }
            Part::Text { text, phase } => list.serialize_element(&Spoken {
                kind: "message",
                role: "assistant",
                content: text,
                phase,
            })?,
            Part::Call(call) => list.serialize_element(&Call {
                kind: "function_call",
                call_id: &id(&call.id),
                name: &call.name,
                arguments: arguments(call),
            })?,
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Spoken<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a str>,
}

#[derive(Serialize)]
struct Call<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    call_id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

/// A call's arguments; a call without any is sent as an empty object, since servers parse them.
fn arguments(call: &ToolCall) -> &str {
    if call.arguments.trim().is_empty() { "{}" } else { &call.arguments }
}

/// The id of a call as the server takes it: ours, or one made of it where that is too long (some
/// gateways pack a signature into theirs) or holds what no id holds.
fn id(ours: &str) -> Cow<'_, str> {
    let fits = !ours.is_empty() && ours.len() <= ID_BYTES;
    if fits && ours.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Cow::Borrowed(ours);
    }
    let mut made = "call_".to_owned();
    // 128 bits: two ids of a session never meet.
    for byte in &Sha256::digest(ours)[..16] {
        let _ = write!(made, "{byte:02x}");
    }
    Cow::Owned(made)
}

/// What the person, or a program in their place, said.
struct Said<'a> {
    role: Role,
    content: &'a Content,
}

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("type", "message")?;
        map.serialize_entry("role", &self.role)?;
        map.serialize_entry("content", &Parts(self.content))?;
        map.end()
    }
}

/// The result of a call.
#[derive(Serialize)]
struct Output<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    call_id: Cow<'a, str>,
    output: Answer<'a>,
}

/// A string where that is all: every server takes one, and not every one a list.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer<'a> {
    Text(Cow<'a, str>),
    Parts(Parts<'a>),
}

impl<'a> Output<'a> {
    fn of(message: &'a Message) -> Self {
        let image = |part: &ContentPart| matches!(part, ContentPart::ImageUrl { .. });
        let content = &message.content;
        let output = if content.0.iter().any(image) {
            Answer::Parts(Parts(content))
        } else if content.is_blank() {
            Answer::Text(Cow::Borrowed(NO_OUTPUT))
        } else {
            Answer::Text(plain(content))
        };
        let call_id = id(message.tool_call_id.as_deref().unwrap_or_default());
        Self { kind: "function_call_output", call_id, output }
    }
}

/// All text of a content.
fn plain(content: &Content) -> Cow<'_, str> {
    content.as_text().map_or_else(|| Cow::Owned(content.text()), Cow::Borrowed)
}

/// A content as a list of parts, without empty texts, which some servers refuse.
struct Parts<'a>(&'a Content);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.0.iter().filter_map(|part| match part {
            ContentPart::Text { text } if text.trim().is_empty() => None,
            ContentPart::Text { text } => Some(WirePart::InputText { text }),
            ContentPart::ImageUrl { image_url } => {
                Some(WirePart::InputImage { image_url: &image_url.url, detail: "auto" })
            }
        }))
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WirePart<'a> {
    InputText {
        text: &'a str,
    },
    /// OpenAI's types require the detail, though its server has a default.
    InputImage {
        image_url: &'a str,
        detail: &'static str,
    },
}

struct Tools<'a>(&'a [ToolSpec]);

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|tool| WireTool {
            kind: "function",
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
            // The server's default is true, which refuses schemas with optional arguments.
            strict: false,
        }))
    }
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
    strict: bool,
}

#[cfg(test)]
mod tests;
