//! What every iteration pays: decoding a stream of deltas, and encoding the whole history.

mod rig;

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hermes_core::message::{Content, Message, Role};
use hermes_core::transport::ModelRequest;
use hermes_transport::Quirks;
use hermes_transport::mode::chat_completions::{Decoder, encode};
use rig::DELTAS;
use serde_json::{Value, json};

/// A stream in the form OpenAI sends it.
fn stream(delta: &str) -> Vec<Bytes> {
    let chunk = format!(
        "data: {{\"id\":\"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012\",\"object\":\"chat.completion.chunk\",\
         \"created\":1760000000,\"model\":\"m-2026\",\"service_tier\":\"default\",\
         \"system_fingerprint\":\"fp_0123456789\",\"choices\":[{{\"index\":0,\"delta\":{delta},\
         \"logprobs\":null,\"finish_reason\":null}}],\"usage\":null}}\n\n"
    );
    rig::stream("", &chunk)
}

fn decode(pieces: &[Bytes]) -> u64 {
    rig::decode(Decoder::new("m-2026", &Quirks::default()), pieces)
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

/// A history in which each reply has a line of text.
fn history() -> ModelRequest {
    rig::history("call", |_, _| Message::assistant("Next I read the file that defines it."))
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
