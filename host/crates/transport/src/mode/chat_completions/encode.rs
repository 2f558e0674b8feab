//! A request's body, written straight from the borrowed history.
//!
//! This runs once an iteration over the whole history, so nothing is copied into an intermediate
//! value. Only what the strictest server accepts is written: none of our own fields, and without a
//! [quirk](Quirks) that says otherwise no reasoning, and images only in user messages.

use hermes_core::message::{Content, ContentPart, Message, Role, ToolCall};
use hermes_core::tool::ToolSpec;
use hermes_core::transport::ModelRequest;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{cache, replay};
use crate::quirks::{Quirks, ReasoningReplay};

/// Keys that are written from the request itself and so never taken from the extra parameters.
const OWN_KEYS: [&str; 4] = ["model", "messages", "tools", "stream"];

/// Bytes of JSON around one message, roughly; only spares the buffer some growing.
const FRAME_BYTES: usize = 96;

/// The body for `request` to a server with these quirks. The same request gives the same bytes.
pub fn encode(request: &ModelRequest, quirks: &Quirks) -> Vec<u8> {
    let mut body = Vec::with_capacity(size_hint(request));
    serde_json::to_writer(&mut body, &Body(request, quirks))
        .expect("memory takes every write, and all keys of the body are strings");
    body
}

fn size_hint(request: &ModelRequest) -> usize {
    let message = |message: &Message| {
        let content: usize = message.content.0.iter().map(part_len).sum();
        let calls = message.tool_calls.iter();
        let calls: usize = calls.map(|call| call.arguments.len() + FRAME_BYTES).sum();
        content + calls + FRAME_BYTES
    };
    let tool = |tool: &ToolSpec| {
        tool.description.len() + tool.parameters.get().len() + tool.name.len() + FRAME_BYTES
    };
    let messages: usize = request.messages.iter().map(|entry| message(entry)).sum();
    let tools: usize = request.tools.iter().map(tool).sum();
    let bytes = request.system.len() + messages + tools + 4 * FRAME_BYTES;
    bytes + bytes / 16 // escapes
}

fn part_len(part: &ContentPart) -> usize {
    match part {
        ContentPart::Text { text } => text.len(),
        ContentPart::ImageUrl { image_url } => image_url.url.len(),
    }
}

struct Body<'a>(&'a ModelRequest, &'a Quirks);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(request, quirks) = self;
        let sampling = &request.sampling;
        let max_tokens_name = quirks.max_tokens.as_str();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", &request.model)?;
        map.serialize_entry("messages", &Messages(request, quirks))?;
        if !request.tools.is_empty() {
            map.serialize_entry("tools", &Tools(&request.tools))?;
        }
        map.serialize_entry("stream", &request.stream)?;
        if request.stream && quirks.stream_options && !sampling.extra.contains_key("stream_options")
        {
            map.serialize_entry("stream_options", &StreamOptions { include_usage: true })?;
        }
        if let Some(temperature) = sampling.temperature {
            map.serialize_entry("temperature", &temperature)?;
        }
        if let Some(top_p) = sampling.top_p {
            map.serialize_entry("top_p", &top_p)?;
        }
        if let Some(max_tokens) = sampling.max_tokens {
            map.serialize_entry(max_tokens_name, &max_tokens)?;
        }
        if quirks.prompt_cache_key && !sampling.extra.contains_key("prompt_cache_key") {
            map.serialize_entry("prompt_cache_key", cache_key(&request.session_id))?;
        }
        for (key, value) in &sampling.extra {
            let taken = OWN_KEYS.contains(&key.as_str())
                || (key == "temperature" && sampling.temperature.is_some())
                || (key == "top_p" && sampling.top_p.is_some())
                || (key == max_tokens_name && sampling.max_tokens.is_some())
                || (key == "stream_options" && !request.stream);
            if !taken {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

/// A session's id as a cache key, which OpenAI limits to 64 characters.
fn cache_key(session_id: &str) -> &str {
    hermes_core::text::prefix(session_id, 64)
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

struct Messages<'a>(&'a ModelRequest, &'a Quirks);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(request, quirks) = self;
        let marked = cache::is_marked(&request.model, quirks);
        let marks = if marked { cache::marks(&request.messages) } else { Vec::new() };
        let mut list = serializer.serialize_seq(None)?;
        if !request.system.is_empty() {
            let role = quirks.system_role.as_str();
            list.serialize_element(&System { role, content: &request.system, marked })?;
        }
        let mut messages = request.messages.iter().map(|message| &**message).enumerate().peekable();
        let mut pictured: Vec<&Message> = Vec::new();
        while let Some((at, message)) = messages.next() {
            list.serialize_element(&Wire { message, quirks, marked: marks.contains(&at) })?;
            let moved = message.role == Role::Tool && !quirks.images_in_tool_results;
            if moved && has_image(&message.content) {
                pictured.push(message);
            }
            // Results of one reply stay together; their images follow after the last of them, with
            // what the user says next: some servers refuse two user messages in a row.
            let last_result = messages.peek().is_none_or(|(_, next)| next.role != Role::Tool);
            if last_result && !pictured.is_empty() {
                let user = messages.next_if(|(_, next)| next.role == Role::User);
                let user = user.map(|(at, message)| (message, marks.contains(&at)));
                list.serialize_element(&ResultImages { results: &pictured, user })?;
                pictured.clear();
            }
        }
        list.end()
    }
}

struct System<'a> {
    role: &'static str,
    content: &'a str,
    marked: bool,
}

