//! What every iteration pays: decoding a stream of deltas, and encoding the whole history.

mod rig;

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hermes_core::message::{Message, Replay};
use hermes_core::transport::ModelRequest;
use hermes_transport::mode::anthropic_messages::{Decoder, encode};
use rig::DELTAS;
use serde_json::json;

/// A stream in the form Anthropic sends it: `block` begins, then come the deltas.
fn stream(block: &str, delta: &str) -> Vec<Bytes> {
    let start = format!(
        "event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\
         \"content_block\":{block}}}\n\n"
    );
    let delta = format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\
         \"delta\":{delta} }}\n\n"
    );
    rig::stream(&start, &delta)
}

fn decode(pieces: &[Bytes]) -> u64 {
    rig::decode(Decoder::new("m-2026"), pieces)
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

/// A history in which each reply has some thinking and a line of text.
fn history() -> ModelRequest {
    rig::history("toolu", |_, _| {
        let text = "Next I read the file that defines it.";
        let replay = Replay {
            api_mode: "anthropic_messages".into(),
            provider: "anthropic".into(),
            model: "m".into(),
            data: json!({"blocks": [
                {"type": "thinking", "thinking": "It must be defined somewhere. ".repeat(10),
                 "signature": "c2lnbmF0dXJl".repeat(30)},
                {"type": "text", "bytes": text.len()},
                {"type": "tool_use"},
            ]}),
        };
        Message { replay: Some(replay), ..Message::assistant(text) }
    })
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
