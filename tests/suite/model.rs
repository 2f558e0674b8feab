//! A scripted model server: raw bytes over a loopback socket, one reply a request, in whichever
//! wire format the request's path asks for. Every request is kept, and checked as a strict
//! provider would when the test asks for it or is over.

mod anthropic_messages;
mod chat_completions;
mod http;
pub(crate) mod mode;
mod responses;
pub(crate) mod script;

use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::Value;

pub(crate) use anthropic_messages::signature;
pub(crate) use chat_completions::delta;
pub(crate) use mode::{MODES, Mode};
pub(crate) use responses::sealed;
pub(crate) use script::{Delivery, Ending, Refusal, Reply, asks, calls, says, text};

use crate::strict;
use http::{Answer, Piece};

/// The server.
pub(crate) struct Model {
    base_url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

/// A request as it came.
#[derive(Clone)]
pub(crate) struct Request {
    /// The wire format it is written in.
    pub(crate) mode: &'static Mode,
    /// Its headers.
    pub(crate) headers: http::Headers,
    /// Its body.
    pub(crate) body: Value,
    /// When it was there.
    pub(crate) at: Instant,
}

impl Request {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Model {
    /// Serves these replies in order, whatever connection asks.
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let replies = Arc::new(Mutex::new(replies.into_iter().collect::<VecDeque<_>>()));
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, replies) = (Arc::clone(&kept), Arc::clone(&replies));
                std::thread::spawn(move || serve(stream, &seen, &replies));
            }
        });
        Self { base_url, seen }
    }

    pub(crate) fn url(&self) -> &str {
        &self.base_url
    }

    /// The bodies of all requests so far. Each was checked as a strict provider would; what it
    /// found is told here.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.seen().into_iter().map(|request| request.body).collect()
    }

    /// All requests so far, checked.
    pub(crate) fn seen(&self) -> Vec<Request> {
        let seen = self.seen.lock().unwrap().clone();
        for request in &seen {
            let problems = strict::problems(request.mode, &request.body);
            assert!(problems.is_empty(), "{problems:#?} in {:#}", request.body);
        }
        seen
    }

    /// How many requests have come.
    pub(crate) fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// Waits until so many requests have come.
    pub(crate) fn wait_for(&self, count: usize) {
        while self.count() < count {
            std::thread::yield_now();
        }
    }
}

impl Drop for Model {
    /// No scenario ends without its requests being checked.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.seen();
        }
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Request>>, replies: &Mutex<VecDeque<Reply>>) {
    let mut connection = http::Connection::new(stream);
    while let Some((path, headers, body)) = connection.request() {
        let mode = Mode::of(&path);
        let body: Value = serde_json::from_slice(&body).unwrap();
        let streamed = body["stream"] == true;
        let at = Instant::now();
        seen.lock().unwrap().push(Request { mode, headers, body, at });
        let next = replies.lock().unwrap().pop_front();
        let over = || Reply::Refuses(Refusal::new(400, "bad", "the script is over"));
        if !connection.answer(&answer(next.unwrap_or_else(over), mode, streamed)) {
            return;
        }
    }
}

const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// What a reply is on the wire.
fn answer(reply: Reply, mode: &Mode, streamed: bool) -> Answer {
    match reply {
        Reply::Says(speech, delivery) => {
            let (kind, body) = match streamed {
                true => (STREAM, mode.stream(&(mode.events)(&speech))),
                false => (JSON, (mode.whole)(&speech).to_string()),
            };
            Answer::new(200, kind, &body, &delivery)
        }
        Reply::Refuses(refusal) => {
            let body = (mode.error)(&refusal).to_string();
            let mut answer = Answer::new(refusal.status, JSON, &body, &Delivery::Whole);
            answer.headers.extend(refusal.headers);
            answer
        }
        Reply::Breaks(refusal) => {
            let (kind, body) = match streamed {
                true => (STREAM, mode.stream(&[(mode.error_event)(&refusal)])),
                false => (JSON, (mode.error)(&refusal).to_string()),
            };
            Answer::new(200, kind, &body, &Delivery::Whole)
        }
        Reply::Events(chunks, done) => {
            let mut body: String =
                chunks.into_iter().map(|chunk| mode::Event::plain(chunk).text()).collect();
            if done {
                body.push_str("data: [DONE]\n\n");
            }
            Answer::new(200, STREAM, &body, &Delivery::Whole)
        }
        Reply::Raw(status, kind, body) => Answer::new(status, kind, &body, &Delivery::Whole),
        Reply::Silence => Answer { pieces: vec![Piece::Silence], ..Answer::default() },
    }
}
