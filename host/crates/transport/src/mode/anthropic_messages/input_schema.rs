//! A tool's schema in the form Anthropic takes: at the top an object, and no alternatives there.
//!
//! Only what the model is shown changes; arguments are still checked against the tool's own
//! schema. A schema that fits already is sent byte for byte.

use std::borrow::Cow;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

/// Keywords the API refuses at the top of a schema.
const ALTERNATIVES: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// `schema` as the API takes it. The same schema always gives the same bytes.
pub(super) fn fit(schema: &RawValue) -> Cow<'_, RawValue> {
    let Ok(value) = serde_json::from_str::<Value>(schema.get()) else {
        return Cow::Owned(raw(&json!({"type": "object"})));
    };
    let fits = |map: &Map<String, Value>| {
        map.get("type").is_some_and(|kind| kind == "object")
            && map.get("properties").is_none_or(Value::is_object)
            && !ALTERNATIVES.iter().any(|word| map.contains_key(*word))
    };
    match value {
        Value::Object(map) if fits(&map) => Cow::Borrowed(schema),
        Value::Object(map) => Cow::Owned(raw(&Value::Object(mended(map)))),
        _ => Cow::Owned(raw(&json!({"type": "object"}))),
    }
}

/// `map` as one object: what its alternatives allow is allowed beside each other, and only what
/// all of them require is required.
fn mended(mut map: Map<String, Value>) -> Map<String, Value> {
    map.insert("type".into(), "object".into());
    if !map.get("properties").is_none_or(Value::is_object) {
        map.remove("properties");
    }
    for word in ALTERNATIVES {
        let Some(Value::Array(branches)) = map.remove(word) else { continue };
        let mut required: Option<Vec<Value>> = None;
        for branch in &branches {
            adopt_properties(&mut map, branch);
            let theirs = list(branch.get("required"));
            required = Some(match required {
                None => theirs,
                Some(ours) if word == "allOf" => union(ours, theirs),
                Some(ours) => ours.into_iter().filter(|name| theirs.contains(name)).collect(),
            });
        }
        let all = union(list(map.get("required")), required.unwrap_or_default());
        if !all.is_empty() {
            map.insert("required".into(), Value::Array(all));
        }
    }
    map
}

fn adopt_properties(map: &mut Map<String, Value>, branch: &Value) {
    let Some(theirs) = branch.get("properties").and_then(Value::as_object) else { return };
    let ours = map.entry("properties").or_insert_with(|| json!({}));
    if let Some(ours) = ours.as_object_mut() {
        for (name, schema) in theirs {
            ours.entry(name.clone()).or_insert_with(|| schema.clone());
        }
    }
}

fn list(value: Option<&Value>) -> Vec<Value> {
    value.and_then(Value::as_array).cloned().unwrap_or_default()
}

fn union(mut ours: Vec<Value>, theirs: Vec<Value>) -> Vec<Value> {
    for name in theirs {
        if !ours.contains(&name) {
            ours.push(name);
        }
    }
    ours
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a value is always JSON")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn fitted(schema: &str) -> String {
        let schema = RawValue::from_string(schema.to_owned()).unwrap();
        fit(&schema).get().to_owned()
    }

    #[test]
    fn what_fits_is_sent_byte_for_byte() {
        let schema = r#"{"b": 1.50, "type":"object",  "properties":{"a":{"anyOf":[]}}}"#;
        assert_eq!(fitted(schema), schema);
    }

    #[test]
    fn b152_a_schema_without_an_object_at_the_top_gets_one() {
        let object = r#"{"type":"object"}"#;
        for schema in ["true", "null", "[]", r#"{"type":"string"}"#, "{}"] {
            assert_eq!(fitted(schema), object, "{schema}");
        }
        let cases = [
            (r#"{"anyOf":[{"type":"object"},{"type":"object"}]}"#, object),
            (r#"{"type":["object","null"]}"#, object),
            (
                r##"{"$ref":"#/$defs/A","$defs":{}}"##,
                r##"{"$ref":"#/$defs/A","$defs":{},"type":"object"}"##,
            ),
            (r#"{"type":"object","properties":null}"#, object),
        ];
        for (schema, expected) in cases {
            assert_eq!(fitted(schema), expected, "{schema}");
        }
    }

    #[test]
    fn alternatives_are_laid_beside_each_other() {
        let one =
            r#"{"type":"object","properties":{"x":{"type":"string"},"a":{}},"required":["x","a"]}"#;
        let two =
            r#"{"type":"object","properties":{"x":{"type":"number"},"b":{}},"required":["x"]}"#;
        let cases =
            [("oneOf", r#"["k","x"]"#), ("anyOf", r#"["k","x"]"#), ("allOf", r#"["k","x","a"]"#)];
        for (word, required) in cases {
            let schema =
                format!(r#"{{"properties":{{"k":{{}}}},"required":["k"],"{word}":[{one},{two}]}}"#);
            let got: Value = serde_json::from_str(&fitted(&schema)).unwrap();
            let expected = json!({
                "type": "object",
                "properties": {"k": {}, "x": {"type": "string"}, "a": {}, "b": {}},
                "required": serde_json::from_str::<Value>(required).unwrap(),
            });
            assert_eq!(got, expected, "{word}");
        }
    }
}
