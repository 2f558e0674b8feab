//! What an answer leaves out, and how to get at it.

use std::fmt::Write as _;

use hermes_plugin_sdk::prelude::*;

/// Most bytes of one answer: below what hosts show whole.
pub(crate) const MAX_BYTES: usize = 60_000;

/// What is left of a call's time when a walk stops to answer with what it has.
const TIME_TO_ANSWER_MS: u64 = 1000;

/// Most names of what was passed over.
const NAMES_SHOWN: usize = 5;

/// Whether it is time to stop and answer with what was found so far.
pub(crate) fn is_time_to_answer() -> bool {
    progress::is_cancelled() || progress::remaining_ms() < TIME_TO_ANSWER_MS
}

/// How to see more where `limit` ended an answer, or `limit` is as large as it can be.
pub(crate) fn how_to_see_more(narrow: &str, limit: usize, most: usize, is_long: bool) -> String {
    if is_long || limit >= most {
        format!("narrow it with {narrow}")
    } else {
        format!("narrow it with {narrow}, or raise limit (at most {most})")
    }
}

/// What a walk came by and did not use, where the reader cannot expect it.
#[derive(Default)]
pub(crate) struct PassedOver {
    names: Vec<String>,
    count: usize,
}

impl PassedOver {
    /// Notes something, with the reason.
    pub(crate) fn push(&mut self, what: String) {
        self.count += 1;
        if self.names.len() < NAMES_SHOWN {
            self.names.push(what);
        }
    }

    /// Adds a line about it to an answer, if there is anything to say.
    pub(crate) fn tell(&self, out: &mut String, not_done: &str) {
        if self.count > 0 {
            let more = if self.count > self.names.len() { ", …" } else { "" };
            let (names, count) = (self.names.join(", "), self.count);
            let _ = writeln!(out, "[not {not_done}: {names}{more}; {count} in all]");
        }
    }
}
