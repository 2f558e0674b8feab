//! What became of a plugin, for people and for programs: one object of `plugins list`.

use serde::Serialize;

use crate::manifest::{HookEntry, Manifest};

/// What became of a plugin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PluginSummary {
    /// Its name.
    pub name: String,
    /// Its author's version; empty if nobody says.
    pub version: String,
    /// What it is for.
    pub description: String,
    /// Whether it runs.
    pub state: PluginState,
    /// Why it does not run, and what to do.
    pub reason: Option<String>,
    /// Names of its tools.
    pub tools: Vec<String>,
    /// Where its hooks speak.
    pub hooks: Vec<HookEntry>,
    /// What it asks for, in the grammar of grants.
    pub requests: Vec<String>,
    /// What it has, in the same grammar.
    pub grants: Vec<String>,
    /// The folder of its manifest, or the bare component.
    pub path: String,
    /// SHA-256 of its component, hex, if it was read.
    pub digest: Option<String>,
    /// What its user should know: a change not yet approved, a grant that no longer holds.
    pub warnings: Vec<String>,
}

/// Whether a plugin runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginState {
    /// It does.
    Loaded,
    /// It cannot.
    Refused,
    /// Its user does not want it to.
    Disabled,
}

impl PluginSummary {
    /// What is known before a component is read.
    pub(super) fn new(
        name: &str,
        path: &std::path::Path,
        manifest: Option<&Manifest>,
        state: PluginState,
        reason: Option<String>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            version: manifest.map(|manifest| manifest.version.clone()).unwrap_or_default(),
            description: manifest.map(|manifest| manifest.description.clone()).unwrap_or_default(),
            state,
            reason,
            tools: Vec::new(),
            hooks: manifest.map(|manifest| manifest.hooks.clone()).unwrap_or_default(),
            requests: manifest.map(|manifest| manifest.request.lines()).unwrap_or_default(),
            grants: Vec::new(),
            path: path.display().to_string(),
            digest: None,
            warnings: Vec::new(),
        }
    }

    /// Whether it runs.
    pub fn is_loaded(&self) -> bool {
        self.state == PluginState::Loaded
    }
}
