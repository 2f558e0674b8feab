//! A TOML document read key by key, where every complaint names the file, the line, the key, the
//! value and what to write instead, and where a key nobody asked for is a complaint too.
//!
//! It exists because a derived reader reports unknown keys without a line or a suggestion. It
//! leaves out everything that changes a document: `toml_edit` does that.

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::path::Path;

use hermes_core::text::ellipsis;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a document: the whole sentence, with file and line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DocumentError(pub(crate) String);

/// Longest value repeated in a complaint, in bytes: enough to recognise it by.
const MAX_SHOWN: usize = 80;

/// The text of a document and the name of its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    file: &'a Path,
    text: &'a str,
}

impl<'a> Source<'a> {
    pub(crate) fn new(file: &'a Path, text: &'a str) -> Self {
        Self { file, text }
    }

    /// Parses the document.
    pub(crate) fn parse(self) -> Result<Spanned<DeTable<'a>>, DocumentError> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.complain(at, &format!("not TOML: {}", error.message()))
        })
    }

    fn complain(self, at: usize, what: &str) -> DocumentError {
        let line = 1 + self.text.as_bytes()[..at.min(self.text.len())]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        DocumentError(format!("{}:{line}: {what}", self.file.display()))
    }
}

/// `text` fit to stand in one line of a terminal.
pub(crate) fn printable(text: &str) -> String {
    let clean = text.replace(|c: char| c.is_control(), " ");
    ellipsis(&clean, MAX_SHOWN).into_owned()
}

