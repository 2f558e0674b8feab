//! What servers send, read leniently: a field of the wrong type is an absent field, numbers stand
//! for strings and strings for numbers, and unknown fields are skipped unread.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::mode::lenient::{Count, Word, WordVisitor, skip_list};

/// One chunk of a stream, or a whole reply.
#[derive(serde::Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) model: Word<'a>,
    #[serde(borrow, default)]
    pub(super) choices: Option<Choices<'a>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// Of a list of alternatives the one with index 0, which is the one we ask for, else the first.
/// Taken out while reading, since a list of such large values costs more than all the rest.
pub(super) struct Choices<'a>(pub(super) Option<Choice<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Choices<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ChoicesVisitor).map(Self)
    }
}

struct ChoicesVisitor;

impl<'de> Visitor<'de> for ChoicesVisitor {
    type Value = Option<Choice<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of choices")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut first = None;
        while let Some(choice) = list.next_element::<Choice<'de>>()? {
            if choice.index.0.unwrap_or_default() == 0 {
                skip_list(list)?;
                return Ok(Some(choice));
            }
            first.get_or_insert(choice);
        }
        Ok(first)
    }
}

/// One alternative of a reply; we only ever ask for one.
#[derive(serde::Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Count,
    /// In a stream.
    #[serde(borrow, default)]
    pub(super) delta: Option<Said<'a>>,
    /// In a whole reply; boxed, since a stream's many chunks do without.
    #[serde(borrow, default)]
    pub(super) message: Option<Box<Said<'a>>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Word<'a>,
    /// Where some servers put what belongs to the chunk.
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// What the model said, or a piece of it.
#[derive(Default, serde::Deserialize)]
pub(super) struct Said<'a> {
    #[serde(borrow, default)]
    pub(super) content: Spoken<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Word<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning: Word<'a>,
    /// Pieces of reasoning to send back.
    #[serde(borrow, default)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) refusal: Word<'a>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<Option<Fragment<'a>>>>,
}

/// A tool call, or a piece of one.
#[derive(serde::Deserialize)]
pub(super) struct Fragment<'a> {
    #[serde(default)]
    pub(super) index: Count,
    #[serde(borrow, default)]
    pub(super) id: Word<'a>,
    #[serde(borrow, default)]
    pub(super) function: Option<Function<'a>>,
    /// What to send back beside the call.
    #[serde(borrow, default)]
    pub(super) extra_content: Option<&'a RawValue>,
}

/// The function part of a tool call.
#[derive(serde::Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow, default)]
    pub(super) name: Word<'a>,
    /// A string of JSON by the book; an object, null or nothing from some servers.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// A content: a string by the book, a list of typed parts from some servers.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Spoken<'a> {
    /// What is meant to be seen.
    pub(super) text: Cow<'a, str>,
    /// What a part of type `thinking` holds.
    pub(super) thinking: String,
}

impl<'de: 'a, 'a> Deserialize<'de> for Spoken<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpokenVisitor)
    }
}

struct SpokenVisitor;

impl<'a> From<Cow<'a, str>> for Spoken<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self { text, thinking: String::new() }
    }
}

impl<'de> Visitor<'de> for SpokenVisitor {
    type Value = Spoken<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of parts")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        WordVisitor.visit_borrowed_str(text).map(Spoken::from)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        WordVisitor.visit_str(text).map(Spoken::from)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        WordVisitor.visit_u64(number).map(Spoken::from)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        WordVisitor.visit_i64(number).map(Spoken::from)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        WordVisitor.visit_f64(number).map(Spoken::from)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Self::Value, E> {
        WordVisitor.visit_bool(truth).map(Spoken::from)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Spoken::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = Spoken::default();
        while let Some(part) = list.next_element::<Spoken<'de>>()? {
            all.text.to_mut().push_str(&part.text);
            all.thinking.push_str(&part.thinking);
        }
        Ok(all)
    }

    /// One part; what it thinks is again a string or a list of parts.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut part = Spoken::default();
        while let Some(key) = map.next_key::<Word<'de>>()? {
            match &*key.0 {
                "text" => part.text = map.next_value::<Word<'de>>()?.0,
                "thinking" => {
                    part.thinking = map.next_value::<Spoken<'de>>()?.text.into_owned();
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(part)
    }
}
