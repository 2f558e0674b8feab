//! The table of api modes, and what each must be able to do.
//!
//! A mode is pure: it writes a request's bytes and reads a reply's pieces. Sockets, timeouts,
//! statuses and keys are the sender's. A new mode is one folder here and one row in [`MODES`].

use std::collections::VecDeque;

use hermes_core::text;
use hermes_core::transport::{Delta, ModelRequest, TransportError};
use serde_json::error::Category;

use crate::endpoint::Endpoint;
use crate::quirks::Quirks;
use crate::secret::Secret;
use crate::sse::Event;

mod lenient;
mod report;

pub mod anthropic_messages;
pub mod chat_completions;
pub mod responses;

/// All api modes.
pub static MODES: &[&Mode] =
    &[&chat_completions::MODE, &responses::MODE, &anthropic_messages::MODE];

/// One wire format.
#[derive(Debug)]
pub struct Mode {
    /// Its name in configuration, events and results.
    pub name: &'static str,
    /// Other names it goes by in configuration.
    pub aliases: &'static [&'static str],
    /// What it adds to a base URL.
    pub endpoint: Endpoint,
    /// Headers every request carries: lower-case names with their values.
    pub headers: &'static [(&'static str, &'static str)],
    /// The headers that carry the key: lower-case names with their values.
    pub authorise: fn(&Secret) -> Vec<(&'static str, Secret)>,
    /// The body of a request to a server with these quirks.
    pub encode: fn(&ModelRequest, &Quirks) -> Vec<u8>,
    /// A decoder for its reply.
    pub decoder: fn(&ModelRequest, &Quirks) -> Box<dyn Decode>,
}

impl Mode {
    /// The mode called `name`.
    pub fn named(name: &str) -> Option<&'static Self> {
        MODES.iter().copied().find(|mode| mode.name == name || mode.aliases.contains(&name))
    }
}

/// Deltas on their way out.
pub type Deltas = VecDeque<Delta>;

/// Reads one reply, which arrives as events or as one whole body, whatever was asked for.
pub trait Decode: Send {
    /// Reads one event of a stream.
    ///
    /// # Errors
    ///
    /// A [`Fault`] ends the reply.
    fn event(&mut self, event: &Event<'_>, out: &mut Deltas) -> Result<Flow, Fault>;

    /// Reads one whole body, up to and with its finish.
    ///
    /// # Errors
    ///
    /// A [`Fault`] ends the reply.
    fn whole(&mut self, body: &str, out: &mut Deltas) -> Result<(), Fault>;

    /// The stream ended: whatever is held back goes out.
    ///
    /// # Errors
    ///
    /// [`Fault::Cut`] if the reply was not over.
    fn end(&mut self, out: &mut Deltas) -> Result<(), Fault>;

    /// Whether the reply has said why it ended, so that nothing but usage can still come.
    fn is_finished(&self) -> bool;

    /// Whether any text, reasoning or tool call has gone out.
    fn has_delivered(&self) -> bool;
}

/// Whether more of a stream is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// It goes on.
    More,
    /// The reply is complete; what follows is of no interest.
    Done,
}

/// Why a reply is none, as far as its text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The provider sent an error, as this JSON text, instead of (more of) a reply.
    Reported(String),
    /// This text is no part of a reply.
    Malformed {
        /// What is wrong with it.
        reason: String,
        /// The text.
        text: String,
    },
    /// It ended in good order and held nothing.
    Empty,
    /// It ended without saying why.
    Cut,
}

impl Fault {
    /// This text is no part of a reply, for this reason.
    pub(crate) fn malformed(reason: &str, text: &str) -> Self {
        let text = text::prefix(text, TransportError::BODY_BYTES).to_owned();
        Self::Malformed { reason: reason.to_owned(), text }
    }

    /// This text is no part of a reply, since reading it as JSON failed like this.
    pub(crate) fn unparsable(error: &serde_json::Error, text: &str) -> Self {
        match error.classify() {
            Category::Eof => Self::malformed("its JSON is cut short", text),
            Category::Data => Self::malformed(&format!("its form is unexpected: {error}"), text),
            Category::Syntax | Category::Io => Self::malformed("it is not JSON", text),
        }
    }
}
