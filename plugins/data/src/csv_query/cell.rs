//! One value of a table. Numbers keep the digits they were written with.

use std::cmp::Ordering;

use hermes_plugin_sdk::serde_json::value::RawValue;
use serde::{Serialize, Serializer};

use crate::exact::{self, Number};

/// A value of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Cell {
    /// Nothing was written.
    #[default]
    Empty,
    /// `true` or `false`, as it was written.
    Truth(bool, String),
    /// A number, as JSON writes it.
    Number(String),
    /// Anything else.
    Text(String),
}

impl Cell {
    /// What a field means: only what reads back the same becomes a number, so `007`, `1e5` and
    /// `+1` stay text.
    pub(super) fn read(field: &str, decimal_comma: bool) -> Self {
        let trimmed = field.trim();
        if trimmed.is_empty() {
            return Self::Empty;
        }
        match trimmed {
            "true" | "True" | "TRUE" => return Self::Truth(true, field.to_owned()),
            "false" | "False" | "FALSE" => return Self::Truth(false, field.to_owned()),
            _ => {}
        }
        let number = if decimal_comma { with_point(trimmed) } else { Some(trimmed.to_owned()) };
        match number.filter(|number| is_plain_decimal(number)) {
            Some(number) => Self::Number(number),
            None => Self::Text(field.to_owned()),
        }
    }

    /// A number that was computed.
    pub(super) fn number(number: &Number) -> Self {
        Self::Number(exact::show(number, 20).text)
    }

    /// The number in the cell.
    pub(super) fn value(&self) -> Option<Number> {
        match self {
            Self::Number(text) => exact::parse(text),
            _ => None,
        }
    }

    /// The cell as the text it is compared and grouped by.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Empty => "",
            Self::Truth(true, _) => "true",
            Self::Truth(false, _) => "false",
            Self::Number(text) | Self::Text(text) => text,
        }
    }

    /// The cell as a string, whatever it is.
    pub(super) fn into_text(self) -> Self {
        match self {
            Self::Empty => Self::Text(String::new()),
            Self::Truth(_, text) | Self::Number(text) | Self::Text(text) => Self::Text(text),
        }
    }

    /// Bytes of the cell, to bound the answer.
    pub(super) fn length(&self) -> usize {
        self.text().len()
    }

    /// Where the cell stands in a sorted column.
    pub(super) fn order(&self) -> Order {
        match self {
            Self::Number(text) => match exact::parse(text) {
                Some(number) => Order::Number(number),
                None => Order::Text(text.clone()),
            },
            Self::Truth(..) | Self::Text(_) => Order::Text(self.text().to_owned()),
            Self::Empty => Order::Empty,
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.serialize_none(),
            Self::Truth(truth, _) => serializer.serialize_bool(*truth),
            Self::Text(text) => serializer.serialize_str(text),
            // As it stands: floating-point numbers would change long ones.
            Self::Number(text) => match RawValue::from_string(text.clone()) {
                Ok(number) => number.serialize(serializer),
                Err(_) => serializer.serialize_str(text),
            },
        }
    }
}

/// A place in a sorted column: numbers, then texts, then empty cells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Order {
    /// By size.
    Number(Number),
    /// By characters.
    Text(String),
    /// Last.
    Empty,
}

impl Order {
    /// Whether the cell is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.cmp(&Self::Empty) == Ordering::Equal
    }
}

/// `-?(0|[1-9][0-9]*)(.[0-9]+)?`, which is also a JSON number.
fn is_plain_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    all_digits(whole) && all_digits(fraction) && !leading_zero && text.len() <= 1_000
}

/// `1.234,56` with a decimal point and no separators, if the dots stand where separators do.
fn with_point(text: &str) -> Option<String> {
    let (whole, fraction) = match text.split_once(',') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let mut groups = whole.split('.');
    let first = groups.next().unwrap_or("");
    let mut number = first.to_owned();
    for group in groups {
        if group.len() != 3 || first.trim_start_matches('-').len() > 3 {
            return None;
        }
        number.push_str(group);
    }
    if let Some(fraction) = fraction {
        number.push('.');
        number.push_str(fraction);
    }
    Some(number)
}
