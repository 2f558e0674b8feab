//! `read_file`.

use std::fmt::Write as _;

use hermes_plugin_sdk::prelude::*;

use crate::text_file;
use crate::told::MAX_BYTES;

/// Lines read where the model does not say how many.
const DEFAULT_LINES: usize = 500;

/// Most lines of one reading.
const MAX_LINES: usize = 2000;

/// Longest line shown whole, in characters.
const LINE_CHARS: usize = 2000;

/// Arguments of `read_file`.
#[arguments]
pub(crate) struct ReadFile {
    /// The file.
    path: String,
    /// First line to read, from 1. Default 1.
    #[serde(default)]
    offset: Option<u64>,
    /// How many lines to read, at most 2000. Default 500.
    #[serde(default)]
    limit: Option<u64>,
}

/// Reads a text file of at most 32 MiB. Each line comes as its number, a tab and the line; number and
/// tab are not part of the file. A part holds at most 2000 lines or 60 KB, and its last line says
/// where to go on. Lines over 2000 characters are cut with a mark.
#[tool(read_only, parallel_safe, idempotent, path_arguments = ["path"])]
pub(crate) fn read_file(arguments: ReadFile) -> Result<String, Failure> {
    let ReadFile { path, offset, limit } = arguments;
    let file = text_file::read(&path)?;
    if file.text.is_empty() {
        return Ok(format!("[{path} is empty]"));
    }
    let first = usize::try_from(offset.unwrap_or(1).max(1)).unwrap_or(usize::MAX);
    let limit = limit.map_or(DEFAULT_LINES, |limit| usize::try_from(limit).unwrap_or(MAX_LINES));
    let total = file.text.lines().count();
    if first > total {
        return Err(Failure::invalid_arguments(format!(
            "offset {first} is past the end: {path} has {total} lines"
        )));
    }
    let mut out = String::new();
    let mut last = first - 1;
    for line in file.text.lines().skip(first - 1).take(limit.clamp(1, MAX_LINES)) {
        let shown = shown(line);
        if out.len() + shown.len() > MAX_BYTES && last >= first {
            break;
        }
        last += 1;
        let _ = writeln!(out, "{last}\t{shown}");
    }
    if file.lossy {
        out.push_str("[some bytes are not UTF-8 and are shown as \u{fffd}]\n");
    }
    if file.is_crlf() {
        out.push_str("[lines end in CR LF]\n");
    }
    if last < total {
        let _ = writeln!(out, "[lines {first}-{last} of {total}; go on with offset {}]", last + 1);
    }
    Ok(out)
}

/// A line, cut with a mark where it is longer than anybody reads.
pub(crate) fn shown(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS) {
        None => line.to_owned(),
        Some((end, _)) => {
            let rest = line[end..].chars().count();
            format!("{}… [{rest} more characters on this line]", &line[..end])
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(content: &[u8], offset: Option<u64>, limit: Option<u64>) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, content).unwrap();
        let path = path.to_str().unwrap().to_owned();
        let result = read_file(ReadFile { path: path.clone(), offset, limit });
        result
            .map_err(|failure| failure.message)
            .map_err(|m| m.replace(&path, "notes.txt"))
            .map(|m| m.replace(&path, "notes.txt"))
    }

    #[test]
    fn lines_come_with_numbers_and_parts_say_how_to_go_on() {
        assert_eq!(read(b"a\nb\nc\n", None, None).unwrap(), "1\ta\n2\tb\n3\tc\n");
        assert_eq!(
            read(b"a\nb\nc\nd", Some(2), Some(2)).unwrap(),
            "2\tb\n3\tc\n[lines 2-3 of 4; go on with offset 4]\n"
        );
    }

    #[test]
    fn odd_files_are_told_honestly() {
        assert_eq!(read(b"a\r\nb", None, None).unwrap(), "1\ta\n2\tb\n[lines end in CR LF]\n");
        assert_eq!(
            read(b"\xff\xfea\0", None, None).unwrap_err(),
            "notes.txt is UTF-16 text; only UTF-8 can be read and changed here"
        );
        assert_eq!(read(b"", None, None).unwrap(), "[notes.txt is empty]");
        assert_eq!(
            read(b"a\n", Some(9), None).unwrap_err(),
            "offset 9 is past the end: notes.txt has 1 lines"
        );
        assert_eq!(
            read(b"a\0b", None, None).unwrap_err(),
            "notes.txt is a binary file of 3 bytes and cannot be used as text"
        );
        assert_eq!(
            read(b"caf\xe9\n", None, None).unwrap(),
            "1\tcaf\u{fffd}\n[some bytes are not UTF-8 and are shown as \u{fffd}]\n"
        );
        let long = "é".repeat(2003);
        let wanted = format!("1\t{}… [3 more characters on this line]\n", "é".repeat(2000));
        assert_eq!(read(long.as_bytes(), None, None).unwrap(), wanted);
    }

    #[test]
    fn a_wrong_name_is_met_with_a_near_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("README.md"), "x").unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let failure =
            read_file(ReadFile { path: at("readme.txt"), offset: None, limit: None }).unwrap_err();
        let wanted =
            format!("there is nothing at {}; did you mean {}?", at("readme.txt"), at("README.md"));
        assert_eq!((failure.code.as_str(), failure.message), ("not-found", wanted));
        let folder_path = folder.path().to_str().unwrap().to_owned();
        let failure =
            read_file(ReadFile { path: folder_path, offset: None, limit: None }).unwrap_err();
        assert!(
            failure.message.ends_with("is a folder; list it with list_files"),
            "{}",
            failure.message
        );
    }
}
