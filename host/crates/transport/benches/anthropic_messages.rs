//! What every iteration pays: decoding a stream of deltas, and encoding the whole history.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hermes_core::message::{Message, Replay, ToolCall};
use hermes_core::tool::{ToolSpec, ToolTraits};
use hermes_core::transport::{ModelRequest, Sampling};
use hermes_transport::mode::anthropic_messages::{Decoder, encode};
use hermes_transport::mode::{Decode, Deltas};
use hermes_transport::sse;
use serde_json::json;
use serde_json::value::RawValue;

/// Deltas of one benchmarked stream.
const DELTAS: u64 = 20_000;

/// Bytes of one read from a socket.
const READ_BYTES: usize = 16 * 1024;

/// Iterations of the benchmarked history; a long working session.
const ITERATIONS: usize = 200;

/// A stream in the form Anthropic sends it, cut as a socket would: `block` begins, then come the
/// deltas.
fn stream(block: &str, delta: &str) -> Vec<Bytes> {
    let start = format!(
        "event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\
         \"content_block\":{block}}}\n\n"
    );
    let delta = format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\
         \"delta\":{delta} }}\n\n"
    );
    let count = usize::try_from(DELTAS).expect("a small number");
    let body = Bytes::from(start + &delta.repeat(count));
    (0..body.len())
        .step_by(READ_BYTES)
        .map(|at| body.slice(at..body.len().min(at + READ_BYTES)))
        .collect()
}

/// Decodes the way a reply does: event by event, each delta taken before the next is decoded.
fn decode(pieces: &[Bytes]) -> u64 {
    let mut events = sse::Decoder::default();
    let mut decoder = Decoder::new("m-2026");
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

fn decoding(c: &mut Criterion) {
    let mut group = c.benchmark_group("anthropic_decode");
    group.throughput(Throughput::Elements(DELTAS));
    let text = r#"{"type":"text","text":""}"#;
    let thinking = r#"{"type":"thinking","thinking":"","signature":""}"#;
    let call = r#"{"type":"tool_use","id":"toolu_01","name":"read_file","input":{}}"#;
    let bodies = [
        ("text", text, r#"{"type":"text_delta","text":" token"}"#, 0),
        ("escaped_text", text, r#"{"type":"text_delta","text":"\n\tline \"quoted\" \u00e9"}"#, 0),
        ("thinking", thinking, r#"{"type":"thinking_delta","thinking":" token"}"#, 0),
        // The head of the call is a delta too.
        ("arguments", call, r#"{"type":"input_json_delta","partial_json":"\\\"path"}"#, 1),
    ];
    for (name, block, delta, heads) in bodies {
        let pieces = stream(block, delta);
        assert_eq!(decode(&pieces), DELTAS + heads);
        group.bench_function(name, |b| b.iter(|| decode(black_box(&pieces))));
    }
    group.finish();
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

/// A history of 200 iterations: each some thinking, a call, and a result of 2 KB of source text.
fn history() -> ModelRequest {
    let mut messages = vec![Arc::new(Message::user("Read all of it and tell me what it does."))];
    let source = "\tlet value = map.get(\"key\").copied().unwrap_or_default(); // é\n".repeat(32);
    for n in 0..ITERATIONS {
        let call = ToolCall {
            id: format!("toolu_{n:024}"),
            name: "read_file".into(),
            arguments: format!(r#"{{"path":"src/module_{n}/file.rs","offset":1,"limit":200}}"#),
        };
        let result = Message::tool(&call, source.clone());
        let text = "Next I read the file that defines it.";
        let mut asks = Message::assistant(text);
        asks.tool_calls.push(call);
        asks.replay = Some(Replay {
            api_mode: "anthropic_messages".into(),
            provider: "anthropic".into(),
            model: "m".into(),
            data: json!({"blocks": [
                {"type": "thinking", "thinking": "It must be defined somewhere. ".repeat(10),
                 "signature": "c2lnbmF0dXJl".repeat(30)},
                {"type": "text", "bytes": text.len()},
                {"type": "tool_use"},
            ]}),
        });
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

fn encoding(c: &mut Criterion) {
    let request = history();
    let body = encode(&request);
    let mut group = c.benchmark_group("anthropic_encode");
    group.throughput(Throughput::Bytes(u64::try_from(body.len()).expect("a length")));
    group.bench_function("history_of_200", |b| b.iter(|| encode(black_box(&request))));
    group.finish();
}

criterion_group!(benches, decoding, encoding);
criterion_main!(benches);
