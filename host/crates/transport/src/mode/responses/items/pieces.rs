//! What items send: text, reasoning and arguments, in pieces and as wholes, each byte once.

use hermes_core::transport::Delta;

use super::{Items, Kind, Place, Thought};
use crate::mode::Deltas;
use crate::mode::responses::replay;
use crate::mode::responses::wire::{self, Text};

impl Items {
    /// A piece of visible text.
    pub(in crate::mode::responses) fn text(
        &mut self,
        place: Place<'_>,
        text: &str,
        is_refusal: bool,
        out: &mut Deltas,
    ) {
        let at = self.at(Kind::Message, place);
        self.say(at, text, is_refusal, out);
    }

    /// A finished text, of which pieces may have come.
    pub(in crate::mode::responses) fn whole_text(
        &mut self,
        place: Place<'_>,
        text: &str,
        is_refusal: bool,
        out: &mut Deltas,
    ) {
        let at = self.at(Kind::Message, place);
        if self.all[at].sent == 0 {
            self.say(at, text, is_refusal, out);
        }
    }

    pub(super) fn rest_of_text(&mut self, at: usize, texts: &[Text], out: &mut Deltas) {
        let mut before = self.all[at].sent;
        for Text { text, is_refusal } in texts {
            if let Some(rest) = text.get(before..) {
                self.say(at, rest, *is_refusal, out);
            }
            before = before.saturating_sub(text.len());
        }
    }

    fn say(&mut self, at: usize, text: &str, is_refusal: bool, out: &mut Deltas) {
        if text.is_empty() {
            return;
        }
        if self.speaks.is_some_and(|last| last != at) {
            out.push_back(Delta::Text(replay::BETWEEN_TEXTS.to_owned()));
        }
        self.speaks = Some(at);
        self.all[at].sent += text.len();
        self.refused |= is_refusal;
        self.spoke |= !is_refusal;
        out.push_back(Delta::Text(text.to_owned()));
    }

    /// A piece of readable reasoning.
    pub(in crate::mode::responses) fn reasoning(
        &mut self,
        place: Place<'_>,
        thought: Thought,
        text: &str,
        out: &mut Deltas,
    ) {
        let at = self.at(Kind::Reasoning, place);
        self.think(at, thought, text, out);
    }

    pub(super) fn settle_reasoning(&mut self, at: usize, item: &wire::Item<'_>, out: &mut Deltas) {
        let summary: Vec<String> = item.summary().into_iter().map(|text| text.text).collect();
        if self.all[at].sent == 0 {
            for (n, text) in (0..).zip(&summary) {
                self.think(at, (true, n), text, out);
            }
            for (n, text) in (0..).zip(item.content()) {
                self.think(at, (false, n), &text.text, out);
            }
        }
        let thought = replay::reasoning(&item.id.0, &summary, &item.encrypted_content.0);
        self.all[at].thought = thought.or(self.all[at].thought.take());
    }

    fn think(&mut self, at: usize, thought: Thought, text: &str, out: &mut Deltas) {
        if text.is_empty() {
            return;
        }
        if self.thinks.is_some_and(|last| last != (at, thought)) {
            out.push_back(Delta::Reasoning(replay::BETWEEN_TEXTS.to_owned()));
        }
        self.thinks = Some((at, thought));
        self.all[at].sent += text.len();
        out.push_back(Delta::Reasoning(text.to_owned()));
    }

    /// A piece of a call's arguments.
    pub(in crate::mode::responses) fn arguments(
        &mut self,
        place: Place<'_>,
        piece: &str,
        out: &mut Deltas,
    ) {
        let at = self.at(Kind::Call, place);
        if !self.all[at].closed {
            self.announce(at, "", piece.to_owned(), out);
        }
    }

    /// A call's finished arguments, of which pieces may have come.
    pub(in crate::mode::responses) fn whole_arguments(
        &mut self,
        place: Place<'_>,
        whole: &str,
        out: &mut Deltas,
    ) {
        let at = self.at(Kind::Call, place);
        self.rest_of_arguments(at, "", whole, out);
    }

    pub(super) fn rest_of_arguments(
        &mut self,
        at: usize,
        name: &str,
        whole: &str,
        out: &mut Deltas,
    ) {
        let rest = whole.get(self.all[at].sent..).unwrap_or_default();
        self.announce(at, name, rest.to_owned(), out);
        self.all[at].closed |= self.all[at].sent > 0;
    }

    /// Sends arguments together with what was not sent of the head.
    pub(super) fn announce(&mut self, at: usize, name: &str, arguments: String, out: &mut Deltas) {
        let item = &mut self.all[at];
        item.sent += arguments.len();
        let id = (!item.head.id && !item.call_id.is_empty()).then(|| item.call_id.clone());
        let name = (!item.head.name && !name.is_empty()).then(|| name.to_owned());
        item.head.id |= id.is_some();
        item.head.name |= name.is_some();
        if id.is_some() || name.is_some() || !arguments.is_empty() {
            out.push_back(Delta::ToolCall { slot: item.slot, id, name, arguments });
        }
    }
}
