//! Where hermes-host keeps what a run leaves behind: one SQLite file with sessions, receipts,
//! spilled results and the state of plugins.
//!
//! [`SqliteStore`] implements the core's ports [`Store`](hermes_core::store::Store),
//! [`Receipts`](hermes_core::keep::Receipts), [`Spill`](hermes_core::keep::Spill),
//! [`PluginState`](hermes_core::keep::PluginState) and
//! [`SessionSearch`](hermes_core::search::SessionSearch). SQL exists only in this crate. It decides
//! nothing about a conversation: it checks no history, makes no summary and starts no turn.
//!
//! Modules stand in reading order; each uses only those above it.

// Words.
mod fault;
mod int;

// Text as it is searched.
mod words;

mod query;
mod snippet;

// The file.
mod platform;
mod schema;

// SQL: plain functions on a connection.
mod row;

mod index;

mod session;

mod branch;
mod history;
mod lease;
mod page;
mod receipt;
mod search;
mod shelf;
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

pub use page::Cursor;
pub use session::SessionFilter;
pub use sqlite_store::{Clock, SqliteStore};
