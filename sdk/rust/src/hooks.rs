//! What hooks are given and what they answer: the contract's own records, under names that can stand
//! side by side.

use serde_json::Value;

pub use crate::bindings::gate::{PendingCall, Verdict as PreVerdict};
pub use crate::bindings::review::{FinishedCall, Verdict as PostVerdict};

impl PendingCall {
    /// The arguments as JSON.
    ///
    /// # Errors
    ///
    /// If they are not JSON; returned from a check, that denies the call.
    pub fn arguments_json(&self) -> Result<Value, String> {
        parse(&self.arguments)
    }
}

impl FinishedCall {
    /// The arguments as JSON.
    ///
    /// # Errors
    ///
    /// If they are not JSON.
    pub fn arguments_json(&self) -> Result<Value, String> {
        parse(&self.arguments)
    }
}

fn parse(arguments: &str) -> Result<Value, String> {
    serde_json::from_str(arguments).map_err(|error| format!("the arguments are not JSON: {error}"))
}
