//! Write plugins for hermes-host in Rust: describe arguments with a struct, mark a function, list it.
//!
//! This crate hides the component ABI and nothing else: what a plugin may touch is decided by its
//! `plugin.toml` and its user, and the types here are those of the `hermes:plugin` contract.

// The macros name this crate from the outside; its own tests use them too.
extern crate self as hermes_plugin_sdk;

mod bindings;
mod decode;
mod hooks;
mod host;
mod outcome;
mod panic;
mod schema;
mod tool;
mod types;

pub use hermes_plugin_sdk_macros::{arguments, plugin, tool};
pub use hooks::{FinishedCall, PendingCall, PostVerdict, PreVerdict};
pub use host::{config, http, log, process, progress, secrets, state};
pub use outcome::{IntoOutcome, IntoParts, Json};
pub use tool::{NoArguments, Tool};
pub use types::{Attribute, Body, CallInfo, Failure, Part, ToolSpec};

pub use schemars;
pub use serde;
pub use serde_json;

/// What most plugins use.
pub mod prelude {
    pub use crate::{
        Attribute, Body, CallInfo, Failure, FinishedCall, IntoParts, Json, Part, PendingCall,
        PostVerdict, PreVerdict, arguments, config, http, log, process, progress, secrets, state,
        tool,
    };
}

/// What the macros write refers to these; they may change with any version.
#[doc(hidden)]
pub mod __private {
    pub use crate::bindings::{gate, observer, review, tools};
    pub use crate::decode::decode;
    pub use crate::panic::enter;
    pub use crate::schema::{Described, tool_spec};
    pub use crate::tool::{Entry, assert_distinct, call_tool, list_tools};
}
