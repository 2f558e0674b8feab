//! `edit_file`.

mod reason;

use hermes_plugin_sdk::prelude::*;

use crate::text_file::{self, TextFile};

/// Most line numbers in one message.
const LINES_LISTED: usize = 10;

/// Arguments of `edit_file`.
#[arguments]
pub(crate) struct EditFile {
    /// The file.
    path: String,
    /// The text to replace, exactly as it stands in the file, without line numbers. Must occur once.
    old_string: String,
    /// What to put in its place.
    new_string: String,
    /// Replace every occurrence. Default false.
    #[serde(default)]
    replace_all: bool,
}

/// Replaces text in a file. The old text must match exactly, blanks and indentation included, and
/// occur once unless replace_all is set; if it does not, the answer says where and why. The file's line
/// ends, byte-order mark and permissions stay. UTF-8 files of at most 32 MiB.
#[tool(destructive, path_arguments = ["path"])]
pub(crate) fn edit_file(arguments: EditFile) -> Result<String, Failure> {
    let EditFile { path, old_string, new_string, replace_all } = arguments;
    let file = text_file::read_to_change(&path)?;
    let (text, lines) = edit(&file, &old_string, &new_string, replace_all).map_err(|problem| {
        Failure { message: format!("{path}: {}", problem.message), ..problem }
    })?;
    text_file::write(&path, &file.with_text(&text))?;
    Ok(match lines.len() {
        1 => format!("edited {path} at line {}", listed(&lines)),
        count => format!("edited {path} in {count} places, at lines {}", listed(&lines)),
    })
}

/// The edited text, and the lines where something was replaced.
fn edit(
    file: &TextFile,
    old: &str,
    new: &str,
    replace_all: bool,
) -> Result<(String, Vec<usize>), Failure> {
    if old.is_empty() {
        return Err(Failure::invalid_arguments(
            "old_string is empty; give the text to replace, or use write_file for a whole file",
        ));
    }
    if old == new {
        return Err(Failure::invalid_arguments(
            "old_string and new_string are the same; there is nothing to change",
        ));
    }
    let (old, new) = with_line_ends(&file.text, old, new);
    if old == new {
        return Err(Failure::invalid_arguments(
            "old_string and new_string differ in line ends only, and those of the file are kept; to change them, use \
             write_file",
        ));
    }
    let lines = lines_of(&file.text, &old);
    match (lines.len(), replace_all) {
        (1, false) if overlaps_itself(&file.text, &old) => Err(Failure::conflict(format!(
            "old_string occurs twice from line {} on, the second time beginning within the first; add lines around it to \
             make it unique",
            lines[0]
        ))),
        (0, _) => Err(Failure::conflict(reason::no_match(&file.text, &old))),
        (1, _) | (_, true) => Ok((file.text.replace(&old, &new), lines)),
        (count, false) => Err(Failure::conflict(format!(
            "old_string occurs {count} times, at lines {}; add lines around it to make it unique, or set replace_all",
            listed(&lines)
        ))),
    }
}

/// Whether another `old` begins within the first one, so that two different edits could be meant.
fn overlaps_itself(text: &str, old: &str) -> bool {
    let Some(at) = text.find(old) else { return false };
    let second = at + old.chars().next().map_or(1, char::len_utf8);
    text.get(second..).is_some_and(|rest| rest.contains(old))
}

/// The lines, from 1, where `old` begins.
fn lines_of(text: &str, old: &str) -> Vec<usize> {
    let (mut line, mut seen) = (1, 0);
    let places = text.match_indices(old).map(|(at, _)| {
        line += text[seen..at].matches('\n').count();
        seen = at;
        line
    });
    places.collect()
}

/// The first lines, and a mark where there are more.
fn listed(lines: &[usize]) -> String {
    let mut shown: Vec<String> = lines.iter().take(LINES_LISTED).map(ToString::to_string).collect();
    if lines.len() > LINES_LISTED {
        shown.push("…".into());
    }
    shown.join(", ")
}

/// Both texts with the line ends of the file: a model sees lines, not how they end. Where the file
/// mixes both kinds, an exact match is left as it is.
fn with_line_ends(text: &str, old: &str, new: &str) -> (String, String) {
    let crlf = text.matches("\r\n").count();
    let lf = text.matches('\n').count() - crlf;
    let plain = |text: &str| text.replace("\r\n", "\n");
    let returned = |text: &str| plain(text).replace('\n', "\r\n");
    match (crlf, lf) {
        (0, 0) => (old.to_owned(), new.to_owned()),
        (_, 0) => (returned(old), returned(new)),
        (0, _) => (plain(old), plain(new)),
        _ if text.contains(old) => (old.to_owned(), new.to_owned()),
        _ if text.contains(&returned(old)) => (returned(old), returned(new)),
        _ => (plain(old), plain(new)),
    }
}

#[cfg(test)]
mod tests;
