//! Where values come from. A port: which places there are, and in which order they are asked, is
//! the host program's affair.

use super::value::Secret;

/// A place cannot be asked: the whole sentence, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SecretError(pub String);

/// A place that holds secrets.
pub trait SecretSource: Send + Sync {
    /// What people call it, such as `environment`.
    fn place(&self) -> &'static str;

    /// The value of a secret; `None` where the place has none. Contract: quick, since a guest waits.
    ///
    /// # Errors
    /// The place cannot be asked, or what it holds cannot be a secret.
    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError>;

    /// The names of what it holds, as far as the place can tell.
    ///
    /// # Errors
    /// The place cannot be asked.
    fn names(&self) -> Result<Vec<String>, SecretError>;
}

/// No place: for programs without secrets.
pub struct NoSecrets;

impl SecretSource for NoSecrets {
    fn place(&self) -> &'static str {
        "nowhere"
    }

    fn get(&self, _name: &str) -> Result<Option<Secret>, SecretError> {
        Ok(None)
    }

    fn names(&self) -> Result<Vec<String>, SecretError> {
        Ok(Vec::new())
    }
}
