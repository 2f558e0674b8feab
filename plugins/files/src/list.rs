//! `list_files`.

use std::fmt::Write as _;

use hermes_plugin_sdk::prelude::*;

use crate::told::{self, PassedOver};
use crate::walk::{Entry, walk};

/// Entries listed where the model does not say how many.
const DEFAULT_ENTRIES: usize = 200;

/// Most entries of one listing.
const MAX_ENTRIES: usize = 1000;

/// Most entries counted beyond those listed: enough to see that there are too many.
const MAX_COUNTED: usize = 10_000;

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

/// Lists files (with sizes), folders (with / at the end) and links (with where they lead), sorted by
/// name; with a glob, files and links only. Leaves out .git and what .gitignore leaves out, but not
/// other hidden files. A folder that is ignored itself can still be listed by its path. Answers end at
/// 60 KB and say how to see the rest.
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
    let mut listing = Listing { limit, depth, ..Listing::default() };
    for entry in walk(path, depth, arguments.glob.as_deref())? {
        listing.out_of_time = told::is_time_to_answer();
        if listing.out_of_time || listing.more > MAX_COUNTED {
            break;
        }
        match entry {
            Ok(entry) => listing.entry(&entry),
            Err(problem) => listing.passed_over.push(problem),
        }
    }
    Ok(listing.answer())
}

/// A listing under way.
#[derive(Default)]
struct Listing {
    limit: usize,
    depth: Option<usize>,
    listed: usize,
    /// Entries beyond those listed.
    more: usize,
    /// Whether a folder is listed that was not looked into.
    is_cut: bool,
    passed_over: PassedOver,
    out_of_time: bool,
    out: String,
}

impl Listing {
    fn entry(&mut self, entry: &Entry) {
        if self.listed >= self.limit || self.out.len() >= told::MAX_BYTES {
            self.more += 1;
            return;
        }
        self.listed += 1;
        self.is_cut |= entry.is_folder && Some(entry.level) == self.depth;
        let _ = writeln!(self.out, "{}", line(entry));
    }

    fn answer(mut self) -> String {
        if self.listed == 0 {
            let so_far = if self.out_of_time { " so far" } else { "" };
            let _ = writeln!(self.out, "[nothing to list{so_far}]");
        }
        if self.out_of_time {
            self.out.push_str("[stopped for lack of time; narrow it with path or depth]\n");
        } else if self.more > 0 {
            let is_long = self.listed < self.limit;
            let how =
                told::how_to_see_more("path, glob or depth", self.limit, MAX_ENTRIES, is_long);
            let more = match self.more {
                more if more > MAX_COUNTED => format!("over {MAX_COUNTED}"),
                more => more.to_string(),
            };
            let _ = writeln!(self.out, "[{more} more; {how}]");
        } else if let (Some(depth), true) = (self.depth, self.is_cut) {
            let _ = writeln!(
                self.out,
                "[down to level {depth}; raise depth to see into the folders there]"
            );
        }
        self.passed_over.tell(&mut self.out, "listed");
        self.out
    }
}

fn line(entry: &Entry) -> String {
    let shown = &entry.shown;
    if entry.is_folder {
        return format!("{shown}/");
    }
    if entry.is_link {
        // A link that leaves the sandbox cannot be read either.
        return match std::fs::read_link(&entry.path) {
            Ok(to) => format!("{shown} -> {}", to.display()),
            Err(_) => format!("{shown} -> ?"),
        };
    }
    if !entry.is_file {
        return format!("{shown} (a pipe, socket or device)");
    }
    let size = std::fs::metadata(&entry.path).map_or(0, |meta| meta.len());
    format!("{shown} ({size} bytes)")
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
            ".gitignore (5 bytes)\na.rs (1 bytes)\nsub/\nsub/b.rs (2 bytes)\nsub/c.txt (3 bytes)\n"
        );
        assert_eq!(
            list(serde_json::json!({"depth": 1})),
            ".gitignore (5 bytes)\na.rs (1 bytes)\nsub/\n[down to level 1; raise depth to see into the folders there]\n"
        );
        assert_eq!(
            list(serde_json::json!({"glob": "*.rs"})),
            "a.rs (1 bytes)\nsub/b.rs (2 bytes)\n"
        );
        assert_eq!(list(serde_json::json!({"glob": "sub/*.txt"})), "sub/c.txt (3 bytes)\n");
        assert_eq!(
            list(serde_json::json!({"limit": 2})),
            ".gitignore (5 bytes)\na.rs (1 bytes)\n[3 more; narrow it with path, glob or depth, or raise limit (at most 1000)]\n"
        );
        assert_eq!(list(serde_json::json!({"glob": "*.none"})), "[nothing to list]\n");
    }

    /// Lists one folder below the top of a tree that has files named so.
    fn list_below(names: &[(&str, &str)], below: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let path = folder.path().join(below).to_str().unwrap().to_owned();
        let arguments =
            ListFiles { path: Some(path.clone()), glob: None, depth: None, limit: None };
        list_files(arguments).unwrap().replace(&format!("{path}/"), "")
    }

    #[test]
    fn rules_of_the_folders_above_hold_up_to_the_repository() {
        let names = [
            (".gitignore", "*.top\n"),
            ("repo/.git/info/exclude", "*.private\n"),
            ("repo/.gitignore", "*.log\nout/\n/sub/here\n!*.kept.log\n"),
            ("repo/sub/.gitignore", "!need.log\n"),
            ("repo/sub/a.kept.log", ""),
            ("repo/sub/a.log", ""),
            ("repo/sub/a.private", ""),
            ("repo/sub/a.top", ""),
            ("repo/sub/here", ""),
            ("repo/sub/need.log", ""),
            ("repo/out/a", ""),
        ];
        assert_eq!(
            list_below(&names, "repo/sub"),
            ".gitignore (10 bytes)\na.kept.log (0 bytes)\na.top (0 bytes)\nneed.log (0 bytes)\n"
        );
        assert_eq!(list_below(&names, "repo/out"), "a (0 bytes)\n");
    }

    #[test]
    fn the_hint_names_only_what_helps() {
        let folder = tempfile::tempdir().unwrap();
        let list = |limit: u64| {
            let path = Some(folder.path().to_str().unwrap().to_owned());
            let answer =
                list_files(ListFiles { path, glob: None, depth: None, limit: Some(limit) })
                    .unwrap();
            answer.lines().last().unwrap_or_default().to_owned()
        };
        for n in 0..=MAX_ENTRIES {
            std::fs::write(folder.path().join(n.to_string()), "").unwrap();
        }
        assert_eq!(list(9999), "[1 more; narrow it with path, glob or depth]");
        let long = "x".repeat(200);
        for n in 0..300 {
            std::fs::write(folder.path().join(format!("0{n}{long}")), "").unwrap();
        }
        assert!(list(999).ends_with(" more; narrow it with path, glob or depth]"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_shown_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("..", folder.path().join("up")).unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        let arguments =
            ListFiles { path: Some(path.clone()), glob: None, depth: None, limit: None };
        assert_eq!(list_files(arguments).unwrap(), format!("{path}/up -> ..\n"));
    }
}
