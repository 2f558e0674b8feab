//! A streamed answer from the socket to the front end: a server on this machine, the transport, the
//! loop, and an event for each delta, all but the server on one thread.

#![allow(missing_docs, reason = "criterion's macros")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hermes_core::agent::{Agent, TurnInput};
use hermes_core::event::{Event, EventKind};
use hermes_core::router::{ModelRouter, Route};
use hermes_core::testing::MemoryStore;
use hermes_core::transport::Sampling;
use hermes_transport::{Settings, open};

/// Deltas of one answer.
const DELTAS: u64 = 50_000;

/// What a server sends: the beginning of its answer, one delta, and the end.
struct Wire {
    mode: &'static str,
    head: &'static str,
    delta: &'static str,
    tail: &'static str,
}

const WIRES: [Wire; 3] = [
    Wire {
        mode: "chat_completions",
        head: "",
        delta: "data: {\"id\":\"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n",
        tail: "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    },
    Wire {
        mode: "responses",
        head: "",
        delta: "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":4711,\"item_id\":\"msg_0123456789abcdef0123456789abcdef0123456789abcdef\",\"output_index\":0,\"content_index\":0,\"delta\":\" token\",\"logprobs\":[],\"obfuscation\":\"aZ3kLq8sD1\"}\n\n",
        tail: "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
    },
    Wire {
        mode: "anthropic_messages",
        head: "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        delta: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" token\"} }\n\n",
        tail: "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":9}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    },
];

/// A server that gives every request the same answer; its address.
fn serve(wire: &Wire) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let count = usize::try_from(DELTAS).expect("a small number");
    let body = wire.head.to_owned() + &wire.delta.repeat(count) + wire.tail;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever goes away does not want the rest.
            let _ = answer(stream, &body);
        }
    });
    address
}

fn answer(mut stream: TcpStream, body: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink())?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// An agent that asks there, and what counts its deltas.
fn agent(mode: &str, address: &str) -> (Agent, Arc<AtomicU64>) {
    let route = Route {
        provider: "bench".into(),
        model: "m".into(),
        context_window: None,
        prices: None,
        sampling: Sampling::default(),
        stream: true,
        transport: open(&Settings::new(mode, address)).expect("settings that can be used"),
    };
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    let sink = move |event: Event| {
        if let EventKind::Delta { .. } = event.kind {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    };
    let builder = Agent::builder(ModelRouter::new(route), Arc::new(MemoryStore::default()));
    (builder.events(sink).build().expect("no two tools"), count)
}

fn streaming(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut group = c.benchmark_group("streaming");
    group.throughput(Throughput::Elements(DELTAS)).sample_size(20);
    for wire in &WIRES {
        let address = serve(wire);
        group.bench_function(wire.mode, |b| {
            b.iter(|| {
                let (agent, count) = agent(wire.mode, &address);
                let result = runtime.block_on(agent.run_turn(TurnInput::user("go")));
                assert!(result.completed, "{:?}", result.end);
                assert_eq!(count.load(Ordering::Relaxed), DELTAS);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, streaming);
criterion_main!(benches);
