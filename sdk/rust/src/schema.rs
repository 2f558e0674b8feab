//! From an arguments struct to the schema the model reads. Everything that costs tokens and tells the
//! model nothing is left out: titles, the dialect, formats that only name a Rust type.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

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
pub fn tool_spec<A: JsonSchema>(tool: Described<'_>) -> Result<ToolSpec, Failure> {
    let schema = parameters::<A>();
    check(&tool, &schema).map_err(|fault| {
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
fn check(tool: &Described<'_>, schema: &Schema) -> Result<(), String> {
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
    let numeric = schema.get("format").and_then(Value::as_str).is_some_and(|format| {
        let width = format.trim_start_matches('u').strip_prefix("int");
        width.is_some() || matches!(format, "float" | "double")
    });
    if numeric {
        schema.remove("format");
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
}
