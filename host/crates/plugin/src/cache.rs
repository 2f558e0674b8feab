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

/// Makes the folder its user's alone. Whoever could write into it could have left a key of their
/// own there, and code to go with it.
fn private(dir: &Path) -> std::io::Result<Place> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)?;
    if !close(dir)? {
        Key::forget(dir)?;
    }
    Ok(Place { dir: dir.to_owned(), key: Key::of(dir)? })
}

/// Takes a folder from everybody but its owner, who must be us; whether nobody else could write
/// into it so far.
#[cfg(unix)]
fn close(dir: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let meta = std::fs::metadata(dir)?;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(std::io::Error::other("the folder belongs to another user"));
    }
    if meta.mode() & 0o077 != 0 {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(meta.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn close(_: &Path) -> std::io::Result<bool> {
    Ok(true)
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

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_folder_others_could_write_into_is_closed_and_its_key_not_believed() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("cache");
        let place = private(&dir).unwrap();
        assert_eq!((mode(&dir), mode(&dir.join("key"))), (0o700, 0o600));
        place.write("x", b"ours").unwrap();
        assert!(private(&dir).unwrap().read("x").is_some());

        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(private(&dir).unwrap().read("x").is_none(), "the key could be anybody's");
        assert_eq!(mode(&dir), 0o700);
    }

    #[test]
    fn a_key_others_can_read_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        private(dir.path()).unwrap().write("x", b"ours").unwrap();
        let key = dir.path().join("key");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(private(dir.path()).unwrap().read("x").is_none());
        assert_eq!(mode(&key), 0o600);
    }
}
