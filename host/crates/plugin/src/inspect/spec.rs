//! The tools a component says it offers: asked once, under limits, and checked before the model
//! ever sees them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_core::schema::Validator;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use wasmtime::Store;

use super::{Refusal, attributes};
use crate::bindings::plugin_types as wit;
use crate::bindings::tool::ToolPluginPre;
use crate::call::{self, AsyncGuest, Bounds, Stopped};
use crate::convert;
use crate::guest::{Guest, Identity, Scope};
use crate::policy::{Effective, Limits};
use crate::sandbox::{NoState, Sandbox};
use crate::secret::Vault;

/// Time and memory for `list-tools`, which only says what it knows.
const BOUNDS: Bounds = Bounds { memory_bytes: 256 << 20, wall: Duration::from_secs(5), busy: None };

/// Most tools of one plugin.
const TOOLS: usize = 128;

/// Longest name of a tool: the limit of the strictest provider.
const NAME_BYTES: usize = 64;

/// Longest title.
const TITLE_BYTES: usize = 1 << 10;

/// Longest description.
const DESCRIPTION_BYTES: usize = 8 << 10;

/// Largest schema.
const SCHEMA_BYTES: usize = 64 << 10;

/// Deepest nesting of a schema.
const SCHEMA_DEPTH: usize = 64;

/// A tool as its plugin describes it, checked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RawSpec {
    /// The name.
    pub name: String,
    /// A short human name.
    pub title: Option<String>,
    /// For the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Box<RawValue>,
    /// The hints this host knows, with JSON values of the right type.
    pub attributes: serde_json::Map<String, Value>,
}

/// What a component answers when it is asked for its tools.
type Listed = Result<Vec<wit::ToolSpec>, wit::Failure>;

struct ListTools(ToolPluginPre<Guest>);

impl AsyncGuest<Listed> for ListTools {
    async fn enter(
        self,
        store: &mut Store<Guest>,
        instantiated: &mut Option<Instant>,
    ) -> wasmtime::Result<Listed> {
        let plugin = self.0.instantiate_async(&mut *store).await?;
        *instantiated = Some(Instant::now());
        plugin.hermes_plugin_tools().call_list_tools(store).await
    }
}

/// Asks a component for its tools. It has no powers and no settings meanwhile: what it offers is a
/// function of its bytes alone.
pub(super) fn list(
    sandbox: &Arc<Sandbox>,
    path: &Path,
    tool: &ToolPluginPre<Guest>,
) -> Result<Vec<RawSpec>, Refusal> {
    let refused = |why: String| Refusal(format!("{}: list-tools {why}", path.display()));
    let listing = call::run(&sandbox.runtime, nobody(path), BOUNDS, ListTools(tool.clone()));
    let specs = match sandbox.block_on(listing).value {
        Ok(Ok(specs)) => specs,
        Ok(Err(failure)) => return Err(refused(format!("failed: {}", convert::failure(failure)))),
        Err(Stopped::Trapped(how) | Stopped::NeverRan(how)) => return Err(refused(how)),
        Err(Stopped::TooLarge(most)) => {
            return Err(refused(format!("answers with more than {} MiB", most >> 20)));
        }
        Err(Stopped::TimedOut(limit)) => {
            return Err(refused(format!("gave no answer within {} s", limit.as_secs())));
        }
        Err(Stopped::Cancelled) => return Err(refused("was interrupted".into())),
    };
    if specs.len() > TOOLS {
        return Err(refused(format!("names {} tools; a plugin may have {TOOLS}", specs.len())));
    }
    let checked: Result<Vec<RawSpec>, String> = specs.into_iter().map(check).collect();
    let checked = checked.map_err(refused)?;
    match repeated(&checked) {
        Some(name) => Err(refused(format!("names the tool {name:?} twice"))),
        None => Ok(checked),
    }
}

/// The scope of a call that belongs to no plugin yet.
fn nobody(path: &Path) -> Scope {
    let identity = Identity {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        effective: Effective::default(),
        limits: Limits::default(),
        config: serde_json::Map::new(),
        state: Arc::new(NoState),
        vault: Vault::empty(),
    };
    Scope {
        identity: Arc::new(identity),
        namespace: "".into(),
        folders: false,
        writes: false,
        secrets: false,
        permits: None,
        ends: Instant::now() + BOUNDS.wall,
        cancel: Default::default(),
        progress: None,
    }
}

