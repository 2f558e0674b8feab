//! `list_files`.

use std::fmt::Write as _;

use hermes_plugin_sdk::prelude::*;

use crate::walk::walk;

/// Entries listed where the model does not say how many.
const DEFAULT_ENTRIES: usize = 200;

/// Most entries of one listing.
const MAX_ENTRIES: usize = 1000;

/// Levels listed where the model does not say how many.
const DEFAULT_DEPTH: usize = 3;

/// Arguments of `list_files`.
#[arguments]
pub(crate) struct ListFiles {
    /// The folder. Default: the first granted one.
    #[serde(default)]
    path: Option<String>,
    /// Only files that match, such as *.rs, or src/**/*.rs below the folder.
    #[serde(default)]
    glob: Option<String>,
    /// How many levels down. Default 3, or no limit with a glob.
    #[serde(default)]
    depth: Option<u64>,
    /// Most entries, at most 1000. Default 200.
    #[serde(default)]
    limit: Option<u64>,
}

/// Lists files with their sizes and folders (with / at the end), sorted by name. Leaves out what
/// .gitignore leaves out.
#[tool(read_only, parallel_safe, idempotent, path_arguments = ["path"])]
pub(crate) fn list_files(arguments: ListFiles) -> Result<String, Failure> {
    let path = arguments.path.as_deref().unwrap_or(".");
    let number = |given: u64, most: usize| usize::try_from(given).unwrap_or(most).clamp(1, most);
    let limit = arguments.limit.map_or(DEFAULT_ENTRIES, |limit| number(limit, MAX_ENTRIES));
    let depth = match (arguments.depth, &arguments.glob) {
        (Some(depth), _) => Some(number(depth, usize::MAX)),
        (None, Some(_)) => None,
        (None, None) => Some(DEFAULT_DEPTH),
    };
    let mut entries = walk(path, depth, arguments.glob.as_deref())?;
    let mut out = String::new();
    for entry in entries.by_ref().take(limit) {
        if entry.is_folder {
            let _ = writeln!(out, "{}/", entry.shown);
        } else {
            let size = std::fs::metadata(&entry.path).map_or(0, |meta| meta.len());
            let _ = writeln!(out, "{} ({size} bytes)", entry.shown);
        }
    }
    if out.is_empty() {
        return Ok("[nothing to list]".into());
    }
    let more = entries.count();
    if more > 0 {
        let _ = writeln!(out, "[{more} more; narrow it with path, glob or depth, or raise limit]");
    } else if let (Some(depth), None) = (depth, arguments.depth) {
        let _ = writeln!(out, "[down to level {depth}]");
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn list(arguments: serde_json::Value) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("a.rs", "1"),
            ("sub/b.rs", "22"),
            ("sub/c.txt", "333"),
            ("out/d.rs", ""),
            (".gitignore", "out/\n"),
            (".git/x", ""),
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let mut arguments: ListFiles = serde_json::from_value(arguments).unwrap();
        let root = folder.path().to_str().unwrap().to_owned();
        arguments.path = Some(root.clone());
        list_files(arguments).unwrap().replace(&format!("{root}/"), "")
    }

    #[test]
    fn lists_as_git_sees_it() {
        assert_eq!(
            list(serde_json::json!({})),
            ".gitignore (5 bytes)\na.rs (1 bytes)\nsub/\nsub/b.rs (2 bytes)\nsub/c.txt (3 bytes)\n[down to level 3]\n"
        );
        assert_eq!(
            list(serde_json::json!({"glob": "*.rs"})),
            "a.rs (1 bytes)\nsub/b.rs (2 bytes)\n"
        );
        assert_eq!(list(serde_json::json!({"glob": "sub/*.txt"})), "sub/c.txt (3 bytes)\n");
        assert_eq!(
            list(serde_json::json!({"limit": 2})),
            ".gitignore (5 bytes)\na.rs (1 bytes)\n[3 more; narrow it with path, glob or depth, or raise limit]\n"
        );
        assert_eq!(list(serde_json::json!({"glob": "*.none"})), "[nothing to list]");
    }
}
