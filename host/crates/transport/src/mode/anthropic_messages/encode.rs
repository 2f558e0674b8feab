//! A request's body, written from the borrowed history.
//!
//! The same history gives the same bytes in every request, but for the cache markers, which move
//! with its end: a provider's cache goes by the prefix.

use std::collections::BTreeSet;

use hermes_core::message::Message;
use hermes_core::tool::ToolSpec;
use hermes_core::transport::{ModelRequest, Sampling};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::blocks::{Block, Turn, turns};
use super::{input_schema, max_tokens};

/// Keys that are written from the request itself and so never taken from the extra parameters.
const OWN_KEYS: [&str; 6] = ["model", "max_tokens", "system", "messages", "tools", "stream"];

/// Markers the API accepts in one request.
const MAX_MARKERS: usize = 4;

/// The body for `request`. The same request gives the same bytes.
pub fn encode(request: &ModelRequest) -> Vec<u8> {
    serde_json::to_vec(&Body(request))
        .expect("memory takes every write, and all keys of the body are strings")
}

struct Body<'a>(&'a ModelRequest);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(request) = self;
        let sampling = &request.sampling;
        let messages = || request.messages.iter().map(|message| &**message);
        let turns = turns(messages());
        let offer = Offer::of(request, messages());
        let instructed = !request.system.trim().is_empty();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", &request.model)?;
        let default = || max_tokens::default_for(&request.model, sampling.extra.get("thinking"));
        map.serialize_entry("max_tokens", &sampling.max_tokens.unwrap_or_else(default))?;
        match &offer {
            Offer::Tools(tools) => {
                map.serialize_entry("tools", &Tools { tools, mark: !instructed })?
            }
            Offer::Named(names) => map.serialize_entry("tools", &Named(names))?,
            Offer::Nothing => {}
        }
        if instructed {
            map.serialize_entry(
                "system",
                &[Marked(&Block::Text((&*request.system).into()), true)],
            )?;
        }
        // The tools and the system prompt have one between them, and a marker of the user's own
        // for the whole request takes another.
        let taken = 1 + usize::from(sampling.extra.contains_key("cache_control"));
        map.serialize_entry("messages", &Turns { turns: &turns, marked: MAX_MARKERS - taken })?;
        map.serialize_entry("stream", &request.stream)?;
        if matches!(offer, Offer::Named(_)) {
            map.serialize_entry("tool_choice", &json!({"type": "none"}))?;
        }
        parameters(&mut map, sampling, matches!(offer, Offer::Tools(_)))?;
        map.end()
    }
}

/// Writes the sampling parameters; a `tool_choice` only where there are tools `to_choose` from.
fn parameters<M: SerializeMap>(
    map: &mut M,
    sampling: &Sampling,
    to_choose: bool,
) -> Result<(), M::Error> {
    if let Some(temperature) = sampling.temperature {
        map.serialize_entry("temperature", &temperature)?;
    }
    if let Some(top_p) = sampling.top_p {
        map.serialize_entry("top_p", &top_p)?;
    }
    for (key, value) in &sampling.extra {
        let taken = OWN_KEYS.contains(&key.as_str())
            || (key == "tool_choice" && !to_choose)
            || (key == "temperature" && sampling.temperature.is_some())
            || (key == "top_p" && sampling.top_p.is_some());
        if !taken {
            map.serialize_entry(key, value)?;
        }
    }
    Ok(())
}

/// The tools to write into a request.
enum Offer<'a> {
    Tools(&'a [ToolSpec]),
    /// None may be called, but the history tells of calls, and the API wants every request that
    /// does to define tools.
    Named(BTreeSet<&'a str>),
    Nothing,
}

impl<'a> Offer<'a> {
    fn of(request: &'a ModelRequest, messages: impl Iterator<Item = &'a Message>) -> Self {
        if !request.tools.is_empty() {
            return Self::Tools(&request.tools);
        }
        let calls = messages.flat_map(|message| &message.tool_calls);
        let names: BTreeSet<&str> = calls.map(|call| call.name.as_str()).collect();
        if names.is_empty() { Self::Nothing } else { Self::Named(names) }
    }
}

struct Tools<'a> {
    tools: &'a [ToolSpec],
    /// Whether the last one carries a cache marker.
    mark: bool,
}

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.tools.len()))?;
        for (at, tool) in self.tools.iter().enumerate() {
            list.serialize_element(&Tool { tool, mark: self.mark && at + 1 == self.tools.len() })?;
        }
        list.end()
    }
}

