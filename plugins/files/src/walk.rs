//! Walking a folder as git sees it: what `.gitignore` leaves out is left out, and `.git` itself.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use hermes_plugin_sdk::prelude::*;
use ignore::WalkBuilder;

use crate::path::missing;

/// One entry of a folder.
pub(crate) struct Entry {
    /// Where it is, to be opened.
    pub(crate) path: PathBuf,
    /// The same, as it is shown: relative where the folder was.
    pub(crate) shown: String,
    /// Whether it is a folder.
    pub(crate) is_folder: bool,
}

/// All entries below `path`, or `path` alone if it is a file, in order of their names.
///
/// # Errors
/// There is nothing at `path`.
pub(crate) fn walk(
    path: &str,
    depth: Option<usize>,
    glob: Option<&str>,
) -> Result<impl Iterator<Item = Entry>, Failure> {
    if !Path::new(path).exists() {
        return Err(missing(path));
    }
    let glob = glob.map(matcher).transpose()?;
    let root = PathBuf::from(path);
    let walk = WalkBuilder::new(path)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(true)
        .parents(true)
        .max_depth(depth)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp)
        .build();
    Ok(walk.flatten().filter_map(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let path = entry.into_path();
        let below = path.strip_prefix(&root).unwrap_or(&path);
        if is_folder && below.as_os_str().is_empty() {
            return None; // the folder itself
        }
        if glob.as_ref().is_some_and(|glob| is_folder || !fits(glob, below, &path)) {
            return None;
        }
        let shown = path.strip_prefix("./").unwrap_or(&path).to_string_lossy().into_owned();
        Some(Entry { path, shown, is_folder })
    }))
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
