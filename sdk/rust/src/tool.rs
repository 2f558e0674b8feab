//! A tool and the table of them that a plugin exports.

use crate::panic;
use crate::types::{CallInfo, Failure, Part, ToolSpec};

/// A function marked `#[tool]`. The attribute writes this under the function's own name, so a unit
/// test can go the way a call goes: `<greet as Tool>::call("{}", &CallInfo::default())`.
pub trait Tool {
    /// The name the model calls.
    const NAME: &'static str;

    /// How the model sees the tool.
    ///
    /// # Errors
    ///
    /// If what the attribute says does not fit the arguments; a fault of the plugin.
    fn spec() -> Result<ToolSpec, Failure>;

    /// Decodes the arguments and runs the function.
    ///
    /// # Errors
    ///
    /// `invalid-arguments` if they do not decode; else what the function failed with.
    fn call(arguments: &str, info: &CallInfo) -> Result<Vec<Part>, Failure>;
}

/// The arguments of a tool that has none.
#[hermes_plugin_sdk_macros::arguments]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoArguments {}

/// A tool as a value, for the table.
#[derive(Clone, Copy)]
pub struct Entry {
    name: &'static str,
    spec: fn() -> Result<ToolSpec, Failure>,
    call: fn(&str, &CallInfo) -> Result<Vec<Part>, Failure>,
}

impl Entry {
    /// The entry of a tool.
    #[must_use]
    pub const fn of<T: Tool>() -> Self {
        Self { name: T::NAME, spec: T::spec, call: T::call }
    }
}

/// The export `list-tools`.
pub fn list_tools(tools: &[Entry]) -> Result<Vec<ToolSpec>, Failure> {
    panic::enter();
    tools.iter().map(|tool| (tool.spec)()).collect()
}

/// The export `call`.
pub fn call_tool(
    tools: &[Entry],
    name: &str,
    arguments: &str,
    info: &CallInfo,
) -> Result<Vec<Part>, Failure> {
    panic::enter();
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        let known: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        return Err(Failure::not_found(format!(
            "there is no tool `{name}` here, only {}",
            known.join(", ")
        )));
    };
    (tool.call)(arguments, info)
}

/// Fails to compile if a plugin lists two tools of one name.
pub const fn assert_distinct(names: &[&str]) {
    let mut i = 0;
    while i < names.len() {
        let mut j = i + 1;
        while j < names.len() {
            assert!(
                !same(names[i].as_bytes(), names[j].as_bytes()),
                "two tools of this plugin have one name"
            );
            j += 1;
        }
        i += 1;
    }
}

/// `==` on slices cannot be used in constants yet.
const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
