//! The sandbox of hermes-host: plugins are WebAssembly components that export tools and hooks, and
//! may touch only what their user granted.
//!
//! wasmtime is used in this crate alone, and WIT types appear nowhere else. Modules stand in
//! reading order.

mod digest;

// What a plugin may do.
pub mod policy;

// The engine, and what a guest sees of the world.
mod bindings;
mod convert;
mod engine;
mod guest;
mod imports;
mod wasi;

// Running and loading components.
mod cache;
mod call;
mod code;
mod inspect;
mod sandbox;

// Plugins, as the loop uses them.
mod hook;
mod plugin;
mod tool;

pub use hook::{DEFAULT_TIMEOUT, HookOptions, MAX_TIMEOUT, ObserverOptions};
pub use inspect::{Exports, Inspected, RawSpec, Refusal};
pub use plugin::Plugin;
pub use sandbox::{Sandbox, SandboxError, SandboxOptions};
