//! `patch`: a unified diff over one or several files, all of it or nothing.

mod apply;
mod misfit;
mod name;
mod parse;

use std::path::{Path, PathBuf};

use hermes_plugin_sdk::prelude::*;

use crate::granted;
use crate::path::missing;
use crate::text_file::{self, BOM, TextFile};
use parse::{FilePatch, Hunk, parse};

/// Arguments of `patch`.
#[arguments]
pub(crate) struct Patch {
    /// The file, where the patch has no --- and +++ lines, or names it otherwise.
    #[serde(default)]
    path: Option<String>,
    /// A unified diff: --- and +++ lines, then @@ hunks with a blank, - or + before each line. /dev/null as the old
    /// file creates one, as the new file deletes it.
    patch: String,
}

/// Applies a unified diff. Context and removed lines must match the files exactly; line numbers may
/// be off if the place is the only one. Line ends stay as they are in the file. Nothing is changed unless every hunk of every file applies; if
/// one does not, the answer names the first line that differs. Text only: no renames, modes or
/// binaries.
#[tool(destructive, path_arguments = ["path"])]
pub(crate) fn patch(arguments: Patch) -> Result<String, Failure> {
    let mut files = parse(&arguments.patch).map_err(Failure::invalid_arguments)?;
    if let Some(path) = arguments.path {
        let [file] = files.as_mut_slice() else {
            return Err(Failure::invalid_arguments(format!(
                "path is given, but the patch is about {} files; leave path out",
                files.len()
            )));
        };
        file.retarget(path);
    }
    check_names(&files)?;
    let changes = files.iter().map(plan).collect::<Result<Vec<Change>, Failure>>()?;
    carry_out(&changes)?;
    Ok(changes.iter().map(|change| change.said.clone()).collect::<Vec<_>>().join("\n"))
}

/// Refuses a patch whose sections get in each other's way, or that would move a file.
fn check_names(files: &[FilePatch]) -> Result<(), Failure> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for file in files {
        if let (Some(old), Some(new)) = (&file.old, &file.new)
            && old != new
        {
            return Err(Failure::invalid_arguments(format!(
                "the patch has {old} before and {new} after; files are not renamed here: give path, or name one file on \
                 both sides"
            )));
        }
        let path = granted::plain(Path::new(file.path()));
        if seen.contains(&path) {
            return Err(Failure::invalid_arguments(format!(
                "the patch has {} twice; put all its hunks below one pair of --- and +++ lines",
                file.path()
            )));
        }
        seen.push(path);
    }
    Ok(())
}

/// What is to happen to one file.
struct Change {
    path: String,
    /// The whole content before; nothing if the file is new.
    before: Option<String>,
    /// The whole content after; nothing if the file goes.
    after: Option<String>,
    said: String,
}

/// Works out what a file would become, without touching it.
fn plan(file: &FilePatch) -> Result<Change, Failure> {
    let path = file.path().to_owned();
    let of_file = |what: String| Failure::conflict(format!("{path}: {what}"));
    let old = match &file.old {
        Some(_) => Some(to_patch(&path, &file.hunks)?),
        None if std::fs::symlink_metadata(&path).is_ok() => {
            return Err(of_file("the patch creates it, but it is there already".into()));
        }
        None => None,
    };
    let empty = TextFile { text: String::new(), bom: false, lossy: false };
    let before = old.as_ref().unwrap_or(&empty);
    let applied = apply::apply(before, &file.hunks).map_err(of_file)?;
    let hunks = misfit::counted(file.hunks.len(), "hunk");
    let (after, said) = match (&file.new, &old) {
        (None, _) if !applied.text.is_empty() => {
            return Err(of_file(
                "the patch deletes it, but leaves text in it; its hunks must remove every line"
                    .into(),
            ));
        }
        (None, _) => (None, format!("deleted {path}")),
        (Some(_), None) => (Some(applied.text), format!("created {path}")),
        (Some(_), Some(_)) if applied.text == before.text => {
            return Err(of_file(
                "the patch changes nothing in it; line ends stay as they are in the file".into(),
            ));
        }
        (Some(_), Some(_)) => {
            let moved = applied
                .moved
                .iter()
                .map(|(hunk, line)| format!("; hunk {hunk} applied at line {line}"));
            let said = format!("patched {path}: {hunks}{}", moved.collect::<String>());
            (Some(before.with_text(&applied.text)), said)
        }
    };
    let before = old.map(|old| old.with_text(&old.text));
    Ok(Change { path, before, after, said })
}

/// The file a patch is about. git's diffs have a byte-order mark as part of the first line, those of
/// others do not: where the hunks have one, so has the text.
fn to_patch(path: &str, hunks: &[Hunk]) -> Result<TextFile, Failure> {
    let file = text_file::read_to_change(path)?;
    let has_mark = |hunk: &Hunk| hunk.lines.iter().any(|line| line.text.starts_with(BOM));
    if !file.bom || !hunks.iter().any(has_mark) {
        return Ok(file);
    }
    Ok(TextFile { text: file.with_text(&file.text), bom: false, lossy: false })
}

/// Makes every change; if one fails, those made before it are taken back.
fn carry_out(changes: &[Change]) -> Result<(), Failure> {
    for (at, change) in changes.iter().enumerate() {
        let Err(failure) = put(&change.path, change.after.as_deref()) else { continue };
        let stuck: Vec<&str> = changes[..at]
            .iter()
            .rev()
            .filter(|done| put(&done.path, done.before.as_deref()).is_err())
            .map(|done| done.path.as_str())
            .collect();
        let message = match stuck.as_slice() {
            [] => format!("{}; no file was changed", failure.message),
            stuck => {
                format!("{}; these could not be put back: {}", failure.message, stuck.join(", "))
            }
        };
        return Err(Failure { message, ..failure });
    }
    Ok(())
}

fn put(path: &str, content: Option<&str>) -> Result<(), Failure> {
    match content {
        Some(content) => text_file::write(path, content),
        None if std::fs::metadata(path).is_err() => Err(missing(path)),
        None => text_file::remove(path),
    }
}

#[cfg(test)]
mod tests;
