//! As much HTTP as a scripted server needs: requests with a length, answers in chunks, and all the
//! ways a connection can let a client down.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use super::script::Delivery;

/// Headers of a request: lower-case names with their values.
pub(crate) type Headers = Vec<(String, String)>;

/// An answer on its way out.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) pieces: Vec<Piece>,
}

/// A piece of an answer's body, or what happens instead of more of it.
pub(crate) enum Piece {
    /// A chunk.
    Bytes(Vec<u8>),
    /// The connection closes.
    Close,
    /// Nothing more, until the client goes away.
    Silence,
}

impl Answer {
    pub(crate) fn new(status: u16, kind: &str, body: &str, delivery: &Delivery) -> Self {
        let as_far_as = |needle: &str| {
            let found = body.find(needle);
            let end = found.unwrap_or_else(|| panic!("{needle:?} is not in {body:?}"));
            Piece::Bytes(body.as_bytes()[..end + needle.len()].to_vec())
        };
        let pieces = match delivery {
            Delivery::Whole => vec![Piece::Bytes(body.into())],
            Delivery::EveryByte => body.bytes().map(|byte| Piece::Bytes(vec![byte])).collect(),
            Delivery::CutAfter(needle) => vec![as_far_as(needle), Piece::Close],
            Delivery::StallAfter(needle) => vec![as_far_as(needle), Piece::Silence],
        };
        Self { status, headers: vec![("content-type", kind.into())], pieces }
    }
}

/// One client's connection.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { reader: BufReader::new(stream.try_clone().unwrap()), writer: stream }
    }

    /// Path, headers and body of the next request.
    pub(crate) fn request(&mut self) -> Option<(String, Headers, Vec<u8>)> {
        let first = self.line()?;
        let path = first.split(' ').nth(1)?.to_owned();
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut body = vec![0; length?.1.parse().ok()?];
        self.reader.read_exact(&mut body).ok()?;
        Some((path, headers, body))
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// Whether the connection can go on.
    pub(crate) fn answer(&mut self, answer: &Answer) -> bool {
        let mut bytes = Vec::new();
        if answer.status != 0 {
            bytes.extend(format!("HTTP/1.1 {} X\r\n", answer.status).bytes());
            let headers = answer.headers.iter();
            bytes.extend(
                headers.flat_map(|(name, value)| format!("{name}: {value}\r\n").into_bytes()),
            );
            bytes.extend(b"transfer-encoding: chunked\r\n\r\n");
        }
        let mut ending = None;
        for piece in &answer.pieces {
            match piece {
                // A chunk of no bytes would be the end.
                Piece::Bytes(piece) if piece.is_empty() => {}
                Piece::Bytes(piece) => {
                    bytes.extend(format!("{:x}\r\n", piece.len()).bytes());
                    bytes.extend(piece);
                    bytes.extend(b"\r\n");
                }
                end => ending = Some(end),
            }
        }
        if ending.is_none() {
            bytes.extend(b"0\r\n\r\n");
        }
        let sent = self.writer.write_all(&bytes).is_ok();
        if matches!(ending, Some(Piece::Silence)) {
            let _ = self.reader.read(&mut [0]);
        }
        sent && ending.is_none()
    }
}
