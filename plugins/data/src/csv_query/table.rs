//! CSV text to a table in memory: dialect, header, and errors that name row, line and column.

use hermes_plugin_sdk::prelude::*;

use super::Delimiter;
use super::cell::Cell;

/// Bytes of CSV text; the cells take several times as much memory.
const MAX_INPUT: usize = 4 << 20;

/// Columns of a table.
const MAX_COLUMNS: usize = 2_000;

/// Cells of a table, some 30 bytes each beside their text.
const MAX_CELLS: usize = 1_000_000;

/// Rows the delimiter is judged by.
const SAMPLE: usize = 20;

/// How a text is to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub(super) delimiter: Delimiter,
    pub(super) header: bool,
    pub(super) ragged: bool,
    pub(super) decimal_comma: bool,
}

/// One row and where it stood.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    /// Data rows are counted from 1.
    pub(super) row: usize,
    /// The line of the text it began on, from 1.
    pub(super) line: u64,
    /// As many as there are columns.
    pub(super) cells: Vec<Cell>,
}

/// A table with named columns.
#[derive(Debug, PartialEq)]
pub(super) struct Table {
    pub(super) columns: Vec<String>,
    pub(super) records: Vec<Record>,
}

impl Table {
    /// Reads CSV text.
    pub(super) fn read(text: &str, dialect: Dialect) -> Result<Self, Failure> {
        let text = text.trim_start_matches('\u{feff}');
        if text.len() > MAX_INPUT {
            return Err(Failure::too_large(format!(
                "`csv` has {} bytes, more than {MAX_INPUT}; pass a part of it",
                text.len()
            )));
        }
        let mut reader = reader(text, delimiter(text, dialect.delimiter));
        let mut table = Self { columns: Vec::new(), records: Vec::new() };
        let mut record = csv::StringRecord::new();
        let mut first = true;
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    return Err(Failure::invalid_arguments(format!(
                        "`csv` cannot be read: {error}"
                    )));
                }
            }
            if std::mem::take(&mut first) {
                table.columns = columns(&record, dialect.header)?;
                if dialect.header {
                    continue;
                }
            }
            table.push(&record, dialect)?;
        }
        if table.columns.is_empty() {
            return Err(Failure::invalid_arguments("`csv` is empty"));
        }
        Ok(table)
    }

    fn push(&mut self, record: &csv::StringRecord, dialect: Dialect) -> Result<(), Failure> {
        let row = self.records.len() + 1;
        let line = record.position().map_or(0, csv::Position::line);
        let wanted = self.columns.len();
        if record.len() != wanted && !dialect.ragged {
            return Err(Failure::invalid_arguments(format!(
                "row {row} (line {line}) has {} fields where {} has {wanted}; check `delimiter` and \
                 quotes, or set `allow_ragged`",
                record.len(),
                if dialect.header { "the header" } else { "the first row" }
            ))
            .with("row", row)
            .with("line", line));
        }
        if row * wanted > MAX_CELLS {
            return Err(Failure::too_large(format!(
                "`csv` has more than {MAX_CELLS} cells; pass a part of it"
            )));
        }
        let read = |field: &str| Cell::read(field, dialect.decimal_comma);
        let mut cells: Vec<Cell> = record.iter().take(wanted).map(read).collect();
        cells.resize(wanted, Cell::Empty);
        self.records.push(Record { row, line, cells });
        Ok(())
    }

    /// The column of this name, or the failure that lists those there are.
    pub(super) fn column(&self, name: &str, argument: &str) -> Result<usize, Failure> {
        let exactly = self.columns.iter().position(|column| column == name);
        let loosely = || {
            let mut like =
                self.columns.iter().enumerate().filter(|(_, column)| {
                    column.trim().to_lowercase() == name.trim().to_lowercase()
                });
            like.next().filter(|_| like.next().is_none()).map(|(at, _)| at)
        };
        exactly.or_else(loosely).ok_or_else(|| {
            let mut known: Vec<&str> = self.columns.iter().take(50).map(String::as_str).collect();
            if known.len() < self.columns.len() {
                known.push("…");
            }
            Failure::invalid_arguments(format!(
                "`{argument}` names the column `{name}`, but there are only: {}",
                known.join(", ")
            ))
        })
    }
}

/// The header's names made distinct, or numbers from 1.
fn columns(record: &csv::StringRecord, header: bool) -> Result<Vec<String>, Failure> {
    if record.len() > MAX_COLUMNS {
        return Err(Failure::too_large(format!("`csv` has more than {MAX_COLUMNS} columns")));
    }
    let mut names: Vec<String> = Vec::with_capacity(record.len());
    for (at, field) in record.iter().enumerate() {
        let name = match field.trim() {
            name if header && !name.is_empty() => name.to_owned(),
            _ => (at + 1).to_string(),
        };
        let mut distinct = name.clone();
        let mut number = 2;
        while names.contains(&distinct) {
            distinct = format!("{name}_{number}");
            number += 1;
        }
        names.push(distinct);
    }
    Ok(names)
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes())
}

fn delimiter(text: &str, wanted: Delimiter) -> u8 {
    match wanted {
        Delimiter::Comma => b',',
        Delimiter::Semicolon => b';',
        Delimiter::Tab => b'\t',
        Delimiter::Pipe => b'|',
        Delimiter::Auto => {
            // The first of equals wins, so the comma comes last in a search for the largest.
            let candidates = [b'|', b'\t', b';', b','];
            candidates.into_iter().max_by_key(|&byte| evenness(text, byte)).unwrap_or(b',')
        }
    }
}

/// How well a delimiter splits the first rows: evenly first, then into many fields.
fn evenness(text: &str, delimiter: u8) -> (bool, usize) {
    let sample = reader(text, delimiter).into_records().take(SAMPLE);
    let counts: Vec<usize> = sample.map(|record| record.map_or(0, |record| record.len())).collect();
    let fewest = counts.iter().copied().min().unwrap_or(0);
    let even = fewest > 1 && counts.iter().all(|&count| count == fewest);
    (even, if even { fewest } else { counts.iter().sum::<usize>() / counts.len().max(1) })
}
