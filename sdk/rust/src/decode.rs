//! From the arguments' JSON text to the struct, with errors the model can act on.

use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::types::Failure;

/// Reads the arguments of a call. Blank text counts as an empty object, since models send it for
/// tools without arguments.
pub fn decode<A: DeserializeOwned>(arguments: &str) -> Result<A, Failure> {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        explain(&path, error.inner())
    })?;
    deserializer.end().map_err(|error| explain(".", &error))?;
    Ok(value)
}

fn explain(path: &str, error: &serde_json::Error) -> Failure {
    let text = error.to_string();
    if error.classify() != Category::Data {
        return Failure::invalid_arguments(format!("the arguments are not JSON: {text}"));
    }
    // The position counts in a text the model did not lay out; the path says it better.
    let what = text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]);
    if path == "." {
        return Failure::invalid_arguments(format!("the arguments do not fit: {what}"));
    }
    Failure::invalid_arguments(format!("argument `{path}`: {what}")).with("argument", path)
}
