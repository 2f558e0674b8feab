//! `search_files`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use hermes_plugin_sdk::prelude::*;
use regex::{Regex, RegexBuilder};

use crate::read::shown;
use crate::text_file::is_binary;
use crate::walk::walk;

/// Matches shown where the model does not say how many.
const DEFAULT_MATCHES: usize = 100;

/// Most matches, or files, of one search.
const MAX_MATCHES: usize = 1000;

/// Most lines around a match.
const MAX_CONTEXT: usize = 10;

/// Largest file that is searched: larger ones are data.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Most bytes of one answer.
const MAX_BYTES: usize = 60_000;

/// What a search answers with.
#[arguments]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// Matching lines, as path:line:text.
    #[default]
    Content,
    /// Paths of files with a match.
    Files,
    /// Matching lines counted, by file.
    Count,
}

/// Arguments of `search_files`.
#[arguments]
pub(crate) struct SearchFiles {
    /// A regular expression, matched line by line.
    pattern: String,
    /// The folder or file. Default: the first granted folder.
    #[serde(default)]
    path: Option<String>,
    /// Only files that match, such as *.rs, or src/**/*.rs below the folder.
    #[serde(default)]
    glob: Option<String>,
    /// content (matching lines, the default), files (only their paths) or count.
    #[serde(default)]
    mode: Mode,
    /// Lines shown before and after each match, at most 10. Default 0.
    #[serde(default)]
    context: Option<u64>,
    /// Most matches (or files), at most 1000. Default 100.
    #[serde(default)]
    limit: Option<u64>,
    /// Whether case makes no difference. Default false.
    #[serde(default)]
    ignore_case: bool,
}

/// Searches file contents with a regular expression (linear time, no look-around). Leaves out what
/// .gitignore leaves out, binary files and files over 8 MB.
#[tool(read_only, parallel_safe, idempotent, path_arguments = ["path"])]
pub(crate) fn search_files(arguments: SearchFiles) -> Result<String, Failure> {
    let regex = RegexBuilder::new(&arguments.pattern)
        .case_insensitive(arguments.ignore_case)
        .build()
        .map_err(|error| {
            Failure::invalid_arguments(format!("the pattern is not usable: {error}"))
        })?;
    let number = |given: Option<u64>, default: usize, most: usize| {
        given.map_or(default, |given| usize::try_from(given).unwrap_or(most).min(most))
    };
    let mut search = Search {
        regex,
        mode: arguments.mode,
        context: number(arguments.context, 0, MAX_CONTEXT),
        limit: number(arguments.limit, DEFAULT_MATCHES, MAX_MATCHES).max(1),
        matches: 0,
        files: 0,
        out: String::new(),
    };
    let path = arguments.path.as_deref().unwrap_or(".");
    for entry in walk(path, None, arguments.glob.as_deref())?.filter(|entry| !entry.is_folder) {
        if search.is_full() || progress::is_cancelled() {
            break;
        }
        search.file(&entry.path, &entry.shown);
    }
    Ok(search.answer())
}

/// A search under way.
struct Search {
    regex: Regex,
    mode: Mode,
    context: usize,
    limit: usize,
    matches: usize,
    files: usize,
    out: String,
}

impl Search {
    fn is_full(&self) -> bool {
        let found = if self.mode == Mode::Content { self.matches } else { self.files };
        found >= self.limit || self.out.len() >= MAX_BYTES
    }

