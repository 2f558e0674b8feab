//! What lies in the plugin folders: every `*/plugin.toml` and every bare `*.wasm`, and for each
//! that cannot be a plugin the reason. No guest code and no component is read here.
//!
//! One bad plugin never stops the others.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::document::printable;
use crate::manifest::{self, Manifest, Remains};
use crate::name;

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Discovered {
    /// What may become plugins, by name.
    pub candidates: Vec<Candidate>,
    /// What may not.
    pub refused: Vec<Broken>,
}

/// Something that looks like a plugin from outside.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Its name, unique among the candidates.
    pub name: String,
    /// The folder of its manifest, or the bare component.
    pub path: PathBuf,
    /// The component, there and within the folder.
    pub component: PathBuf,
    /// Its manifest; a bare component has none and asks for nothing.
    pub manifest: Option<Manifest>,
}

/// Something that cannot be a plugin.
#[derive(Debug, Clone)]
pub struct Broken {
    /// Its name as far as it can be told: the manifest's, else the file's or folder's.
    pub name: String,
    /// Whether the name is the one its manifest gives.
    pub named: bool,
    /// The folder or file.
    pub path: PathBuf,
    /// Its manifest, if that is not what is wrong.
    pub manifest: Option<Manifest>,
    /// Why, and what to do.
    pub reason: String,
    /// Tool globs of the hooks before tool calls it has or seems to have.
    pub gates: Vec<String>,
}

/// A plugin folder the user named cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use the plugin folder {path}: {what}", path = path.display())]
pub struct FolderError {
    path: PathBuf,
    what: String,
}

/// Looks into each folder; a folder that has a `plugin.toml` is itself the plugin.
///
/// # Errors
/// A folder is missing or cannot be listed.
pub fn discover(folders: &[PathBuf]) -> Result<Discovered, FolderError> {
    let mut found = Discovered::default();
    let mut seen: Vec<PathBuf> = Vec::new();
    for folder in folders {
        for path in places(folder)? {
            // The same place may be named twice, directly or through a link.
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if seen.contains(&real) {
                continue;
            }
            seen.push(real);
            match candidate(&path) {
                Ok(candidate) => found.candidates.push(candidate),
                Err(broken) => found.refused.push(*broken),
            }
        }
    }
    refuse_doubles(&mut found);
    found.candidates.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Everything in a folder that means to be a plugin, sorted.
fn places(folder: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let wrong = |what: String| FolderError { path: folder.to_owned(), what };
    let meta = folder.metadata().map_err(|error| wrong(error.to_string()))?;
    if !meta.is_dir() {
        return Err(wrong("it is no folder; name the folder it is in".into()));
    }
    if folder.join(manifest::FILE_NAME).symlink_metadata().is_ok() {
        return Ok(vec![folder.to_owned()]);
    }
    let mut places = Vec::new();
    for entry in folder.read_dir().map_err(|error| wrong(error.to_string()))? {
        let entry = entry.map_err(|error| wrong(error.to_string()))?;
        let (name, path) = (entry.file_name(), entry.path());
        if !name.to_string_lossy().starts_with('.') && is_place(&name, &path) {
            places.push(path);
        }
    }
    places.sort();
    Ok(places)
}

fn is_place(name: &OsStr, path: &Path) -> bool {
    let extension = Path::new(name).extension().and_then(OsStr::to_str);
    if path.is_dir() {
        // `target` is where builds leave copies.
        return name != "target" && path.join(manifest::FILE_NAME).symlink_metadata().is_ok();
    }
    matches!(extension, Some("wasm" | "cwasm"))
}

fn candidate(path: &Path) -> Result<Candidate, Box<Broken>> {
    if path.is_dir() { from_manifest(path) } else { from_file(path) }
}

fn from_file(path: &Path) -> Result<Candidate, Box<Broken>> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let broken = |reason: String| {
        Box::new(Broken {
            name: printable(&stem),
            named: false,
            path: path.to_owned(),
            manifest: None,
            reason,
            gates: Vec::new(),
        })
    };
    if path.extension() == Some(OsStr::new("cwasm")) {
        return Err(broken(format!(
            "{} is precompiled code, which is not loaded from a plugin folder; put the .wasm it \
             was compiled from there",
            path.display()
        )));
    }
    if let Err(what) = name::plugin(&stem) {
        let path = path.display();
        return Err(broken(format!("{path}: the name of a bare component {what}; rename it")));
    }
    match path.metadata() {
        Ok(meta) if meta.is_file() => Ok(Candidate {
            name: stem,
            path: path.to_owned(),
            component: path.to_owned(),
            manifest: None,
        }),
        Ok(_) => Err(broken(format!("{} is no regular file", path.display()))),
        Err(error) => Err(broken(format!("cannot read {}: {error}", path.display()))),
    }
}

