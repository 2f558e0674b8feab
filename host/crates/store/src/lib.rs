//! Where hermes-host keeps what a run leaves behind: one SQLite file with sessions, receipts,
//! spilled results and the state of plugins.
//!
//! [`SqliteStore`] implements the core's ports [`Store`](hermes_core::store::Store),
//! [`Receipts`](hermes_core::keep::Receipts), [`Spill`](hermes_core::keep::Spill) and
//! [`PluginState`](hermes_core::keep::PluginState). SQL exists only in this crate. It decides
//! nothing about a conversation: it checks no history, makes no summary and starts no turn.
//!
//! Modules stand in reading order; each uses only those above it.

// Words.
mod fault;
mod int;

// The file.
mod platform;
mod schema;

// SQL: plain functions on a connection.
mod session;

mod history;
mod receipt;
mod spill;
mod state;
mod turn;

// Connections, and who may use them when.
mod connection;
mod reader;
mod writer;

// The store, and the ports it serves.
mod sqlite_store;

mod ports;

pub use session::SessionSummary;
pub use sqlite_store::{Clock, SqliteStore};
