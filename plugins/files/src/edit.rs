//! `edit_file`.

mod reason;

use hermes_plugin_sdk::prelude::*;

use crate::text_file::{self, TextFile};

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
/// occur once unless replace_all is set. Line ends of the file are kept.
#[tool(destructive, path_arguments = ["path"])]
pub(crate) fn edit_file(arguments: EditFile) -> Result<String, Failure> {
    let EditFile { path, old_string, new_string, replace_all } = arguments;
    let file = text_file::read_to_change(&path)?;
    let (text, lines) = edit(&file, &old_string, &new_string, replace_all).map_err(|problem| {
        Failure { message: format!("{path}: {}", problem.message), ..problem }
    })?;
    text_file::write(&path, &file.with_text(&text))?;
    let places = lines.iter().take(10).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Ok(match lines.len() {
        1 => format!("edited {path} at line {places}"),
        count => format!("edited {path} in {count} places, at lines {places}"),
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
    // A model sees lines, not how they end.
    let adapt = |text: &str| match file.is_crlf() {
        true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => text.to_owned(),
    };
    let (old, new) = (adapt(old), adapt(new));
    let places: Vec<usize> = file.text.match_indices(&old).map(|(at, _)| at).collect();
    let line_of = |at: &usize| file.text[..*at].matches('\n').count() + 1;
    let lines: Vec<usize> = places.iter().map(line_of).collect();
    match (places.len(), replace_all) {
        (0, _) => Err(Failure::conflict(reason::no_match(&file.text, &old))),
        (1, _) | (_, true) => Ok((file.text.replace(&old, &new), lines)),
        (count, false) => {
            let shown =
                lines.iter().take(10).map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Err(Failure::conflict(format!(
                "old_string occurs {count} times, at lines {shown}; add lines around it to make it unique, or set \
                 replace_all"
            )))
        }
    }
}

#[cfg(test)]
mod tests;
