//! A model server for the demonstration: chat completions over HTTP on a loopback port, streamed as
//! real servers stream, answering from the script.

use std::io;
use std::net::Ipv4Addr;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::script::{self, Reply};

/// The model's name.
pub(crate) const MODEL: &str = "scripted";

/// A running server; dropped, it stops.
pub(crate) struct ModelServer {
    base_url: String,
    serving: JoinHandle<()>,
}

impl ModelServer {
    /// Starts it on a free port.
    ///
    /// # Errors
    /// No port can be had.
    pub(crate) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let base_url = format!("http://{}/v1", listener.local_addr()?);
        let app = Router::new().route("/v1/chat/completions", post(complete));
        let serving = tokio::spawn(async move {
            // It only ever ends with the program.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { base_url, serving })
    }

    /// Where it is.
    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn complete(body: Bytes) -> impl IntoResponse {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let given = replies_since_the_person_spoke(&request);
    ([(CONTENT_TYPE, "text/event-stream")], stream(&script::reply(given), given))
}

fn replies_since_the_person_spoke(request: &Value) -> usize {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let turn = messages.iter().rev().take_while(|message| message["role"] != "user");
    turn.filter(|message| message["role"] == "assistant").count()
}

/// The reply as an event stream: text by words, each call in two pieces, then the end.
fn stream(reply: &Reply, given: usize) -> String {
    let mut deltas: Vec<Value> =
        reply.text.split_inclusive(' ').map(|word| json!({"content": word})).collect();
    for (index, (tool, arguments)) in reply.calls.iter().enumerate() {
        let id = format!("call_{given}_{index}");
        let opens = json!({"index": index, "id": id, "type": "function", "function": {"name": tool, "arguments": ""}});
        deltas.push(json!({"tool_calls": [opens]}));
        let goes_on = json!({"index": index, "function": {"arguments": arguments.to_string()}});
        deltas.push(json!({"tool_calls": [goes_on]}));
    }
    let reason = if reply.calls.is_empty() { "stop" } else { "tool_calls" };
    let chunk = |delta: &Value, reason: Option<&str>| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        format!(
            "data: {}\n\n",
            json!({"object": "chat.completion.chunk", "model": MODEL, "choices": choices})
        )
    };
    let mut body: String = deltas.iter().map(|delta| chunk(delta, None)).collect();
    body.push_str(&chunk(&json!({}), Some(reason)));
    body.push_str("data: [DONE]\n\n");
    body
}
