//! The port that keeps what folders hold before a turn changes them, so that a person can go back.

use std::path::Path;

use async_trait::async_trait;

/// What is about to change a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// The session.
    pub session_id: String,
    /// The turn within the session, from 1.
    pub turn: u32,
    /// The tool that is called.
    pub tool: String,
}

/// Keeps what folders hold.
#[async_trait]
pub trait Checkpoints: Send + Sync {
    /// Keeps what is in `folder` now. The loop asks once a turn and folder, before the first call
    /// that may write there, and waits.
    ///
    /// # Errors
    /// It could not be kept; the text says why. The person is told, and the call runs all the same.
    async fn keep(&self, folder: &Path, before: &Before) -> Result<(), String>;
}
