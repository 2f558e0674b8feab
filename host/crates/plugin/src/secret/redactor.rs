//! Takes values out of bytes and text, in the forms in which servers and programs repeat them.
//!
//! Found are: the value as it is, in base64 (each of the three alignments, both alphabets, padded or
//! not), in hex, percent-encoded in whole or in part, with escapes of JSON and of printed strings,
//! with line breaks inside, and two of these on top of each other. Not found are pieces of a value,
//! values reversed, compressed, encrypted, in HTML entities, in base64 of base64, or in an encoding
//! of text other than UTF-8. This guards against an echo, not against an audience that wants to give
//! its own secret away: that needs no encoding anybody could list.

mod encodings;
mod stream;
mod view;

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::AhoCorasick;

use encodings::{Pattern, is_base64};
use view::View;

pub use stream::Stream;

/// What stands where a value stood.
pub const BLOT: &str = "[redacted]";

/// Most bytes one byte of a value becomes in the forms that are looked through: two escapes of the
/// form `\u005c` on top of each other.
const GROWTH: usize = 36;

/// How many encodings on top of each other are looked through.
const LAYERS: usize = 2;

/// Takes values out. Linear in the size of what it looks at.
pub struct Redactor {
    /// `None` where there is nothing to find, or where it could not be built.
    automaton: Option<AhoCorasick>,
    patterns: Vec<Pattern>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// A redactor of all these values. Empty ones are left out.
    pub fn for_values<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let values = values.into_iter().filter(|value| !value.is_empty());
        let mut patterns: Vec<Pattern> = values.flat_map(encodings::of).collect();
        patterns.sort();
        patterns.dedup();
        let automaton = AhoCorasick::new(patterns.iter().map(|pattern| &pattern.text)).ok();
        Self { automaton, patterns }
    }

    /// `bytes` without the values.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if bytes.len() <= stream::WINDOW && self.spans(bytes).is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut stream = self.stream();
        let mut out = Vec::with_capacity(bytes.len());
        for piece in bytes.chunks(stream::WINDOW) {
            out.extend(stream.push(piece));
        }
        let (rest, found) = stream.end();
        out.extend(rest);
        if found { Cow::Owned(out) } else { Cow::Borrowed(bytes) }
    }

    /// `text` without the values.
    pub fn redact_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // What is found begins and ends between characters, so nothing is lost here.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Whether a value is in `bytes`.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        matches!(self.redact_bytes(bytes), Cow::Owned(_))
    }

    /// For bytes that come in pieces.
    pub fn stream(&self) -> Stream<'_> {
        Stream::new(self, stream::WINDOW)
    }

    /// The longest form of a value, in bytes.
    fn longest(&self) -> usize {
        GROWTH * self.patterns.iter().map(|pattern| pattern.text.len()).max().unwrap_or_default()
    }

    /// Where values stand, in order, those that touch as one.
    fn spans(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        match &self.automaton {
            _ if self.patterns.is_empty() => {}
            Some(automaton) => self.look(automaton, &View::of(bytes), LAYERS, &mut spans),
            // What cannot be looked through does not pass.
            None => spans.push(0..bytes.len()),
        }
        spans.sort_by_key(|span| span.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for span in spans {
            match merged.last_mut().filter(|last| span.start <= last.end) {
                Some(last) => last.end = last.end.max(span.end),
                None => merged.push(span),
            }
        }
        merged
    }

    fn look(
        &self,
        automaton: &AhoCorasick,
        view: &View<'_>,
        layers: usize,
        spans: &mut Vec<Range<usize>>,
    ) {
        for found in automaton.find_overlapping_iter(view.bytes()) {
            let pattern = &self.patterns[found.pattern().as_usize()];
            let (mut start, mut end) = (found.start(), found.end());
            // A character that holds bits of the value and of its neighbour goes too.
            let is_part = |at: usize| view.bytes().get(at).is_some_and(|byte| is_base64(*byte));
            start -= usize::from(pattern.ragged_start && start > 0 && is_part(start - 1));
            end += usize::from(pattern.ragged_end && is_part(end));
            spans.push(view.range(start..end));
        }
        if layers > 0 {
            for decoder in view::DECODERS {
                if let Some(decoded) = view.decoded(decoder) {
                    self.look(automaton, &decoded, layers - 1, spans);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
