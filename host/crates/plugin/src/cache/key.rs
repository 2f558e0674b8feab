//! The key of one installation, and files it vouches for.

use std::io::{self, Read, Write};
use std::path::Path;

/// Name of the key's file.
const FILE: &str = "key";

/// How the names of files end that are being written.
pub(super) const TEMPORARY: &str = "tmp";

/// Length of the keyed hash in front of every file.
const HASH: usize = blake3::OUT_LEN;

/// A secret of this installation.
pub(crate) struct Key([u8; blake3::KEY_LEN]);

impl Key {
    /// The key kept in `dir`, made at first use.
    pub(crate) fn of(dir: &Path) -> io::Result<Self> {
        let path = dir.join(FILE);
        for _ in 0..2 {
            match kept(&path) {
                Ok(Some(key)) => return Ok(key),
                // Cut short by a crash, or not ours alone: nothing it vouched for can be trusted.
                Ok(None) => Self::forget(dir)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            let key: [u8; blake3::KEY_LEN] = rand::random();
            // Two processes may get here at once: the first one's key stays.
            match create(&path, &key) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(Self(key)),
            }
        }
        kept(&path)?.ok_or_else(|| io::Error::other("the cache key cannot be kept"))
    }

    /// Gives up the key kept in `dir`, and with it all it vouched for.
    pub(crate) fn forget(dir: &Path) -> io::Result<()> {
        match std::fs::remove_file(dir.join(FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The hash of content kept under `name`.
    fn hash(&self, name: &str, content: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&u64::try_from(name.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update(content);
        hasher.finalize()
    }

    /// Content with its hash in front.
    pub(crate) fn seal(&self, name: &str, content: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(HASH + content.len());
        sealed.extend_from_slice(self.hash(name, content).as_bytes());
        sealed.extend_from_slice(content);
        sealed
    }

    /// The content of a sealed file, if the key sealed it under `name`. Compares in constant time,
    /// and copies nothing: compiled code is large.
    pub(crate) fn open(&self, name: &str, sealed: Vec<u8>) -> Option<Opened> {
        let (hash, content) = sealed.split_first_chunk::<HASH>()?;
        let genuine = self.hash(name, content) == blake3::Hash::from_bytes(*hash);
        genuine.then_some(Opened(sealed))
    }
}

/// The key in a file; `None` if the file is no whole key, or not its user's alone.
fn kept(path: &Path) -> io::Result<Option<Key>> {
    let file = std::fs::File::open(path)?;
    if !own(&file.metadata()?) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    // One byte more, to see that it ends where a key does.
    file.take(blake3::KEY_LEN as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes.try_into().ok().map(Key))
}

/// Whether only this user can have read or written a file.
#[cfg(unix)]
fn own(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0
}

#[cfg(not(unix))]
fn own(_: &std::fs::Metadata) -> bool {
    true
}

/// What a key has vouched for.
#[derive(Debug)]
pub(crate) struct Opened(Vec<u8>);

impl AsRef<[u8]> for Opened {
    fn as_ref(&self) -> &[u8] {
        &self.0[HASH..]
    }
}

/// Makes a file only its owner can read; fails if it is there.
fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(content)
}

/// Puts `content` at `path` in one step.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(format!("{:016x}.{TEMPORARY}", rand::random::<u64>()));
    let written = create(&temporary, content).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_what_this_key_sealed_under_this_name_opens() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let key = Key::of(here.path()).unwrap();
        let sealed = key.seal("a", b"code");
        assert_eq!(key.open("a", sealed.clone()).unwrap().as_ref(), b"code");
        let again = Key::of(here.path()).unwrap().open("a", sealed.clone()).unwrap();
        assert_eq!(again.as_ref(), b"code");
        assert!(key.open("b", sealed.clone()).is_none());
        assert!(Key::of(there.path()).unwrap().open("a", sealed.clone()).is_none());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(key.open("a", changed).is_none());
        }
        assert!(key.open("a", vec![1, 2]).is_none());
    }
}
