//! The tool `csv_query`: CSV text to JSON rows, filtered, grouped, sorted and cut. Left out: joins and
//! computed columns, for which there is `query_json`.

mod cell;
mod condition;
mod group;
mod table;

use std::cmp::Reverse;

use hermes_plugin_sdk::prelude::*;
use serde::Serialize;
use serde::Serializer;
use serde::ser::SerializeMap;

use cell::Cell;
use condition::Condition;
use group::Aggregate;
use table::{Dialect, Table};

/// Rows returned unless the model asks otherwise.
const DEFAULT_LIMIT: u32 = 100;

/// Rows a call may return.
const MAX_LIMIT: u32 = 10_000;

/// Bytes of rows; the host would set more aside where the model cannot see it at once.
const MAX_OUTPUT: usize = 256 << 10;

/// What separates the fields of a row.
#[arguments]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Delimiter {
    /// Whichever of `,`, `;`, tab and `|` splits the first rows evenly.
    #[default]
    Auto,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// The tab character.
    Tab,
    /// `|`
    Pipe,
}

/// A column to sort by.
#[arguments]
#[derive(Debug)]
pub(crate) struct Sort {
    /// A column of the result.
    by: String,
    /// Largest first.
    #[serde(default)]
    descending: bool,
}

/// Arguments of `csv_query`.
#[arguments]
pub(crate) struct CsvQuery {
    /// The CSV text.
    csv: String,
    /// Columns to return, by name, in this order. Default: all. Without a header the names are
    /// `1`, `2`, …. Not together with `group_by` or `aggregates`.
    #[serde(default)]
    select: Vec<String>,
    /// Keep only the rows that meet all of these conditions.
    #[serde(default, rename = "where")]
    conditions: Vec<Condition>,
    /// Answer one row for each combination of values in these columns.
    #[serde(default)]
    group_by: Vec<String>,
    /// What to compute for each group, or for all rows if there is no `group_by`. Sums and means are
    /// exact.
    #[serde(default)]
    aggregates: Vec<Aggregate>,
    /// Sort the result, by the first column first. Numbers by size, empty cells last.
    #[serde(default)]
    sort: Vec<Sort>,
    /// Most rows to return, at most 10000. Default: 100.
    #[schemars(range(max = 10000))]
    limit: Option<u32>,
    /// Rows of the result to skip.
    #[serde(default)]
    offset: u32,
    /// What separates the fields.
    #[serde(default)]
    delimiter: Delimiter,
    /// Whether the first row names the columns.
    #[serde(default = "yes")]
    header: bool,
    /// Numbers are written `1.234,56`.
    #[serde(default)]
    decimal_comma: bool,
    /// Take rows with too few or too many fields: missing ones are empty, further ones dropped.
    #[serde(default)]
    allow_ragged: bool,
    /// Return every cell as a string. Default: numbers, `true` and `false` as such, empty as null.
    #[serde(default)]
    as_text: bool,
}

fn yes() -> bool {
    true
}

/// What `csv_query` answers.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    columns: Vec<String>,
    rows: Vec<Row>,
    /// Rows of the whole result, of which `rows` may be a part.
    total_rows: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A row as an object in the order of the columns.
#[derive(Debug)]
struct Row(Vec<(String, Cell)>);

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, cell) in &self.0 {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

/// Reads CSV text into JSON rows: selects columns, filters, groups with count, sum, mean, min, max
/// and distinct, sorts and limits.
#[tool(read_only, idempotent, parallel_safe, timeout_ms = 15000)]
pub(crate) fn csv_query(arguments: CsvQuery) -> Result<Json<Answer>, Failure> {
    let dialect = Dialect {
        delimiter: arguments.delimiter,
        header: arguments.header,
        ragged: arguments.allow_ragged,
        decimal_comma: arguments.decimal_comma,
    };
    let mut table = Table::read(&arguments.csv, dialect)?;
    condition::keep(&mut table, &arguments.conditions)?;
    let grouped = !arguments.group_by.is_empty() || !arguments.aggregates.is_empty();
    if grouped && !arguments.select.is_empty() {
        return Err(Failure::invalid_arguments(
            "`select` does not go together with `group_by` or `aggregates`, which say what is \
             returned; leave it out",
        ));
    }
    if grouped {
        table = group::group(&table, &arguments.group_by, &arguments.aggregates)?;
    }
    sort(&mut table, &arguments.sort)?;
    let chosen = choose(&table, &arguments.select)?;
    Ok(Json(answer(&table, &chosen, &arguments)))
}

fn sort(table: &mut Table, keys: &[Sort]) -> Result<(), Failure> {
    // From the last key to the first: a stable sort keeps what the later keys decided.
    for key in keys.iter().rev() {
        let column = table.column(&key.by, "sort")?;
        let of = |row: &table::Record| row.cells.get(column).map(Cell::order);
        if key.descending {
            // Empty cells stay last.
            table
                .records
                .sort_by_cached_key(|row| of(row).map(|order| (order.is_empty(), Reverse(order))));
        } else {
            table.records.sort_by_cached_key(of);
        }
    }
    Ok(())
}

fn choose(table: &Table, names: &[String]) -> Result<Vec<usize>, Failure> {
    if names.is_empty() {
        return Ok((0..table.columns.len()).collect());
    }
    names.iter().map(|name| table.column(name, "select")).collect()
}

fn answer(table: &Table, chosen: &[usize], arguments: &CsvQuery) -> Answer {
    let name = |column: &usize| table.columns.get(*column).cloned().unwrap_or_default();
    let columns: Vec<String> = chosen.iter().map(name).collect();
    let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT) as usize;
    let (mut rows, mut bytes) = (Vec::new(), 0);
    let mut full = false;
    for record in table.records.iter().skip(arguments.offset as usize).take(limit) {
        let cells = chosen.iter().map(|&column| {
            let cell = record.cells.get(column).cloned().unwrap_or_default();
            if arguments.as_text { cell.into_text() } else { cell }
        });
        let row: Vec<(String, Cell)> = columns.iter().cloned().zip(cells).collect();
        bytes += row.iter().map(|(name, cell)| name.len() + cell.length() + 6).sum::<usize>();
        if bytes > MAX_OUTPUT {
            full = true;
            break;
        }
        rows.push(Row(row));
    }
    let total_rows = table.records.len();
    let end = arguments.offset as usize + rows.len();
    let note = if full {
        Some(format!(
            "stopped at {MAX_OUTPUT} bytes; select fewer columns, or go on at offset {end}"
        ))
    } else if end < total_rows {
        Some(format!("there are more rows; go on at offset {end}"))
    } else {
        None
    };
    Answer { columns, rows, total_rows, note }
}

#[cfg(test)]
mod tests;
