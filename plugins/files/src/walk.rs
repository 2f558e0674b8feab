//! Walking a folder as git sees it: what `.gitignore` leaves out is left out, and `.git` itself.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use hermes_plugin_sdk::prelude::*;
use ignore::{DirEntry, WalkBuilder};

use crate::granted;
use crate::path::failed;
use crate::text_file::no_file;

/// One entry of a folder.
pub(crate) struct Entry {
    /// Where it is, to be opened.
    pub(crate) path: PathBuf,
    /// The same, as it is shown: relative where the folder was.
    pub(crate) shown: String,
    /// Whether it is a file that can be read; not a pipe or the like, which may wait for ever.
    pub(crate) is_file: bool,
    /// Whether it is a folder.
    pub(crate) is_folder: bool,
    /// Whether it is a link, which is not followed.
    pub(crate) is_link: bool,
    /// How many levels below the folder it is; 0 is the file that was named itself.
    pub(crate) level: usize,
}

/// All entries below `path`, or `path` alone if it is a file, in order of their names; and between
/// them, what could not be looked into and why.
///
/// # Errors
/// There is nothing at `path`, or a pipe, socket or device.
pub(crate) fn walk(
    path: &str,
    depth: Option<usize>,
    glob: Option<&str>,
) -> Result<impl Iterator<Item = Result<Entry, String>>, Failure> {
    granted::check(path)?;
    let meta = std::fs::metadata(path).map_err(|error| failed("list", path, &error))?;
    if !meta.is_dir() && !meta.is_file() {
        return Err(no_file(path));
    }
    let glob = glob.map(matcher).transpose()?;
    let root = PathBuf::from(path);
    let mut builder = WalkBuilder::new(path);
    builder
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .parents(false)
        .max_depth(depth)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp);
    add_rules_from_above(&mut builder, &root);
    let entries = builder.build().filter_map(move |found| match found {
        Ok(found) => entry(found, &root, glob.as_ref()).map(Ok),
        Err(error) => Some(Err(match error.io_error() {
            Some(plain) => plain.to_string(), // names the path, which the whole would say twice
            None => error.to_string(),
        })),
    });
    Ok(entries)
}

/// What the walker found, if it is asked for.
fn entry(found: DirEntry, root: &Path, glob: Option<&GlobMatcher>) -> Option<Entry> {
    let kind = found.file_type();
    let is_folder = kind.is_some_and(|kind| kind.is_dir());
    let (is_link, level) = (found.path_is_symlink(), found.depth());
    let is_file = level == 0 || kind.is_some_and(|kind| kind.is_file());
    let path = found.into_path();
    let below = path.strip_prefix(root).unwrap_or(&path);
    if is_folder && below.as_os_str().is_empty() {
        return None; // the folder itself
    }
    if glob.is_some_and(|glob| is_folder || !fits(glob, below, &path)) {
        return None;
    }
    let shown = path.strip_prefix("./").unwrap_or(&path).to_string_lossy().into_owned();
    Some(Entry { path, shown, is_file, is_folder, is_link, level })
}

/// Adds the ignore files of the folders above `root`, up to the one that holds the repository. The
/// walker would look them up itself, but by absolute paths, which do not exist in the sandbox.
fn add_rules_from_above(builder: &mut WalkBuilder, root: &Path) {
    let plain = granted::plain(root);
    if plain == Path::new(".") || plain.join(".git").exists() {
        return;
    }
    let mut above: Vec<&Path> = Vec::new();
    for folder in plain.ancestors().skip(1) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        above.push(folder);
        if folder.join(".git").exists() {
            break;
        }
    }
    // The rules added last win, and the nearest folder has the last word.
    for folder in above.into_iter().rev() {
        builder.current_dir(folder);
        for name in [".git/info/exclude", ".gitignore", ".ignore"] {
            let file = folder.join(name);
            if file.is_file() {
                builder.add_ignore(file); // rules that cannot be read are skipped, as the walker does
            }
        }
    }
}

/// A glob without a slash is about names, one with a slash about the path below the folder.
fn fits(glob: &GlobMatcher, below: &Path, path: &Path) -> bool {
    if glob.glob().glob().contains('/') {
        glob.is_match(below)
    } else {
        path.file_name().is_some_and(|name| glob.is_match(name))
    }
}

fn matcher(glob: &str) -> Result<GlobMatcher, Failure> {
    let built = GlobBuilder::new(glob).literal_separator(true).build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| {
        Failure::invalid_arguments(format!("glob {glob:?} is not usable: {}", error.kind()))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_that_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap().to_owned();
        std::fs::create_dir(folder.path().join("gone")).unwrap();
        std::fs::write(folder.path().join("a"), "").unwrap();
        let mut entries = walk(&root, None, None).unwrap();
        let mut next = || {
            entries.next().map(|entry| match entry {
                Ok(entry) => entry.shown.replace(&root, ""),
                Err(problem) => problem.replace(&root, ""),
            })
        };
        assert_eq!(next().as_deref(), Some("/a"));
        // The walk has its name already, and looks into it later.
        std::fs::remove_dir(folder.path().join("gone")).unwrap();
        assert_eq!(next().as_deref(), Some("/gone"));
        let problem = "IO error for operation on /gone: No such file or directory (os error 2)";
        assert_eq!(next().as_deref(), Some(problem));
        assert_eq!(next(), None);
    }
}
