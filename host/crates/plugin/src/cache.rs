//! Compiled code and what is known of components, kept between runs.
//!
//! The folder is private and every file carries a keyed hash, checked before anything in it is
//! believed: deserialising compiled code that somebody else wrote would run it outside the
//! sandbox. A file that does not match is as good as absent, never an error.

mod catalogue;
mod code;
mod key;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use catalogue::{Catalogue, FileStamp, Known};
pub(crate) use code::CodeCache;
use key::{Key, Opened};

/// Opens the cache in `dir`; without a folder, or with one that cannot be used, nothing is kept.
pub(crate) fn open(dir: Option<&Path>, compatibility: u64) -> (Catalogue, CodeCache) {
    let place = dir.and_then(|dir| match private(dir) {
        Ok(place) => Some(Arc::new(place)),
        Err(error) => {
            tracing::warn!("compiled plugins are not kept: {}: {error}", dir.display());
            None
        }
    });
    (Catalogue::new(place.clone()), CodeCache::new(place, compatibility))
}

/// A usable cache folder and its key.
pub(crate) struct Place {
    pub(crate) dir: PathBuf,
    pub(crate) key: Key,
}

fn private(dir: &Path) -> std::io::Result<Place> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)?;
    Ok(Place { dir: dir.to_owned(), key: Key::of(dir)? })
}

impl Place {
    /// Reads a file and gives what it holds, if the key vouches for it under `name`.
    fn read(&self, name: &str) -> Option<Opened> {
        let bytes = std::fs::read(self.dir.join(name)).ok()?;
        self.key.open(name, bytes)
    }

    /// Writes a file so that it is whole or absent.
    fn write(&self, name: &str, content: &[u8]) -> std::io::Result<()> {
        let sealed = self.key.seal(name, content);
        key::replace(&self.dir.join(name), &sealed)
    }
}
