//! What can still be told of a manifest that does not load: its plugin's name and which tools it
//! meant to guard. A guard that is refused denies those tools, so a typing mistake in a manifest
//! cannot open what it closed.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::manifest::hook::glob;
use crate::name;

/// What is left of a broken manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remains {
    /// The plugin's name, if it is legal.
    pub name: Option<String>,
    /// The tool globs of its hooks before tool calls.
    pub gates: Vec<String>,
}

impl Remains {
    /// Reads what can be read.
    pub fn of(text: &str) -> Self {
        let (document, _) = DeTable::parse_recoverable(text);
        let document = document.get_ref();
        let name = table(document.get("plugin"))
            .and_then(|plugin| string(plugin.get("name")))
            .and_then(|text| name::plugin(text).ok());
        let hooks = match document.get("hooks").map(Spanned::get_ref) {
            Some(DeValue::Array(hooks)) => {
                hooks.iter().filter_map(|hook| table(Some(hook))).collect()
            }
            Some(DeValue::Table(hook)) => vec![hook],
            _ => Vec::new(),
        };
        Self { name, gates: hooks.into_iter().flat_map(gates).collect() }
    }
}

/// What one hook table guards: every tool, where it does not say so in a way that can be read.
fn gates(hook: &DeTable<'_>) -> Vec<String> {
    let point = string(hook.get("point"));
    if point.is_some_and(|point| point == "post_tool_call" || point == "observer") {
        return Vec::new();
    }
    let everything = || vec!["*".to_owned()];
    let Some(DeValue::Array(tools)) = hook.get("tools").map(Spanned::get_ref) else {
        return everything();
    };
    let globs: Option<Vec<String>> =
        tools.iter().map(|tool| string(Some(tool)).and_then(|text| glob(text).ok())).collect();
    globs.filter(|globs| !globs.is_empty()).unwrap_or_else(everything)
}

fn table<'a>(value: Option<&'a Spanned<DeValue<'a>>>) -> Option<&'a DeTable<'a>> {
    match value.map(Spanned::get_ref) {
        Some(DeValue::Table(table)) => Some(table),
        _ => None,
    }
}

fn string<'a>(value: Option<&'a Spanned<DeValue<'a>>>) -> Option<&'a str> {
    match value.map(Spanned::get_ref) {
        Some(DeValue::String(text)) => Some(text),
        _ => None,
    }
}
