//! What the person who started the program has to mend: arguments, configuration, grants. Exit
//! code 2.

/// A usage, configuration or grant error. The text says what was wrong, with which value, and what
/// to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(String);

impl UsageError {
    /// An error with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
