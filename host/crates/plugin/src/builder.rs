//! `plugins build`: from a plugin's source folder to the component beside its manifest, with the
//! ordinary toolchain of its language. Rust is the only one in this version.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::manifest::{FILE_NAME, Manifest};

/// The target of components.
const TARGET: &str = "wasm32-wasip2";

/// Why a plugin was not built: the whole sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BuildError(String);

/// A plugin that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// Its name.
    pub name: String,
    /// Where its component lies now.
    pub component: PathBuf,
    /// Size of the component in bytes.
    pub bytes: u64,
}

/// A source folder.
struct Source {
    dir: PathBuf,
    manifest: Manifest,
}

/// Source folders in `dir`: itself, or those directly below it.
///
/// # Errors
/// `dir` cannot be read, or there is none.
pub fn sources(dir: &Path) -> Result<Vec<PathBuf>, BuildError> {
    if dir.join(FILE_NAME).is_file() {
        return Ok(vec![dir.to_owned()]);
    }
    let unreadable = |error| BuildError(format!("cannot read the folder {}: {error}", dir.display()));
    let entries = std::fs::read_dir(dir).map_err(unreadable)?;
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join(FILE_NAME).is_file() && path.join("Cargo.toml").is_file())
        .collect();
    found.sort();
    if found.is_empty() {
        return Err(BuildError(format!(
            "there is no plugin source in {}: a source folder holds {FILE_NAME} and Cargo.toml",
            dir.display()
        )));
    }
    Ok(found)
}

/// Builds the plugins of these source folders and puts each component where its manifest says.
/// Folders of one Cargo workspace are built in one go. `say` gets every line for the person.
///
/// # Errors
/// The first that cannot be built, and why.
pub fn build(dirs: &[PathBuf], mut say: impl FnMut(&str)) -> Result<Vec<Built>, BuildError> {
    let mut workspaces: BTreeMap<PathBuf, Vec<Source>> = BTreeMap::new();
    for dir in dirs {
        let source = read(dir)?;
        workspaces.entry(workspace(dir)?).or_default().push(source);
    }
    ensure_target(&mut say)?;
    let mut built = Vec::new();
    for (root, sources) in workspaces {
        built.extend(build_workspace(&root, &sources, &mut say)?);
    }
    Ok(built)
}

fn read(dir: &Path) -> Result<Source, BuildError> {
    let file = dir.join(FILE_NAME);
    let text = std::fs::read_to_string(&file)
        .map_err(|error| BuildError(format!("cannot read {}: {error}", file.display())))?;
    let manifest = Manifest::parse(&file, &text).map_err(|error| BuildError(error.to_string()))?;
    if !dir.join("Cargo.toml").is_file() {
        return Err(BuildError(format!(
            "{} holds no Cargo.toml; only plugins in Rust can be built here. Build {} with its own toolchain and place \
             it beside {FILE_NAME}",
            dir.display(),
            manifest.component
        )));
    }
    Ok(Source { dir: dir.to_owned(), manifest })
}

fn cargo(dir: &Path) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(dir).stdin(Stdio::null());
    // Set for a build of the host, these must not reach a build for another target.
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR"] {
        cargo.env_remove(variable);
    }
    cargo
}

fn no_toolchain(error: &io::Error) -> BuildError {
    BuildError(format!("cargo cannot be started ({error}); install Rust with rustup to build plugins"))
}

/// The folder of the workspace a plugin belongs to.
fn workspace(dir: &Path) -> Result<PathBuf, BuildError> {
    let output = cargo(dir)
        .args(["locate-project", "--workspace", "--message-format", "plain"])
        .output()
        .map_err(|error| no_toolchain(&error))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(BuildError(format!("cargo refuses {}: {}", dir.display(), error.trim())));
    }
    let manifest = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    Ok(manifest.parent().unwrap_or(dir).to_owned())
}

/// Adds the target through rustup if it is missing. Without rustup, cargo will say what it lacks.
fn ensure_target(say: &mut impl FnMut(&str)) -> Result<(), BuildError> {
    let listed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let Ok(listed) = listed else { return Ok(()) };
    if String::from_utf8_lossy(&listed.stdout).lines().any(|line| line.trim() == TARGET) {
        return Ok(());
    }
    say(&format!("adding the target {TARGET}"));
    let added = Command::new("rustup").args(["target", "add", TARGET]).output();
    let added = added.map_err(|error| no_toolchain(&error))?;
    if added.status.success() {
        return Ok(());
    }
    let error = String::from_utf8_lossy(&added.stderr);
    Err(BuildError(format!("rustup cannot add the target {TARGET}: {}", error.trim())))
}

/// What of cargo's messages is of interest.
#[derive(Deserialize)]
struct CargoMessage {
    reason: String,
    manifest_path: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

fn build_workspace(
    root: &Path,
    sources: &[Source],
    say: &mut impl FnMut(&str),
) -> Result<Vec<Built>, BuildError> {
    for source in sources {
        say(&format!("building {}", source.manifest.name));
    }
    let mut command = cargo(root);
    command.args(["build", "--release", "--target", TARGET, "--message-format", "json-render-diagnostics"]);
    for source in sources {
        command.arg("--package").arg(package(&source.dir)?);
    }
    // Cargo's own progress goes where the person sees it.
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| no_toolchain(&error))?;
    let mut components: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let stdout = child.stdout.take().map(BufReader::new);
    for line in stdout.into_iter().flat_map(BufReader::lines).map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<CargoMessage>(&line) else { continue };
        let wasm = message.filenames.into_iter().find(|file| file.extension().is_some_and(|e| e == "wasm"));
        if let ("compiler-artifact", Some(package), Some(wasm)) =
            (message.reason.as_str(), message.manifest_path, wasm)
        {
            components.insert(package, wasm);
        }
    }
    let status = child.wait().map_err(|error| no_toolchain(&error))?;
    if !status.success() {
        return Err(BuildError(format!("cargo could not build the plugins in {}", root.display())));
    }
    sources.iter().map(|source| place(source, &components)).collect()
}

/// The Cargo package of a folder.
fn package(dir: &Path) -> Result<String, BuildError> {
    #[derive(Deserialize)]
    struct CargoToml {
        package: Package,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
    }
    let file = dir.join("Cargo.toml");
    let wrong = |what: String| BuildError(format!("{}: {what}", file.display()));
    let text = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
    let parsed: CargoToml = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    Ok(parsed.package.name)
}

/// Puts the component beside its manifest, whole or not at all.
fn place(source: &Source, components: &BTreeMap<PathBuf, PathBuf>) -> Result<Built, BuildError> {
    let name = &source.manifest.name;
    let own = source.dir.canonicalize().map(|dir| dir.join("Cargo.toml"));
    let made = own.ok().and_then(|own| components.get(&own)).ok_or_else(|| {
        BuildError(format!("{name}: cargo made no component; its Cargo.toml needs crate-type = [\"cdylib\"] under [lib]"))
    })?;
    let component = source.dir.join(&source.manifest.component);
    let temporary = source.dir.join(format!(".{}.new", source.manifest.component));
    let copied = std::fs::copy(made, &temporary)
        .and_then(|bytes| std::fs::rename(&temporary, &component).map(|()| bytes));
    match copied {
        Ok(bytes) => Ok(Built { name: name.clone(), component, bytes }),
        Err(error) => {
            let _ = std::fs::remove_file(&temporary);
            Err(BuildError(format!("cannot place {}: {error}", component.display())))
        }
    }
}
