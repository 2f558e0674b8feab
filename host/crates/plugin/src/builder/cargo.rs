//! Cargo and its target for WebAssembly components.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;

use serde::Deserialize;

use crate::builder::{BuildError, SourceFolder};

/// What a component is compiled for: the one target of Rust whose output is one.
const TARGET: &str = "wasm32-wasip2";

/// Plugins that one call of cargo builds.
pub(super) struct Workspace {
    pub(super) root: PathBuf,
    pub(super) members: Vec<SourceFolder>,
    /// For each member its package id.
    packages: Vec<String>,
}

/// What `cargo metadata` says, as far as it matters here.
#[derive(Deserialize)]
struct Metadata {
    workspace_root: PathBuf,
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    manifest_path: PathBuf,
}

/// One line of cargo's output, as far as it matters here.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    target: Option<ArtifactTarget>,
}

#[derive(Deserialize)]
struct ArtifactTarget {
    kind: Vec<String>,
}

/// Puts plugins of one workspace together.
pub(super) fn by_workspace(sources: Vec<SourceFolder>) -> Result<Vec<Workspace>, BuildError> {
    let mut groups: BTreeMap<PathBuf, Workspace> = BTreeMap::new();
    for source in sources {
        let (root, package) = locate(&source.folder)?;
        let group = groups.entry(root.clone()).or_insert_with(|| Workspace {
            root,
            members: Vec::new(),
            packages: Vec::new(),
        });
        if !group.packages.contains(&package) {
            group.members.push(source);
            group.packages.push(package);
        }
    }
    Ok(groups.into_values().collect())
}

/// The workspace a folder belongs to, and the id of its package.
fn locate(folder: &Path) -> Result<(PathBuf, String), BuildError> {
    let wrong = |what: &str| BuildError(format!("cannot build {}: {what}", folder.display()));
    let mut command = tool("cargo", folder);
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    let output = command.output().map_err(|error| missing("cargo", &error))?;
    if !output.status.success() {
        return Err(wrong(String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| wrong(&format!("cargo metadata gave no JSON ({error})")))?;
    let own =
        folder.join("Cargo.toml").canonicalize().map_err(|error| wrong(&error.to_string()))?;
    let package = metadata
        .packages
        .into_iter()
        .find(|package| package.manifest_path.canonicalize().is_ok_and(|manifest| manifest == own));
    let package = package
        .ok_or_else(|| wrong("its Cargo.toml has no [package]; name the plugin's own folder"))?;
    Ok((metadata.workspace_root, package.id))
}

/// Adds the target to the toolchain the workspace uses, if it is missing.
pub(super) fn ensure_target(root: &Path, say: &mut dyn FnMut(&str)) -> Result<(), BuildError> {
    let mut command = tool("rustc", root);
    command.args(["--print", "target-libdir", "--target", TARGET]);
    let output = command.output().map_err(|error| missing("rustc", &error))?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && Path::new(&folder).is_dir() {
        return Ok(());
    }
    say(&format!("adding the Rust target {TARGET}: rustup target add {TARGET}"));
    let mut command = tool("rustup", root);
    command.args(["target", "add", TARGET]);
    let failed = |what: String| {
        BuildError(format!(
            "the Rust target {TARGET} is missing and cannot be added ({what}); add it with: rustup \
             target add {TARGET}"
        ))
    };
    match stream(command, say) {
        Ok((true, _)) => Ok(()),
        Ok((false, _)) => Err(failed("rustup failed".into())),
        Err(error) => Err(failed(format!("rustup: {error}"))),
    }
}

/// Builds a workspace's plugins; the component of each, in their order.
pub(super) fn run(
    workspace: &Workspace,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<PathBuf>, BuildError> {
    let names: Vec<&str> =
        workspace.members.iter().map(|member| member.manifest.name.as_str()).collect();
    let names = names.join(", ");
    say(&format!("building {names}"));
    let mut command = tool("cargo", &workspace.root);
    command.args(["build", "--release", "--target", TARGET]);
    command.arg("--message-format=json-render-diagnostics");
    for package in &workspace.packages {
        command.args(["--package", package]);
    }
    let (good, output) = stream(command, say).map_err(|error| missing("cargo", &error))?;
    if !good {
        let root = workspace.root.display();
        return Err(BuildError(format!(
            "{names} did not build; cargo, run in {root}, says why above"
        )));
    }
    let artifacts: Vec<Message> =
        output.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let members = workspace.members.iter().zip(&workspace.packages);
    members.map(|(member, package)| component(member, package, &artifacts)).collect()
}

/// The component among what cargo made of a package.
fn component(
    member: &SourceFolder,
    package: &str,
    artifacts: &[Message],
) -> Result<PathBuf, BuildError> {
    let is_library = |message: &Message| {
        let kinds = message.target.as_ref().map(|target| &target.kind[..]).unwrap_or_default();
        kinds.iter().any(|kind| kind == "cdylib")
    };
    artifacts
        .iter()
        .filter(|message| message.reason == "compiler-artifact" && message.package_id == package)
        .filter(|message| is_library(message))
        .flat_map(|message| &message.filenames)
        .find(|file| file.extension().is_some_and(|extension| extension == "wasm"))
        .cloned()
        .ok_or_else(|| {
            BuildError(format!(
                "{} built no component; its Cargo.toml needs [lib] crate-type = [\"cdylib\"]",
                member.folder.display()
            ))
        })
}

/// What somebody set for a build of the host must not reach a build for another target.
const HOST_ONLY: [&str; 4] =
    ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR"];

/// A program of the toolchain.
fn tool(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    for variable in HOST_ONLY {
        command.env_remove(variable);
    }
    command
}

fn missing(program: &str, error: &std::io::Error) -> BuildError {
    if error.kind() == ErrorKind::NotFound {
        return BuildError(format!(
            "{program} was not found, and plugins are built with the Rust toolchain; install it \
             with rustup, or put a built component beside plugin.toml"
        ));
    }
    BuildError(format!("cannot run {program}: {error}"))
}

/// Runs a program: lines of its standard error go to `say` as they come, those of its standard
/// output are kept. Whether it ended well, and what was kept.
fn stream(mut command: Command, say: &mut dyn FnMut(&str)) -> std::io::Result<(bool, Vec<String>)> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (send, lines) = mpsc::channel();
    let output = std::thread::scope(|scope| {
        let kept = scope.spawn(|| out.map(read_lines).into_iter().flatten().collect());
        scope.spawn(move || {
            for line in err.map(read_lines).into_iter().flatten() {
                // Nobody listens any more only if the caller panicked.
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        lines.iter().for_each(|line| say(&line));
        kept.join().unwrap_or_default()
    });
    Ok((child.wait()?.success(), output))
}

fn read_lines(pipe: impl std::io::Read) -> impl Iterator<Item = String> {
    let lines = BufReader::new(pipe).split(b'\n');
    lines.map_while(Result::ok).map(|line| String::from_utf8_lossy(&line).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_toolchain_the_user_hears_where_to_get_one() {
        assert_eq!(
            missing("cargo", &std::io::Error::from(ErrorKind::NotFound)).to_string(),
            "cargo was not found, and plugins are built with the Rust toolchain; install it with \
             rustup, or put a built component beside plugin.toml"
        );
        assert_eq!(
            missing("rustc", &std::io::Error::from(ErrorKind::PermissionDenied)).to_string(),
            "cannot run rustc: permission denied"
        );
    }
}
