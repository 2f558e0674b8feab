//! The hints a tool gives about itself. Hints nobody here knows are left out; a known one with a
//! value that makes no sense is an error, since a tool that is run otherwise than its author meant
//! is worse than one that is not run.

use serde_json::{Map, Value};

use crate::bindings::plugin_types::Attribute;

/// Most bytes of all known hints of a tool together; examples are the large ones.
const BYTES: usize = 64 << 10;

/// What a hint may hold.
#[derive(Clone, Copy)]
enum Kind {
    Flag,
    Names,
    Positive,
    Objects,
}

/// The hints this host knows.
const KNOWN: [(&str, Kind); 9] = [
    ("read-only", Kind::Flag),
    ("destructive", Kind::Flag),
    ("idempotent", Kind::Flag),
    ("interactive", Kind::Flag),
    ("parallel-safe", Kind::Flag),
    ("path-arguments", Kind::Names),
    ("timeout-ms", Kind::Positive),
    ("max-result-bytes", Kind::Positive),
    ("examples", Kind::Objects),
];

impl Kind {
    fn holds(self, value: &Value) -> bool {
        let all =
            |test: fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(test));
        match self {
            Self::Flag => value.is_boolean(),
            Self::Names => all(Value::is_string),
            Self::Positive => value.as_u64().is_some_and(|number| number > 0),
            Self::Objects => all(Value::is_object),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Flag => "true or false",
            Self::Names => "a list of argument names",
            Self::Positive => "a whole number above 0",
            Self::Objects => "a list of argument objects",
        }
    }
}

/// The hints this host knows, checked. The text of an error follows "describes tool X with ".
pub(super) fn known(attributes: Vec<Attribute>) -> Result<Map<String, Value>, String> {
    let mut hints = Map::new();
    let mut bytes = 0;
    for Attribute { name, value } in attributes {
        let Some((_, kind)) = KNOWN.iter().find(|(known, _)| *known == name) else { continue };
        bytes += value.len();
        if bytes > BYTES {
            return Err(format!("attributes of more than {BYTES} bytes"));
        }
        let parsed = serde_json::from_str(&value).ok().filter(|parsed| kind.holds(parsed));
        let Some(parsed) = parsed else {
            let shown = hermes_core::text::ellipsis(&value, 100);
            let expected = kind.expected();
            return Err(format!("the attribute {name} = {shown}; it must be {expected}, as JSON"));
        };
        if hints.insert(name.clone(), parsed).is_some() {
            return Err(format!("the attribute {name} twice"));
        }
    }
    Ok(hints)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hints(attributes: &[(&str, &str)]) -> Result<Value, String> {
        let one =
            |&(name, value): &(&str, &str)| Attribute { name: name.into(), value: value.into() };
        known(attributes.iter().map(one).collect()).map(Value::Object)
    }

    #[test]
    fn known_hints_are_kept_and_unknown_ones_left_out() {
        let given = [
            ("read-only", "true"),
            ("path-arguments", "[\"path\"]"),
            ("timeout-ms", "500"),
            ("examples", "[{\"path\":\"a\"}]"),
            ("colour", "no JSON at all"),
        ];
        let kept = json!({"read-only": true, "path-arguments": ["path"], "timeout-ms": 500,
            "examples": [{"path": "a"}]});
        assert_eq!(hints(&given), Ok(kept));
    }

    #[test]
    fn a_known_hint_that_makes_no_sense_is_an_error() {
        for (name, value, expected) in [
            ("read-only", "\"yes\"", "true or false"),
            ("parallel-safe", "true false", "true or false"),
            ("path-arguments", "\"path\"", "a list of argument names"),
            ("timeout-ms", "0", "a whole number above 0"),
            ("timeout-ms", "-5", "a whole number above 0"),
            ("max-result-bytes", "1e99", "a whole number above 0"),
            ("examples", "[1]", "a list of argument objects"),
        ] {
            let wanted = format!("the attribute {name} = {value}; it must be {expected}, as JSON");
            assert_eq!(hints(&[(name, value)]), Err(wanted));
        }
        let twice = hints(&[("read-only", "true"), ("read-only", "false")]);
        assert_eq!(twice, Err("the attribute read-only twice".into()));
        let large = format!("[{}{{}}]", "{},".repeat(BYTES / 3));
        let large = hints(&[("examples", &large)]);
        assert_eq!(large, Err("attributes of more than 65536 bytes".into()));
    }
}
