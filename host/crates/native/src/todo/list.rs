//! The list itself: what a call makes of it, and finding it again in a history. Pure.

use std::sync::Arc;

use hermes_core::message::{Message, Role};
use hermes_core::text;
use serde::{Deserialize, Serialize};

/// Most items; the oldest finished ones are of no use to anybody beyond that.
pub(super) const MAX_ITEMS: usize = 256;

/// Longest text of an item, in bytes.
const CONTENT_BYTES: usize = 4000;

/// Longest list as JSON, in bytes: below the agent's own cap on results, so that the newest result
/// always holds the whole list and it can be found again.
const LIST_BYTES: usize = 50_000;

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) content: String,
    pub(super) status: Status,
}

/// Things to do, the first ones first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct List(Vec<Item>);

/// The answer of every call; what [`List::find`] reads again.
#[derive(Serialize, Deserialize)]
struct Answer {
    todos: Vec<Item>,
    #[serde(default)]
    summary: Summary,
}

#[derive(Default, Serialize, Deserialize)]
struct Summary {
    total: usize,
    pending: usize,
    in_progress: usize,
    completed: usize,
    cancelled: usize,
}

impl List {
    /// The list after `items` replaced it, or, with `merge`, were put into it by their ids. Of two
    /// items of one id the later counts, where the earlier stood.
    ///
    /// # Errors
    /// It would be too long; the text says so.
    pub(super) fn with(&self, items: Vec<Item>, merge: bool) -> Result<Self, String> {
        let mut list = if merge { self.0.clone() } else { Vec::new() };
        for mut item in items {
            item.content = text::ellipsis(item.content.trim(), CONTENT_BYTES).into_owned();
            match list.iter_mut().find(|known| known.id == item.id) {
                Some(known) => *known = item,
                None => list.push(item),
            }
        }
        let list = Self(list);
        if list.0.len() > MAX_ITEMS {
            return Err(format!(
                "the list would have {} items of at most {MAX_ITEMS}; leave out what is done",
                list.0.len()
            ));
        }
        match list.answer().len() {
            ..=LIST_BYTES => Ok(list),
            long => Err(format!(
                "the list would take {long} bytes of at most {LIST_BYTES}; say the items shorter, or leave out what is done"
            )),
        }
    }

    /// What the model is told: always the whole list.
    pub(super) fn answer(&self) -> String {
        let count = |status| self.0.iter().filter(|item| item.status == status).count();
        let summary = Summary {
            total: self.0.len(),
            pending: count(Status::Pending),
            in_progress: count(Status::InProgress),
            completed: count(Status::Completed),
            cancelled: count(Status::Cancelled),
        };
        let answer = Answer { todos: self.0.clone(), summary };
        serde_json::to_string(&answer).unwrap_or_default()
    }

    /// The list of the newest result of the tool `name` in a history, empty without one. Only a
    /// result of a call the model made counts, whatever else looks like one.
    pub(super) fn find(history: &[Arc<Message>], name: &str) -> Self {
        let called = |id: &str| {
            let calls = history.iter().filter(|m| m.role == Role::Assistant);
            calls.flat_map(|m| &m.tool_calls).any(|call| call.id == id && call.name == name)
        };
        let results = history.iter().rev().filter(|message| {
            let id = message.tool_call_id.as_deref();
            message.role == Role::Tool && message.failure.is_none() && id.is_some_and(called)
        });
        let mut lists = results.filter_map(|message| {
            // A hook may have added a note behind it.
            let text = message.content.text();
            let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Answer>();
            values.next()?.ok()
        });
        lists.next().map(|answer| Self(answer.todos)).unwrap_or_default()
    }
}
