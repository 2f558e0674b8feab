//! The conversation loop of hermes-host: the words a conversation is made of, the ports it needs,
//! and the turn itself.
//!
//! This crate opens no socket and no file, reads no environment variable, prints nothing and
//! keeps nothing global. It names no provider, tool, plugin or database: those are adapters
//! behind the ports.
//!
//! Modules stand in reading order; each uses only those above it.

// Words: plain values.
pub mod failure;
pub mod id;
pub mod injection;
pub mod message;
pub mod text;
pub mod usage;

// Ports: what the loop asks of the world.
pub mod approver;
pub mod checkpoint;
pub mod health;
pub mod hook;
pub mod keep;
pub mod store;
pub mod tool;
pub mod transport;

pub mod search;

// What goes out to a front end.
pub mod event;
pub mod result;

// Deciding: pure functions over words.
pub mod compress;
pub mod notice;
pub mod prompt;
pub mod tokens;

// Deciding, then doing.
pub mod agent;

// For tests, ours and those of programs that embed the loop.
pub mod budget;
pub mod router;
pub mod schema;
pub mod testing;
pub mod toolset;
