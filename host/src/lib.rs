//! hermes-host: a native host for an LLM agent's conversation loop, whose tools and hooks are
//! sandboxed WebAssembly components.
//!
//! This crate is the only one that knows all others: it reads the configuration, opens the store,
//! loads the plugins and puts an [`Agent`] together. A program that embeds the loop starts at
//! [`HostBuilder`], or at [`hermes_core`] if it brings its own store, tools and transports.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use hermes_host::{HostBuilder, Home, ModelChoice};
//!
//! let host = HostBuilder::new(Home::from_env()?)
//!     .model(ModelChoice {
//!         base_url: Some("http://localhost:11434/v1".into()),
//!         model: Some("llama3.2".into()),
//!         ..ModelChoice::default()
//!     })
//!     .plugins(["./plugins"])
//!     .grants(["files:fs:.:ro"])
//!     .open()?;
//! let agent = host.agent_for(None)?;
//! println!("{}", agent.chat("What is in this folder?").await);
//! # Ok(())
//! # }
//! ```

mod usage_error;

mod approve;
mod breaker;
mod checkpoint;
pub mod cli;
pub mod config;
mod demo;
mod extensions;
mod home;
mod host;
mod prompt;
mod provider;
mod render;
mod secrets;
mod tokenizer;

pub use hermes_core as core;
pub use hermes_core::agent::{Agent, TurnInput};
pub use home::Home;
pub use host::{Host, HostBuilder};
pub use prompt::ReadPrompt;
pub use provider::ModelChoice;
pub use usage_error::UsageError;
