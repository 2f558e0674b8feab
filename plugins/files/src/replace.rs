//! Replacing a file's content so that nobody ever meets half of it, and without leaving anything
//! beside it.
//!
//! A new file takes the place of the old one by a rename. A sandboxed plugin can neither read nor
//! set permissions, and the new file would have the usual ones: a script could no longer be run. So
//! the old file is kept under a second name, gets the content too, and is renamed back over the new
//! one: at every moment the path leads to a whole file, and in the end to the one it led to before,
//! with its permissions and its other names.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Links followed to find the file that is meant; Linux follows as many.
const MAX_LINKS: usize = 40;

/// Puts `content` at `path`, whether or not something is there.
///
/// # Errors
/// Whatever the file system said. The path then leads to the old content, or to the whole new one if
/// only giving it the old permissions failed.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = target(path.to_owned());
    // Opened first: a file that may not be written is not to be replaced through its folder either.
    let Some(mut open) = existing(&path)? else {
        return Beside::new(&path, content)?.take_place_of(&path);
    };
    let fresh = match Beside::new(&path, content) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // Only the file may be changed, not its folder, so there is but one way.
            return overwrite(&mut open, content);
        }
        fresh => fresh?,
    };
    let old = Beside::link(&path);
    fresh.take_place_of(&path)?;
    if let Some(old) = old {
        overwrite(&mut open, content)?;
        old.take_place_of(&path)?;
    }
    Ok(())
}

/// The file at `path`, open for writing; nothing if there is none.
fn existing(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().write(true).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn overwrite(file: &mut File, content: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(content)?;
    file.sync_data()
}

/// The file a chain of links leads to, so that the link stays a link.
fn target(mut path: PathBuf) -> PathBuf {
    for _ in 0..MAX_LINKS {
        let Ok(to) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(to);
    }
    path
}

/// A file beside another, removed unless it takes the other's place.
struct Beside {
    path: PathBuf,
    placed: bool,
}

impl Beside {
    /// A new file with this content.
    fn new(path: &Path, content: &[u8]) -> io::Result<Self> {
        let name = name_beside(path);
        let mut file = File::create_new(&name)?;
        let beside = Self { path: name, placed: false }; // from here on it is removed if anything fails
        file.write_all(content)?;
        file.sync_data()?;
        Ok(beside)
    }

    /// A second name of the file at `path`; nothing where the file system knows no such thing.
    fn link(path: &Path) -> Option<Self> {
        let name = name_beside(path);
        fs::hard_link(path, &name).ok().map(|()| Self { path: name, placed: false })
    }

    fn take_place_of(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.placed {
            // There is nobody to tell, and the error that led here says more.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A name nobody uses: the hash of nothing under random keys.
fn name_beside(path: &Path) -> PathBuf {
    path.with_file_name(format!(".files-{:016x}.tmp", RandomState::new().hash_one(())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_is_left_beside_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap().as_slice(), names(folder.path())),
            (&b"two"[..], vec!["a".to_owned()])
        );

        fs::create_dir(folder.path().join("b")).unwrap();
        replace(&folder.path().join("b"), b"x").unwrap_err();
        replace(&folder.path().join("a/c"), b"x").unwrap_err();
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_links_and_other_names_stay() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("script"), "old").unwrap();
        fs::set_permissions(at("script"), fs::Permissions::from_mode(0o750)).unwrap();
        fs::hard_link(at("script"), at("twin")).unwrap();
        symlink("script", at("link")).unwrap();
        let inode = fs::metadata(at("script")).unwrap().ino();

        replace(&at("link"), b"new").unwrap();

        let meta = fs::metadata(at("script")).unwrap();
        assert_eq!((meta.ino(), meta.permissions().mode() & 0o777), (inode, 0o750));
        assert_eq!(fs::read(at("twin")).unwrap(), b"new");
        assert_eq!(fs::read_link(at("link")).unwrap(), Path::new("script"));
        assert_eq!(names(folder.path()), ["link", "script", "twin"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nowhere_makes_the_file_it_names() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("later", folder.path().join("link")).unwrap();
        replace(&folder.path().join("link"), b"x").unwrap();
        assert_eq!(fs::read(folder.path().join("later")).unwrap(), b"x");
        assert_eq!(names(folder.path()), ["later", "link"]);
    }
}
