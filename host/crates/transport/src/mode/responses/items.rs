//! A reply's output items while they arrive: telling them apart, sending each piece once, and
//! remembering what of them has to be given back.
//!
//! By the book an event names its item by index and id, and pieces come before the whole. Servers
//! leave indices or ids out, change the ids from event to event, number all items 0, or send
//! pieces without the whole or the whole without pieces. Of text and arguments only the length
//! that was sent is kept: the whole that follows sends what was missing of it.

mod pieces;

use std::collections::HashSet;

use hermes_core::transport::Delta;
use serde_json::Value;

use super::replay;
use super::wire;
use crate::mode::Deltas;

/// What an item is, as far as we care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Reasoning,
    Call,
    Other,
}

impl Kind {
    fn of(word: &str) -> Self {
        match word {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::Call,
            _ => Self::Other,
        }
    }
}

/// What an event says about which item it means; empty where it says nothing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: &'a str,
    pub(super) call_id: &'a str,
}

/// One text of a reasoning item: of its summary or its content, by number.
pub(super) type Thought = (bool, u64);

/// All items of one reply, in the order they opened.
#[derive(Debug, Default)]
pub(super) struct Items {
    all: Vec<Item>,
    calls: usize,
    /// The item that visible text came from last.
    speaks: Option<usize>,
    /// The text that reasoning came from last.
    thinks: Option<(usize, Thought)>,
    spoke: bool,
    refused: bool,
}

#[derive(Debug)]
struct Item {
    kind: Kind,
    index: Option<u64>,
    id: String,
    /// Bytes of text or arguments sent.
    sent: usize,
    /// Its arguments are complete; more of them would be a repetition.
    closed: bool,
    /// The whole of it has come.
    done: bool,
    phase: String,
    /// Which call of the reply it is.
    slot: usize,
    call_id: String,
    head: Head,
    /// What of its reasoning can be given back.
    thought: Option<Value>,
}

/// What of a call's head has been sent.
#[derive(Debug, Default)]
struct Head {
    id: bool,
    name: bool,
}

impl Item {
    /// Whether an event with this place means this item, as far as ids tell.
    fn is(&self, place: Place<'_>) -> Option<bool> {
        if !place.call_id.is_empty() && !self.call_id.is_empty() {
            return Some(self.call_id == place.call_id);
        }
        // Different ids tell nothing: GitHub's server changes them from event to event. The same
        // one under two numbers tells nothing either: some servers give it to every item.
        let numbered = self.index.is_none() || place.index.is_none() || self.index == place.index;
        (!place.id.is_empty() && self.id == place.id && numbered).then_some(true)
    }
}

impl Items {
    /// Whether there are calls.
    pub(super) fn has_calls(&self) -> bool {
        self.calls > 0
    }

    /// Whether a refusal is all that was said.
    pub(super) fn is_refusal(&self) -> bool {
        self.refused && !self.spoke
    }

    /// Whether anything has been sent.
    pub(super) fn has_sent(&self) -> bool {
        self.calls > 0 || self.speaks.is_some() || self.thinks.is_some()
    }

    /// The item of `kind` that an event at `place` goes on with.
    fn find(&self, kind: Kind, place: Place<'_>) -> Option<usize> {
        let nameless = place.id.is_empty() && place.call_id.is_empty();
        let last = |fits: &dyn Fn(&Item) -> bool| {
            self.all.iter().rposition(|item| item.kind == kind && fits(item))
        };
        let may_be = |item: &Item| item.is(place) != Some(false);
        last(&|item| item.is(place) == Some(true)).or_else(|| match place.index {
            Some(_) => {
                last(&|item| item.index == place.index && may_be(item) && (!item.done || nameless))
            }
            None if place.id.is_empty() => last(&|item| !item.done && may_be(item))
                .or_else(|| nameless.then(|| last(&|_| true)).flatten()),
            // Of an unknown id alone a call must be new; for what is only read, nothing hangs on it.
            None if kind == Kind::Call => None,
            None => last(&|item| !item.done),
        })
    }

    /// The item of `kind` that an event at `place` goes on with, or a new one.
    fn at(&mut self, kind: Kind, place: Place<'_>) -> usize {
        self.find(kind, place).unwrap_or_else(|| self.open(kind, place))
    }

    fn open(&mut self, kind: Kind, place: Place<'_>) -> usize {
        let slot = self.calls;
        self.calls += usize::from(kind == Kind::Call);
        self.all.push(Item {
            kind,
            index: place.index,
            id: place.id.to_owned(),
            sent: 0,
            closed: false,
            done: false,
            phase: String::new(),
            slot,
            call_id: String::new(),
            head: Head::default(),
            thought: None,
        });
        self.all.len() - 1
    }

