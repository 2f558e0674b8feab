//! What a checkpoint says: a folder, a moment, why, and every file that was there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::attributes::Stamp;

/// The form of these lists; a list of another form is passed over.
pub(super) const VERSION: u32 = 1;

/// One checkpoint of one folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// [`VERSION`].
    pub(super) v: u32,
    /// The folder, as a canonical path.
    pub(crate) folder: PathBuf,
    /// When it was taken, in nanoseconds since 1970-01-01 UTC.
    pub(crate) taken_ns: i64,
    /// Why.
    pub(crate) cause: Cause,
    /// Everything in the folder that is not ignored, by its path below the folder.
    pub(super) entries: BTreeMap<PathBuf, Entry>,
}

/// Why a checkpoint was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Cause {
    /// A turn was about to change the folder.
    Turn {
        /// The session.
        session_id: String,
        /// The turn within the session.
        turn: u32,
        /// The tool that was called.
        tool: String,
    },
    /// The folder was about to be rolled back.
    Rollback,
}

/// One thing in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Entry {
    /// A file.
    File {
        /// How it was found.
        stamp: Stamp,
        /// Who may do what with it.
        mode: u32,
        /// The digest of its content (SHA-256, hex); absent where it was not kept.
        content: Option<String>,
    },
    /// A link.
    Link {
        /// Where it points.
        target: PathBuf,
    },
}

impl Checkpoint {
    /// What stands for the turn or rollback it belongs to: checkpoints of several folders may.
    pub(crate) fn point(&self) -> (Option<(&str, u32)>, i64) {
        match &self.cause {
            Cause::Turn { session_id, turn, .. } => (Some((session_id, *turn)), 0),
            Cause::Rollback => (None, self.taken_ns),
        }
    }

    /// How many files and links it holds.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The digests it needs.
    pub(super) fn contents(&self) -> impl Iterator<Item = &String> {
        self.entries.values().filter_map(|entry| match entry {
            Entry::File { content, .. } => content.as_ref(),
            Entry::Link { .. } => None,
        })
    }
}
