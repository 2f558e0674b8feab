//! `search_files`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use hermes_plugin_sdk::prelude::*;
use regex::{Regex, RegexBuilder};

use crate::read::shown;
use crate::text_file::{BINARY_PROBE, is_binary};
use crate::told::{self, PassedOver};
use crate::walk::{Entry, walk};

/// Matches shown where the model does not say how many.
const DEFAULT_MATCHES: usize = 100;

/// Most matches, or files, of one search.
const MAX_MATCHES: usize = 1000;

/// Most lines around a match.
const MAX_CONTEXT: usize = 10;

/// Largest file that is searched: larger ones are data.
const MAX_FILE_BYTES: u64 = 8 << 20;

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

/// Searches file contents, line by line, with a regular expression (Rust syntax: no look-around, no
/// back-references, no \p{…}). Lines come as path:line:text, lines around them as path-line-text.
/// Leaves out .git, what .gitignore leaves out, links, binary files and files over 8 MiB. Lines over
/// 2000 characters are cut with a mark; answers end at 60 KB and say how to see the rest.
#[tool(read_only, parallel_safe, idempotent, path_arguments = ["path"])]
pub(crate) fn search_files(arguments: SearchFiles) -> Result<String, Failure> {
    let regex = RegexBuilder::new(&arguments.pattern)
        .case_insensitive(arguments.ignore_case)
        .multi_line(true)
        .crlf(true)
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
        passed_over: PassedOver::default(),
        out_of_time: false,
        out: String::new(),
    };
    let path = arguments.path.as_deref().unwrap_or(".");
    for entry in walk(path, None, arguments.glob.as_deref())? {
        if search.is_full() {
            break;
        }
        search.out_of_time = told::is_time_to_answer();
        if search.out_of_time {
            break;
        }
        match entry {
            // A link leads to a file that is searched under its own name, or that is not in the folder.
            Ok(entry) if entry.is_file => search.file(&entry),
            Ok(_) => {}
            Err(problem) => search.passed_over.push(problem),
        }
    }
    Ok(search.answer())
}

/// What a file holds, for a search.
enum Contents {
    Text(Vec<u8>),
    Binary,
    /// With its size in bytes.
    TooLarge(u64),
}

/// Opens a file once, since opening is what takes longest in the sandbox, and reads no more of it
/// than it must.
fn contents(path: &Path) -> io::Result<Contents> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > MAX_FILE_BYTES {
        return Ok(Contents::TooLarge(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    file.by_ref().take(BINARY_PROBE as u64).read_to_end(&mut bytes)?;
    if is_binary(&bytes) {
        return Ok(Contents::Binary);
    }
    file.read_to_end(&mut bytes)?;
    Ok(Contents::Text(bytes))
}

/// A search under way.
struct Search {
    regex: Regex,
    mode: Mode,
    context: usize,
    limit: usize,
    matches: usize,
    files: usize,
    /// Files that were not searched and why, where the reader cannot expect it.
    passed_over: PassedOver,
    out_of_time: bool,
    out: String,
}

impl Search {
    fn is_full(&self) -> bool {
        let found = if self.mode == Mode::Content { self.matches } else { self.files };
        found >= self.limit || self.out.len() >= told::MAX_BYTES
    }

    fn file(&mut self, entry: &Entry) {
        let shown = &entry.shown;
        let bytes = match contents(&entry.path) {
            Ok(Contents::Text(bytes)) => bytes,
            Ok(Contents::Binary) if entry.level > 0 => return,
            Ok(Contents::Binary) => return self.passed_over.push(format!("{shown} (binary)")),
            Ok(Contents::TooLarge(size)) => {
                return self.passed_over.push(format!("{shown} ({size} bytes)"));
            }
            Err(error) => return self.passed_over.push(format!("{shown} ({error})")),
        };
        let text = String::from_utf8_lossy(&bytes);
        // One search over the whole text finds out cheaply that there is nothing in it. ^ and $ stand
        // at every line there, \A and \z do not.
        let by_line_only = ["\\A", "\\z"].iter().any(|it| self.regex.as_str().contains(it));
        if !by_line_only && !self.regex.is_match(&text) {
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
            if self.out.len() >= told::MAX_BYTES {
                break;
            }
        }
    }

    fn answer(mut self) -> String {
        if self.files == 0 {
            let so_far = if self.out_of_time { " so far" } else { "" };
            let _ = writeln!(self.out, "[no match{so_far}]");
        }
        if self.out_of_time {
            self.out.push_str("[stopped for lack of time; narrow it with path or glob]\n");
        } else if self.is_full() {
            let is_long = self.out.len() >= told::MAX_BYTES;
            let narrow = "path, glob or pattern";
            let how = told::how_to_see_more(narrow, self.limit, MAX_MATCHES, is_long);
            let _ = writeln!(self.out, "[there may be more; {how}]");
        }
        self.passed_over.tell(&mut self.out, "searched");
        self.out
    }
}

#[cfg(test)]
mod tests;
