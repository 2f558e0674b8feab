//! From an arguments struct to the schema the model reads. Everything that costs tokens and tells the
//! model nothing is left out: titles, the dialect, formats that only name a Rust type.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::decode::decode;
use crate::types::{Attribute, Failure, ToolSpec};

/// What `#[tool]` knows about a tool without its arguments.
pub struct Described<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// Its name for people.
    pub title: Option<&'a str>,
    /// Its doc comment.
    pub description: &'a str,
    /// Names and values as JSON text.
    pub attributes: &'a [(&'a str, &'a str)],
    /// The arguments that hold paths.
    pub path_arguments: &'a [&'a str],
}

/// Describes a tool whose arguments are an `A`.
pub fn tool_spec<A>(tool: Described<'_>) -> Result<ToolSpec, Failure>
where
    A: JsonSchema + DeserializeOwned,
{
    let schema = parameters::<A>();
    let checked = check_paths(&tool, &schema).and_then(|()| check_examples::<A>(&tool));
    checked.map_err(|fault| {
        Failure::internal(format!("the tool `{}` is badly described: {fault}", tool.name))
    })?;
    Ok(ToolSpec {
        name: tool.name.to_owned(),
        title: tool.title.map(str::to_owned),
        description: tool.description.to_owned(),
        parameters: schema.as_value().to_string(),
        attributes: tool
            .attributes
            .iter()
            .map(|&(name, value)| Attribute { name: name.to_owned(), value: value.to_owned() })
            .collect(),
    })
}

/// Models call tools with objects only, and a path argument that is misspelt would go unguarded.
fn check_paths(tool: &Described<'_>, schema: &Schema) -> Result<(), String> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("its arguments must be a struct with named fields".to_owned());
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for path in tool.path_arguments {
        if !properties.is_some_and(|fields| fields.contains_key(*path)) {
            return Err(format!("its path argument `{path}` is none of its arguments"));
        }
    }
    Ok(())
}

/// An example that the tool itself would refuse teaches the model a mistake.
fn check_examples<A: DeserializeOwned>(tool: &Described<'_>) -> Result<(), String> {
    let written = tool.attributes.iter().find(|(name, _)| *name == "examples");
    let Some((_, text)) = written else {
        return Ok(());
    };
    let examples: Vec<Value> =
        serde_json::from_str(text).map_err(|error| format!("its examples: {error}"))?;
    for example in examples {
        if let Err(failure) = decode::<A>(&example.to_string()) {
            return Err(format!("its example {example}: {}", failure.message));
        }
    }
    Ok(())
}

fn parameters<A: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    // The root's title is the struct's name and its description says whose arguments these are:
    // the tool's own name and description tell the model both.
    schema.remove("title");
    schema.remove("description");
    RecursiveTransform(drop_noise).transform(&mut schema);
    if schema.get("properties").is_none() && schema.get("type") == Some(&Value::from("object")) {
        // Some providers refuse an object schema that lists no properties at all.
        schema.insert("properties".to_owned(), Value::Object(serde_json::Map::new()));
    }
    schema
}

/// Formats such as `uint32` are known to no validator, and a default of null says nothing.
fn drop_noise(schema: &mut Schema) {
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(names_a_rust_type) {
        schema.remove("format");
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
}

/// `int`, `uint8` to `int128`, `float` and `double`: names schemars gives to Rust's number types.
fn names_a_rust_type(format: &str) -> bool {
    let unsigned = format.strip_prefix('u').unwrap_or(format);
    match unsigned.strip_prefix("int") {
        Some(width) => width.bytes().all(|byte| byte.is_ascii_digit()),
        None => matches!(format, "float" | "double"),
    }
}
