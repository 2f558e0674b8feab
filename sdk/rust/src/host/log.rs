//! Lines for the operator and the plugin's author; the model never reads them. Without a host they
//! go nowhere.

use std::fmt::Display;

use crate::types::Attribute;

pub use crate::bindings::imports::hermes::plugin::log::Level;

/// Writes a line with fields.
pub fn write(level: Level, message: impl Display, fields: &[Attribute]) {
    #[cfg(target_family = "wasm")]
    crate::bindings::imports::hermes::plugin::log::write(level, &message.to_string(), fields);
    #[cfg(not(target_family = "wasm"))]
    let _ = (level, message, fields);
}

/// Every step, for hunting a fault.
pub fn trace(message: impl Display) {
    write(Level::Trace, message, &[]);
}

/// Details for the author.
pub fn debug(message: impl Display) {
    write(Level::Debug, message, &[]);
}

/// Something worth knowing.
pub fn info(message: impl Display) {
    write(Level::Info, message, &[]);
}

/// Something odd that was coped with.
pub fn warn(message: impl Display) {
    write(Level::Warn, message, &[]);
}

/// Something failed.
pub fn error(message: impl Display) {
    write(Level::Error, message, &[]);
}
