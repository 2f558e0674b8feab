//! What a file system says about a file, where systems differ.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What tells whether a file is still the one that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    /// Size in bytes.
    pub(super) size: u64,
    /// Last change of the content, in nanoseconds since 1970-01-01 UTC.
    pub(super) modified_ns: i64,
    /// Last change of anything about it, likewise; no program can set it.
    pub(super) changed_ns: i64,
    /// Its number in the file system.
    pub(super) inode: u64,
}

#[cfg(unix)]
pub(super) fn stamp(metadata: &Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    let ns = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stamp {
        size: metadata.size(),
        modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
        changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}

/// Where there is no time that programs cannot set, every stamp is new: files are always read.
#[cfg(not(unix))]
pub(super) fn stamp(metadata: &Metadata) -> Stamp {
    Stamp { size: metadata.len(), modified_ns: 0, changed_ns: i64::MAX, inode: 0 }
}

/// Who may read, write and run it; 0 where there is no such thing.
#[cfg(unix)]
pub(super) fn mode(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o7777
}

#[cfg(not(unix))]
pub(super) fn mode(_: &Metadata) -> u32 {
    0
}

#[cfg(unix)]
pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
pub(super) fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub(super) fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
pub(super) fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "links cannot be made on this system"))
}
