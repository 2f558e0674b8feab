//! Applying hunks to a text. Pure: nothing is read or written.

use super::misfit;
use super::parse::{Hunk, Kind, Line};
use crate::text_file::TextFile;

/// A text after its hunks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Applied {
    pub(super) text: String,
    /// Hunks that applied elsewhere than their header says: number of the hunk and the line, from 1.
    pub(super) moved: Vec<(usize, usize)>,
}

/// The text with every hunk applied, in order.
///
/// # Errors
/// The first hunk that does not fit, and at which line of the text what differs.
pub(super) fn apply(file: &TextFile, hunks: &[Hunk]) -> Result<Applied, String> {
    let end = if file.is_crlf() { "\r\n" } else { "\n" };
    let lines: Vec<&str> = file.text.split_inclusive('\n').collect();
    let bare: Vec<&str> = lines.iter().map(|line| line.trim_end_matches(['\n', '\r'])).collect();
    let mut out = String::new();
    let mut moved = Vec::new();
    let mut from = 0;
    for (number, hunk) in hunks.iter().enumerate() {
        let problem = |why: String| format!("hunk {} {why}", number + 1);
        let old: Vec<&str> =
            side(hunk, Kind::Added).map(|line| line.text.trim_end_matches('\r')).collect();
        let stated = if old.is_empty() { hunk.line } else { hunk.line.saturating_sub(1) };
        let at = place(&bare, &old, stated, from).map_err(problem)?;
        if at != stated {
            moved.push((number + 1, at + 1));
        }
        out.extend(lines[from..at].iter().copied());
        push_new(&mut out, hunk, &lines[at..at + old.len()], end);
        from = at + old.len();
        if from == lines.len() {
            keep_unended(&mut out, file, hunk, end);
        } else {
            check_no_end(hunk, bare[from], from + 1).map_err(problem)?;
        }
    }
    out.extend(lines[from..].iter().copied());
    Ok(Applied { text: out, moved })
}

/// The lines of one side of a hunk: all but those of the other side.
fn side(hunk: &Hunk, other: Kind) -> impl Iterator<Item = &Line> {
    hunk.lines.iter().filter(move |line| line.kind != other)
}

/// Where the old lines stand: as stated, or at the only other place after the hunk before.
fn place(lines: &[&str], old: &[&str], stated: usize, from: usize) -> Result<usize, String> {
    if stated >= from && lines.get(stated..stated + old.len()) == Some(old) {
        return Ok(stated);
    }
    if old.is_empty() {
        return Err(misfit::without_lines(lines, stated, from));
    }
    match places(&lines[from..], old).as_slice() {
        [place] => Ok(from + place),
        [] => Err(match places(lines, old).last() {
            Some(&at) => misfit::out_of_order(at),
            None => misfit::nowhere(lines, old, stated),
        }),
        places => {
            let places: Vec<usize> = places.iter().map(|place| from + place).collect();
            Err(misfit::several(&places, stated))
        }
    }
}

/// The first places, from 0, where the wanted lines stand. Both are searched as one text, since finding
/// a text takes no longer than reading both, however alike its lines are.
fn places(lines: &[&str], wanted: &[&str]) -> Vec<usize> {
    let framed = |lines: &[&str]| {
        let mut text = String::from("\n");
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    };
    let (text, wanted) = (framed(lines), framed(wanted));
    let (mut places, mut at, mut line) = (Vec::new(), 0, 0);
    while places.len() <= misfit::PLACES_NAMED
        && let Some(found) = text[at..].find(&wanted)
    {
        line += text[at..at + found].matches('\n').count();
        places.push(line);
        // The line end in front of a place is one, and the next place may begin within this one.
        at += found + 1;
        line += 1;
    }
    places
}

/// The new lines. Context keeps the line ends it has in the file; added lines get the file's own.
fn push_new(out: &mut String, hunk: &Hunk, old: &[&str], end: &str) {
    let mut old = old.iter();
    for line in &hunk.lines {
        match line.kind {
            Kind::Removed => {
                old.next();
            }
            Kind::Context => {
                let kept = old.next().copied().unwrap_or_default();
                unite(out, end);
                out.push_str(kept);
            }
            Kind::Added => {
                unite(out, end);
                out.push_str(line.text.trim_end_matches('\r'));
                if !line.unended {
                    out.push_str(end);
                }
            }
        }
    }
}

/// A line that follows one without a line end begins a line of its own.
fn unite(out: &mut String, end: &str) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(end);
    }
}

/// A file that lacks the last line end goes on lacking it where the hunk at its end does not speak of
/// it: `diff` always would, so whoever wrote the hunk overlooked it.
fn keep_unended(out: &mut String, file: &TextFile, hunk: &Hunk, end: &str) {
    let is_unended = !file.text.is_empty() && !file.text.ends_with('\n');
    if is_unended && !hunk.lines.iter().any(|line| line.unended) && out.ends_with(end) {
        out.truncate(out.len() - end.len());
    }
}

/// Refuses a hunk that has the file end where it goes on: its last line would run into the next one.
fn check_no_end(hunk: &Hunk, next: &str, at: usize) -> Result<(), String> {
    match hunk.lines.iter().find(|line| line.unended) {
        Some(line) => Err(misfit::goes_on(&line.text, next, at)),
        None => Ok(()),
    }
}