struct Tool<'a> {
    tool: &'a ToolSpec,
    mark: bool,
}

impl Serialize for Tool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { tool, mark } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &tool.name)?;
        if !tool.description.trim().is_empty() {
            map.serialize_entry("description", &tool.description)?;
        }
        map.serialize_entry("input_schema", &*input_schema::fit(&tool.parameters))?;
        end_marked(map, *mark)
    }
}

/// Tools nothing is known of but their names.
struct Named<'a>(&'a BTreeSet<&'a str>);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tool = |name| json!({"name": name, "input_schema": {"type": "object"}});
        serializer.collect_seq(self.0.iter().map(tool))
    }
}

struct Turns<'a> {
    turns: &'a [Turn<'a>],
    /// How many turns at the end carry a cache marker.
    marked: usize,
}

impl Serialize for Turns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first_marked = self.turns.len().saturating_sub(self.marked);
        let mut list = serializer.serialize_seq(Some(self.turns.len()))?;
        for (at, turn) in self.turns.iter().enumerate() {
            list.serialize_element(&Wire { turn, mark: at >= first_marked })?;
        }
        list.end()
    }
}

struct Wire<'a> {
    turn: &'a Turn<'a>,
    mark: bool,
}

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("role", &self.turn.speaker)?;
        map.serialize_entry("content", &Blocks { blocks: &self.turn.blocks, mark: self.mark })?;
        map.end()
    }
}

struct Blocks<'a> {
    blocks: &'a [Block<'a>],
    /// Whether the last one that can carry a cache marker does.
    mark: bool,
}

impl Serialize for Blocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let marked = self.blocks.iter().rposition(|block| !block.is_thinking());
        let marked = marked.filter(|_| self.mark);
        let blocks = self.blocks.iter().enumerate();
        serializer.collect_seq(blocks.map(|(at, block)| Marked(block, Some(at) == marked)))
    }
}

/// A block, and whether it carries a cache marker.
struct Marked<'a>(&'a Block<'a>, bool);

impl Serialize for Marked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0 {
            Block::Text(text) => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
            }
            Block::Image(source) => {
                map.serialize_entry("type", "image")?;
                map.serialize_entry("source", source)?;
            }
            Block::Thinking { thinking, signature } => {
                map.serialize_entry("type", "thinking")?;
                map.serialize_entry("thinking", thinking)?;
                map.serialize_entry("signature", signature)?;
            }
            Block::RedactedThinking { data } => {
                map.serialize_entry("type", "redacted_thinking")?;
                map.serialize_entry("data", data)?;
            }
            Block::ToolUse { id, name, input } => {
                map.serialize_entry("type", "tool_use")?;
                map.serialize_entry("id", id)?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("input", &**input)?;
            }
            Block::ToolResult { id, content, is_error } => {
                map.serialize_entry("type", "tool_result")?;
                result(&mut map, id, content, *is_error)?;
            }
        }
        end_marked(map, self.1)
    }
}

fn result<M: SerializeMap>(
    map: &mut M,
    id: &str,
    content: &[Block<'_>],
    is_error: bool,
) -> Result<(), M::Error> {
    map.serialize_entry("tool_use_id", id)?;
    if !content.is_empty() {
        map.serialize_entry("content", &Blocks { blocks: content, mark: false })?;
    }
    if is_error {
        map.serialize_entry("is_error", &true)?;
    }
    Ok(())
}

fn end_marked<M: SerializeMap>(mut map: M, mark: bool) -> Result<M::Ok, M::Error> {
    if mark {
        map.serialize_entry("cache_control", &json!({"type": "ephemeral"}))?;
    }
    map.end()
}

#[cfg(test)]
mod tests;