    /// An item begins.
    pub(super) fn added(&mut self, index: Option<u64>, item: &wire::Item<'_>, out: &mut Deltas) {
        let kind = Kind::of(&item.kind.0);
        let place = Place { index, id: &item.id.0, call_id: &item.call_id.0 };
        // A piece may have come first; else this is a new item, whatever its number.
        let found = self.find(kind, place);
        let known = found.filter(|&at| {
            let known = &self.all[at];
            known.is(place) == Some(true)
                || (!known.done && known.id.is_empty() && !known.head.name)
        });
        let at = known.unwrap_or_else(|| self.open(kind, place));
        self.describe(at, item);
        if kind == Kind::Call {
            self.announce(at, &item.name.0, String::new(), out);
        }
    }

    /// The whole of an item has come.
    pub(super) fn done(&mut self, index: Option<u64>, item: &wire::Item<'_>, out: &mut Deltas) {
        let kind = Kind::of(&item.kind.0);
        let at = self.at(kind, Place { index, id: &item.id.0, call_id: &item.call_id.0 });
        self.settle(at, item, out);
    }

    /// The whole output has come: what of it was not sent yet. Each item is known by its id, or
    /// else by its number among those of its kind.
    pub(super) fn complete(&mut self, output: &[wire::Item<'_>], out: &mut Deltas) {
        let mut taken = HashSet::new();
        for (n, item) in output.iter().enumerate() {
            let kind = Kind::of(&item.kind.0);
            let place = Place { index: None, id: &item.id.0, call_id: &item.call_id.0 };
            let number = output[..n].iter().filter(|other| Kind::of(&other.kind.0) == kind).count();
            let alike = || (0..self.all.len()).filter(|&at| self.all[at].kind == kind);
            let free = |at: &usize| !taken.contains(at);
            let found = alike().filter(free).find(|&at| self.all[at].is(place) == Some(true));
            let nth = alike().nth(number).filter(|&at| self.all[at].is(place) != Some(false));
            let at = found.or(nth.filter(free)).unwrap_or_else(|| self.open(kind, place));
            taken.insert(at);
            self.settle(at, item, out);
        }
    }

    /// Sends what was missing of an item, now that the whole of it is here.
    fn settle(&mut self, at: usize, item: &wire::Item<'_>, out: &mut Deltas) {
        self.describe(at, item);
        match self.all[at].kind {
            Kind::Message => self.rest_of_text(at, &item.content(), out),
            Kind::Reasoning => self.settle_reasoning(at, item, out),
            Kind::Call => {
                if self.all[at].call_id.is_empty() {
                    self.all[at].call_id = item.id.0.clone().into_owned();
                }
                self.rest_of_arguments(at, &item.name.0, &wire::arguments(item.arguments), out);
            }
            Kind::Other => {}
        }
        self.all[at].done = true;
    }

    fn describe(&mut self, at: usize, item: &wire::Item<'_>) {
        let known = &mut self.all[at];
        let fields = [
            (&mut known.id, &item.id.0),
            (&mut known.call_id, &item.call_id.0),
            (&mut known.phase, &item.phase.0),
        ];
        for (known, said) in fields {
            if known.is_empty() {
                known.push_str(said);
            }
        }
    }

    /// The reply is over: a call whose id never came goes by that of its item, if it has one.
    pub(super) fn flush(&mut self, out: &mut Deltas) {
        for item in self.all.iter_mut().filter(|item| item.kind == Kind::Call) {
            if !std::mem::replace(&mut item.head.id, true) {
                item.call_id.clone_from(&item.id);
                let (id, arguments) = (Some(item.id.clone()), String::new());
                out.push_back(Delta::ToolCall { slot: item.slot, id, name: None, arguments });
            }
        }
    }

    /// What a later request needs to give the items back; none if that is what it does anyway:
    /// the text, then the calls.
    pub(super) fn replay(&mut self) -> Option<Value> {
        let calls_first = |pair: &[Item]| {
            pair[0].kind == Kind::Call && pair[1].sent > 0 && pair[1].kind == Kind::Message
        };
        let worth = self.all.windows(2).any(calls_first)
            || self.all.iter().any(|item| item.thought.is_some() || !item.phase.is_empty());
        let entry = |item: &mut Item| match item.kind {
            Kind::Reasoning => item.thought.take().unwrap_or_else(replay::unknown),
            Kind::Message if item.sent > 0 => replay::text(item.sent, Some(&item.phase)),
            Kind::Call => replay::call(&item.call_id),
            Kind::Message | Kind::Other => replay::unknown(),
        };
        worth.then(|| Value::Array(self.all.iter_mut().map(entry).collect()))
    }
}
