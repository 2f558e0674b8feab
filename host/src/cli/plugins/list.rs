//! `plugins list` and `plugins inspect`.

use hermes_plugin::registry::{Loaded, PluginState, PluginSummary};

use super::super::{Output, RunArgs};
use crate::UsageError;
use crate::render::{Out, columns, printable};

/// Columns of a description in the list.
const DESCRIPTION_COLUMNS: usize = 70;

/// One line a plugin, and its reason where it is refused.
pub(super) fn list(loaded: &Loaded, args: &RunArgs, out: &Out) {
    if args.output != Output::Text {
        return out.json(&loaded.plugins);
    }
    if loaded.plugins.is_empty() {
        out.note("no plugins; load some with --plugins DIR");
    }
    for plugin in &loaded.plugins {
        let state = state(plugin);
        let description = columns(&plugin.description, DESCRIPTION_COLUMNS);
        out.line(&format!("{:<16} {:<9} {:<9} {description}", plugin.name, plugin.version, state));
        for line in plugin.reason.iter().chain(&plugin.warnings) {
            out.line(&format!("                 {}", printable(line)));
        }
    }
}

fn state(plugin: &PluginSummary) -> &'static str {
    match plugin.state {
        PluginState::Loaded => "loaded",
        PluginState::Refused => "refused",
        PluginState::Disabled => "disabled",
    }
}

/// Everything about one plugin.
pub(super) fn inspect(
    loaded: &Loaded,
    name: &str,
    args: &RunArgs,
    out: &Out,
) -> Result<(), UsageError> {
    let plugin = loaded.plugins.iter().find(|plugin| plugin.name == name);
    let plugin = plugin.ok_or_else(|| unknown(loaded, name))?;
    if args.output != Output::Text {
        out.json(plugin);
        return Ok(());
    }
    out.line(&format!("{} {} ({})", plugin.name, plugin.version, state(plugin)));
    out.line(&printable(&plugin.description));
    out.line(&format!("path      {}", plugin.path));
    out.line(&format!("digest    {}", plugin.digest.as_deref().unwrap_or("unknown")));
    let hooks: Vec<String> = plugin
        .hooks
        .iter()
        .map(|hook| format!("{} {}", hook.point.as_str(), hook.globs.join(" ")))
        .collect();
    for (what, lines) in [
        ("reason", plugin.reason.as_slice()),
        ("warning", plugin.warnings.as_slice()),
        ("tool", plugin.tools.as_slice()),
        ("hook", hooks.as_slice()),
        ("asks for", plugin.requests.as_slice()),
        ("has", plugin.grants.as_slice()),
    ] {
        for line in lines {
            out.line(&format!("{what:<9} {}", printable(line)));
        }
    }
    Ok(())
}

/// A plugin nobody knows.
pub(super) fn unknown(loaded: &Loaded, name: &str) -> UsageError {
    let names: Vec<&str> = loaded.plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    let known =
        if names.is_empty() { "none is there; say --plugins DIR".into() } else { names.join(", ") };
    UsageError::new(format!("no plugin is named {name:?} (there: {known})"))
}
