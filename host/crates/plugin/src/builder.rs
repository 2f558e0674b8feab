//! `plugins build`: from a folder with sources and a `plugin.toml` to the component beside it.
//!
//! It runs the author's own toolchain and adds nothing to what that does. Rust is the one language
//! it knows. Nothing is printed here: every line goes to the caller.

mod cargo;
mod sources;

use std::path::{Path, PathBuf};

use sources::SourceFolder;

/// A plugin cannot be built: the whole sentence, with what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BuildError(String);

/// A plugin that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// Its name.
    pub name: String,
    /// Its component, in place.
    pub component: PathBuf,
    /// Size of the component in bytes.
    pub bytes: u64,
    /// Whether the component differs from what was there.
    pub changed: bool,
}

/// Builds every plugin in these folders; a folder is a plugin's own or one that holds several.
/// `say` gets each line for the user: what is done, and what the toolchain says.
///
/// # Errors
/// A folder is no source folder of a plugin, the toolchain is missing, or it fails.
pub fn build(folders: &[PathBuf], mut say: impl FnMut(&str)) -> Result<Vec<Built>, BuildError> {
    let sources = sources::find(folders, &mut say)?;
    let mut built = Vec::new();
    for group in cargo::by_workspace(sources)? {
        cargo::ensure_target(&group.root, &mut say)?;
        let components = cargo::run(&group, &mut say)?;
        for (source, component) in group.members.iter().zip(components) {
            let place = source.folder.join(&source.manifest.component);
            let (bytes, changed) = put(&component, &place).map_err(|error| {
                BuildError(format!("cannot write {}: {error}", place.display()))
            })?;
            let name = source.manifest.name.clone();
            built.push(Built { name, component: place, bytes, changed });
        }
    }
    Ok(built)
}

/// Source folders of plugins in `folder`: itself, or those directly below it.
///
/// # Errors
/// There is none, or one cannot be built.
pub fn sources(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let found = sources::find(&[folder.to_owned()], &mut |_| {})?;
    Ok(found.into_iter().map(|source| source.folder).collect())
}

/// Puts a component in place whole, and leaves an equal one alone: what has not changed need not
/// be looked at again when it is loaded. Its size, and whether it was new.
fn put(component: &Path, place: &Path) -> std::io::Result<(u64, bool)> {
    let bytes = std::fs::read(component)?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if std::fs::read(place).is_ok_and(|old| old == bytes) {
        return Ok((size, false));
    }
    let folder = place.parent().unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder)?;
    // Copies the permissions too, where a temporary file is its owner's alone.
    std::fs::copy(component, file.path())?;
    file.persist(place)?;
    Ok((size, true))
}

#[cfg(test)]
mod tests;
