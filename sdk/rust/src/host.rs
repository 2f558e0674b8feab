//! What the host offers, one module an interface. In a native build, so in unit tests, there is no
//! host: each module says what it does then.

pub mod config;
pub mod http;
pub mod log;
pub mod process;
pub mod progress;
pub mod secrets;
pub mod state;
