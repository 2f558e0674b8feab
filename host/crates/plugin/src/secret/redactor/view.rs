//! Bytes with one kind of escape undone, and the way back: where each decoded byte stood.

use std::borrow::Cow;
use std::ops::Range;

/// Bytes as they are, or decoded.
pub(super) struct View<'a> {
    bytes: Cow<'a, [u8]>,
    /// For each byte, what it was decoded from; `None` where nothing was decoded.
    from: Option<Vec<Range<usize>>>,
}

/// What an escape stands for.
pub(super) struct Escape {
    bytes: [u8; 4],
    /// How many of `bytes` there are.
    len: usize,
    /// How long the escape is.
    consumed: usize,
}

/// Reads the escape with which some bytes begin, if they do.
pub(super) type Decoder = fn(&[u8]) -> Option<Escape>;

/// Every kind of escape that is undone.
pub(super) const DECODERS: [Decoder; 3] = [percent, backslash, line_break];

impl<'a> View<'a> {
    /// Bytes as they are.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), from: None }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where in the original some bytes of the view, at least one, stood.
    pub(super) fn range(&self, range: Range<usize>) -> Range<usize> {
        match &self.from {
            None => range,
            Some(from) => from[range.start].start..from[range.end - 1].end,
        }
    }

    /// The view with one more kind of escape undone; `None` where there is no such escape.
    pub(super) fn decoded(&self, decoder: Decoder) -> Option<View<'static>> {
        let bytes = self.bytes();
        // Most bytes have no escapes at all: look before anything is copied.
        let first = (0..bytes.len()).find(|at| decoder(&bytes[*at..]).is_some())?;
        let mut decoded = bytes[..first].to_vec();
        let mut from: Vec<Range<usize>> = (0..first).map(|at| self.range(at..at + 1)).collect();
        let mut at = first;
        while at < bytes.len() {
            let literal = Escape { bytes: [bytes[at], 0, 0, 0], len: 1, consumed: 1 };
            let escape = decoder(&bytes[at..]).unwrap_or(literal);
            decoded.extend(&escape.bytes[..escape.len]);
            let source = self.range(at..at + escape.consumed);
            from.extend(std::iter::repeat_n(source, escape.len));
            at += escape.consumed;
        }
        Some(View { bytes: Cow::Owned(decoded), from: Some(from) })
    }
}

fn byte(byte: u8, consumed: usize) -> Option<Escape> {
    Some(Escape { bytes: [byte, 0, 0, 0], len: 1, consumed })
}

/// `%41`.
fn percent(bytes: &[u8]) -> Option<Escape> {
    match bytes {
        [b'%', digits @ ..] => byte(u8::try_from(hex(digits, 2)?).ok()?, 3),
        _ => None,
    }
}

/// `\/`, `\n`, `\x41` and `\u0041`, surrogate pairs included.
fn backslash(bytes: &[u8]) -> Option<Escape> {
    let [b'\\', kind, digits @ ..] = bytes else { return None };
    match kind {
        b'"' | b'\'' | b'\\' | b'/' => byte(*kind, 2),
        b'n' => byte(b'\n', 2),
        b't' => byte(b'\t', 2),
        b'r' => byte(b'\r', 2),
        b'x' => byte(u8::try_from(hex(digits, 2)?).ok()?, 4),
        b'u' => unicode(digits),
        _ => None,
    }
}

fn unicode(digits: &[u8]) -> Option<Escape> {
    let first = hex(digits, 4)?;
    let (code, consumed) = match (first, digits.get(4..)) {
        (0xd800..=0xdbff, Some([b'\\', b'u', digits @ ..])) => {
            let second = hex(digits, 4).filter(|code| (0xdc00..=0xdfff).contains(code))?;
            (0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)
        }
        _ => (first, 6),
    };
    let mut bytes = [0; 4];
    let len = char::from_u32(code)?.encode_utf8(&mut bytes).len();
    Some(Escape { bytes, len, consumed })
}

/// A line break, which stands for nothing.
fn line_break(bytes: &[u8]) -> Option<Escape> {
    matches!(bytes, [b'\r' | b'\n', ..]).then_some(Escape { bytes: [0; 4], len: 0, consumed: 1 })
}

/// A number of exactly `count` hex digits.
fn hex(digits: &[u8], count: usize) -> Option<u32> {
    digits
        .get(..count)?
        .iter()
        .try_fold(0, |number, digit| Some((number << 4) | char::from(*digit).to_digit(16)?))
}
