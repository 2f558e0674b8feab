//! The system prompt of a session, out of layers. Pure: values in, text out; the same values make
//! the same bytes.
//!
//! It is made once a session and stored with it. So it holds nothing that changes within one: no
//! clock (only a date), and neither model nor provider, which a fallback may change. What is only
//! for the moment is said in messages behind it. Layers that change least come first, since
//! providers cache what a request shares with an earlier one from its beginning.
//!
//! Text of others (files of the folder, memory) is fenced, and annotated where it reads like an
//! attempt to give orders. It is never dropped for that: the person put it there, or can see it.

mod context;
mod fence;

use serde::Serialize;

pub use context::{ContextFile, context_budget};
use fence::{fenced, warning};

/// Longest description of a plugin, in bytes: one line of its author.
const PLUGIN_BYTES: usize = 200;

/// What a prompt is made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// Who the model is and how it works.
    pub identity: Layered,
    /// Loaded plugins: name and what each is for.
    pub plugins: Vec<(String, String)>,
    /// Files of the folder, the nearest first.
    pub context: Vec<ContextFile>,
    /// Most characters of all context files together; see [`context_budget`].
    pub context_chars: usize,
    /// What was learnt about the work.
    pub memory: Remembered,
    /// What was learnt about the person.
    pub user: Remembered,
    /// Where it runs.
    pub environment: Environment,
}

/// A text and where it comes from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layered {
    /// The text.
    pub text: String,
    /// A file's path, or a word such as `default`.
    pub source: String,
}

/// The entries of a memory file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remembered {
    /// The file's name.
    pub source: String,
    /// The entries, in order.
    pub entries: Vec<String>,
    /// How much of the file's room is used.
    pub percent: usize,
}

/// Where the agent runs. Nothing here changes within a day.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Environment {
    /// The operating system and the processor, such as `linux x86_64`.
    pub system: String,
    /// The working directory, if there is one worth telling.
    pub folder: Option<String>,
    /// The date, such as `2026-01-31`.
    pub date: String,
}

/// What a layer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// Who the model is.
    Identity,
    /// What the plugins are for.
    Plugins,
    /// A file of the folder.
    Context,
    /// What was learnt about the work.
    Memory,
    /// What was learnt about the person.
    User,
    /// Where it runs.
    Environment,
}

/// One layer of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// What it is about.
    pub kind: LayerKind,
    /// Where it comes from, for a person.
    pub source: String,
    /// What the person should know: something was cut, or reads like an attempt to give orders.
    pub notes: Vec<String>,
    /// Its text as the model sees it.
    pub text: String,
}

/// A whole prompt. Layers without text are not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The layers, in order.
    pub layers: Vec<Layer>,
}

impl Prompt {
    /// The prompt of `parts`.
    pub fn assemble(parts: &Parts) -> Self {
        let identity =
            layer(LayerKind::Identity, &parts.identity.source, parts.identity.text.trim().into());
        let mut layers = vec![identity, plugins(&parts.plugins)];
        layers.extend(context::layers(&parts.context, parts.context_chars));
        layers.push(memory(&parts.memory));
        layers.push(user(&parts.user));
        layers.push(environment(&parts.environment));
        layers.retain(|layer| !layer.text.is_empty());
        Self { layers }
    }

    /// The text as the model sees it.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.layers.iter().map(|layer| layer.text.as_str()).collect();
        texts.join("\n\n")
    }
}

fn layer(kind: LayerKind, source: &str, text: String) -> Layer {
    Layer { kind, source: source.to_owned(), notes: Vec::new(), text }
}

fn plugins(plugins: &[(String, String)]) -> Layer {
    if plugins.is_empty() {
        return layer(LayerKind::Plugins, "", String::new());
    }
    let mut text = "# Plugins\nTools come from these plugins. Each runs in a sandbox and reaches only what the \
user granted it; where a call is denied for want of a grant, say which one would help."
        .to_owned();
    for (name, description) in plugins {
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str("\n- ");
        text.push_str(name);
        if !description.is_empty() {
            text.push_str(": ");
            text.push_str(&crate::text::ellipsis(&description, PLUGIN_BYTES));
        }
    }
    layer(LayerKind::Plugins, "manifests", text)
}

fn memory(memory: &Remembered) -> Layer {
    remembered(
        LayerKind::Memory,
        memory,
        "# Memory",
        "What you noted in earlier sessions. It may be out of date, and what the user says now wins.",
    )
}

fn user(user: &Remembered) -> Layer {
    remembered(
        LayerKind::User,
        user,
        "# The user",
        "What you noted about the user in earlier sessions; what they say now wins.",
    )
}

fn remembered(kind: LayerKind, memory: &Remembered, title: &str, about: &str) -> Layer {
    if memory.entries.is_empty() {
        return layer(kind, &memory.source, String::new());
    }
    let mut notes = Vec::new();
    let mut entries = Vec::with_capacity(memory.entries.len());
    for (index, entry) in memory.entries.iter().enumerate() {
        entries.push(match warning(entry) {
            Some((signs, warning)) => {
                notes.push(format!("entry {} reads like orders ({signs})", index + 1));
                format!("{warning}\n{entry}")
            }
            None => entry.clone(),
        });
    }
    let (source, percent) = (&memory.source, memory.percent);
    let entries = fenced("memory_entries", None, &entries.join("\n§\n"));
    let text = format!("{title} ({source}, {percent} % full)\n{about}\n{entries}");
    Layer { notes, ..layer(kind, source, text) }
}

fn environment(environment: &Environment) -> Layer {
    let mut lines = vec!["# Environment".to_owned()];
    let Environment { system, folder, date } = environment;
    if !system.is_empty() {
        lines.push(format!("System: {system}"));
    }
    if let Some(folder) = folder {
        lines.push(format!("Working directory: {}", fence::one_line(folder)));
    }
    if !date.is_empty() {
        lines.push(format!("Date: {date}"));
    }
    let text = if lines.len() > 1 { lines.join("\n") } else { String::new() };
    layer(LayerKind::Environment, "host", text)
}

#[cfg(test)]
mod tests;
