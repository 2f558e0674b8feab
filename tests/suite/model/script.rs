//! What a scripted model says and how the line carries it, in no wire format: the same script is
//! told in every api mode.

use serde_json::Value;

/// What the server answers to one request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A reply in the wire format of the request, streamed or whole as it asks.
    Says(Speech, Delivery),
    /// A refusal with an error object in the wire format of the request.
    Refuses(Refusal),
    /// Status 200, and an error object where the reply should be.
    Breaks(Refusal),
    /// An event stream of these chat chunks and, where wanted, its end mark.
    Events(Vec<Value>, bool),
    /// Status, content type and body as they are.
    Raw(u16, &'static str, String),
    /// Nothing, ever.
    Silence,
}

/// One reply of a model.
#[derive(Clone, Default)]
pub(crate) struct Speech {
    /// What it thought, which the provider signs; empty if it did not.
    pub(crate) reasoning: String,
    /// What it said; empty if nothing.
    pub(crate) text: String,
    /// What it called.
    pub(crate) calls: Vec<Call>,
    /// Why it ended, where that is not plain from the rest.
    pub(crate) ending: Ending,
}

/// One call: id, name, and the arguments' text, which may be broken.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// Why a reply ended.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It was complete.
    #[default]
    Complete,
    /// It reached the limit of output tokens.
    Length,
    /// A filter stopped it.
    Filtered,
}

/// How the bytes of a reply reach the client.
#[derive(Clone, Default)]
pub(crate) enum Delivery {
    /// At once.
    #[default]
    Whole,
    /// Each in a chunk of its own.
    EveryByte,
    /// As far as the end of this text's first place; then the connection is gone.
    CutAfter(&'static str),
    /// As far as the end of this text's first place; then nothing more comes.
    StallAfter(&'static str),
}

/// An error a provider reports.
#[derive(Clone)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The kind, as this family of providers spells it.
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Speech {
    /// With this thought before it.
    pub(crate) fn thinking(mut self, thought: &str) -> Self {
        self.reasoning = thought.into();
        self
    }

    /// Ended by this.
    pub(crate) fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// As a reply that comes at once.
    pub(crate) fn reply(self) -> Reply {
        self.carried(Delivery::Whole)
    }

    /// As a reply that comes like this.
    pub(crate) fn carried(self, delivery: Delivery) -> Reply {
        Reply::Says(self, delivery)
    }

    /// The text as it is streamed: word by word.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split_inclusive(' ')
    }
}

impl Call {
    /// The arguments as they are streamed: in two pieces, the cut at any character.
    pub(crate) fn pieces(&self) -> [&str; 2] {
        let middle = self.arguments.floor_char_boundary(self.arguments.len() / 2);
        let (first, second) = self.arguments.split_at(middle);
        [first, second]
    }
}

impl Refusal {
    pub(crate) fn new(status: u16, code: &'static str, message: &str) -> Self {
        Self { status, headers: Vec::new(), code, message: message.into() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// What says this.
pub(crate) fn says(text: &str) -> Speech {
    Speech { text: text.into(), ..Speech::default() }
}

/// What makes these calls: id, name and arguments of each. A string is sent as it is, so that
/// broken arguments can be sent.
pub(crate) fn asks(calls: &[(&str, &str, Value)]) -> Speech {
    let call = |(id, name, arguments): &(&str, &str, Value)| Call {
        id: (*id).into(),
        name: (*name).into(),
        arguments: arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned),
    };
    Speech { calls: calls.iter().map(call).collect(), ..Speech::default() }
}

/// A reply of text.
pub(crate) fn text(text: &str) -> Reply {
    says(text).reply()
}

/// A reply that calls tools.
pub(crate) fn calls(calls: &[(&str, &str, Value)]) -> Reply {
    asks(calls).reply()
}
