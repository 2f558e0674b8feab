//! Write plugins for hermes-host in Rust: describe the arguments with a struct, mark a function, list
//! it.
//!
//! ```
//! use hermes_plugin_sdk::prelude::*;
//!
//! /// Arguments of `greet`.
//! #[arguments]
//! struct Greet {
//!     /// Who to greet.
//!     name: String,
//!     /// How often; once if absent.
//!     #[serde(default = "once")]
//!     times: u8,
//! }
//!
//! fn once() -> u8 {
//!     1
//! }
//!
//! /// Greets somebody by name.
//! #[tool(read_only, parallel_safe)]
//! fn greet(arguments: Greet) -> Result<String, Failure> {
//!     if arguments.name.is_empty() {
//!         return Err(Failure::invalid_arguments("`name` is empty; say whom to greet"));
//!     }
//!     let greeting = format!("Hello, {}!", arguments.name);
//!     Ok(vec![greeting; usize::from(arguments.times)].join("\n"))
//! }
//!
//! hermes_plugin_sdk::plugin! { tools: [greet] }
//!
//! // The function stays an ordinary one, so a test calls it as it is …
//! let arguments = Greet { name: "Ada".to_owned(), times: 1 };
//! assert_eq!(greet(arguments), Ok("Hello, Ada!".to_owned()));
//!
//! // … or as the host does, from JSON.
//! use hermes_plugin_sdk::Tool;
//! let answer = <greet as Tool>::call(r#"{"name": "Ada"}"#, &CallInfo::default());
//! assert_eq!(answer, Ok(vec![Part::text("Hello, Ada!")]));
//! ```
//!
//! Built for `wasm32-wasip2` as a `cdylib`, the crate is a component that a `plugin.toml` beside it
//! introduces to the host. The folder `template` next to this crate's sources is one to copy.
//!
//! # What the model reads
//!
//! Three doc comments: the one on the function is the tool's description, those on the fields are the
//! descriptions of the arguments, those on the variants of an enum say what each means. The struct's
//! own is for you. The words of [`tool`] tell the host how a tool may be run.
//!
//! # What can go wrong
//!
//! A tool that cannot do its work returns a [`Failure`]: the model reads its message and goes on, so
//! it says what was wrong, with which value, and what to do next. Arguments that do not decode never
//! reach the function. A panic ends the instance; its message goes to the host's log, and the model
//! gets the failure `internal` with it. Every call meets a fresh instance, so what has to last goes
//! into [`state`].
//!
//! # Hooks
//!
//! A plugin may also judge calls ([`PendingCall`] to [`PreVerdict`]), review results
//! ([`FinishedCall`] to [`PostVerdict`]) and watch; its manifest says at which points and for which
//! tools.
//!
//! ```
//! use hermes_plugin_sdk::prelude::*;
//!
//! fn check(call: PendingCall) -> Result<PreVerdict, String> {
//!     let arguments = call.arguments_json()?;
//!     if arguments["path"] == "/etc/passwd" {
//!         return Ok(PreVerdict::Deny("nobody reads that".to_owned()));
//!     }
//!     Ok(PreVerdict::Proceed)
//! }
//!
//! fn notify(point: &str, fields: &[Attribute]) {
//!     log::debug(format_args!("{point} with {} fields", fields.len()));
//! }
//!
//! hermes_plugin_sdk::plugin! { pre_tool_call: check, observer: notify }
//! ```
//!
//! # What the host offers
//!
//! [`log`], [`progress`] and [`config`] always; [`state`] within a quota; [`http`], [`process`] and
//! [`secrets`] where the user granted it. Files are read with `std::fs`, in the folders the user
//! granted. In a native build, so in unit tests, there is no host: each module says what it does
//! instead.
//!
//! This crate hides the component ABI and leaves the rest alone: it runs no async code, opens no
//! sockets and decides nothing about grants.

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
