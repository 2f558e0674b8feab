//! A memory file on disk: read whole, changed under a lock, replaced in one step.
//!
//! Every change starts from what the file holds at that moment, so nothing another process or an
//! editor wrote in between is lost. Processes of ours exclude each other by a lock on the folder;
//! an editor takes no lock, so the file is compared once more just before it is replaced. Owner
//! and extended attributes of a replaced file are not carried over.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Far more than the limits allow: a bigger file is not one of ours.
const MAX_BYTES: u64 = 1 << 20;

/// How long to wait for another process that changes the same folder; a change takes milliseconds.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// How often a change starts over because an editor was faster.
const ATTEMPTS: u32 = 5;

/// Why a file could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError<E> {
    /// The change itself was refused.
    #[error("{0}")]
    Refused(E),
    /// The world is not as it should be; the text says where and what to do.
    #[error("{0}")]
    Broken(String),
}

/// The text of the file at `path`; one that is not there is empty.
pub(super) fn read(path: &Path) -> Result<String, String> {
    read_inner(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn read_inner(path: &Path) -> io::Result<String> {
    match fs::metadata(path) {
        // Checked before opening, since opening a pipe would wait for a writer.
        Ok(meta) if !meta.is_file() => return Err(io::Error::other("it is not a file")),
        Ok(meta) if meta.len() > MAX_BYTES => {
            return Err(io::Error::other("it is over 1 MiB; shorten it in an editor"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| {
        io::Error::other("it is not UTF-8 text; convert it in an editor, nothing was changed")
    })
}

/// Changes the file at `path` to what `change` makes of its text now; `change` may run again if
/// somebody else was faster. A link stays a link, and permissions stay.
pub(super) fn update<T, E>(
    path: &Path,
    mut change: impl FnMut(&str) -> Result<(String, T), E>,
) -> Result<T, FileError<E>> {
    let target = target(path).map_err(FileError::Broken)?;
    let folder = target.parent().unwrap_or(Path::new(".")).to_owned();
    let broken = |error: io::Error| {
        FileError::Broken(format!("cannot change {}: {error}", target.display()))
    };
    create_private(&folder).map_err(broken)?;
    let _lock = lock(&folder).map_err(FileError::Broken)?;
    for _ in 0..ATTEMPTS {
        let before = read(&target).map_err(FileError::Broken)?;
        let (after, outcome) = change(&before).map_err(FileError::Refused)?;
        if after == before {
            return Ok(outcome);
        }
        let staged = stage(&target, &folder, &after).map_err(broken)?;
        if read(&target).map_err(FileError::Broken)? != before {
            continue;
        }
        staged.persist(&target).map_err(|error| broken(error.error))?;
        sync(&folder).map_err(broken)?;
        return Ok(outcome);
    }
    Err(FileError::Broken(format!(
        "{} changes all the time; try again when its other writer is done",
        target.display()
    )))
}

/// The file behind links.
fn target(path: &Path) -> Result<PathBuf, String> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => fs::canonicalize(path).map_err(|error| {
            let path = path.display();
            format!(
                "{path} is a link to what is not there ({error}); make that file or remove the link"
            )
        }),
        _ => Ok(path.to_owned()),
    }
}

/// A whole new file beside the old one, as safe as a disk makes it.
fn stage(target: &Path, folder: &Path, text: &str) -> io::Result<tempfile::NamedTempFile> {
    // Temporary files are readable by this user only, and so is a first memory file.
    let mut staged = tempfile::Builder::new().prefix(".memory-").tempfile_in(folder)?;
    staged.write_all(text.as_bytes())?;
    if let Ok(meta) = fs::metadata(target) {
        if meta.permissions().readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        staged.as_file().set_permissions(meta.permissions())?;
    }
    staged.as_file().sync_all()?;
    Ok(staged)
}

/// Excludes other processes from the folder until it is dropped.
fn lock(folder: &Path) -> Result<File, String> {
    let shown = folder.display();
    let file = lockable(folder).map_err(|error| format!("cannot lock {shown}: {error}"))?;
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if since.elapsed() < LOCK_WAIT => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(format!(
                    "another program has been changing {shown} for {} s; try again",
                    LOCK_WAIT.as_secs()
                ));
            }
            Err(TryLockError::Error(error)) => return Err(format!("cannot lock {shown}: {error}")),
        }
    }
}

/// The folder itself, so that no lock file lies about.
#[cfg(unix)]
fn lockable(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// A file of its own: folders cannot be locked here.
#[cfg(not(unix))]
fn lockable(folder: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(folder.join(".lock"))
}

#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Folders cannot be synced here.
#[cfg(not(unix))]
fn sync(_folder: &Path) -> io::Result<()> {
    Ok(())
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
