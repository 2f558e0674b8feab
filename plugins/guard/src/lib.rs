//! `guard`: rules that deny, ask about or rewrite tool calls before they run.
//!
//! The first rule that matches a call decides, the user's before the built-in ones; a call that no
//! rule matches goes through. Settings that cannot be understood are an error, which the host turns
//! into a denial: a guard that is misspelt must not stand open.

mod defaults;
mod path;
mod rule;

use hermes_plugin_sdk::prelude::*;
use serde_json::Value;

use rule::{Action, Rule};

fn check(call: PendingCall) -> Result<PreVerdict, String> {
    let arguments = call.arguments_json()?;
    let own: Option<Value> = config::get_as("rules").map_err(|failure| failure.message)?;
    let own = rule::parse(own.unwrap_or_else(|| Value::Array(Vec::new())))?;
    let defaults: Option<bool> = config::get_as("defaults").map_err(|failure| failure.message)?;
    let built_in = if defaults.unwrap_or(true) { defaults::rules() } else { Vec::new() };
    decide(&call.tool, &arguments, own.iter().chain(&built_in))
}

/// What the first matching rule says.
fn decide<'a>(
    tool: &str,
    arguments: &Value,
    rules: impl Iterator<Item = &'a Rule>,
) -> Result<PreVerdict, String> {
    for rule in rules {
        if rule.is_about(tool) && rule.holds(arguments)? {
            return Ok(verdict(rule, arguments));
        }
    }
    Ok(PreVerdict::Proceed)
}

fn verdict(rule: &Rule, arguments: &Value) -> PreVerdict {
    let why = match &rule.reason {
        Some(reason) => format!("{}: {reason}", rule.name),
        None => rule.name.clone(),
    };
    match rule.action {
        Action::Allow => PreVerdict::Proceed,
        Action::Deny => PreVerdict::Deny(why),
        Action::Ask => PreVerdict::Ask(why),
        Action::Rewrite => {
            let rewritten = rule.rewritten(arguments);
            if rewritten == *arguments {
                PreVerdict::Proceed
            } else {
                PreVerdict::Rewrite(rewritten.to_string())
            }
        }
    }
}

hermes_plugin_sdk::plugin! { pre_tool_call: check }

#[cfg(test)]
mod tests;
