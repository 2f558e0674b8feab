//! Loaded plugins, put together one by one.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::grant::{effective, narrow};
use crate::hook::{DEFAULT_TIMEOUT, HookOptions, ObserverOptions};
use crate::inspect::RawSpec;
use crate::manifest::{HookEntry, HookPoint, Manifest};
use crate::plugin::Plugin;
use crate::policy::{Effective, HookPowers};
use crate::powers;
use crate::registry::Loaded;
use crate::registry::closed_gate::{ClosedGate, glob_set};
use crate::registry::consent::Consent;
use crate::registry::options::LoadOptions;
use crate::registry::prepared::Prepared;
use crate::registry::summary::{PluginState, PluginSummary};

/// What is loaded so far.
pub(super) struct Assembly<'a> {
    options: &'a LoadOptions,
    loaded: Loaded,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(options: &'a LoadOptions) -> Self {
        Self { options, loaded: Loaded::default() }
    }

    pub(super) fn summaries(&self) -> &[PluginSummary] {
        &self.loaded.plugins
    }

    pub(super) fn finish(mut self) -> Loaded {
        self.loaded.plugins.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        self.loaded
    }

    pub(super) fn disable(&mut self, name: &str, path: &Path, manifest: Option<&Manifest>) {
        let reason = format!("disabled in config.toml: [plugins.{name}] enabled = false");
        let state = PluginState::Disabled;
        self.loaded.plugins.push(PluginSummary::new(name, path, manifest, state, Some(reason)));
    }

    /// A plugin that does not run, and what it would have guarded.
    pub(super) fn refuse(
        &mut self,
        name: &str,
        path: &Path,
        manifest: Option<&Manifest>,
        reason: String,
        gates: &[String],
    ) {
        if !gates.is_empty() {
            let problem = "is not loaded; `hermes-host plugins list` says why";
            let gate = ClosedGate::new(name, gates, problem, reason.clone());
            self.loaded.pre.push(Arc::new(gate));
        }
        let state = PluginState::Refused;
        self.loaded.plugins.push(PluginSummary::new(name, path, manifest, state, Some(reason)));
    }

    /// A plugin that runs.
    pub(super) fn load(&mut self, plugin: Prepared, consent: Consent) {
        let LoadOptions { policy, places, sandbox, dev, .. } = self.options;
        let request = plugin.request();
        let variable = |name: &str| std::env::var(name).ok();
        let effective = effective(&request, &consent.powers, policy, places, variable);
        let name = plugin.name().to_owned();
        let manifest = plugin.candidate.manifest.as_ref();
        let hooks: Vec<HookEntry> =
            manifest.map(|manifest| manifest.hooks.clone()).unwrap_or_default();
        let path = &plugin.candidate.path;
        let mut summary = PluginSummary::new(&name, path, manifest, PluginState::Loaded, None);
        summary.tools = plugin.inspected.specs.iter().map(|spec| spec.name.clone()).collect();
        summary.digest = Some(plugin.inspected.digest.clone());
        let met = consent.powers.iter().filter_map(|it| narrow(&request, it, policy, places).ok());
        for text in met.flatten().map(|power| power.to_string()) {
            if !summary.grants.contains(&text) {
                summary.grants.push(text);
            }
        }
        summary.warnings = consent.warnings;
        summary.warnings.extend(hook_warnings(&name, request.hook, &effective, &hooks));
        self.loaded.plugins.push(summary);
        if let (Some(change), false) = (&plugin.change, *dev) {
            self.stand_in(&name, &change.unguarded, &change.lines);
        }
        let asks_for_folders = !request.fs.is_empty();
        let (folders, trusted) =
            (effective.clone(), effective.hook_powers != HookPowers::default());
        let Prepared { inspected, limits, config, .. } = plugin;
        let loaded = Plugin::new(sandbox, name.clone(), inspected, effective, limits, config);
        let describe = |spec: &RawSpec| match asks_for_folders && takes_paths(spec) {
            true => format!("{}\n\n{}", spec.description, folder_line(&name, &folders)),
            false => spec.description.clone(),
        };
        self.loaded.tools.extend(loaded.tools(describe));
        for hook in hooks {
            self.add_hook(&loaded, &hook, trusted);
        }
    }

    /// Guards what a changed plugin does not guard any more, until its user has agreed to that.
    fn stand_in(&mut self, name: &str, globs: &[String], lines: &[String]) {
        if globs.is_empty() {
            return;
        }
        let problem = "changed and does not look at this tool any more; the user can agree to that";
        let detail = format!(
            "look at the changes and agree to them with hermes-host plugins approve {name}: {}",
            lines.join("; ")
        );
        self.loaded.pre.push(Arc::new(ClosedGate::new(name, globs, problem, detail)));
    }

    fn add_hook(&mut self, plugin: &Arc<Plugin>, hook: &HookEntry, trusted: bool) {
        let globs = glob_set(&hook.globs);
        let timeout = hook.timeout.unwrap_or(DEFAULT_TIMEOUT);
        // A hook its user gave a power over what runs or what the model reads may also speak.
        let options = |tools| HookOptions { tools, priority: hook.priority, timeout, trusted };
        match hook.point {
            HookPoint::PreToolCall => self.loaded.pre.push(plugin.gate(options(globs))),
            HookPoint::PostToolCall => self.loaded.post.push(plugin.review(options(globs))),
            HookPoint::Observer => {
                let options = ObserverOptions { points: globs, timeout };
                self.loaded.observers.push(plugin.observer(options));
            }
        }
    }
}

/// Whether a tool says that some of its arguments are paths.
fn takes_paths(spec: &RawSpec) -> bool {
    let named = spec.attributes.get("path-arguments").and_then(Value::as_array);
    named.is_some_and(|names| !names.is_empty())
}

/// What the model is told of a plugin's folders: the same words for a whole session.
fn folder_line(name: &str, effective: &Effective) -> String {
    let Some(first) = effective.fs.first() else {
        return format!(
            "Folders: none. The user can give one: --grant {name}:fs:PATH:ro (or rw, to write)."
        );
    };
    let folder = |folder: &crate::policy::Folder| {
        let mode = if folder.writable { "read-write" } else { "read-only" };
        format!("{} ({mode})", folder.host_path.display())
    };
    let folders: Vec<String> = effective.fs.iter().map(folder).collect();
    format!(
        "Folders: {}. Relative paths start at {}.",
        folders.join(", "),
        first.host_path.display()
    )
}

/// What hooks cannot do, and what they could do that their user may not expect.
fn hook_warnings(
    name: &str,
    asked: HookPowers,
    effective: &Effective,
    hooks: &[HookEntry],
) -> Vec<String> {
    let has = effective.hook_powers;
    let missing = HookPowers {
        full: asked.full && !has.full,
        rewrite: asked.rewrite && !has.rewrite,
        replace: asked.replace && !has.replace,
    };
    let mut warnings = Vec::new();
    if missing != HookPowers::default() {
        let missing = powers::to_text(missing);
        warnings.push(format!(
            "its hooks ask for {missing} and cannot: allow it with hermes-host plugins grant \
             {name} hook:{missing}"
        ));
    }
    let reaches_out = !effective.http.is_empty() || !effective.process.is_empty();
    if reaches_out && !hooks.is_empty() {
        warnings.push(
            "its hooks see tool calls, and it can also reach the network or run programs".into(),
        );
    }
    warnings
}
