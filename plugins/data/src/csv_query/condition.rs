//! Which rows to keep.

use std::cmp::Ordering;

use hermes_plugin_sdk::prelude::*;
use hermes_plugin_sdk::serde_json;

use super::cell::Cell;
use super::table::Table;
use crate::exact::{self, Number};

/// How a cell is compared.
#[arguments]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// Equal; numbers by value.
    #[serde(rename = "=")]
    Equal,
    /// Not equal.
    #[serde(rename = "!=")]
    NotEqual,
    /// Less; numbers by value, texts by characters (so ISO dates by time).
    #[serde(rename = "<")]
    Less,
    /// Less or equal.
    #[serde(rename = "<=")]
    AtMost,
    /// Greater.
    #[serde(rename = ">")]
    Greater,
    /// Greater or equal.
    #[serde(rename = ">=")]
    AtLeast,
    /// The cell contains the value.
    #[serde(rename = "contains")]
    Contains,
    /// The cell starts with the value.
    #[serde(rename = "starts_with")]
    StartsWith,
    /// The cell ends with the value.
    #[serde(rename = "ends_with")]
    EndsWith,
    /// The cell is one of the values in a list.
    #[serde(rename = "in")]
    In,
    /// The cell is empty; takes no value.
    #[serde(rename = "empty")]
    Empty,
    /// The cell is not empty; takes no value.
    #[serde(rename = "not_empty")]
    NotEmpty,
}

/// A single value to compare with.
#[arguments]
#[derive(Debug)]
#[serde(untagged)]
pub(crate) enum Scalar {
    /// `true` or `false`.
    Truth(bool),
    /// A number.
    Number(serde_json::Number),
    /// A text.
    Text(String),
}

/// What a cell is compared with.
#[arguments]
#[derive(Debug)]
#[serde(untagged)]
pub(crate) enum Operand {
    /// One value.
    One(Scalar),
    /// Several, for `in`.
    List(Vec<Scalar>),
}

/// A condition on one column.
#[arguments]
#[derive(Debug)]
pub(crate) struct Condition {
    /// The column's name.
    column: String,
    /// How to compare.
    #[serde(default = "equal")]
    op: Operator,
    /// What to compare with.
    value: Option<Operand>,
    /// Take upper and lower case for the same.
    #[serde(default)]
    ignore_case: bool,
}

fn equal() -> Operator {
    Operator::Equal
}

/// Something to compare with, made ready once for all rows.
struct Wanted {
    text: String,
    number: Option<Number>,
}

/// A condition made ready.
struct Test {
    column: usize,
    op: Operator,
    wanted: Vec<Wanted>,
    ignore_case: bool,
}

/// Drops the rows that do not meet every condition.
pub(super) fn keep(table: &mut Table, conditions: &[Condition]) -> Result<(), Failure> {
    let tests: Vec<Test> =
        conditions.iter().map(|condition| prepare(table, condition)).collect::<Result<_, _>>()?;
    table.records.retain(|record| {
        tests.iter().all(|test| record.cells.get(test.column).is_some_and(|cell| test.meets(cell)))
    });
    Ok(())
}

fn prepare(table: &Table, condition: &Condition) -> Result<Test, Failure> {
    let column = table.column(&condition.column, "where")?;
    let unary = matches!(condition.op, Operator::Empty | Operator::NotEmpty);
    let wanted = match &condition.value {
        _ if unary => Vec::new(),
        Some(Operand::One(one)) => vec![wanted(one, condition.ignore_case)],
        Some(Operand::List(list)) if condition.op == Operator::In => {
            list.iter().map(|one| wanted(one, condition.ignore_case)).collect()
        }
        Some(Operand::List(_)) => {
            return Err(Failure::invalid_arguments(format!(
                "the condition on `{}` takes one value; a list goes with `\"op\": \"in\"`",
                condition.column
            )));
        }
        None => {
            return Err(Failure::invalid_arguments(format!(
                "the condition on `{}` needs a `value`",
                condition.column
            )));
        }
    };
    Ok(Test { column, op: condition.op, wanted, ignore_case: condition.ignore_case })
}

fn wanted(value: &Scalar, ignore_case: bool) -> Wanted {
    let text = match value {
        Scalar::Truth(truth) => truth.to_string(),
        Scalar::Number(number) => number.to_string(),
        Scalar::Text(text) => text.clone(),
    };
    let text = if ignore_case { text.to_lowercase() } else { text };
    Wanted { number: exact::parse(&text), text }
}

impl Test {
    fn meets(&self, cell: &Cell) -> bool {
        let empty = cell.text().is_empty();
        match self.op {
            Operator::Empty => return empty,
            Operator::NotEmpty => return !empty,
            _ => {}
        }
        let text = cell.text();
        let text = if self.ignore_case { text.to_lowercase() } else { text.to_owned() };
        let number = exact::parse(&text);
        self.wanted.iter().any(|wanted| self.compare(&text, number.as_ref(), wanted))
    }

    fn compare(&self, text: &str, number: Option<&Number>, wanted: &Wanted) -> bool {
        let ordering = match (number, &wanted.number) {
            (Some(number), Some(wanted)) => Some(number.cmp(wanted)),
            // A text is neither less nor greater than a number, nor is an empty cell.
            (None, Some(_)) | (Some(_), None) if text != wanted.text => None,
            _ if text.is_empty() && !wanted.text.is_empty() => None,
            _ => Some(text.cmp(&wanted.text)),
        };
        match self.op {
            Operator::Equal | Operator::In => ordering == Some(Ordering::Equal),
            Operator::NotEqual => ordering != Some(Ordering::Equal),
            Operator::Less => ordering == Some(Ordering::Less),
            Operator::AtMost => ordering.is_some_and(Ordering::is_le),
            Operator::Greater => ordering == Some(Ordering::Greater),
            Operator::AtLeast => ordering.is_some_and(Ordering::is_ge),
            Operator::Contains => text.contains(&wanted.text),
            Operator::StartsWith => text.starts_with(&wanted.text),
            Operator::EndsWith => text.ends_with(&wanted.text),
            Operator::Empty | Operator::NotEmpty => false,
        }
    }
}
