//! Checkpoints: what a folder held before a turn changed it, kept in the home folder, and the way
//! back.
//!
//! Contents are kept once, under their digest; a checkpoint is a list of files that names them.
//! What `.gitignore` ignores is neither kept nor touched. Not kept are owners, extended attributes,
//! empty folders, and anything that is neither a file nor a link.

mod attributes;
mod list;
mod restore;
mod scan;
mod shelf;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use hermes_core::checkpoint::{Before, Checkpoints};

use crate::UsageError;
use crate::config::CheckpointConfig;
use crate::home::Home;
pub(crate) use list::{Cause, Checkpoint};
pub(crate) use restore::Restored;
use shelf::Shelf;

/// All checkpoints of a home.
pub(crate) struct FolderCheckpoints {
    shelf: Arc<Shelf>,
}

impl FolderCheckpoints {
    /// Those of `home`; `None` where they are switched off.
    ///
    /// # Errors
    /// A limit is nothing.
    pub(crate) fn new(home: &Home, config: &CheckpointConfig) -> Result<Option<Self>, UsageError> {
        let limits = config.limits()?;
        let shelf = Shelf::new(home.checkpoints(), home.path().to_owned(), limits);
        Ok(config.enabled.unwrap_or(true).then(|| Self { shelf: Arc::new(shelf) }))
    }

    /// The checkpoints of folders that hold `place` or lie in it, the newest first.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn about(&self, place: &Path) -> Result<Vec<Checkpoint>, UsageError> {
        let near = |folder: &Path| folder.starts_with(place) || place.starts_with(folder);
        let all = self.shelf.checkpoints().map_err(UsageError::new)?;
        Ok(all.into_iter().filter(|checkpoint| near(&checkpoint.folder)).collect())
    }

    /// Brings a folder back to what it was, and keeps what it is now first.
    ///
    /// # Errors
    /// What it is now cannot be kept, so nothing was changed; or something went wrong on the way,
    /// and the text says what.
    pub(crate) fn restore(&self, checkpoint: &Checkpoint) -> Result<Restored, UsageError> {
        self.shelf.restore(checkpoint).map_err(UsageError::new)
    }
}

#[async_trait]
impl Checkpoints for FolderCheckpoints {
    async fn keep(&self, folder: &Path, before: &Before) -> Result<(), String> {
        let (shelf, folder) = (Arc::clone(&self.shelf), folder.to_owned());
        let cause = Cause::Turn {
            session_id: before.session_id.clone(),
            turn: before.turn,
            tool: before.tool.clone(),
        };
        let keeping = tokio::task::spawn_blocking(move || shelf.keep(&folder, cause).map(drop));
        keeping.await.unwrap_or_else(|error| Err(error.to_string()))
    }
}

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Most files of a folder.
    pub(crate) files: usize,
    /// Largest file, in bytes.
    pub(crate) file_bytes: u64,
    /// All contents of all checkpoints, in bytes.
    pub(crate) total_bytes: u64,
    /// Checkpoints of a folder.
    pub(crate) checkpoints: usize,
}

/// A path for people.
fn shown(path: &Path) -> std::path::Display<'_> {
    path.display()
}

/// What went wrong with a path, and what to do where that is known.
fn failed(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} {}: {error}", shown(path))
}

/// A path below `folder`, as a checkpoint names it.
fn below(folder: &Path, path: &Path) -> Option<PathBuf> {
    path.strip_prefix(folder).ok().map(Path::to_owned)
}

#[cfg(test)]
mod tests;
