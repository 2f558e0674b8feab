//! The tool `query_json`: jq filters over JSON, run by jaq within limits. Left out: everything a
//! command-line jq does with files, modules and terminals.

mod engine;
mod guard;
mod input;
mod meter;
mod natives;
mod patterns;
mod syntax;
mod text;

use std::collections::BTreeMap;

use hermes_plugin_sdk::prelude::*;
use hermes_plugin_sdk::serde_json::value::RawValue;
use jaq_json::Val;
use serde_json::Value;

use engine::{End, Program};
use meter::Excess;
use syntax::Fault;
use text::Unwritten;

/// Bytes of results; the host would set more aside where the model cannot see it at once.
const MAX_OUTPUT: usize = 256 << 10;

/// Results unless the model asks otherwise.
const DEFAULT_LIMIT: u32 = 1_000;

/// Arguments of `query_json`.
#[arguments]
pub(crate) struct QueryJson {
    /// The JSON to query: a value, or a string of JSON text. The text may hold several documents
    /// one after another, such as NDJSON; the filter runs on each.
    #[schemars(with = "Value")]
    json: Box<RawValue>,
    /// jq filter, such as `.items[] | select(.price > 10) | {name, price}` or
    /// `group_by(.team) | map({team: .[0].team, total: map(.points) | add})`.
    filter: String,
    /// Run the filter once, on an array of all documents.
    #[serde(default)]
    slurp: bool,
    /// Write results that are strings without quotes and escapes.
    #[serde(default)]
    raw: bool,
    /// Values for `$name` in the filter, by name without `$`.
    #[serde(default)]
    variables: BTreeMap<String, Value>,
    /// Most results to return. Default: 1000.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
}

/// Runs a jq filter on JSON. Answers one result a line, as compact JSON. No files, modules or
/// environment; regular expressions have no look-around and no back-references.
#[tool(read_only, idempotent, parallel_safe, timeout_ms = 15000)]
pub(crate) fn query_json(arguments: QueryJson) -> Result<Vec<Part>, Failure> {
    let mut inputs = input::documents(&arguments.json)?;
    if arguments.slurp {
        inputs = vec![inputs.into_iter().collect()];
    }
    let (names, values) = variables(&arguments.variables)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let program = Program::compile(&arguments.filter, &names)
        .map_err(|fault| explain(&arguments.filter, &fault))?;
    let mut results = Results {
        raw: arguments.raw,
        limit: arguments.limit.unwrap_or(DEFAULT_LIMIT).max(1),
        text: String::new(),
        count: 0,
        stop: None,
    };
    let end = program.run(inputs, values, meter::TIME, |value| results.take(value));
    results.finish(end)
}

/// The variables with their `$`, and `$ENV`, which has nothing in it here.
fn variables(given: &BTreeMap<String, Value>) -> Result<(Vec<String>, Vec<Val>), Failure> {
    let mut names = vec!["$ENV".to_owned()];
    let mut values = vec![Val::obj(jaq_json::Map::default())];
    for (name, value) in given {
        let name = name.strip_prefix('$').unwrap_or(name);
        let mut characters = name.chars();
        let first = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !first || !characters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(Failure::invalid_arguments(format!(
                "`{name}` in `variables` is no name; use letters, digits and `_`"
            )));
        }
        let text = serde_json::value::to_raw_value(value)
            .map_err(|error| Failure::internal(format!("the variable `{name}`: {error}")))?;
        names.push(format!("${name}"));
        // A variable that is a string is that string and not a text to parse.
        values.push(match value {
            Value::String(text) => Val::from(text.clone()),
            _ => input::documents(&text)?.pop().unwrap_or_default(),
        });
    }
    Ok((names, values))
}

/// Why no more results are taken.
enum Stop {
    Limit,
    Full,
    Deep,
}

/// The results so far.
struct Results {
    raw: bool,
    limit: u32,
    text: String,
    count: u32,
    stop: Option<Stop>,
}

impl Results {
    /// Takes one more result and says whether to go on.
    fn take(&mut self, value: &Val) -> bool {
        if self.count == self.limit {
            self.stop = Some(Stop::Limit);
            return false;
        }
        let left = MAX_OUTPUT.saturating_sub(self.text.len());
        let written = if self.raw { text::plain(value, left) } else { text::json(value, left) };
        match written {
            Ok(line) => {
                if self.count > 0 {
                    self.text.push('\n');
                }
                self.text.push_str(&line);
                self.count += 1;
                true
            }
            Err(Unwritten::Long) => {
                self.stop = Some(Stop::Full);
                false
            }
            Err(Unwritten::Deep) => {
                self.stop = Some(Stop::Deep);
                false
            }
        }
    }

    fn finish(self, end: End) -> Result<Vec<Part>, Failure> {
        match end {
            End::Done => {}
            End::Failed(message) => {
                return Err(Failure::invalid_arguments(match self.count {
                    0 => format!("the filter failed: {message}"),
                    1 => format!("the filter failed after the first result: {message}"),
                    count => format!("the filter failed after {count} results: {message}"),
                }));
            }
            End::Exceeded(excess) => {
                let message = excess.message();
                return Err(match excess {
                    Excess::Time => Failure::timeout(message),
                    _ => Failure::too_large(message),
                });
            }
        }
        let note = match self.stop {
            Some(Stop::Deep) => {
                return Err(Failure::too_large("a result has too many levels to be written"));
            }
            Some(Stop::Full) if self.count == 0 => {
                return Err(Failure::too_large(format!(
                    "the first result has more than {MAX_OUTPUT} bytes; select less of it"
                )));
            }
            Some(Stop::Full) => Some(format!(
                "[stopped after {} results and {} bytes; select less]",
                self.count,
                self.text.len()
            )),
            Some(Stop::Limit) => {
                Some(format!("[stopped after {} results; there are more]", self.count))
            }
            None if self.count == 0 => Some("[no results]".to_owned()),
            None => None,
        };
        let results = (self.count > 0).then_some(self.text);
        Ok(results.into_iter().chain(note).map(Part::text).collect())
    }
}

/// Shows the place in the filter.
fn explain(filter: &str, fault: &Fault) -> Failure {
    let before = filter.get(..fault.at).unwrap_or(filter);
    let near: String = filter.get(fault.at..).unwrap_or("").chars().take(20).collect();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let message = &fault.message;
    let place = if near.is_empty() { "the end".to_owned() } else { format!("`{near}`") };
    Failure::invalid_arguments(format!(
        "`filter`, line {line}, column {column}, at {place}: {message}"
    ))
    .with("line", line)
    .with("column", column)
}

#[cfg(test)]
mod tests;
