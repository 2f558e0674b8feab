//! What every iteration pays in this api mode: decoding a stream of deltas, and encoding the whole
//! history with its reasoning.

mod rig;

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hermes_core::message::{Message, Replay};
use hermes_core::transport::{ModelRequest, Sampling};
use hermes_transport::mode::responses::{Decoder, encode};
use rig::DELTAS;
use serde_json::json;

/// A stream in the form OpenAI sends it.
fn stream(kind: &str, delta: &str) -> Vec<Bytes> {
    let event = format!(
        "event: response.{kind}.delta\n\
         data: {{\"type\":\"response.{kind}.delta\",\"sequence_number\":4711,\
         \"item_id\":\"msg_0123456789abcdef0123456789abcdef0123456789abcdef\",\"output_index\":1,\
         \"content_index\":0,\"delta\":\"{delta}\",\"logprobs\":[],\"obfuscation\":\"aZ3kLq8sD1\"}}\n\n"
    );
    rig::stream("", &event)
}

fn decode(pieces: &[Bytes]) -> u64 {
    rig::decode(Decoder::new("m-2026"), pieces)
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

/// A history in which each reply has 1 KB of sealed reasoning.
fn history() -> ModelRequest {
    let request = rig::history("call", |n, call| {
        let replay = Replay {
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
        };
        Message { replay: Some(replay), ..Message::assistant("") }
    });
    ModelRequest { tools: Arc::new([]), sampling: Sampling::default(), ..request }
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
