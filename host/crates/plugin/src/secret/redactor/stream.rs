//! Redaction of bytes that come in pieces. A value may lie across any of their borders: what is
//! handed on was looked at together with everything that could make it part of one.

use super::{BLOT, Redactor};

/// Bytes that are looked at in one go, beside what is held back: more costs memory, less costs time.
pub(super) const WINDOW: usize = 64 << 10;

/// A redaction under way.
pub struct Stream<'r> {
    redactor: &'r Redactor,
    window: usize,
    /// What was handed on last and may be the beginning of a value, then what was not handed on.
    buffer: Vec<u8>,
    /// How much of the buffer was handed on.
    done: usize,
    /// Whether what was handed on ends in a blot.
    blotting: bool,
    found: bool,
}

impl<'r> Stream<'r> {
    pub(super) fn new(redactor: &'r Redactor, window: usize) -> Self {
        Self { redactor, window, buffer: Vec::new(), done: 0, blotting: false, found: false }
    }

    /// Takes the next piece and gives what can be handed on, which may be nothing yet.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.buffer.extend_from_slice(piece);
        let held = self.redactor.longest();
        match self.buffer.len() >= self.done + self.window + held {
            true => self.hand_on(self.buffer.len() - held),
            false => Vec::new(),
        }
    }

    /// Gives the rest.
    pub fn finish(self) -> Vec<u8> {
        self.end().0
    }

    /// The rest, and whether anything was found at all.
    pub(super) fn end(mut self) -> (Vec<u8>, bool) {
        let rest = self.hand_on(self.buffer.len());
        (rest, self.found)
    }

    fn hand_on(&mut self, to: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(to - self.done);
        let mut at = self.done;
        for span in self.redactor.spans(&self.buffer) {
            let (start, end) = (span.start.max(at), span.end.min(to));
            if start >= end {
                continue;
            }
            self.keep(at, start, &mut out);
            if !self.blotting {
                out.extend(BLOT.as_bytes());
            }
            (self.blotting, self.found, at) = (true, true, end);
        }
        self.keep(at, to, &mut out);
        // A value that ends behind `to` begins at most its length before; twice that, so that
        // escapes are read from a place where none is cut.
        let forgotten = to.saturating_sub(2 * self.redactor.longest());
        self.buffer.drain(..forgotten);
        self.done = to - forgotten;
        out
    }

    fn keep(&mut self, from: usize, to: usize, out: &mut Vec<u8>) {
        if from < to {
            out.extend(&self.buffer[from..to]);
            self.blotting = false;
        }
    }
}
