//! From plugin folders to what the loop uses: tools, hooks, and a summary of what became of every
//! plugin.
//!
//! Loading decides in this order: what lies there, what can be a plugin, what two plugins cannot
//! both be, what the user granted. Only then is anything built or recorded. A plugin that cannot
//! be loaded is a line in the summary; a mistake of the user's is an error.

mod approve;
mod assembly;
mod closed_gate;
mod consent;
mod options;
mod prepared;
mod summary;

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_core::hook::{Observer, PostToolCall, PreToolCall};
use hermes_core::tool::Tool;

pub use approve::Review;
pub use options::{LoadOptions, PluginSettings};
pub use summary::{PluginState, PluginSummary};

use crate::discover::{Broken, Candidate, Discovered, FolderError, discover};
use crate::grant::{Grant, GrantError, GrantsFile};
use assembly::Assembly;
use consent::Consent;
use prepared::Prepared;

/// What the user said cannot be done, so nothing is loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// A plugin folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A grant, or the file of grants, cannot be used.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// A plugin the host must not run without is not there.
    #[error("plugin \"{name}\" is required by config.toml: {why}")]
    Required {
        /// Its name.
        name: String,
        /// What became of it.
        why: String,
    },
}

/// Everything loaded.
#[derive(Default)]
pub struct Loaded {
    /// Tools of all plugins.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Hooks before tool calls, and those that stand in for refused ones.
    pub pre: Vec<Arc<dyn PreToolCall>>,
    /// Hooks after tool calls.
    pub post: Vec<Arc<dyn PostToolCall>>,
    /// Observers.
    pub observers: Vec<Arc<dyn Observer>>,
    /// What became of every plugin, by name.
    pub plugins: Vec<PluginSummary>,
}

/// What lies in the plugin folders, and what the user has agreed to.
pub struct Registry {
    options: LoadOptions,
    file: GrantsFile,
    found: Discovered,
}

