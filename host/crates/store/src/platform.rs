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

/// What tells the process `pid` from every other that has or had its number, as one word: this
/// boot of this machine, the space its number counts in, and when it began. `None` where the
/// system does not tell.
#[cfg(target_os = "linux")]
pub(crate) fn process_mark(pid: u32) -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in brackets that may hold anything; the start is the 20th after.
    let start = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(format!("{}/{}/{start}", boot.trim(), space.display()))
}

/// Other systems tell nothing that is read as a file.
#[cfg(not(target_os = "linux"))]
pub(crate) fn process_mark(_pid: u32) -> Option<String> {
    None
}

/// What is known of the process of that number and mark: `Some(true)` if it is at work here,
/// `Some(false)` if it is gone, `None` if it would not be seen from here.
pub(crate) fn is_alive(pid: u32, mark: &str) -> Option<bool> {
    let own = process_mark(std::process::id())?;
    let place = |mark: &str| mark.rsplit_once('/').map(|(place, _)| place.to_owned());
    let seen = place(&own)? == place(mark)?;
    seen.then(|| process_mark(pid).as_deref() == Some(mark))
}
