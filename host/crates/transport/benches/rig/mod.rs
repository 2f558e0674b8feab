//! What the benchmarks of all api modes share: a stream cut as a socket would, its decoding, and the
//! history of a long working session. What only one mode sends stands in its own benchmark.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use hermes_core::message::{Message, ToolCall};
use hermes_core::tool::{ToolSpec, ToolTraits};
use hermes_core::transport::{ModelRequest, Sampling};
use hermes_transport::mode::{Decode, Deltas};
use hermes_transport::sse;
use serde_json::json;
use serde_json::value::RawValue;

/// Deltas of one benchmarked stream.
pub(crate) const DELTAS: u64 = 20_000;

/// Bytes of one read from a socket.
const READ_BYTES: usize = 16 * 1024;

/// Iterations of the benchmarked history; a long working session.
const ITERATIONS: usize = 200;

/// `head` and then so many times `delta`, cut as a socket would.
pub(crate) fn stream(head: &str, delta: &str) -> Vec<Bytes> {
    let count = usize::try_from(DELTAS).expect("a small number");
    let body = Bytes::from(head.to_owned() + &delta.repeat(count));
    (0..body.len())
        .step_by(READ_BYTES)
        .map(|at| body.slice(at..body.len().min(at + READ_BYTES)))
        .collect()
}

/// Decodes the way a reply does: event by event, each delta taken before the next is decoded.
pub(crate) fn decode(mut decoder: impl Decode, pieces: &[Bytes]) -> u64 {
    let mut events = sse::Decoder::default();
    let mut out = Deltas::new();
    let mut count = 0;
    for piece in pieces {
        events.push(piece.clone());
        while let Some(event) = events.next_event().expect("short events") {
            decoder.event(&event, &mut out).expect("valid events");
            while let Some(delta) = out.pop_front() {
                black_box(delta);
                count += 1;
            }
        }
    }
    count
}

/// A history of 200 iterations: each a reply that `asks` makes around a call whose id begins with
/// `prefix`, and a result of 2 KB of source text.
pub(crate) fn history(prefix: &str, asks: impl Fn(usize, &ToolCall) -> Message) -> ModelRequest {
    let mut messages = vec![Arc::new(Message::user("Read all of it and tell me what it does."))];
    let source = "\tlet value = map.get(\"key\").copied().unwrap_or_default(); // é\n".repeat(32);
    for n in 0..ITERATIONS {
        let call = ToolCall {
            id: format!("{prefix}_{n:024}"),
            name: "read_file".into(),
            arguments: format!(r#"{{"path":"src/module_{n}/file.rs","offset":1,"limit":200}}"#),
        };
        let result = Message::tool(&call, source.clone());
        let mut asks = asks(n, &call);
        asks.tool_calls.push(call);
        messages.extend([Arc::new(asks), Arc::new(result)]);
    }
    ModelRequest {
        model: "m".into(),
        system: "You are a careful engineer. ".repeat(200).into(),
        messages,
        tools: ["read_file", "write_file", "edit_file", "list_files"].map(tool).into(),
        sampling: Sampling { temperature: Some(0.2), ..Sampling::default() },
        stream: true,
        session_id: "s".into(),
    }
}

fn tool(name: &str) -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where the file is."},
            "offset": {"type": "integer", "minimum": 1, "description": "First line."},
            "limit": {"type": "integer", "minimum": 1, "description": "Number of lines."},
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    ToolSpec {
        name: name.into(),
        title: None,
        description: "Reads a text file and answers its lines with their numbers.".repeat(3),
        parameters: RawValue::from_string(parameters.to_string()).expect("valid JSON").into(),
        source: "files".into(),
        traits: ToolTraits::default(),
    }
}
