//! How a plugin may be set up: `[config]` of a manifest is a JSON Schema, written in TOML, for the
//! `config` table the user gives the plugin in `config.toml`.
//!
//! Nothing is filled in: a schema's `default` is for the reader, and the plugin decides what an
//! absent setting means.

use hermes_core::schema::Validator;
use serde_json::{Map, Value};

use crate::document::{DocumentError, Reader, nearest, printable};

/// The schema of a plugin's settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings(Option<Value>);

impl Settings {
    pub(super) fn read(root: &Reader<'_>) -> Result<Self, DocumentError> {
        let Some(schema) = root.json("config")? else { return Ok(Self(None)) };
        if schema.get("type").is_some_and(|kind| kind != "object") {
            return Err(root.complain_of("config", "must be the JSON Schema of an object"));
        }
        Validator::new(&schema).map_err(|what| root.complain_of("config", &what))?;
        Ok(Self(Some(schema)))
    }

    /// Checks what the user wrote.
    ///
    /// # Errors
    /// Each problem with its path and what is expected, one a line.
    pub fn check(&self, given: &Map<String, Value>) -> Result<(), String> {
        let Some(schema) = &self.0 else {
            return match given.keys().next() {
                Some(key) => Err(format!(
                    "config.{}: the plugin takes no settings; remove the config table",
                    printable(key)
                )),
                None => Ok(()),
            };
        };
        self.check_names(given)?;
        let validator = Validator::new(schema)?;
        validator.check(&Value::Object(given.clone())).map_err(|problems| {
            problems.lines().map(|line| format!("config: {line}")).collect::<Vec<_>>().join("\n")
        })
    }

    /// Refuses settings the schema does not name, with the nearest that it does; a schema that is
    /// open on purpose says so.
    fn check_names(&self, given: &Map<String, Value>) -> Result<(), String> {
        const OPEN: [&str; 8] = [
            "additionalProperties",
            "patternProperties",
            "unevaluatedProperties",
            "propertyNames",
            "allOf",
            "anyOf",
            "oneOf",
            "$ref",
        ];
        let is_open = |schema: &Map<String, Value>| {
            OPEN.iter().any(|key| schema.get(*key).is_some_and(|value| *value != false))
        };
        let schema = self.0.as_ref().and_then(Value::as_object);
        let Some(schema) = schema.filter(|schema| !is_open(schema)) else { return Ok(()) };
        let Some(known) = schema.get("properties").and_then(Value::as_object) else {
            return Ok(());
        };
        let Some(unknown) = given.keys().find(|key| !known.contains_key(*key)) else {
            return Ok(());
        };
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let what = match nearest(unknown, names.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known here: {}", names.join(", ")),
        };
        Err(format!("unknown key `config.{}`; {what}", printable(unknown)))
    }
}
