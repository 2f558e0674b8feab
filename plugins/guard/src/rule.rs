//! One rule: which calls it is about, what must hold of their arguments, and what follows.

use hermes_plugin_sdk::prelude::*;
use serde_json::{Map, Value};

use crate::path::{normal, patch_targets};

/// A rule, as it is written in the settings.
#[arguments]
pub(crate) struct Rule {
    /// What it is called.
    pub(crate) name: String,
    /// Globs of tool names.
    pub(crate) tool: OneOrMany,
    /// The argument it looks at; every text where absent or `*`.
    #[serde(default)]
    pub(crate) argument: Option<String>,
    /// Globs of paths.
    #[serde(default)]
    pub(crate) path: Option<OneOrMany>,
    /// Text to look for.
    #[serde(default)]
    pub(crate) contains: Option<String>,
    /// A regular expression to look for.
    #[serde(default)]
    pub(crate) matches: Option<String>,
    /// Holds where the condition does not.
    #[serde(default)]
    pub(crate) not: bool,
    /// What follows.
    pub(crate) action: Action,
    /// Why, for the user.
    #[serde(default)]
    pub(crate) reason: Option<String>,
    /// New values by argument; null removes one.
    #[serde(default)]
    pub(crate) rewrite: Option<Map<String, Value>>,
}

/// One text or several.
#[arguments]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// What follows from a rule.
#[arguments]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    /// The call does not run.
    Deny,
    /// The user is asked.
    Ask,
    /// The call runs with other arguments.
    Rewrite,
    /// The call goes through, whatever later rules say.
    Allow,
}

impl OneOrMany {
    fn iter(&self) -> std::slice::Iter<'_, String> {
        match self {
            Self::One(one) => std::slice::from_ref(one).iter(),
            Self::Many(many) => many.iter(),
        }
    }
}

/// Reads the rules of the settings.
///
/// # Errors
/// The text names the rule and the field.
pub(crate) fn parse(rules: Value) -> Result<Vec<Rule>, String> {
    let Value::Array(rules) = rules else {
        return Err("the setting \"rules\" must be a list".into());
    };
    rules.into_iter().enumerate().map(|(at, rule)| one(at, rule)).collect()
}

fn one(at: usize, value: Value) -> Result<Rule, String> {
    let name = value.get("name").and_then(Value::as_str).unwrap_or("without a name").to_owned();
    let wrong = |what: String| format!("rule {} ({name}): {what}", at + 1);
    let rule: Rule = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
    if rule.action == Action::Rewrite && rule.rewrite.is_none() {
        return Err(wrong("the action \"rewrite\" needs \"rewrite\" with the new values".into()));
    }
    if rule.action != Action::Rewrite && rule.rewrite.is_some() {
        return Err(wrong("\"rewrite\" is only for the action \"rewrite\"".into()));
    }
    Ok(rule)
}

impl Rule {
    /// Whether it is about calls of this tool.
    pub(crate) fn is_about(&self, tool: &str) -> bool {
        self.tool.iter().any(|glob| fast_glob::glob_match(glob, tool))
    }

    /// Whether its conditions hold of these arguments: all that are given, each for some text it
    /// looks at. Without any condition it always holds.
    ///
    /// # Errors
    /// Its regular expression is none.
    pub(crate) fn holds(&self, arguments: &Value) -> Result<bool, String> {
        let mut texts = Vec::new();
        match self.argument.as_deref() {
            None | Some("*") => collect("", arguments, &mut texts),
            Some(name) => {
                let pointer = format!("/{}", name.replace('.', "/"));
                let key = name.rsplit('.').next().unwrap_or(name);
                if let Some(value) = arguments.pointer(&pointer) {
                    collect(key, value, &mut texts);
                }
            }
        }
        let regex = self.matches.as_deref().map(regex_lite::Regex::new).transpose();
        let regex = regex.map_err(|error| {
            format!("rule {}: \"matches\" is no regular expression: {error}", self.name)
        })?;
        let path =
            self.path.as_ref().is_none_or(|globs| texts.iter().any(|text| touches(globs, text)));
        let contains = self
            .contains
            .as_deref()
            .is_none_or(|part| texts.iter().any(|(_, text)| text.contains(part)));
        let matches = regex.is_none_or(|regex| texts.iter().any(|(_, text)| regex.is_match(text)));
        Ok((path && contains && matches) != self.not)
    }

    /// The arguments with the rule's values in place of theirs.
    pub(crate) fn rewritten(&self, arguments: &Value) -> Value {
        let mut arguments = arguments.clone();
        if let (Some(fields), Some(new)) = (arguments.as_object_mut(), &self.rewrite) {
            for (name, value) in new {
                if value.is_null() {
                    fields.remove(name);
                } else {
                    fields.insert(name.clone(), value.clone());
                }
            }
        }
        arguments
    }
}

/// Every text of a value, with the name of the argument it stands under.
fn collect<'a>(name: &'a str, value: &'a Value, texts: &mut Vec<(&'a str, &'a str)>) {
    match value {
        Value::String(text) => texts.push((name, text)),
        Value::Array(items) => items.iter().for_each(|item| collect(name, item, texts)),
        Value::Object(fields) => fields.iter().for_each(|(name, item)| collect(name, item, texts)),
        _ => {}
    }
}

/// Whether a text names a file that one of the globs means: as a path, or as a patch of several.
fn touches(globs: &OneOrMany, (name, text): &(&str, &str)) -> bool {
    let is_meant = |path: &str| {
        let path = normal(path);
        globs.iter().any(|glob| fast_glob::glob_match(glob.to_lowercase(), &path))
    };
    match *name {
        "patch" | "diff" => patch_targets(text).any(is_meant),
        // What is written into a file is no path, whatever it looks like.
        "content" | "old_string" | "new_string" => false,
        _ => is_meant(text),
    }
}
