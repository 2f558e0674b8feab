//! What is in a folder: files and links, without what `.gitignore` ignores, without `.git` itself,
//! and without the home folder.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::below;

/// Everything in `folder`, by its path below it, with what is known of it. Links are not followed.
///
/// # Errors
/// There is more than `most`, or something cannot be read; the text says what.
pub(super) fn scan(
    folder: &Path,
    home: &Path,
    most: usize,
) -> Result<BTreeMap<PathBuf, Metadata>, String> {
    let home = home.to_owned();
    let walk = WalkBuilder::new(folder)
        .hidden(false)
        .ignore(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| entry.file_name() != ".git" && entry.path() != home)
        .build();
    let mut found = BTreeMap::new();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            // A file that goes away while we look is not there.
            Err(error) if is_gone(&error) => continue,
            Err(error) => return Err(format!("cannot look into {}: {error}", folder.display())),
        };
        let Some(kind) = entry.file_type() else { continue };
        if !(kind.is_file() || kind.is_symlink()) {
            continue;
        }
        let Some(path) = below(folder, entry.path()) else { continue };
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
        if found.len() == most {
            return Err(format!(
                "it holds more than {most} files; raise checkpoints.max_files, or list what need not be kept in .gitignore"
            ));
        }
        found.insert(path, metadata);
    }
    Ok(found)
}

fn is_gone(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}
