//! Finding the context files of a working directory.
//!
//! They come with whatever was cloned or unpacked there, so they are not trusted: a link that
//! leads out of the repository is not followed (it would send any file of the user to the
//! provider), and folders above it are looked at only within one repository of one owner.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hermes_core::prompt::ContextFile;

/// Names looked for in each folder, in the order they are shown.
const NAMES: [&str; 4] = [".hermes.md", "AGENTS.md", "CLAUDE.md", ".cursorrules"];

/// Most bytes read of one file; some ten times what is ever shown of it.
const MAX_BYTES: u64 = 1 << 20;

/// Most folders looked at; deeper trees have their rules nearer.
const MAX_FOLDERS: usize = 32;

/// The context files of `folder` and of the folders above it up to the root of its repository, the
/// nearest first. Outside of a repository, those of `folder` alone.
pub(super) fn context_files(folder: &Path, problems: &mut Vec<String>) -> Vec<ContextFile> {
    let folders = folders(folder);
    let bound = folders.last().and_then(|root| fs::canonicalize(root).ok());
    let mut files = Vec::new();
    for path in folders.iter().flat_map(|folder| NAMES.map(|name| folder.join(name))) {
        let shown = path.display().to_string();
        match within(&path, bound.as_deref())
            .and_then(|path| path.map_or(Ok(None), |path| text(&path)))
        {
            Ok(Some(text)) => files.push(ContextFile { path: shown, text }),
            Ok(None) => {}
            Err(error) => problems.push(format!("{shown}: {error}, so it is left out")),
        }
    }
    files
}

/// `folder` and those above it up to the root of its repository.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for above in folder.ancestors().take(MAX_FOLDERS) {
        if !same_owner(folder, above) {
            break;
        }
        folders.push(above.to_owned());
        // A file in a worktree or a submodule.
        if fs::symlink_metadata(above.join(".git")).is_ok() {
            return folders;
        }
    }
    folders.truncate(1);
    folders
}

/// Whether whoever owns `above` owns `folder`: nobody else's repository speaks for it.
#[cfg(unix)]
fn same_owner(folder: &Path, above: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path| fs::metadata(path).map(|meta| meta.uid()).ok();
    owner(folder) == owner(above)
}

/// Owners are not told apart here.
#[cfg(not(unix))]
fn same_owner(_folder: &Path, _above: &Path) -> bool {
    true
}

/// The file behind `path`, if there is one, which must be in `bound`.
fn within(path: &Path, bound: Option<&Path>) -> io::Result<Option<PathBuf>> {
    match fs::canonicalize(path) {
        Ok(target) if bound.is_some_and(|bound| target.starts_with(bound)) => Ok(Some(target)),
        Ok(_) => Err(io::Error::other("it is a link to a file outside of the repository")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The text of a file, if there is one, as far as it is read; what is no UTF-8 is replaced.
pub(super) fn text(path: &Path) -> io::Result<Option<String>> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => {}
        // Nobody means a folder of that name, and opening a pipe would wait for a writer.
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.trim_start_matches('\u{FEFF}').to_owned()))
}
