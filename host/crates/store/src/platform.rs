//! What differs between operating systems: who may read the store's file and folder.
//!
//! On Windows both inherit the rights of the user's profile, which already keep others out.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Makes `folder` and what is missing above it, readable by this user only.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes an empty file at `path`, readable by this user only; whether there was none before.
///
/// It never opens a file that exists: on Unix, closing any descriptor of a file drops all locks
/// this process has on it, those of another open store among them.
pub(crate) fn create_private_file(path: &Path) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}
