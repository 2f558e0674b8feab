//! The table of wire formats the scripted model speaks. Which one is meant, a request's path says.

use serde_json::Value;

use super::script::{Refusal, Speech};
use super::{anthropic_messages, chat_completions, responses};
use crate::strict;

/// All of them.
pub(crate) const MODES: [&Mode; 3] =
    [&chat_completions::MODE, &anthropic_messages::MODE, &responses::MODE];

/// One wire format.
pub(crate) struct Mode {
    /// As `--api-mode` calls it.
    pub(crate) name: &'static str,
    /// What a request's path ends in.
    pub(crate) path: &'static str,
    /// A reply as events.
    pub(crate) events: fn(&Speech) -> Vec<Event>,
    /// A reply as one body.
    pub(crate) whole: fn(&Speech) -> Value,
    /// An error object.
    pub(crate) error: fn(&Refusal) -> Value,
    /// The same as the event of a stream.
    pub(crate) error_event: fn(&Refusal) -> Event,
    /// What its errors are called that say the server has too much to do.
    pub(crate) overloaded: &'static str,
    /// Whether a stream ends in an end mark.
    pub(crate) end_mark: bool,
    /// Every rule a request breaks that no schema tells.
    pub(crate) problems: fn(&Value) -> Vec<String>,
    /// The vendor's schema of a request.
    pub(crate) schema: &'static strict::Schema,
}

/// One event of a stream.
pub(crate) struct Event {
    /// Its name; without one it is only data.
    pub(crate) name: Option<String>,
    /// What it carries.
    pub(crate) data: Value,
}

impl Event {
    /// Only data.
    pub(crate) fn plain(data: Value) -> Self {
        Self { name: None, data }
    }

    /// Named as its data's `type`.
    pub(crate) fn typed(data: Value) -> Self {
        Self { name: data["type"].as_str().map(str::to_owned), data }
    }

    pub(crate) fn text(&self) -> String {
        let name = self.name.as_ref().map_or(String::new(), |name| format!("event: {name}\n"));
        format!("{name}data: {}\n\n", self.data)
    }
}

impl Mode {
    /// The one a request to this path is written in.
    pub(crate) fn of(path: &str) -> &'static Self {
        let found = MODES.into_iter().find(|mode| path.ends_with(mode.path));
        found.unwrap_or_else(|| panic!("a request to {path:?}, which no api mode has"))
    }

    /// A whole stream.
    pub(crate) fn stream(&self, events: &[Event]) -> String {
        let mut text: String = events.iter().map(Event::text).collect();
        if self.end_mark {
            text.push_str("data: [DONE]\n\n");
        }
        text
    }
}