impl Serialize for System<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("role", self.role)?;
        match self.marked {
            true => map.serialize_entry("content", &[cache::Marked::text(self.content)])?,
            false => map.serialize_entry("content", self.content)?,
        }
        map.end()
    }
}

/// What a tool result says whose images follow in a user message and that has no text: some servers
/// refuse an empty one.
const IMAGES_FOLLOW: &str = "[the result is the image that follows]";

/// One message as the wire wants it.
struct Wire<'a> {
    message: &'a Message,
    quirks: &'a Quirks,
    /// Whether the prompt is cached up to and with it.
    marked: bool,
}

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { message, quirks, .. } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &message.role)?;
        match message.role {
            Role::Tool => {
                let id = message.tool_call_id.as_deref().unwrap_or_default();
                map.serialize_entry("tool_call_id", id)?;
                if let Some(name) = message.name.as_deref().filter(|_| quirks.tool_names) {
                    map.serialize_entry("name", name)?;
                }
                let moved = has_image(&message.content) && !quirks.images_in_tool_results;
                if moved && message.content.text().trim().is_empty() {
                    let told = Content::from(IMAGES_FOLLOW);
                    self.write(&mut map, &told, false)?;
                } else {
                    self.content(&mut map, quirks.images_in_tool_results)?;
                }
            }
            Role::Assistant if !message.tool_calls.is_empty() => {
                let silent = message.content.is_blank();
                let content = (!silent).then_some(PlainText(&message.content));
                map.serialize_entry("content", &content)?;
                self.reasoning(&mut map)?;
                map.serialize_entry("tool_calls", &Calls(message, quirks))?;
            }
            Role::Assistant => {
                self.content(&mut map, false)?;
                self.reasoning(&mut map)?;
            }
            Role::System | Role::User => self.content(&mut map, message.role == Role::User)?,
        }
        map.end()
    }
}

