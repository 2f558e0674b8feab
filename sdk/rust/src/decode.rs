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
    let what = in_plain_words(what);
    if path == "." {
        return Failure::invalid_arguments(format!("the arguments do not fit: {what}"));
    }
    Failure::invalid_arguments(format!("argument `{path}`: {what}")).with("argument", path)
}

/// Serde names what it expected as Rust does; the model knows JSON.
fn in_plain_words(what: &str) -> String {
    const BETWEEN: &str = ", expected ";
    let Some(at) = what.rfind(BETWEEN) else {
        return what.to_owned();
    };
    let (before, expected) = (&what[..at], &what[at + BETWEEN.len()..]);
    let plain = match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number of at least 0",
        "i8" => "a whole number from -128 to 127",
        "i16" => "a whole number from -32768 to 32767",
        "i32" => "a whole number from -2147483648 to 2147483647",
        "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        other => other,
    };
    format!("{before}{BETWEEN}{plain}")
}
