//! What to say when a path leads nowhere.

use std::io;
use std::path::Path;

use hermes_plugin_sdk::prelude::*;

/// Likeness from which another name is worth naming.
const NEAR: f64 = 0.7;

/// Most names suggested.
const SUGGESTIONS: usize = 3;

/// The failure of an operation on `path`.
pub(crate) fn failed(what: &str, path: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => missing(path),
        io::ErrorKind::PermissionDenied => Failure::denied(format!(
            "cannot {what} {path}: not allowed; it leads out of the granted folders (through .. or a link), or is granted \
             for reading only"
        )),
        _ => Failure::internal(format!("cannot {what} {path}: {error}")),
    }
}

/// The failure of a path that is not there, with names close to it.
pub(crate) fn missing(path: &str) -> Failure {
    let near = neighbours(Path::new(path));
    let hint = match near.as_slice() {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    };
    Failure::not_found(format!("there is nothing at {path}{hint}"))
}

/// Names in the same folder that are close to the last part of `path`.
fn neighbours(path: &Path) -> Vec<String> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let folder = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let name = name.to_string_lossy().to_lowercase();
    let mut near: Vec<(f64, String)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|other| (strsim::jaro_winkler(&name, &other.to_lowercase()), other))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.truncate(SUGGESTIONS);
    near.into_iter().map(|(_, other)| parent.join(other).to_string_lossy().into_owned()).collect()
}
