//! What every iteration pays: decoding a stream of deltas, and encoding the whole history.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hermes_core::message::{Content, Message, Role, ToolCall};
use hermes_core::tool::{ToolSpec, ToolTraits};
use hermes_core::transport::{ModelRequest, Sampling};
use hermes_transport::Quirks;
use hermes_transport::mode::chat_completions::{Decoder, encode};
use hermes_transport::mode::{Decode, Deltas};
use hermes_transport::sse;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Deltas of one benchmarked stream.
const DELTAS: u64 = 20_000;

/// Bytes of one read from a socket.
const READ_BYTES: usize = 16 * 1024;

/// Iterations of the benchmarked history; a long working session.
const ITERATIONS: usize = 200;

/// A stream in the form OpenAI sends it, cut as a socket would.
fn stream(delta: &str) -> Vec<Bytes> {
    let chunk = format!(
        "data: {{\"id\":\"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012\",\"object\":\"chat.completion.chunk\",\
         \"created\":1760000000,\"model\":\"m-2026\",\"service_tier\":\"default\",\
         \"system_fingerprint\":\"fp_0123456789\",\"choices\":[{{\"index\":0,\"delta\":{delta},\
         \"logprobs\":null,\"finish_reason\":null}}],\"usage\":null}}\n\n"
    );
    let body = Bytes::from(chunk.repeat(usize::try_from(DELTAS).expect("a small number")));
    (0..body.len())
        .step_by(READ_BYTES)
        .map(|at| body.slice(at..body.len().min(at + READ_BYTES)))
        .collect()
}

/// Decodes the way a reply does: event by event, each delta taken before the next is decoded.
fn decode(pieces: &[Bytes]) -> u64 {
    let mut events = sse::Decoder::default();
    let mut decoder = Decoder::new("m-2026", &Quirks::default());
    let mut out = Deltas::new();
    let mut count = 0;
    for piece in pieces {
        events.push(piece.clone());
        while let Some(event) = events.next_event().expect("short events") {
            decoder.event(&event, &mut out).expect("valid chunks");
            while let Some(delta) = out.pop_front() {
                black_box(delta);
                count += 1;
            }
        }
    }
    count
}

fn decoding(c: &mut Criterion) {
    let mut group = c.benchmark_group("decode");
    group.throughput(Throughput::Elements(DELTAS));
    let bodies = [
        ("text", r#"{"content":" token"}"#),
        ("escaped_text", r#"{"content":"\n\tline \"quoted\" \u00e9"}"#),
        ("arguments", r#"{"tool_calls":[{"index":0,"function":{"arguments":"\\\"path"}}]}"#),
    ];
    for (name, delta) in bodies {
        let pieces = stream(delta);
        assert_eq!(decode(&pieces), DELTAS);
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

/// A history of 200 iterations: each a call and a result of 2 KB of source text.
fn history() -> ModelRequest {
    let mut messages = vec![Arc::new(Message::user("Read all of it and tell me what it does."))];
    let source = "\tlet value = map.get(\"key\").copied().unwrap_or_default(); // é\n".repeat(32);
    for n in 0..ITERATIONS {
        let call = ToolCall {
            id: format!("call_{n:024}"),
            name: "read_file".into(),
            arguments: format!(r#"{{"path":"src/module_{n}/file.rs","offset":1,"limit":200}}"#),
        };
        let result = Message::tool(&call, source.clone());
        let mut asks = Message::assistant("Next I read the file that defines it.");
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

/// The same body by way of values, as the yardstick.
fn encode_by_value(request: &ModelRequest) -> Vec<u8> {
    let text = |content: &Content| Value::String(content.text());
    let mut messages = vec![json!({"role": "system", "content": &*request.system})];
    for message in &request.messages {
        messages.push(match message.role {
            Role::Tool => json!({
                "role": "tool",
                "tool_call_id": message.tool_call_id,
                "content": text(&message.content),
            }),
            Role::Assistant => json!({
                "role": "assistant",
                "content": text(&message.content),
                "tool_calls": message.tool_calls,
            }),
            role => json!({"role": role, "content": text(&message.content)}),
        });
    }
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            let parameters: Value =
                serde_json::from_str(tool.parameters.get()).expect("valid JSON");
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": parameters,
            }})
        })
        .collect();
    let body = json!({
        "model": request.model, "messages": messages, "tools": tools, "stream": true,
        "stream_options": {"include_usage": true}, "temperature": request.sampling.temperature,
    });
    serde_json::to_vec(&body).expect("a value")
}

fn encoding(c: &mut Criterion) {
    let request = history();
    let body = encode(&request, &Quirks::default());
    assert_eq!(body, encode_by_value(&request), "both ways write the same bytes");
    let mut group = c.benchmark_group("encode");
    group.throughput(Throughput::Bytes(u64::try_from(body.len()).expect("a length")));
    group.bench_function("history_of_200", |b| {
        b.iter(|| encode(black_box(&request), &Quirks::default()))
    });
    group.bench_function("by_value", |b| b.iter(|| encode_by_value(black_box(&request))));
    group.finish();
}

criterion_group!(benches, decoding, encoding);
criterion_main!(benches);
