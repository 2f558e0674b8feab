//! What loading needs to know: where to look, what the user says, and what belongs to the host.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::grant::{HostPolicy, Places};
use crate::manifest::LimitSettings;
use crate::sandbox::Sandbox;

/// What loading needs to know.
pub struct LoadOptions {
    /// Folders with plugins, or of one plugin each. All must exist.
    pub dirs: Vec<PathBuf>,
    /// The working directory, the home folder and the user's own.
    pub places: Places,
    /// Grants of this process, as `files:fs:.:rw`.
    pub grants: Vec<String>,
    /// What `config.toml` says of each plugin.
    pub settings: BTreeMap<String, PluginSettings>,
    /// Trusts the folders by path: no change of a plugin costs it its grants, and nothing is
    /// recorded.
    pub dev: bool,
    /// Names of tools that are not plugins'.
    pub reserved_tools: Vec<String>,
    /// What no plugin is given.
    pub policy: HostPolicy,
    /// Where components run.
    pub sandbox: Arc<Sandbox>,
}

/// `[plugins.NAME]` of `config.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PluginSettings {
    /// Whether it is loaded at all.
    pub enabled: bool,
    /// Whether the host must not run without it.
    pub required: bool,
    /// Its own settings, as its manifest describes them.
    pub config: Map<String, Value>,
    /// Limits in place of its manifest's.
    pub limits: LimitSettings,
}

impl Default for PluginSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            required: false,
            config: Map::new(),
            limits: LimitSettings::default(),
        }
    }
}
