//! What every iteration pays in this api mode: decoding a stream of deltas, and encoding the whole
//! history with its reasoning.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hermes_core::message::{Message, Replay, ToolCall};
use hermes_core::transport::{ModelRequest, Sampling};
use hermes_transport::mode::responses::{Decoder, encode};
use hermes_transport::mode::{Decode, Deltas};
use hermes_transport::sse;
use serde_json::json;

/// Deltas of one benchmarked stream.
const DELTAS: u64 = 20_000;

/// Bytes of one read from a socket.
const READ_BYTES: usize = 16 * 1024;

/// Iterations of the benchmarked history; a long working session.
const ITERATIONS: usize = 200;

/// A stream in the form OpenAI sends it, cut as a socket would.
fn stream(kind: &str, delta: &str) -> Vec<Bytes> {
    let event = format!(
        "event: response.{kind}.delta\n\
         data: {{\"type\":\"response.{kind}.delta\",\"sequence_number\":4711,\
         \"item_id\":\"msg_0123456789abcdef0123456789abcdef0123456789abcdef\",\"output_index\":1,\
         \"content_index\":0,\"delta\":\"{delta}\",\"logprobs\":[],\"obfuscation\":\"aZ3kLq8sD1\"}}\n\n"
    );
    let body = Bytes::from(event.repeat(usize::try_from(DELTAS).expect("a small number")));
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
    let mut group = c.benchmark_group("responses_decode");
    group.throughput(Throughput::Elements(DELTAS));
    let streams = [
        ("text", "output_text", " token"),
        ("escaped_text", "output_text", "\\n\\tline \\\"quoted\\\" \\u00e9"),
        ("reasoning", "reasoning_summary_text", " thought"),
        ("arguments", "function_call_arguments", "\\\"path"),
    ];
    for (name, kind, delta) in streams {
        let pieces = stream(kind, delta);
        assert_eq!(decode(&pieces), DELTAS);
        group.bench_function(name, |b| b.iter(|| decode(black_box(&pieces))));
    }
    group.finish();
}

/// A history of 200 iterations: each 1 KB of sealed reasoning, a call and a result of 2 KB.
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
        let mut asks = Message::assistant("");
        asks.replay = Some(Replay {
            api_mode: "responses".into(),
            provider: "p".into(),
            model: "m".into(),
            data: json!([
                {
                    "type": "reasoning", "id": format!("rs_{n:048}"), "summary": [],
                    "encrypted_content": "gAAAAABo".repeat(128)
                },
                {"type": "function_call", "call_id": call.id},
            ]),
        });
        asks.tool_calls.push(call);
        messages.extend([Arc::new(asks), Arc::new(result)]);
    }
    ModelRequest {
        model: "m".into(),
        system: "You are a careful engineer. ".repeat(200).into(),
        messages,
        tools: Arc::new([]),
        sampling: Sampling::default(),
        stream: true,
        session_id: "s".into(),
    }
}

fn encoding(c: &mut Criterion) {
    let request = history();
    let body = encode(&request);
    let mut group = c.benchmark_group("responses_encode");
    group.throughput(Throughput::Bytes(u64::try_from(body.len()).expect("a length")));
    group.bench_function("history_of_200", |b| b.iter(|| encode(black_box(&request))));
    group.finish();
}

criterion_group!(benches, decoding, encoding);
criterion_main!(benches);
