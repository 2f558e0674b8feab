//! What a plugin was when its user last agreed to it, and how it differs now.

use serde_json::json;

use crate::digest::{self, sha256};
use crate::document::printable;
use crate::inspect::RawSpec;
use crate::manifest::{HookEntry, HookPoint, Manifest};

/// What a grant is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// SHA-256 of the component, hex.
    pub component: String,
    /// SHA-256 of `plugin.toml`, hex; `None` for a bare component.
    pub manifest: Option<String>,
    /// Fingerprint of everything its tools tell the model.
    pub tools: String,
}

/// A plugin as its user last agreed to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The plugin's name.
    pub plugin: String,
    /// Its author's version.
    pub version: String,
    /// The folder of its manifest, or the bare component.
    pub path: String,
    /// What it was.
    pub identity: Identity,
    /// Tool globs of its hooks before tool calls, one list for every such hook together.
    pub gates: Vec<String>,
    /// Its other hooks, as `post_tool_call *`.
    pub hooks: Vec<String>,
    /// What it asked for, in the grammar of grants.
    pub requests: Vec<String>,
    /// Its tools, as `NAME WORDS SHAPE`: the first digits of the digests of its title and
    /// description, and of its schema and attributes.
    pub tools: Vec<String>,
    /// The day in UTC, as `2026-01-31`.
    pub date: String,
}

impl Approval {
    /// A plugin as it is now. `component` is the digest of its bytes.
    pub fn new(
        (name, path): (&str, &str),
        component: &str,
        manifest: Option<&Manifest>,
        tools: &[RawSpec],
    ) -> Self {
        let mut marks: Vec<[String; 3]> = tools.iter().map(marks).collect();
        marks.sort();
        let hooks = manifest.map(|manifest| manifest.hooks.as_slice()).unwrap_or_default();
        let others = hooks.iter().filter(|hook| hook.point != HookPoint::PreToolCall);
        Self {
            plugin: name.to_owned(),
            version: manifest.map_or_else(|| "0.0.0".into(), |manifest| manifest.version.clone()),
            path: path.to_owned(),
            identity: Identity {
                component: component.to_owned(),
                manifest: manifest.map(|manifest| manifest.digest.clone()),
                tools: sha256(marks.concat().join("\n").as_bytes()),
            },
            gates: manifest.map(Manifest::gates).unwrap_or_default(),
            hooks: others.map(hook_line).collect(),
            requests: manifest.map(|manifest| manifest.request.lines()).unwrap_or_default(),
            tools: marks
                .iter()
                .map(|[name, words, shape]| {
                    format!("{name} {} {}", digest::short(words), digest::short(shape))
                })
                .collect(),
            date: chrono::Utc::now().date_naive().to_string(),
        }
    }

    /// How the plugin differs from what was approved, one difference a line; empty if it does
    /// not. `tools` are those of `now`, whose new words are shown.
    pub fn differences(&self, now: &Self, tools: &[RawSpec]) -> Vec<String> {
        let mut lines = Vec::new();
        let (old, new) = (&self.identity, &now.identity);
        if self.version != now.version {
            lines.push(format!("version: {} → {}", self.version, now.version));
        }
        if old.component != new.component {
            let (old, new) = (digest::short(&old.component), digest::short(&new.component));
            lines.push(format!("component: sha256 {old} → {new}"));
        }
        if old.manifest != new.manifest {
            let (old, new) = (manifest_text(old), manifest_text(new));
            lines.push(format!("plugin.toml: sha256 {old} → {new}"));
        }
        compare(&mut lines, "request", &self.requests, &now.requests);
        compare(&mut lines, "pre_tool_call for", &self.gates, &now.gates);
        compare(&mut lines, "hook", &self.hooks, &now.hooks);
        self.compare_tools(&mut lines, now, tools);
        lines
    }

    fn compare_tools(&self, lines: &mut Vec<String>, now: &Self, tools: &[RawSpec]) {
        let find = |list: &[String], name: &str| {
            list.iter()
                .find_map(|mark| split_mark(mark).filter(|mark| mark.0 == name))
                .map(|(_, words, shape)| (words.to_owned(), shape.to_owned()))
        };
        for mark in &self.tools {
            let Some((name, words, shape)) = split_mark(mark) else { continue };
            let Some((new_words, new_shape)) = find(&now.tools, name) else {
                lines.push(format!("tool removed: {name}"));
                continue;
            };
            if words != new_words {
                let description = describe(tools, name);
                lines.push(format!("tool {name}: new title or description: {description}"));
            }
            if shape != new_shape {
                lines.push(format!("tool {name}: new parameters or attributes"));
            }
        }
        for (name, ..) in now.tools.iter().filter_map(|mark| split_mark(mark)) {
            if find(&self.tools, name).is_none() {
                lines.push(format!("tool added: {name}: {}", describe(tools, name)));
            }
        }
    }
}

/// A tool's name and the digests of its words and of its shape.
fn marks(tool: &RawSpec) -> [String; 3] {
    let words = json!([tool.title, tool.description]).to_string();
    let shape = json!([tool.parameters.get(), tool.attributes]).to_string();
    [tool.name.clone(), sha256(words.as_bytes()), sha256(shape.as_bytes())]
}

fn split_mark(mark: &str) -> Option<(&str, &str, &str)> {
    let mut parts = mark.split(' ');
    Some((parts.next()?, parts.next()?, parts.next()?))
}

fn hook_line(hook: &HookEntry) -> String {
    format!("{} {}", hook.point.as_str(), hook.globs.join(" "))
}

fn manifest_text(identity: &Identity) -> &str {
    identity.manifest.as_deref().map_or("none", digest::short)
}

fn describe(tools: &[RawSpec], name: &str) -> String {
    let tool = tools.iter().find(|tool| tool.name == name);
    tool.map(|tool| format!("\"{}\"", printable(&tool.description))).unwrap_or_default()
}

fn compare(lines: &mut Vec<String>, what: &str, old: &[String], new: &[String]) {
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|line| !those.contains(line)).cloned().collect()
    };
    lines.extend(only(old, new).iter().map(|line| format!("{what} removed: {line}")));
    lines.extend(only(new, old).iter().map(|line| format!("{what} added: {line}")));
}
