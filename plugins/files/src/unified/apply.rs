//! Applying hunks to a text. Pure: nothing is read or written.

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
        let old: Vec<&str> =
            side(hunk, Kind::Added).map(|line| line.text.trim_end_matches('\r')).collect();
        let stated = if old.is_empty() { hunk.line } else { hunk.line.saturating_sub(1) };
        let at = place(&bare, &old, stated, from)
            .ok_or_else(|| misfit(number + 1, &bare, &old, stated))?;
        if at != stated {
            moved.push((number + 1, at + 1));
        }
        out.extend(lines[from..at].iter().copied());
        push_new(&mut out, hunk, &lines[at..at + old.len()], end);
        from = at + old.len();
    }
    out.extend(lines[from..].iter().copied());
    Ok(Applied { text: out, moved })
}

/// The lines of one side of a hunk: all but those of the other side.
fn side(hunk: &Hunk, other: Kind) -> impl Iterator<Item = &Line> {
    hunk.lines.iter().filter(move |line| line.kind != other)
}

/// Where the old lines stand: as stated, or at the only other place after the hunk before.
fn place(lines: &[&str], old: &[&str], stated: usize, from: usize) -> Option<usize> {
    let fits = |at: usize| lines.get(at..at + old.len()) == Some(old);
    if stated >= from && fits(stated) {
        return Some(stated);
    }
    if old.is_empty() {
        return None;
    }
    let mut places = (from..=lines.len().checked_sub(old.len())?).filter(|&at| fits(at));
    let first = places.next()?;
    places.next().is_none().then_some(first)
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

fn misfit(number: usize, lines: &[&str], old: &[&str], stated: usize) -> String {
    let differs = (0..old.len()).find(|&n| lines.get(stated + n) != Some(&old[n])).unwrap_or(0);
    let wanted = old.get(differs).copied().unwrap_or_default();
    let at = stated + differs + 1;
    let found = match lines.get(stated + differs) {
        Some(line) => format!("has {line:?}"),
        None => format!("is past the end, the file has {} lines", lines.len()),
    };
    format!(
        "hunk {number} does not fit: the patch has {wanted:?}, line {at} of the file {found}. Its lines do not stand \
         together at exactly one other place either; read the file again"
    )
}
