//! What is known of component files: which digest a file has, what it exports and which tools it
//! offers. With it a warm start reads no component and runs no guest.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::Place;
use crate::inspect::{Exports, RawSpec};

/// Name of the catalogue's file. The version is that of this crate, since another one may look for
/// other exports and check descriptions otherwise.
const FILE: &str = concat!("catalogue-", env!("CARGO_PKG_VERSION"));

/// What identifies a file without reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    size: u64,
    modified_ns: u128,
    changed: (i64, i64),
    inode: u64,
}

impl FileStamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        #[cfg(unix)]
        let (changed, inode) = {
            use std::os::unix::fs::MetadataExt;
            ((meta.ctime(), meta.ctime_nsec()), meta.ino())
        };
        #[cfg(not(unix))]
        let (changed, inode) = ((0, 0), 0);
        let modified_ns = modified.unwrap_or_default().as_nanos();
        Self { size: meta.len(), modified_ns, changed, inode }
    }
}

/// What is known of a component.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Known {
    pub(crate) digest: String,
    pub(crate) exports: Exports,
    pub(crate) specs: Vec<RawSpec>,
}

#[derive(Default, Serialize, Deserialize)]
struct Entries(BTreeMap<String, (FileStamp, Known)>);

/// The catalogue, read once and written when something is learned.
pub(crate) struct Catalogue {
    place: Option<Arc<Place>>,
    entries: Mutex<Entries>,
}

impl Catalogue {
    pub(super) fn new(place: Option<Arc<Place>>) -> Self {
        let entries = Mutex::new(place.as_deref().map(read).unwrap_or_default());
        Self { place, entries }
    }

    /// What is known of the file at `path`, if it is still the same file.
    pub(crate) fn get(&self, path: &Path, stamp: &FileStamp) -> Option<Known> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (known_stamp, known) = entries.0.get(path.to_str()?)?;
        (known_stamp == stamp).then(|| known.clone())
    }

    /// The tools of the component with this digest, wherever a copy of it was seen.
    pub(crate) fn specs(&self, digest: &str) -> Option<Vec<RawSpec>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, known) = entries.0.values().find(|(_, known)| known.digest == digest)?;
        Some(known.specs.clone())
    }

    /// Remembers what was found out about a file.
    pub(crate) fn put(&self, path: &Path, stamp: FileStamp, known: Known) {
        let Some(path) = path.to_str() else { return };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.0.insert(path.to_owned(), (stamp.clone(), known.clone()));
        let Some(place) = &self.place else { return };
        // Another process may have learned of other files meanwhile.
        let mut all = read(place);
        all.0.insert(path.to_owned(), (stamp, known));
        all.0.retain(|path, _| Path::new(path).exists());
        let written = serde_json::to_vec(&all).map_err(std::io::Error::other);
        if let Err(error) = written.and_then(|json| place.write(FILE, &json)) {
            tracing::warn!("what is known of plugins could not be kept: {error}");
        }
    }
}

fn read(place: &Place) -> Entries {
    let entries = place.read(FILE).and_then(|json| serde_json::from_slice(json.as_ref()).ok());
    entries.unwrap_or_default()
}
