//! The sandbox of hermes-host: plugins are WebAssembly components that export tools and hooks, and
//! may touch only what their user granted.
//!
//! wasmtime is used in this crate alone, and WIT types appear nowhere else. Modules stand in
//! reading order.

// Words, and what people write with them.
mod digest;
mod document;
pub mod http_rule;
pub mod name;
pub mod pattern;
pub mod secret;

// What a plugin may do, and what it asks for.
pub mod policy;
mod powers;

pub mod manifest;

// The engine, and what a guest sees of the world.
mod bindings;
mod convert;
mod engine;
mod guest;
mod imports;
mod printed;
mod wasi;

// Running and loading components.
mod cache;
mod call;
mod code;
mod inspect;
mod linked;
mod sandbox;

// Plugins, as the loop uses them.
mod hook;
mod plugin;
mod tool;

// From folders on disk to plugins with what their user granted.
pub mod discover;
pub mod grant;
pub mod registry;

// From source folders to components.
pub mod builder;

pub use document::DocumentError;
pub use hook::{DEFAULT_TIMEOUT, HookOptions, MAX_TIMEOUT, ObserverOptions};
pub use inspect::{Exports, Inspected, RawSpec, Refusal};
pub use plugin::Plugin;
pub use sandbox::{Sandbox, SandboxError, SandboxOptions};