fn repeated(specs: &[RawSpec]) -> Option<&str> {
    let mut names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Checks one description; the text says what is wrong with it.
fn check(spec: wit::ToolSpec) -> Result<RawSpec, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = spec.name;
    if name.is_empty() || name.len() > NAME_BYTES || !name.chars().all(legal) {
        let name = hermes_core::text::ellipsis(&name, 100);
        return Err(format!(
            "names a tool {name:?}; a name has 1 to {NAME_BYTES} letters, digits, _ or -"
        ));
    }
    let of = |what: &str, problem: &str| format!("describes tool {name:?} with {what} {problem}");
    let lengths = [
        ("a title", spec.title.as_ref().map_or(0, String::len), TITLE_BYTES),
        ("a description", spec.description.len(), DESCRIPTION_BYTES),
        ("a schema", spec.parameters.len(), SCHEMA_BYTES),
    ];
    if let Some((what, length, most)) = lengths.into_iter().find(|(_, length, most)| length > most)
    {
        return Err(of(what, &format!("of {length} bytes; at most {most} are allowed")));
    }
    let schema = schema(&spec.parameters).map_err(|problem| of("a schema", &problem))?;
    let parameters = serde_json::value::to_raw_value(&schema)
        .map_err(|error| of("a schema", &format!("that cannot be written: {error}")))?;
    let attributes = attributes::known(spec.attributes)
        .map_err(|problem| format!("describes tool {name:?} with {problem}"))?;
    Ok(RawSpec { name, title: spec.title, description: spec.description, parameters, attributes })
}

fn schema(text: &str) -> Result<Value, String> {
    let schema: Value =
        serde_json::from_str(text).map_err(|error| format!("that is not JSON: {error}"))?;
    if depth(&schema) > SCHEMA_DEPTH {
        return Err(format!("nested deeper than {SCHEMA_DEPTH}"));
    }
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("whose \"type\" is not \"object\"".into());
    }
    Validator::new(&schema).map_err(|problem| format!("that is {problem}"))?;
    Ok(schema)
}

/// Levels of nesting; a scalar has 1.
fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 1)];
    while let Some((value, level)) = open.pop() {
        deepest = deepest.max(level);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(fields) => open.extend(fields.values().map(|item| (item, level + 1))),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(name: &str, description: &str, parameters: &str) -> String {
        let spec = wit::ToolSpec {
            name: name.into(),
            title: None,
            description: description.into(),
            parameters: parameters.into(),
            attributes: Vec::new(),
        };
        check(spec).err().unwrap_or_default()
    }

    #[test]
    fn lying_descriptions_are_refused_with_the_reason() {
        let object = "{\"type\":\"object\"}";
        assert_eq!(problem("t", "d", object), "");
        assert_eq!(
            problem("re ad", "d", object),
            "names a tool \"re ad\"; a name has 1 to 64 letters, digits, _ or -"
        );
        assert_eq!(
            problem("t", &"d".repeat(8193), object),
            "describes tool \"t\" with a description of 8193 bytes; at most 8192 are allowed"
        );
        assert_eq!(
            problem("t", "d", "{\"type\":\"string\"}"),
            "describes tool \"t\" with a schema whose \"type\" is not \"object\""
        );
        let half = problem("t", "d", "{");
        assert!(half.starts_with("describes tool \"t\" with a schema that is not JSON"), "{half}");
        let remote = problem("t", "d", "{\"type\":\"object\",\"$ref\":\"https://example.com/s\"}");
        assert!(remote.contains("not a usable JSON Schema"), "{remote}");
        let not = "{\"not\":".repeat(70) + "{}" + &"}".repeat(70);
        assert_eq!(
            problem("t", "d", &format!("{{\"type\":\"object\",\"not\":{not}}}")),
            "describes tool \"t\" with a schema nested deeper than 64"
        );
    }
}
