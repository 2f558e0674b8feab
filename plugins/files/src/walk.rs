//! Walking a folder as git sees it: what `.gitignore` leaves out is left out, and `.git` itself.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use hermes_plugin_sdk::prelude::*;
use ignore::WalkBuilder;

use crate::granted;
use crate::path::failed;

/// One entry of a folder.
pub(crate) struct Entry {
    /// Where it is, to be opened.
    pub(crate) path: PathBuf,
    /// The same, as it is shown: relative where the folder was.
    pub(crate) shown: String,
    /// Whether it is a folder.
    pub(crate) is_folder: bool,
    /// Whether it is a link, which is not followed.
    pub(crate) is_link: bool,
    /// How many levels below the folder it is; 0 is the file that was named itself.
    pub(crate) level: usize,
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
    granted::check(path)?;
    std::fs::metadata(path).map_err(|error| failed("list", path, &error))?;
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
    let walk = builder.build();
    Ok(walk.flatten().filter_map(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let (is_link, level) = (entry.path_is_symlink(), entry.depth());
        let path = entry.into_path();
        let below = path.strip_prefix(&root).unwrap_or(&path);
        if is_folder && below.as_os_str().is_empty() {
            return None; // the folder itself
        }
        if glob.as_ref().is_some_and(|glob| is_folder || !fits(glob, below, &path)) {
            return None;
        }
        let shown = path.strip_prefix("./").unwrap_or(&path).to_string_lossy().into_owned();
        Some(Entry { path, shown, is_folder, is_link, level })
    }))
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