/// The nearest of `known` to a misspelt word, if one is near enough to be meant.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    known
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// One table of a document.
pub(crate) struct Reader<'a> {
    source: Source<'a>,
    /// How the table is called in complaints, as `request.fs[0]`; empty for the document itself.
    path: String,
    at: usize,
    table: &'a DeTable<'a>,
    /// Keys somebody asked for.
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Reader<'a> {
    /// The document's own table.
    pub(crate) fn root(source: Source<'a>, table: &'a Spanned<DeTable<'a>>) -> Self {
        Self::new(source, String::new(), 0, table.get_ref())
    }

    fn new(source: Source<'a>, path: String, at: usize, table: &'a DeTable<'a>) -> Self {
        Self { source, path, at, table, known: RefCell::default() }
    }

    fn get(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.borrow_mut().push(key);
        self.table.get(key)
    }

    fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn wrong(&self, name: &str, value: &Spanned<DeValue<'_>>, what: &str) -> DocumentError {
        let span = value.span();
        let shown = printable(&self.source.text[span.clone()]);
        self.source.complain(span.start, &format!("{name} = {shown}: {what}"))
    }

    /// A complaint about the whole table.
    pub(crate) fn complain(&self, what: &str) -> DocumentError {
        let place = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        self.source.complain(self.at, &format!("{place}{what}"))
    }

    /// A complaint about one key's value, which is there.
    pub(crate) fn complain_of(&self, key: &str, what: &str) -> DocumentError {
        match self.table.get(key) {
            Some(value) => self.wrong(&self.name(key), value, what),
            None => self.complain(what),
        }
    }

    /// A string, turned into what it stands for; `parse` says what to write instead.
    pub(crate) fn text<T>(
        &self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, DocumentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        self.parse_text(&self.name(key), value, parse).map(Some)
    }

    fn parse_text<T>(
        &self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, DocumentError> {
        let DeValue::String(text) = value.get_ref() else {
            return Err(self.wrong(name, value, "must be a string"));
        };
        parse(text).map_err(|what| self.wrong(name, value, &what))
    }

    /// A list of strings, each turned into what it stands for.
    pub(crate) fn texts<T>(
        &self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<Vec<T>>, DocumentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let name = self.name(key);
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong(&name, value, "must be a list of strings, as [\"…\"]"));
        };
        if items.is_empty() {
            return Err(self.wrong(&name, value, "must not be empty; leave the key out instead"));
        }
        let each = |(n, item): (usize, &Spanned<DeValue<'_>>)| {
            self.parse_text(&format!("{name}[{n}]"), item, &parse)
        };
        items.iter().enumerate().map(each).collect::<Result<_, _>>().map(Some)
    }

    /// A whole number within `range`.
    pub(crate) fn integer(
        &self,
        key: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<i64>, DocumentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        self.parse_integer(&self.name(key), value, &range).map(Some)
    }

    /// A list of whole numbers within `range`.
    pub(crate) fn integers(
        &self,
        key: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<Vec<i64>>, DocumentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let name = self.name(key);
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong(&name, value, "must be a list of whole numbers, as [443]"));
        };
        if items.is_empty() {
            return Err(self.wrong(&name, value, "must not be empty; leave the key out instead"));
        }
        let each = |(n, item): (usize, &Spanned<DeValue<'_>>)| {
            self.parse_integer(&format!("{name}[{n}]"), item, &range)
        };
        items.iter().enumerate().map(each).collect::<Result<_, _>>().map(Some)
    }

    fn parse_integer(
        &self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        range: &RangeInclusive<i64>,
    ) -> Result<i64, DocumentError> {
        let number = match value.get_ref() {
            DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix()).ok(),
            _ => None,
        };
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let what = format!("must be a whole number from {} to {}", range.start(), range.end());
            self.wrong(name, value, &what)
        })
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, key: &'static str) -> Result<Option<bool>, DocumentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            _ => Err(self.wrong(&self.name(key), value, "must be true or false")),
        }
    }

    /// A table written as `[key]`.
    pub(crate) fn table(&self, key: &'static str) -> Result<Option<Reader<'a>>, DocumentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let name = self.name(key);
        match value.get_ref() {
            DeValue::Table(table) => {
                Ok(Some(Self::new(self.source, name, value.span().start, table)))
            }
            _ => {
                let what = format!("must be a table; write [{name}]");
                Err(self.wrong(&name, value, &what))
            }
        }
    }

    /// Tables written as `[[key]]`, each.
    pub(crate) fn tables(&self, key: &'static str) -> Result<Vec<Reader<'a>>, DocumentError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let name = self.name(key);
        let wrong = |value| {
            let what = format!("must be a list of tables; write [[{name}]]");
            self.wrong(&name, value, &what)
        };
        let DeValue::Array(items) = value.get_ref() else { return Err(wrong(value)) };
        let each = |(n, item): (usize, &'a Spanned<DeValue<'a>>)| match item.get_ref() {
            DeValue::Table(table) => {
                Ok(Self::new(self.source, format!("{name}[{n}]"), item.span().start, table))
            }
            _ => Err(wrong(item)),
        };
        items.iter().enumerate().map(each).collect()
    }

    /// A value of either shape: a string, or a table.
    pub(crate) fn is_text(&self, key: &str) -> bool {
        matches!(self.table.get(key).map(Spanned::get_ref), Some(DeValue::String(_)))
    }

    /// The table under `key` as JSON, whatever is in it.
    pub(crate) fn json(
        &self,
        key: &'static str,
    ) -> Result<Option<serde_json::Value>, DocumentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(_) => to_json(value.get_ref())
                .map(Some)
                .map_err(|what| self.wrong(&self.name(key), value, &what)),
            _ => {
                let what = format!("must be a table; write [{}]", self.name(key));
                Err(self.wrong(&self.name(key), value, &what))
            }
        }
    }

    /// `value`, or the complaint that `key` is missing; `example` is what to write.
    pub(crate) fn required<T>(
        &self,
        key: &str,
        value: Option<T>,
        example: &str,
    ) -> Result<T, DocumentError> {
        value.ok_or_else(|| self.complain(&format!("`{key}` is missing; write {example}")))
    }

    /// Refuses keys nobody asked for, the first in the file first.
    pub(crate) fn finish(self) -> Result<(), DocumentError> {
        let known = self.known.borrow();
        let unknown = self
            .table
            .keys()
            .filter(|key| !known.contains(&key.get_ref().as_ref()))
            .min_by_key(|key| key.span().start);
        let Some(key) = unknown else { return Ok(()) };
        let word = key.get_ref().as_ref();
        let what = match nearest(word, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known here: {}", known.join(", ")),
        };
        let name = printable(&self.name(word));
        Err(self.source.complain(key.span().start, &format!("unknown key `{name}`; {what}")))
    }
}

fn to_json(value: &DeValue<'_>) -> Result<serde_json::Value, String> {
    use serde_json::Value;
    Ok(match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
            .map(Value::from)
            .map_err(|_| format!("{digits} does not fit in 64 bits"))?,
        DeValue::Float(digits) => digits
            .as_str()
            .parse()
            .ok()
            .and_then(serde_json::Number::from_f64)
            .map(Value::Number)
            .ok_or_else(|| format!("{digits} is no JSON number"))?,
        DeValue::Array(items) => Value::Array(
            items.iter().map(|item| to_json(item.get_ref())).collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => Value::Object(
            table
                .iter()
                .map(|(key, item)| {
                    to_json(item.get_ref()).map(|json| (key.get_ref().to_string(), json))
                })
                .collect::<Result<_, _>>()?,
        ),
    })
}
