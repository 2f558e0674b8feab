//! Model providers' wire formats over one HTTP sender: the adapters behind the core's
//! [`Transport`](hermes_core::transport::Transport) port.
//!
//! [`open`] turns [`Settings`] into a transport. Which wire formats there are is the table
//! [`mode::MODES`]; each is a pure encoder and a pure decoder. Retrying, falling back and choosing
//! a provider are the loop's, reading the environment is the binary's.
//!
//! Modules stand in reading order; each uses only those above it.

mod secret;

pub mod endpoint;
pub mod sse;

mod limits;
mod quirks;

pub mod mode;

mod credentials;
mod settings;

mod ask_json;
mod classify;
mod http;
mod reply;
mod transport;

pub use ask_json::ask_json;
pub use credentials::{Credentials, KeySource};
pub use limits::{Quota, RateLimits};
pub use quirks::{MaxTokensName, Quirks, ReasoningReplay, SystemRole};
pub use secret::Secret;
pub use settings::{ProxyChoice, Settings, SettingsError, Timeouts};
pub use transport::{HttpTransport, open};