    fn file(&mut self, path: &Path, shown: &str) {
        if std::fs::metadata(path).is_ok_and(|meta| meta.len() > MAX_FILE_BYTES) {
            return;
        }
        let Ok(bytes) = std::fs::read(path) else { return };
        if is_binary(&bytes) {
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        // One search over the whole text finds out cheaply that there is nothing in it.
        if !self.regex.is_match(&text) && !self.regex.as_str().contains(['^', '$']) {
            return;
        }
        let lines: Vec<&str> = text.lines().collect();
        let hits: Vec<usize> =
            (0..lines.len()).filter(|&at| self.regex.is_match(lines[at])).collect();
        if hits.is_empty() {
            return;
        }
        self.files += 1;
        match self.mode {
            Mode::Files => {
                let _ = writeln!(self.out, "{shown}");
            }
            Mode::Count => {
                let _ = writeln!(self.out, "{shown}: {}", hits.len());
            }
            Mode::Content => self.lines(shown, &lines, &hits),
        }
        self.matches += hits.len();
    }

    fn lines(&mut self, path: &str, lines: &[&str], hits: &[usize]) {
        let left = self.limit.saturating_sub(self.matches);
        let hits: BTreeSet<usize> = hits.iter().copied().take(left).collect();
        let around = hits.iter().flat_map(|&hit| {
            hit.saturating_sub(self.context)..(hit + self.context + 1).min(lines.len())
        });
        let mut last = None;
        for at in around.collect::<BTreeSet<usize>>() {
            if self.context > 0 && last.is_some_and(|last| at > last + 1) {
                self.out.push_str("--\n");
            }
            last = Some(at);
            let mark = if hits.contains(&at) { ':' } else { '-' };
            let _ = writeln!(self.out, "{path}{mark}{}{mark}{}", at + 1, shown(lines[at]));
            if self.out.len() >= MAX_BYTES {
                break;
            }
        }
    }

    fn answer(mut self) -> String {
        if self.files == 0 {
            return "[no match]".into();
        }
        if self.is_full() {
            self.out.push_str(
                "[there may be more; narrow it with path, glob or pattern, or raise limit]\n",
            );
        }
        self.out
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn search(arguments: serde_json::Value) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("a.txt", "one\ntwo\nthree\nfour\ntwo again\n"),
            ("b.md", "Two\n"),
            ("skipped.txt", "two\n"),
            (".gitignore", "skipped.txt\n"),
            ("binary.txt", "two\0"),
        ] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let mut arguments: SearchFiles = serde_json::from_value(arguments).unwrap();
        let root = folder.path().to_str().unwrap().to_owned();
        arguments.path = Some(root.clone());
        search_files(arguments)
            .map(|text| text.replace(&format!("{root}/"), ""))
            .map_err(|failure| failure.message)
    }

    #[test]
    fn finds_lines_files_and_counts() {
        let json = |value| search(value).unwrap();
        assert_eq!(json(serde_json::json!({"pattern": "two"})), "a.txt:2:two\na.txt:5:two again\n");
        assert_eq!(json(serde_json::json!({"pattern": "^two$"})), "a.txt:2:two\n");
        assert_eq!(
            json(serde_json::json!({"pattern": "TWO", "ignore_case": true, "mode": "files"})),
            "a.txt\nb.md\n"
        );
        assert_eq!(
            json(serde_json::json!({"pattern": "t", "mode": "count", "glob": "*.txt"})),
            "a.txt: 3\n"
        );
        assert_eq!(
            json(serde_json::json!({"pattern": "two", "context": 1})),
            "a.txt-1-one\na.txt:2:two\na.txt-3-three\na.txt-4-four\na.txt:5:two again\n"
        );
        assert_eq!(
            json(serde_json::json!({"pattern": "two", "limit": 1})),
            "a.txt:2:two\n[there may be more; narrow it with path, glob or pattern, or raise limit]\n"
        );
        assert_eq!(json(serde_json::json!({"pattern": "zzz"})), "[no match]");
    }

    #[test]
    fn a_pattern_that_is_none_is_explained() {
        assert!(
            search(serde_json::json!({"pattern": "("}))
                .unwrap_err()
                .starts_with("the pattern is not usable: ")
        );
        let glob = search(serde_json::json!({"pattern": "a", "glob": "["})).unwrap_err();
        assert_eq!(glob, "glob \"[\" is not usable: unclosed character class; missing ']'");
    }
}
