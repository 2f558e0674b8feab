//! Going back: a folder becomes what a checkpoint says, file by file, each whole or not at all.
//!
//! What was ignored then or is ignored by the rules that come back is not touched, and no link is
//! followed: a link in place of a folder is taken away before anything is put below it.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::attributes::{link, mode, set_mode, stamp};
use super::failed;
use super::list::{Cause, Checkpoint, Entry};
use super::scan::scan;
use super::shelf::Shelf;

/// What files held, by their path below the folder.
type Contents = HashMap<PathBuf, Vec<u8>>;

/// What going back came to; paths are those below the folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Restored {
    /// Files and links that have their old content again, or are there again.
    pub(crate) back: Vec<PathBuf>,
    /// Files and links that were made since and are gone.
    pub(crate) removed: Vec<PathBuf>,
    /// Files whose content was not kept, left as they are.
    pub(crate) left: Vec<PathBuf>,
}

impl Shelf {
    /// Keeps what is there now, then brings the folder back.
    pub(super) fn restore(&self, checkpoint: &Checkpoint) -> Result<Restored, String> {
        let _lock = self.lock()?;
        fs::create_dir_all(&checkpoint.folder)
            .map_err(|error| failed("make", &checkpoint.folder, &error))?;
        // Clearing away must not take what is about to be needed, so contents are read first.
        let contents = self.contents_of(checkpoint)?;
        self.keep_locked(&checkpoint.folder, Cause::Rollback)?;
        let mut restored = Restored::default();
        // The old rules first: they say what else may be touched.
        for (path, entry) in checkpoint.entries.iter().filter(|(path, _)| is_rules(path)) {
            put_back(checkpoint, path, entry, &contents, &mut restored)?;
        }
        self.remove_new(checkpoint, &mut restored)?;
        for (path, entry) in checkpoint.entries.iter().filter(|(path, _)| !is_rules(path)) {
            put_back(checkpoint, path, entry, &contents, &mut restored)?;
        }
        Ok(restored)
    }

    /// The contents of all files that are not as the checkpoint says.
    fn contents_of(&self, checkpoint: &Checkpoint) -> Result<Contents, String> {
        let mut contents = Contents::new();
        for (path, entry) in &checkpoint.entries {
            let Entry::File { content: Some(content), stamp: then, .. } = entry else { continue };
            let now = checkpoint.folder.join(path).symlink_metadata();
            if !now.is_ok_and(|now| now.is_file() && stamp(&now) == *then) {
                contents.insert(path.clone(), self.read_content(content)?);
            }
        }
        Ok(contents)
    }

    /// Removes what was made since. Rules made since go first, so that they hide and show nothing.
    fn remove_new(&self, checkpoint: &Checkpoint, restored: &mut Restored) -> Result<(), String> {
        let folder = &checkpoint.folder;
        for rules in [true, false] {
            for path in scan(folder, &self.home, usize::MAX)?.into_keys() {
                if checkpoint.entries.contains_key(&path) || (rules && !is_rules(&path)) {
                    continue;
                }
                let place = folder.join(&path);
                fs::remove_file(&place).map_err(|error| failed("remove", &place, &error))?;
                remove_empty_folders(folder, &path);
                restored.removed.push(path);
            }
        }
        Ok(())
    }
}

/// Whether a file says what is ignored.
fn is_rules(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitignore")
}

fn put_back(
    checkpoint: &Checkpoint,
    path: &Path,
    entry: &Entry,
    contents: &Contents,
    restored: &mut Restored,
) -> Result<(), String> {
    let place = checkpoint.folder.join(path);
    match entry {
        Entry::File { content: None, .. } => restored.left.push(path.to_owned()),
        Entry::Link { target } => {
            if fs::read_link(&place).is_ok_and(|now| now == *target) {
                return Ok(());
            }
            clear_way(&checkpoint.folder, path)?;
            link(target, &place).map_err(|error| failed("link", &place, &error))?;
            restored.back.push(path.to_owned());
        }
        Entry::File { mode: then, .. } => {
            // Without a content, the file is still the one that was kept.
            let Some(content) = contents.get(path) else { return Ok(()) };
            let now = place.symlink_metadata().ok().filter(fs::Metadata::is_file);
            let same = now.is_some_and(|now| mode(&now) == *then)
                && fs::read(&place).is_ok_and(|bytes| bytes == *content);
            if !same {
                clear_way(&checkpoint.folder, path)?;
                write(&place, content, *then).map_err(|error| failed("write", &place, &error))?;
                restored.back.push(path.to_owned());
            }
        }
    }
    Ok(())
}

/// Makes the folders of `path` and takes away what is in the place of one of them or of itself.
fn clear_way(folder: &Path, path: &Path) -> Result<(), String> {
    let mut place = folder.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        place.push(part);
        if place.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
            fs::remove_file(&place).map_err(|error| failed("remove", &place, &error))?;
        }
        if !place.exists() {
            fs::create_dir(&place).map_err(|error| failed("make", &place, &error))?;
        }
    }
    let place = folder.join(path);
    match place.symlink_metadata() {
        // Only an empty folder gives way: what is left in one is ignored, and may be the only copy.
        Ok(found) if found.is_dir() => fs::remove_dir(&place).map_err(|error| {
            let problem = failed("remove", &place, &error);
            format!("{problem}; a file stood in its place: move away what is in it, and try again")
        }),
        Ok(found) if found.is_symlink() => {
            fs::remove_file(&place).map_err(|error| failed("remove", &place, &error))
        }
        _ => Ok(()),
    }
}

fn remove_empty_folders(folder: &Path, path: &Path) {
    for parent in path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
        // A folder that is not empty stays; that is the point.
        if fs::remove_dir(folder.join(parent)).is_err() {
            return;
        }
    }
}

fn write(place: &Path, content: &[u8], mode: u32) -> std::io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    set_mode(file.path(), mode)?;
    file.persist(place).map_err(|error| error.error)?;
    Ok(())
}
