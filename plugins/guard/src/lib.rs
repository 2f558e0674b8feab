//! `guard`: rules that deny, ask about or rewrite tool calls before they run.
//!
//! The user's rules come first, then the built-in ones. Settings that cannot be understood are an
//! error, which the host turns into a denial: a guard that is misspelt must not stand open. It judges
//! what a call says, not what the disk holds: links between files are for the sandbox to contain.

mod path;

mod glob;

mod text;

mod target;

mod rule;

mod settings;

mod defaults;

mod decide;

use hermes_plugin_sdk::prelude::*;
use serde_json::Value;

use decide::decide;

fn check(call: PendingCall) -> Result<PreVerdict, String> {
    let arguments = call.arguments_json()?;
    let own: Option<Value> = config::get_as("rules").map_err(|failure| failure.message)?;
    let wants_defaults: Option<bool> =
        config::get_as("defaults").map_err(|failure| failure.message)?;
    let mut rules = match &own {
        Some(rules) => settings::parse(rules)?,
        None => Vec::new(),
    };
    if wants_defaults.unwrap_or(true) {
        rules.extend(defaults::rules());
    }
    decide(&call.tool, arguments, &rules)
}

hermes_plugin_sdk::plugin! { pre_tool_call: check }

#[cfg(test)]
mod tests;
