//! Arguments against a tool's schema: from whatever text the model wrote to a JSON object that
//! fits, or to an error the model can act on.
//!
//! Regular expressions in schemas run on a linear-time engine, and no `$ref` leaves its schema:
//! the validator is built without any resolver.

use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use crate::text;

/// A compiled schema.
pub struct Validator(jsonschema::Validator);

/// Most problems named in one error; a model mends the first few and tries again.
const MAX_PROBLEMS: usize = 5;

impl Validator {
    /// Compiles a JSON Schema.
    ///
    /// # Errors
    /// The text says where the schema is wrong.
    pub fn new(schema: &Value) -> Result<Self, String> {
        jsonschema::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(schema)
            .map(Self)
            .map_err(|error| format!("not a usable JSON Schema: {error}"))
    }

    /// Checks arguments.
    ///
    /// # Errors
    /// Each problem with its path and what was expected, one a line.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        let mut problems: Vec<String> = Vec::new();
        for error in self.0.iter_errors(arguments).take(MAX_PROBLEMS) {
            let path = error.instance_path().to_string();
            let place = if path.is_empty() { String::new() } else { format!("at {path}: ") };
            problems.push(format!("{place}{}", text::ellipsis(&error.to_string(), 300)));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
    }
}

impl Validator {
    /// Arguments in which every string that stands where the schema wants no string is read as the
    /// JSON it holds: models write `"[1, 2]"` for a list and `"5"` for a number. `None` unless that
    /// makes them fit; where a string is allowed it is left alone, whatever it looks like.
    pub fn mended(&self, arguments: &Value) -> Option<Value> {
        let mut mended = arguments.clone();
        for error in self.0.iter_errors(arguments) {
            let of_type = matches!(error.kind(), ValidationErrorKind::Type { .. });
            let Some(text) = error.instance().as_str().filter(|_| of_type) else { continue };
            let meant: Value = serde_json::from_str(&text::mend_lone_surrogates(text)).ok()?;
            *mended.pointer_mut(error.instance_path().as_str())? = meant;
        }
        self.0.is_valid(&mended).then_some(mended)
    }
}

/// Parses the arguments text of a tool call: blank and `null` mean an empty object, and lone
/// surrogates are mended.
///
/// # Errors
/// The text says what is wrong with it and where.
pub fn parse_arguments(arguments: &str) -> Result<Value, String> {
    if arguments.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_str(&text::mend_lone_surrogates(arguments)) {
        Ok(Value::Null) => Ok(Value::Object(serde_json::Map::new())),
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(other) => Err(format!(
            "the arguments must be a JSON object, not {}: {}",
            kind(&other),
            text::ellipsis(arguments, 100)
        )),
        Err(error) => Err(format!(
            "the arguments are not valid JSON ({error}); send one complete JSON object"
        )),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn b044_a_string_is_read_as_json_only_where_no_string_may_stand() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                "plan": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
                "note": {"type": "string"},
                "either": {"anyOf": [{"type": "string"}, {"type": "array"}]},
                "count": {"type": "integer"},
                "deep": {"type": "object", "properties": {"on": {"type": "boolean"}}},
            },
        });
        let validator = Validator::new(&schema).unwrap();
        let mended = |arguments: Value| validator.mended(&arguments);
        assert_eq!(
            mended(serde_json::json!({
                "plan": "[{\"step\":\"x\"}]", "note": "[1,2]", "either": "[1]", "count": "5",
                "deep": {"on": "true"},
            })),
            Some(serde_json::json!({
                "plan": [{"step": "x"}], "note": "[1,2]", "either": "[1]", "count": 5,
                "deep": {"on": true},
            }))
        );
        for hopeless in [
            serde_json::json!({"plan": "step one"}),
            serde_json::json!({"plan": "{\"step\":1}"}),
            serde_json::json!({"count": "5.5"}),
            serde_json::json!({"plan": "[{\"n\":\"x\"}]"}),
            serde_json::json!({"note": 7}),
        ] {
            assert_eq!(mended(hopeless.clone()), None, "{hopeless}");
        }
    }
    use serde_json::json;

    #[test]
    fn b042_blank_and_null_arguments_are_an_empty_object() {
        for blank in ["", "  \n", "null", " null "] {
            assert_eq!(parse_arguments(blank).unwrap(), json!({}), "{blank:?}");
        }
    }

    #[test]
    fn b049_a_lone_surrogate_in_arguments_is_mended() {
        let arguments = parse_arguments("{\"t\":\"bad \\ud99c end\"}").unwrap();
        assert_eq!(arguments, json!({"t": "bad \u{FFFD} end"}));
    }

    #[test]
    fn half_json_and_other_shapes_are_refused_with_the_reason() {
        assert_eq!(
            parse_arguments("{\"path\": \"a").unwrap_err(),
            "the arguments are not valid JSON (EOF while parsing a string at line 1 column 11); send one complete JSON object"
        );
        assert_eq!(
            parse_arguments("[1]").unwrap_err(),
            "the arguments must be a JSON object, not an array: [1]"
        );
    }

    #[test]
    fn problems_name_the_path_and_what_was_expected() {
        let schema = json!({"type": "object", "required": ["path"],
            "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}}});
        let validator = Validator::new(&schema).unwrap();
        assert_eq!(validator.check(&json!({"path": "a", "limit": 3})), Ok(()));
        assert_eq!(validator.check(&json!({})).unwrap_err(), "\"path\" is a required property");
        assert_eq!(
            validator.check(&json!({"path": "a", "limit": 0})).unwrap_err(),
            "at /limit: 0 is less than the minimum of 1"
        );
    }

    #[test]
    fn a_reference_that_leaves_the_schema_does_not_compile() {
        assert!(Validator::new(&json!({"$ref": "https://example.com/schema.json"})).is_err());
        assert!(Validator::new(&json!({"$ref": "file:///etc/passwd"})).is_err());
    }
}
