//! The framing of `text/event-stream`, fed with whatever pieces the network delivers.
//!
//! Only framing: what an event's data means belongs to the api mode. Reconnection (`id`, `retry`)
//! is left out, since a model's reply cannot be resumed. Bytes become text one whole line at a
//! time, so no split of the input can break a character.

use std::mem;

use bytes::Bytes;
use memchr::memchr2;

/// Most bytes of one event, 8 MiB: an image of several megabytes in one event passes, and a
/// server that never ends a line cannot fill the memory.
pub const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

/// One event with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field; empty if the server sent none.
    pub name: &'a str,
    /// The `data` lines, joined by line feeds.
    pub data: &'a str,
    /// False if the input ended within the last line, so that `data` may be cut.
    pub complete: bool,
}

/// An event is longer than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than {limit} bytes")]
pub struct TooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

/// Turns pieces of an event stream into events.
///
/// [`push`](Self::push) a piece, take events until there are none, push the next; after the last
/// piece [`finish`](Self::finish) and take what is left.
#[derive(Debug)]
pub struct Decoder {
    chunk: Bytes,
    at: usize,
    /// The start of a line whose end is in no piece yet.
    line: Vec<u8>,
    data: String,
    name: String,
    has_data: bool,
    /// A carriage return ended the last line: a line feed right after it belongs to that end.
    after_return: bool,
    first_line: bool,
    handed_out: bool,
    finished: bool,
    limit: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(MAX_EVENT_BYTES)
    }
}

impl Decoder {
    /// A decoder that refuses events of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            chunk: Bytes::new(),
            at: 0,
            line: Vec::new(),
            data: String::new(),
            name: String::new(),
            has_data: false,
            after_return: false,
            first_line: true,
            handed_out: false,
            finished: false,
            limit,
        }
    }

    /// Takes the next piece. The one before must be used up: [`next_event`](Self::next_event)
    /// has answered `None`.
    pub fn push(&mut self, chunk: Bytes) {
        debug_assert_eq!(self.at, self.chunk.len(), "the piece before is not used up");
        self.chunk = chunk;
        self.at = 0;
    }

    /// No more pieces will come: what is held back is handed out by the next calls of
    /// [`next_event`](Self::next_event).
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// The next event within what was pushed, if it is complete (or the last).
    ///
    /// # Errors
    ///
    /// [`TooLong`]; the decoder is of no use afterwards.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, TooLong> {
        if mem::take(&mut self.handed_out) {
            self.reset_event();
        }
        let chunk = mem::take(&mut self.chunk);
        let found = self.scan(&chunk);
        self.chunk = chunk;
        let complete = match found? {
            Found::Event => true,
            Found::Nothing if self.finished => match self.last_event()? {
                Some(complete) => complete,
                None => return Ok(None),
            },
            Found::Nothing => return Ok(None),
        };
        self.handed_out = true;
        Ok(Some(Event { name: &self.name, data: &self.data, complete }))
    }

    /// Reads lines until one ends an event or the piece is used up.
    fn scan(&mut self, chunk: &[u8]) -> Result<Found, TooLong> {
        loop {
            let mut rest = &chunk[self.at..];
            if self.after_return && !rest.is_empty() {
                self.after_return = false;
                if rest[0] == b'\n' {
                    self.at += 1;
                    rest = &rest[1..];
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', rest) else {
                self.at = chunk.len();
                self.fits(self.line.len() + rest.len())?;
                self.line.extend_from_slice(rest);
                return Ok(Found::Nothing);
            };
            self.at += end + 1;
            self.after_return = rest[end] == b'\r';
            if self.end_line(&rest[..end])? {
                return Ok(Found::Event);
            }
        }
    }

    /// Ends the current line with `tail`. Whether that ended an event with data.
    fn end_line(&mut self, tail: &[u8]) -> Result<bool, TooLong> {
        if self.line.is_empty() {
            return self.field(tail);
        }
        self.fits(self.line.len() + tail.len())?;
        let mut line = mem::take(&mut self.line);
        line.extend_from_slice(tail);
        let ended = self.field(&line);
        line.clear();
        self.line = line; // its allocation serves the next split line
        ended
    }

    /// Reads one whole line. Whether it ended an event with data.
    fn field(&mut self, mut line: &[u8]) -> Result<bool, TooLong> {
        if mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            if self.has_data && !self.data.is_empty() {
                return Ok(true);
            }
            self.reset_event();
            return Ok(false);
        }
        if let Some(value) = value_of(line, b"data") {
            self.fits(self.data.len() + value.len() + 1)?;
            if self.has_data {
                self.data.push('\n');
            }
            self.has_data = true;
            self.data.push_str(&String::from_utf8_lossy(value));
        } else if let Some(value) = value_of(line, b"event") {
            self.name.clear();
            self.name.push_str(&String::from_utf8_lossy(value));
        }
        Ok(false)
    }

    /// The event that the end of the input ends, and whether its last line was whole.
    fn last_event(&mut self) -> Result<Option<bool>, TooLong> {
        let whole = self.line.is_empty();
        if !whole {
            self.end_line(b"")?;
        }
        Ok((self.has_data && !self.data.is_empty()).then_some(whole))
    }

    fn reset_event(&mut self) {
        self.data.clear();
        self.name.clear();
        self.has_data = false;
    }

    fn fits(&self, bytes: usize) -> Result<(), TooLong> {
        if bytes > self.limit { Err(TooLong { limit: self.limit }) } else { Ok(()) }
    }
}

enum Found {
    Event,
    Nothing,
}

/// The value of `line` if its field is `name`: what follows the colon, without one leading space.
fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(name)?;
    match rest.first() {
        None => Some(rest),
        Some(b':') => Some(rest[1..].strip_prefix(b" ").unwrap_or(&rest[1..])),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests;
