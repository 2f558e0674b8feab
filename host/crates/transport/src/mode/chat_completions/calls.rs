//! Telling tool calls apart and putting their pieces in order.
//!
//! By the book a piece names its call by a wire index, and the first piece carries id and name.
//! Servers reuse one index for all calls, leave indices or ids out, repeat ids and names in every
//! piece, or split a name; what a piece belongs to is decided here, from whatever it carries.

use hermes_core::transport::Delta;
use serde_json::value::RawValue;

use super::wire::Fragment;
use crate::mode::Deltas;

/// All calls of one reply.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
}

/// One call.
#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: Balance,
    id_sent: bool,
    name_sent: bool,
}

/// What a fragment carries, made uniform.
struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Takes a piece of a streamed call. The call's slot, if it was part of any.
    pub(super) fn add(&mut self, fragment: Fragment<'_>, out: &mut Deltas) -> Option<usize> {
        let piece = Piece::from(fragment);
        let slot = match self.owner(&piece) {
            Some(slot) => slot,
            None if piece.is_blank() => return None,
            None => self.open(piece.index, out),
        };
        self.extend(slot, piece, out);
        Some(slot)
    }

    /// Takes one entry of a whole reply: always a call of its own. Its slot, if it was one.
    pub(super) fn add_whole(&mut self, fragment: Fragment<'_>, out: &mut Deltas) -> Option<usize> {
        let piece = Piece::from(fragment);
        if piece.is_blank() {
            return None;
        }
        let slot = self.open(piece.index, out);
        self.extend(slot, piece, out);
        Some(slot)
    }

    /// Sends ids and names that were held back: the reply is over.
    pub(super) fn flush(&mut self, out: &mut Deltas) {
        for slot in 0..self.slots.len() {
            self.announce(slot, String::new(), true, out);
        }
    }

    /// The open call that `piece` goes on with.
    fn owner(&self, piece: &Piece) -> Option<usize> {
        let last = self.slots.len().checked_sub(1);
        let Some(index) = piece.index else {
            if piece.id.is_empty() {
                return last.filter(|&slot| self.goes_on_unnumbered(slot, piece));
            }
            return self.slots.iter().rposition(|slot| slot.id == piece.id);
        };
        match self.slots.iter().rposition(|slot| slot.index == Some(index)) {
            Some(slot) => self.goes_on(slot, piece).then_some(slot),
            // Numbering that sets in late: without a head of its own it is no new call.
            None if piece.id.is_empty() && piece.name.is_empty() => last,
            None => None,
        }
    }

    /// Whether a piece with the index of `slot` goes on with it.
    fn goes_on(&self, slot: usize, piece: &Piece) -> bool {
        let slot = &self.slots[slot];
        if piece.id.is_empty() {
            // A second head after complete arguments is the next call of a server that sends
            // neither ids nor indices worth the name.
            let next = !piece.name.is_empty() && slot.arguments.is_closed();
            return !next || piece.arguments.trim().is_empty();
        }
        if !slot.id.is_empty() {
            return slot.id == piece.id;
        }
        piece.name.is_empty() || slot.name.is_empty() || slot.name == piece.name
    }

    /// Whether a piece with neither index nor id goes on with the last call.
    fn goes_on_unnumbered(&self, slot: usize, piece: &Piece) -> bool {
        let slot = &self.slots[slot];
        piece.name.is_empty()
            || slot.name.is_empty()
            || (slot.name == piece.name && !slot.arguments.is_closed())
    }

    fn open(&mut self, index: Option<u64>, out: &mut Deltas) -> usize {
        // The call before is most likely complete; what it held back goes out in order.
        if let Some(last) = self.slots.len().checked_sub(1) {
            self.announce(last, String::new(), false, out);
        }
        self.slots.push(Slot { index, ..Slot::default() });
        self.slots.len() - 1
    }

    fn extend(&mut self, at: usize, piece: Piece, out: &mut Deltas) {
        let slot = &mut self.slots[at];
        if slot.id.is_empty() {
            slot.id = piece.id;
        }
        slot.add_name(&piece.name);
        if !piece.arguments.is_empty() {
            slot.arguments.feed(&piece.arguments);
            self.announce(at, piece.arguments, false, out);
        }
    }

    /// Sends arguments together with what was not sent of the head. The name waits for the first
    /// arguments, since until then more of it may come; at the `end` an id that never came is
    /// sent as empty.
    fn announce(&mut self, at: usize, arguments: String, end: bool, out: &mut Deltas) {
        let slot = &mut self.slots[at];
        let id = (!slot.id_sent && (end || !slot.id.is_empty())).then(|| slot.id.clone());
        let name = (!slot.name_sent && !slot.name.is_empty()).then(|| slot.name.clone());
        slot.id_sent |= id.is_some();
        slot.name_sent |= name.is_some();
        if id.is_some() || name.is_some() || !arguments.is_empty() {
            out.push_back(Delta::ToolCall { slot: at, id, name, arguments });
        }
    }
}

impl Slot {
    /// Takes (a piece of) the name: repeated, grown or split over pieces.
    fn add_name(&mut self, piece: &str) {
        if self.name_sent || piece.is_empty() || piece == self.name {
            return;
        }
        if piece.starts_with(&self.name) {
            self.name.clear();
        }
        self.name.push_str(piece);
    }
}

impl From<Fragment<'_>> for Piece {
    fn from(fragment: Fragment<'_>) -> Self {
        let function = fragment.function;
        let (name, arguments) = function.map_or_else(Default::default, |function| {
            (function.name.0.into_owned(), function.arguments.map(text_of).unwrap_or_default())
        });
        let id = fragment.id.0.trim().to_owned();
        Self { index: fragment.index.0, id, name, arguments }
    }
}

impl Piece {
    fn is_blank(&self) -> bool {
        self.id.is_empty() && self.name.is_empty() && self.arguments.is_empty()
    }
}

/// Arguments as text: the content of a string, or the JSON of anything else as it came.
fn text_of(raw: &RawValue) -> String {
    serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

/// Follows JSON text just far enough to know whether an object or array has been closed.
#[derive(Debug, Default)]
struct Balance {
    depth: usize,
    opened: bool,
    in_string: bool,
    escaped: bool,
}

impl Balance {
    fn feed(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.escaped {
                self.escaped = false;
                continue;
            }
            match byte {
                b'\\' => self.escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => {
                    self.opened = true;
                    self.depth += 1;
                }
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.opened && self.depth == 0 && !self.in_string
    }
}
