//! The keys of one provider: which one to send, and what to do when it is refused.
//!
//! Settings hold [`Credentials`]; a transport turns them into a [`Ring`], which it shares between
//! all calls. One key is in use until it is refused; then comes a fresh one from the source, if
//! the key itself was refused, or the next of several. Each key has a number, and an error carries
//! the number of the key it met, so that two calls refused with the same key change it once.

mod ring;

use std::sync::Arc;

use async_trait::async_trait;

use crate::secret::Secret;

pub(crate) use ring::{Chosen, Ring};

/// Where fresh keys come from, such as a command that prints one.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// A key that is valid now. The error is for the user: what was tried and what went wrong,
    /// without any key in it.
    async fn fresh(&self) -> Result<Secret, String>;
}

/// The keys of one provider, and where fresh ones come from. Empty for servers that want none.
#[derive(Clone, Default)]
pub struct Credentials {
    keys: Vec<Secret>,
    source: Option<Arc<dyn KeySource>>,
}

impl Credentials {
    /// These keys, the first of them first. Empty and repeated ones are left out.
    pub fn new(keys: impl IntoIterator<Item = Secret>) -> Self {
        let mut kept: Vec<Secret> = Vec::new();
        for key in keys {
            if !key.expose().is_empty() && !kept.contains(&key) {
                kept.push(key);
            }
        }
        Self { keys: kept, source: None }
    }

    /// The same with a source of fresh keys. Without any other key it is asked at the first call.
    #[must_use]
    pub fn with_source(self, source: Arc<dyn KeySource>) -> Self {
        Self { source: Some(source), ..self }
    }

    /// The keys there are from the start.
    pub fn keys(&self) -> &[Secret] {
        &self.keys
    }

    /// Whether there is neither a key nor a source of one.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.source.is_none()
    }
}

impl From<Option<Secret>> for Credentials {
    fn from(key: Option<Secret>) -> Self {
        Self::new(key)
    }
}

impl From<Secret> for Credentials {
    fn from(key: Secret) -> Self {
        Self::new([key])
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let source = self.source.is_some();
        f.debug_struct("Credentials").field("keys", &self.keys).field("source", &source).finish()
    }
}
