//! From what was said on the command line and in the configuration to the routes models are asked
//! by. A key stays with the host it was meant for.
//!
//! Modules stand in reading order; each uses only those above it.

mod choice;

pub(crate) mod known;

mod api_mode;
pub(crate) mod key;
mod key_command;
mod prices;
pub(crate) mod spec;
mod wait;

mod found;
mod ollama;
mod route;

mod chain;

pub use choice::ModelChoice;

pub(crate) use chain::{Models, context_window, models};
pub(crate) use key::variables as key_variables;

#[cfg(test)]
mod tests;
