//! A message as a row: the JSON of its serde form, whole, and columns that repeat what SQL needs.

use std::sync::Arc;

use hermes_core::message::{Message, Role};
use serde::Deserialize;

use crate::fault::{Fault, Result};
use crate::int;

/// Deepest nesting of JSON that is read back. serde_json's own limit of 128 is no help: what was
/// just within it when it arrived is deeper by a few levels inside a message. Parsing this many
/// levels takes some 100 KiB of stack, and a thread has 2 MiB.
const MAX_DEPTH: usize = 256;

/// A message ready to be written. Made before the database is locked.
#[derive(Debug)]
pub(crate) struct MessageRow {
    pub(crate) id: String,
    pub(crate) role: &'static str,
    pub(crate) tool_call_id: Option<String>,
    pub(crate) created_ms: i64,
    pub(crate) body: String,
}

impl MessageRow {
    /// The row of one message.
    pub(crate) fn new(message: &Message) -> Result<Self> {
        let body = serde_json::to_string(message)
            .map_err(|error| Fault::Refused(format!("message {}: {error}", message.id)))?;
        Ok(Self {
            id: message.id.clone(),
            role: role(message.role),
            tool_call_id: message.tool_call_id.clone(),
            created_ms: int::to_sql(message.created_ms),
            body,
        })
    }

    /// The rows of several messages.
    pub(crate) fn all(messages: &[Arc<Message>]) -> Result<Vec<Self>> {
        messages.iter().map(|message| Self::new(message)).collect()
    }

    /// Bytes it brings to the database, about.
    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }

    /// The message of a stored body.
    pub(crate) fn parse(body: &[u8]) -> serde_json::Result<Message> {
        serde_json::from_slice(body).or_else(|error| {
            if depth(body) > MAX_DEPTH {
                return Err(error);
            }
            let mut deserializer = serde_json::Deserializer::from_slice(body);
            deserializer.disable_recursion_limit();
            Message::deserialize(&mut deserializer)
        })
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

/// How deep the arrays and objects of a JSON text nest.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use hermes_core::failure::Attributes;
    use serde_json::Value;

    use super::*;

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert_eq!(depth(b"1"), 0);
        assert_eq!(depth(br#"{"a":[[1],{"b":2}]}"#), 3);
        assert_eq!(depth(br#"{"[[[[\"[":"\\","b":[]}"#), 2);
    }

    /// A message whose attributes nest as deep as `levels`.
    fn nested(levels: usize) -> Message {
        let value = (1..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let attributes = Attributes::from_iter([("plugin".into(), value)]);
        Message { attributes, ..Message::user("deep") }
    }

    #[test]
    fn what_was_just_shallow_enough_to_arrive_can_be_read_back() {
        for levels in [126, 127, 128, 200, MAX_DEPTH - 1] {
            let message = nested(levels);
            let row = MessageRow::new(&message).expect("a row");
            assert_eq!(
                MessageRow::parse(row.body.as_bytes()).expect("a message"),
                message,
                "{levels}"
            );
        }
    }

    #[test]
    fn bottomless_json_is_an_error_and_not_a_stack_overflow() {
        let body =
            r#"{"id":"x","role":"user","attributes":"#.to_owned() + &r#"{"a":"#.repeat(1_000_000);
        assert!(MessageRow::parse(body.as_bytes()).is_err());
    }
}
