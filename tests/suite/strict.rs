//! What the strictest provider of each wire format demands of a request: its vendor's schema, and
//! the rules that no schema tells. Checked on every request the host sends in any test.

pub(crate) mod anthropic_messages;
pub(crate) mod chat_completions;
pub(crate) mod responses;
pub(crate) mod schema;

use std::collections::HashSet;

use serde_json::Value;

use crate::model::Mode;
pub(crate) use schema::Schema;

/// Every rule a request breaks.
pub(crate) fn problems(mode: &Mode, request: &Value) -> Vec<String> {
    let mut problems = (mode.problems)(request);
    problems.extend(mode.schema.problems(request));
    problems
}

/// The calls of a request: each has an id of its own, a legal name and an object of arguments.
#[derive(Default)]
struct Calls {
    ids: HashSet<String>,
    /// Those not yet answered, in order.
    open: Vec<String>,
}

impl Calls {
    /// A call; what is wrong with it.
    fn opens(&mut self, id: &Value, name: &Value, arguments: &Value) -> Option<&'static str> {
        let id = id.as_str().unwrap_or_default();
        self.open.push(id.to_owned());
        if id.is_empty() || id.len() > 64 || !self.ids.insert(id.to_owned()) {
            return Some("has a call without a short id of its own");
        }
        if !is_name(name) {
            return Some("has a call with an illegal name");
        }
        let parsed = arguments.as_str().map(serde_json::from_str::<Value>);
        let is_object = match parsed {
            Some(parsed) => parsed.is_ok_and(|value| value.is_object()),
            None => arguments.is_object(),
        };
        (!is_object).then_some("has a call whose arguments are no JSON object")
    }

    /// A result; what is wrong with it.
    fn answers(&mut self, id: &Value) -> Option<&'static str> {
        if self.open.first().is_none_or(|first| id != first) {
            return Some("answers no call, or not in call order");
        }
        self.open.remove(0);
        None
    }

    /// Something other than a result comes.
    fn interrupted(&self) -> Option<&'static str> {
        (!self.open.is_empty()).then_some("stands before the results of all calls")
    }
}

/// A tool's name as all vendors take it.
fn is_name(name: &Value) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.as_str().is_some_and(|name| (1..=64).contains(&name.len()) && name.chars().all(legal))
}

/// Whether a text says something.
fn says(text: &Value) -> bool {
    text.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// What is wrong with the tools on offer, given each one's name and schema.
fn tools<'a>(tools: impl Iterator<Item = (&'a Value, &'a Value)>) -> Vec<String> {
    let mut names = HashSet::new();
    let mut problems = Vec::new();
    for (name, schema) in tools {
        if !is_name(name) || !names.insert(name.to_string()) {
            problems.push(format!("tool {name} has no legal name of its own"));
        }
        if schema["type"] != "object" {
            problems.push(format!("tool {name} takes no object"));
        }
        for keyword in ["oneOf", "anyOf", "allOf", "enum", "not"] {
            if schema.get(keyword).is_some() {
                problems.push(format!("tool {name} has {keyword} at the top of its schema"));
            }
        }
    }
    problems
}
