//! All tools of an agent, by name, each with its compiled schema.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::schema::Validator;
use crate::tool::{Tool, ToolSpec};

/// The tools an agent offers, in the order the model sees them.
pub struct ToolSet {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    specs: Arc<[ToolSpec]>,
}

/// One tool.
pub struct Entry {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    // Compiled at the first call: most tools of a session are never called.
    validator: OnceLock<Result<Validator, String>>,
}

/// Two tools of one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two tools are named {name:?}: one of {first}, one of {second}; disable one of them")]
pub struct DuplicateTool {
    /// The name.
    pub name: String,
    /// Source of the one kept.
    pub first: String,
    /// Source of the other.
    pub second: String,
}

impl ToolSet {
    /// A set of these tools.
    ///
    /// # Errors
    /// Two tools have one name.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Result<Self, DuplicateTool> {
        let mut by_name = HashMap::new();
        for (at, tool) in tools.iter().enumerate() {
            let spec = tool.spec();
            if let Some(first) = by_name.insert(spec.name.clone(), at) {
                let first = tools[first].spec().source.clone();
                return Err(DuplicateTool {
                    name: spec.name.clone(),
                    first,
                    second: spec.source.clone(),
                });
            }
        }
        let specs = tools.iter().map(|tool| tool.spec().clone()).collect();
        let entries = tools.into_iter().map(|tool| Entry { tool, validator: OnceLock::new() });
        Ok(Self { entries: entries.collect(), by_name, specs })
    }

    /// What the model is told about all of them.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// The tool the model means by `name`: that very name, or the same name in another spelling
    /// (case, `-` or blank for `_`, camel case, a `tool` suffix, markup after it). Never a guess at
    /// a different one, since calling the wrong tool is worse than an error.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        let found = self.by_name.get(name).or_else(|| {
            let spelt = canonical(name);
            let mut same = self.by_name.iter().filter(|(known, _)| canonical(known) == spelt);
            same.next().filter(|_| same.next().is_none()).map(|(_, at)| at)
        });
        found.map(|&at| &self.entries[at])
    }

    /// Up to three names close to `name`, nearest first.
    pub fn suggestions(&self, name: &str) -> Vec<&str> {
        let mut near: Vec<(f64, &str)> = self
            .specs
            .iter()
            .map(|spec| (strsim::jaro_winkler(name, &spec.name), spec.name.as_str()))
            .filter(|(likeness, _)| *likeness >= 0.75)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.into_iter().take(3).map(|(_, name)| name).collect()
    }
}

impl Entry {
    /// Checks arguments against the tool's schema.
    ///
    /// # Errors
    /// Each problem with its path, or that the schema itself is unusable.
    pub fn check(&self, arguments: &serde_json::Value) -> Result<(), String> {
        self.validator()?.check(arguments)
    }

    /// Arguments that fit the tool's schema: as they are, or with [`Validator::mended`] strings.
    ///
    /// # Errors
    /// As for [`Entry::check`].
    pub fn fit(&self, arguments: serde_json::Value) -> Result<serde_json::Value, String> {
        let validator = self.validator()?;
        match validator.check(&arguments) {
            Ok(()) => Ok(arguments),
            Err(problem) => validator.mended(&arguments).ok_or(problem),
        }
    }

    fn validator(&self) -> Result<&Validator, String> {
        let compile = || {
            let schema = serde_json::from_str(self.tool.spec().parameters.get());
            schema.map_err(|error| error.to_string()).and_then(|schema| Validator::new(&schema))
        };
        self.validator.get_or_init(compile).as_ref().map_err(|error| {
            format!("the schema of tool {:?} is broken: {error}", self.tool.spec().name)
        })
    }
}

/// A name without what models vary in spelling it.
fn canonical(name: &str) -> String {
    let name = name.split(['"', '\'', '<', '>']).next().unwrap_or_default().trim();
    let mut out = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && after_lower {
            out.push('_');
        }
        after_lower = c.is_lowercase();
        out.extend(if c == '-' || c == ' ' { '_' } else { c }.to_lowercase());
    }
    out.strip_suffix("_tool").map(str::to_owned).unwrap_or(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tool_in_many_spellings() {
        for spelling in [
            "read_file",
            "ReadFile",
            "read-file",
            "READ_FILE",
            "read_file_tool",
            "read_file\" id=1>",
            "read file",
        ] {
            assert_eq!(canonical(spelling), "read_file", "{spelling}");
        }
        assert_ne!(canonical("read_files"), "read_file");
    }
}
