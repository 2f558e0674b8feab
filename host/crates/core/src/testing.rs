//! A scripted model and a store in memory: for our tests and for those of programs that embed the
//! loop. Nothing here knows the loop; both are ordinary adapters.

mod memory;
mod scripted;

pub use memory::MemoryStore;
pub use scripted::{Script, ScriptedTransport, call, text};