impl Registry {
    /// Opens the folders and loads everything in them.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load(options: LoadOptions) -> Result<Loaded, LoadError> {
        Self::open(options)?.load_all()
    }

    /// Looks into the folders and reads what the user has agreed to.
    ///
    /// # Errors
    /// A folder or the file of grants cannot be used.
    pub fn open(options: LoadOptions) -> Result<Self, LoadError> {
        let found = discover(&options.dirs)?;
        let file = GrantsFile::read(&options.places.home)?;
        Ok(Self { options, file, found })
    }

    fn load_all(mut self) -> Result<Loaded, LoadError> {
        let asked = consent::asked(&self.options, &self.names())?;
        let mut assembly = Assembly::new(&self.options);
        for broken in std::mem::take(&mut self.found.refused) {
            self.refuse_broken(&mut assembly, broken);
        }
        let mut ready = Vec::new();
        for candidate in std::mem::take(&mut self.found.candidates) {
            if !self.is_enabled(&candidate.name) {
                assembly.disable(&candidate.name, &candidate.path, candidate.manifest.as_ref());
                continue;
            }
            match Prepared::new(candidate, &self.options, &self.file) {
                Ok(prepared) => ready.push(prepared),
                Err((candidate, reason)) => self.refuse(&mut assembly, &candidate, reason),
            }
        }
        let ready = self.refuse_collisions(ready, &mut assembly);
        self.check_required(&ready, assembly.summaries())?;
        let mut agreed = Vec::new();
        for plugin in ready {
            let consent = Consent::of(&plugin, &asked, &self.file, &self.options)?;
            agreed.push((plugin, consent));
        }
        self.record(&agreed, &asked)?;
        for (plugin, consent) in agreed {
            assembly.load(plugin, consent);
        }
        Ok(assembly.finish())
    }

    /// Names of everything found, whatever becomes of it.
    fn names(&self) -> Vec<&str> {
        let candidates = self.found.candidates.iter().map(|one| one.name.as_str());
        let refused = self.found.refused.iter().map(|one| one.name.as_str());
        let mut names: Vec<&str> = candidates.chain(refused).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn is_enabled(&self, name: &str) -> bool {
        self.options.settings.get(name).is_none_or(|settings| settings.enabled)
    }

    fn refuse_broken(&self, assembly: &mut Assembly<'_>, broken: Broken) {
        let path = broken.path.canonicalize().unwrap_or_else(|_| broken.path.clone());
        let approved = match broken.named {
            true => self.file.approval(&broken.name),
            // The manifest does not even say whose it is; its place does.
            false => self.file.approval_at(&path.to_string_lossy()),
        };
        let name = approved.map_or(&broken.name, |approval| &approval.plugin);
        if !self.is_enabled(name) {
            return assembly.disable(name, &broken.path, broken.manifest.as_ref());
        }
        let gates = approved.map(|approval| &approval.gates[..]).unwrap_or_default();
        let gates = [&broken.gates[..], gates].concat();
        assembly.refuse(name, &broken.path, broken.manifest.as_ref(), broken.reason, &gates);
    }

    fn refuse(&self, assembly: &mut Assembly<'_>, candidate: &Candidate, reason: String) {
        let manifest = candidate.manifest.as_ref();
        let now = manifest.map(|manifest| manifest.gates()).unwrap_or_default();
        let before = self.file.approval(&candidate.name).map(|approval| approval.gates.clone());
        let gates = [now, before.unwrap_or_default()].concat();
        assembly.refuse(&candidate.name, &candidate.path, manifest, reason, &gates);
    }

    /// A tool's name belongs to one plugin. Where two claim it both are refused, since the model
    /// could not say which it means and the user could not know which it got.
    fn refuse_collisions(
        &self,
        ready: Vec<Prepared>,
        assembly: &mut Assembly<'_>,
    ) -> Vec<Prepared> {
        let mut owners: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for plugin in &ready {
            let path = plugin.candidate.path.display().to_string();
            for spec in &plugin.inspected.specs {
                owners.entry(spec.name.clone()).or_default().push(path.clone());
            }
        }
        let collision = |plugin: &Prepared| {
            plugin.inspected.specs.iter().map(|spec| &spec.name).find_map(|tool| {
                let paths = owners.get(tool).filter(|paths| paths.len() > 1);
                if self.options.reserved_tools.contains(tool) {
                    let path = plugin.candidate.path.display();
                    return Some(format!(
                        "its tool \"{tool}\" ({path}) has the name of a tool of the host; rename it"
                    ));
                }
                let paths = paths?.join(" and ");
                Some(format!(
                    "the tool \"{tool}\" is in {paths}; rename it in one, or disable one: \
                     [plugins.NAME] enabled = false in config.toml"
                ))
            })
        };
        let mut clear = Vec::new();
        for plugin in ready {
            match collision(&plugin) {
                Some(reason) => self.refuse(assembly, &plugin.candidate, reason),
                None => clear.push(plugin),
            }
        }
        clear
    }

    fn check_required(
        &self,
        ready: &[Prepared],
        others: &[PluginSummary],
    ) -> Result<(), LoadError> {
        let required = self.options.settings.iter().filter(|(_, settings)| settings.required);
        for (name, settings) in required {
            if ready.iter().any(|plugin| plugin.name() == name) {
                continue;
            }
            let other = others.iter().find(|summary| summary.name == *name);
            let why = match other.map(|summary| summary.reason.clone().unwrap_or_default()) {
                _ if !settings.enabled => "it is also disabled there; remove one of the two".into(),
                Some(reason) => format!("it was refused: {reason}"),
                None => "it is in none of the plugin folders".into(),
            };
            return Err(LoadError::Required { name: name.clone(), why });
        }
        Ok(())
    }

    /// Remembers plugins seen for the first time, so that a later change is one. Without it a
    /// grant cannot be given; a plugin without grants can do without.
    fn record(&self, agreed: &[(Prepared, Consent)], asked: &[Grant]) -> Result<(), LoadError> {
        let new: Vec<_> = agreed.iter().filter(|(plugin, _)| plugin.new).collect();
        if new.is_empty() || self.options.dev {
            return Ok(());
        }
        let seen: Vec<_> = new.iter().map(|(plugin, _)| plugin.now.clone()).collect();
        let Err(error) = GrantsFile::record(&self.options.places.home, &seen) else {
            return Ok(());
        };
        let granted = |plugin: &str| asked.iter().any(|grant| grant.plugin == plugin);
        if new.iter().any(|(plugin, _)| granted(plugin.name())) {
            return Err(error.into());
        }
        tracing::warn!("plugins are not remembered: {error}");
        Ok(())
    }
}
