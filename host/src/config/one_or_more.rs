//! A value that is a string or a list of strings. Told apart by its shape, so that a wrong value is
//! named with its line like any other.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// A string, or a list of at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OneOrMore {
    /// A string by itself.
    One(String),
    /// A list.
    More(Vec<String>),
}

impl OneOrMore {
    /// All strings, in order.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(more) => more,
        }
    }
}

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Shape)
    }
}

struct Shape;

impl<'de> Visitor<'de> for Shape {
    type Value = OneOrMore;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of strings")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<OneOrMore, E> {
        Ok(OneOrMore::One(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<OneOrMore, A::Error> {
        let mut more = Vec::new();
        while let Some(value) = seq.next_element()? {
            more.push(value);
        }
        if more.is_empty() {
            return Err(A::Error::invalid_length(0, &self));
        }
        Ok(OneOrMore::More(more))
    }
}
