//! Which folders hold sources of plugins.

use std::path::{Path, PathBuf};

use crate::builder::BuildError;
use crate::manifest::{self, Manifest};

/// A folder with a manifest and sources.
pub(super) struct SourceFolder {
    /// The folder.
    pub(super) folder: PathBuf,
    /// Its manifest.
    pub(super) manifest: Manifest,
}

/// The source folders among these and directly in them.
pub(super) fn find(
    folders: &[PathBuf],
    say: &mut dyn FnMut(&str),
) -> Result<Vec<SourceFolder>, BuildError> {
    let mut sources: Vec<SourceFolder> = Vec::new();
    for folder in folders {
        let own = is_file(&folder.join(manifest::FILE_NAME));
        let places = if own { vec![folder.clone()] } else { below(folder)? };
        for place in places {
            let source = SourceFolder { manifest: read(&place)?, folder: place };
            if is_file(&source.folder.join("Cargo.toml")) {
                sources.push(source);
            } else if !own && is_file(&source.folder.join(&source.manifest.component)) {
                let name = &source.manifest.name;
                say(&format!("{name}: no sources here, the component is left as it is"));
            } else {
                return Err(unsupported(&source.folder));
            }
        }
    }
    Ok(sources)
}

/// Folders with a manifest directly in one without.
fn below(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let wrong = |what: String| BuildError(format!("cannot build {}: {what}", folder.display()));
    let entries = folder.read_dir().map_err(|error| wrong(error.to_string()))?;
    let mut places: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            !name.to_string_lossy().starts_with('.') && name != "target"
        })
        .map(|entry| entry.path())
        .filter(|path| is_file(&path.join(manifest::FILE_NAME)))
        .collect();
    places.sort();
    if places.is_empty() {
        return Err(wrong(
            "there is no plugin in it; a plugin to build is a folder with plugin.toml and \
             Cargo.toml"
                .into(),
        ));
    }
    Ok(places)
}

fn read(folder: &Path) -> Result<Manifest, BuildError> {
    let file = folder.join(manifest::FILE_NAME);
    let text = std::fs::read_to_string(&file)
        .map_err(|error| BuildError(format!("cannot read {}: {error}", file.display())))?;
    Manifest::parse(&file, &text).map_err(|error| BuildError(error.to_string()))
}

/// What was found in place of `Cargo.toml`, and what can be built.
fn unsupported(folder: &Path) -> BuildError {
    let marks = [
        ("package.json", "JavaScript or TypeScript"),
        ("pyproject.toml", "Python"),
        ("requirements.txt", "Python"),
        ("go.mod", "Go"),
        ("build.zig", "Zig"),
        ("CMakeLists.txt", "C or C++"),
        ("Makefile", "C or C++"),
    ];
    let found = marks.iter().find(|(file, _)| is_file(&folder.join(file)));
    let found = found.map_or_else(
        || "it has no Cargo.toml".to_owned(),
        |(file, language)| format!("it has {file}, so it seems to be {language}"),
    );
    BuildError(format!(
        "cannot build {}: {found}, and only Rust sources (a folder with plugin.toml and \
         Cargo.toml) can be built here; build it with its own tools and put the component beside \
         plugin.toml",
        folder.display()
    ))
}

fn is_file(path: &Path) -> bool {
    path.is_file()
}