impl Wire<'_> {
    /// The content: parts only where there must be some.
    fn content<M: SerializeMap>(&self, map: &mut M, images: bool) -> Result<(), M::Error> {
        self.write(map, &self.message.content, images)
    }

    fn write<M: SerializeMap>(
        &self,
        map: &mut M,
        content: &Content,
        images: bool,
    ) -> Result<(), M::Error> {
        let images = images && has_image(content);
        match (self.marked, images) {
            (true, _) => map.serialize_entry("content", &cache::Parts { content, images }),
            (false, true) => map.serialize_entry("content", &Parts(content)),
            (false, false) => map.serialize_entry("content", &PlainText(content)),
        }
    }

    /// What the server wants back of the reasoning.
    fn reasoning<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let data = self.message.replay.as_ref().map(|replay| &replay.data);
        let field = match self.quirks.reasoning {
            ReasoningReplay::None => return Ok(()),
            ReasoningReplay::ReasoningContent => "reasoning_content",
            ReasoningReplay::ReasoningDetails => "reasoning_details",
        };
        let padded = self.quirks.pad_reasoning && !self.message.tool_calls.is_empty();
        match data.and_then(|data| data.get(field)) {
            Some(value) => map.serialize_entry(field, value),
            // Moonshot takes an empty text for an absent one.
            None if padded => map.serialize_entry("reasoning_content", " "),
            None => Ok(()),
        }
    }
}

fn has_image(content: &Content) -> bool {
    content.0.iter().any(is_image)
}

fn is_image(part: &ContentPart) -> bool {
    matches!(part, ContentPart::ImageUrl { .. })
}

fn is_empty(part: &ContentPart) -> bool {
    matches!(part, ContentPart::Text { text } if text.trim().is_empty())
}

/// All text of a content as one string: every server takes a string where some refuse a list.
struct PlainText<'a>(&'a Content);

impl Serialize for PlainText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_text() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_str(&self.0.text()),
        }
    }
}

/// A content as a list of parts, without empty texts, which some servers refuse.
struct Parts<'a>(&'a Content);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.0.iter().filter(|part| !is_empty(part)))
    }
}

/// A user message with the images of tool results, which tool messages themselves cannot hold, and
/// what the user says after them.
struct ResultImages<'a> {
    results: &'a [&'a Message],
    /// The user's own message, and whether the prompt is cached up to and with it.
    user: Option<(&'a Message, bool)>,
}

impl Serialize for ResultImages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("role", "user")?;
        map.serialize_entry("content", &ResultImageParts(self))?;
        map.end()
    }
}

struct ResultImageParts<'a>(&'a ResultImages<'a>);

impl Serialize for ResultImageParts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let ResultImages { results, user } = self.0;
        for message in *results {
            let tool = message.name.as_deref().unwrap_or("a tool");
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            let text = format!("Images from the result of {tool} (call {id}):");
            list.serialize_element(&ContentPart::Text { text })?;
            for part in message.content.0.iter().filter(|part| is_image(part)) {
                list.serialize_element(part)?;
            }
        }
        match user {
            Some((message, true)) => {
                for part in message.content.0.iter().filter(|part| is_image(part)) {
                    list.serialize_element(part)?;
                }
                list.serialize_element(&cache::Marked::text(&message.content.text()))?;
            }
            Some((message, false)) => {
                for part in message.content.0.iter().filter(|part| !is_empty(part)) {
                    list.serialize_element(part)?;
                }
            }
            None => {}
        }
        list.end()
    }
}

struct Calls<'a>(&'a Message, &'a Quirks);

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(message, quirks) = self;
        let calls = &message.tool_calls;
        let data = message.replay.as_ref().map(|replay| &replay.data);
        serializer.collect_seq(calls.iter().enumerate().map(|(at, call)| WireCall {
            id: &call.id,
            kind: "function",
            function: WireFunction { name: &call.name, arguments: arguments(call) },
            extra_content: replay::extra(quirks, data, at, calls.len()),
        }))
    }
}

/// A call's arguments; a call without any is sent as an empty object, since servers parse them.
fn arguments(call: &ToolCall) -> &str {
    if call.arguments.trim().is_empty() { "{}" } else { &call.arguments }
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<serde_json::Value>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

struct Tools<'a>(&'a [ToolSpec]);

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|tool| WireTool {
            kind: "function",
            function: WireSpec {
                name: &tool.name,
                description: &tool.description,
                parameters: &tool.parameters,
            },
        }))
    }
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireSpec<'a>,
}

#[derive(Serialize)]
struct WireSpec<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

#[cfg(test)]
mod tests;
