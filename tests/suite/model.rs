//! A scripted model server: raw bytes over a loopback socket, one reply a request, and every
//! request kept and checked as a strict provider would.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::strict;

/// What the server answers to one request.
pub(crate) enum Reply {
    /// An event stream of these events and, where wanted, its end mark.
    Events(Vec<Value>, bool),
    /// Status, content type and body as they are.
    Raw(u16, &'static str, String),
    /// Nothing, ever.
    Silence,
}

/// A reply of text.
pub(crate) fn text(text: &str) -> Reply {
    Reply::Events(vec![delta(json!({"content": text}), None), delta(json!({}), Some("stop"))], true)
}

/// A reply that calls tools: id, name and arguments of each.
pub(crate) fn calls(calls: &[(&str, &str, Value)]) -> Reply {
    let one = |(index, (id, name, arguments)): (usize, &(&str, &str, Value))| {
        // A string is sent as it is, so that broken arguments can be sent.
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        json!({"index": index, "id": id, "type": "function",
               "function": {"name": name, "arguments": arguments}})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(one).collect();
    Reply::Events(
        vec![delta(json!({"tool_calls": calls}), None), delta(json!({}), Some("tool_calls"))],
        true,
    )
}

pub(crate) fn delta(delta: Value, finish: Option<&str>) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

/// The server.
pub(crate) struct Model {
    base_url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    /// Serves these replies in order, whatever connection asks.
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let replies = Arc::new(Mutex::new(replies.into_iter().collect::<VecDeque<_>>()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, replies) = (Arc::clone(&seen), Arc::clone(&replies));
                std::thread::spawn(move || serve(stream, &seen, &replies));
            }
        });
        Self { base_url, requests }
    }

    pub(crate) fn url(&self) -> &str {
        &self.base_url
    }

    /// All requests so far. Each was checked as a strict provider would; what it found is told here.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let requests = self.requests.lock().unwrap().clone();
        for request in &requests {
            let problems = strict::problems(request);
            assert!(problems.is_empty(), "{problems:?} in {request:#}");
        }
        requests
    }

    /// Waits until so many requests have come.
    pub(crate) fn wait_for(&self, count: usize) {
        while self.requests.lock().unwrap().len() < count {
            std::thread::yield_now();
        }
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Value>>, replies: &Mutex<VecDeque<Reply>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(body) = request(&mut reader) {
        seen.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
        let next = replies.lock().unwrap().pop_front();
        let (status, kind, body) = match next {
            Some(Reply::Events(events, done)) => {
                let mut body: String =
                    events.iter().map(|event| format!("data: {event}\n\n")).collect();
                if done {
                    body.push_str("data: [DONE]\n\n");
                }
                (200, "text/event-stream", body)
            }
            Some(Reply::Raw(status, kind, body)) => (status, kind, body),
            Some(Reply::Silence) => {
                // Until the client goes away.
                let _ = reader.read(&mut [0]);
                return;
            }
            None => {
                (400, "application/json", "{\"error\":{\"message\":\"the script is over\"}}".into())
            }
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .is_err()
        {
            return;
        }
    }
}

/// The body of the next request on a connection.
fn request(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}