fn from_manifest(folder: &Path) -> Result<Candidate, Box<Broken>> {
    let file = folder.join(manifest::FILE_NAME);
    let fallback = || {
        printable(
            &folder
                .canonicalize()
                .unwrap_or_default()
                .file_name()
                .unwrap_or_default()
                .to_string_lossy(),
        )
    };
    let text = read_manifest(&file).map_err(|reason| {
        let (path, name) = (folder.to_owned(), fallback());
        Box::new(Broken { name, named: false, path, manifest: None, reason, gates: Vec::new() })
    })?;
    let manifest = Manifest::parse(&file, &text).map_err(|error| {
        let Remains { name, gates } = Remains::of(&text);
        let (path, named) = (folder.to_owned(), name.is_some());
        let name = name.unwrap_or_else(fallback);
        Box::new(Broken { name, named, path, manifest: None, reason: error.to_string(), gates })
    })?;
    match component(folder, &manifest) {
        Ok(component) => Ok(Candidate {
            name: manifest.name.clone(),
            path: folder.to_owned(),
            component,
            manifest: Some(manifest),
        }),
        Err(reason) => Err(Box::new(Broken {
            name: manifest.name.clone(),
            named: true,
            path: folder.to_owned(),
            gates: manifest.gates(),
            manifest: Some(manifest),
            reason,
        })),
    }
}

/// The text of a manifest. What is no regular file could block for ever and is not opened.
fn read_manifest(file: &Path) -> Result<String, String> {
    let unreadable = |error| format!("cannot read {}: {error}", file.display());
    let meta = file.metadata().map_err(unreadable)?;
    if !meta.is_file() {
        return Err(format!("{} is no regular file", file.display()));
    }
    if meta.len() > manifest::MAX_BYTES {
        return Err(format!(
            "{} has {} bytes; a manifest has at most {}",
            file.display(),
            meta.len(),
            manifest::MAX_BYTES
        ));
    }
    let bytes = std::fs::read(file).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("{} is not UTF-8 text (at byte {at})", file.display())
    })
}

/// The component of a manifest, if it is there and within the folder.
fn component(folder: &Path, manifest: &Manifest) -> Result<PathBuf, String> {
    let path = folder.join(&manifest.component);
    if path.symlink_metadata().is_err() {
        return Err(format!(
            "{} does not exist; build it: hermes-host plugins build {}",
            path.display(),
            folder.display()
        ));
    }
    let unreadable = |error| format!("cannot read {}: {error}", path.display());
    let (real, home) =
        (path.canonicalize().map_err(unreadable)?, folder.canonicalize().map_err(unreadable)?);
    if !real.starts_with(&home) {
        return Err(format!(
            "{} is a link that leaves its folder, to {}; put the file itself there",
            path.display(),
            real.display()
        ));
    }
    if !real.metadata().as_ref().is_ok_and(Metadata::is_file) {
        return Err(format!("{} is no regular file", path.display()));
    }
    Ok(path)
}

/// Plugins of one name are all refused: which of them the user means is not for the host to guess.
fn refuse_doubles(found: &mut Discovered) {
    let mut by_name: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
    for candidate in found.candidates.drain(..) {
        by_name.entry(candidate.name.clone()).or_default().push(candidate);
    }
    for (name, mut same) in by_name {
        if same.len() == 1 {
            found.candidates.append(&mut same);
            continue;
        }
        let paths: Vec<_> = same.iter().map(|one| one.path.display().to_string()).collect();
        let reason = format!(
            "{} plugins are called \"{name}\": {}; remove or rename all but one",
            paths.len(),
            paths.join(" and ")
        );
        found.refused.extend(same.into_iter().map(|one| Broken {
            gates: one.manifest.as_ref().map(Manifest::gates).unwrap_or_default(),
            reason: reason.clone(),
            named: true,
            name: one.name,
            path: one.path,
            manifest: one.manifest,
        }));
    }
}

#[cfg(test)]
mod tests;
