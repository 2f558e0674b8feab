//! A server of raw bytes on the loopback, and requests to send to it.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use hermes_core::message::Message;
use hermes_core::transport::{Delta, ModelRequest, Sampling, Transport, TransportError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does after it has read a whole request.
#[derive(Clone)]
pub(crate) enum Act {
    /// Writes these bytes, this many a write.
    Write(Vec<u8>, usize),
    /// Waits until the client closes the connection.
    AwaitClose,
    /// Closes the connection.
    Close,
}

/// A server and what it has seen.
pub(crate) struct Server {
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: String,
    /// Requests, whole.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    /// Connections that the client closed while the server waited for it.
    pub(crate) closed: Arc<tokio::sync::Notify>,
    /// How many connections there were.
    pub(crate) connections: Arc<Mutex<usize>>,
}

/// Serves one list of acts a request, in order, over as many connections as the client opens.
pub(crate) async fn serve(answers: Vec<Vec<Act>>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server {
        url: format!("http://{}", listener.local_addr().unwrap()),
        requests: Arc::default(),
        closed: Arc::default(),
        connections: Arc::default(),
    };
    let (requests, closed) = (Arc::clone(&server.requests), Arc::clone(&server.closed));
    let connections = Arc::clone(&server.connections);
    tokio::spawn(async move {
        let mut answers = answers.into_iter();
        while let Ok((mut socket, _)) = listener.accept().await {
            *connections.lock().unwrap() += 1;
            socket.set_nodelay(true).unwrap();
            while let Some(request) = read_request(&mut socket).await {
                requests.lock().unwrap().push(request);
                let Some(acts) = answers.next() else { return };
                if !perform(&mut socket, acts, &closed).await {
                    break;
                }
            }
        }
    });
    server
}

/// Whether the connection is still open.
async fn perform(socket: &mut TcpStream, acts: Vec<Act>, closed: &tokio::sync::Notify) -> bool {
    for act in acts {
        match act {
            Act::Write(bytes, size) => {
                for piece in bytes.chunks(size) {
                    if socket.write_all(piece).await.is_err() {
                        return false;
                    }
                    tokio::task::yield_now().await;
                }
            }
            Act::AwaitClose => {
                let mut rest = [0; 64];
                while matches!(socket.read(&mut rest).await, Ok(read) if read > 0) {}
                closed.notify_one();
                return false;
            }
            Act::Close => return false,
        }
    }
    true
}

async fn read_request(socket: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = socket.read(&mut piece).await.ok()?;
        if read == 0 {
            return None;
        }
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some(head) = text.find("\r\n\r\n") {
            let length = text[..head].lines().find_map(|line| {
                line.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
            });
            if bytes.len() >= head + 4 + length.unwrap_or(0) {
                return Some(text.into_owned());
            }
        }
    }
}

/// A whole answer with a length.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}");
    vec![Act::Write(text.into_bytes(), usize::MAX)]
}

/// The head of a chunked event stream.
pub(crate) const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// One chunk of a chunked body.
pub(crate) fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// A request that says hi.
pub(crate) fn request(stream: bool) -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        system: "".into(),
        messages: vec![Arc::new(Message::user("hi"))],
        tools: Arc::new([]),
        sampling: Sampling::default(),
        stream,
        session_id: "s".into(),
    }
}

/// All deltas of a reply and the error that ended it, if one did.
pub(crate) async fn ask(
    transport: &dyn Transport,
    stream: bool,
) -> (Vec<Delta>, Option<TransportError>) {
    let mut deltas = Vec::new();
    let mut reply = match transport.send(&request(stream)).await {
        Ok(reply) => reply,
        Err(error) => return (deltas, Some(error)),
    };
    while let Some(item) = reply.next().await {
        match item {
            Ok(delta) => deltas.push(delta),
            Err(error) => return (deltas, Some(error)),
        }
    }
    (deltas, None)
}
