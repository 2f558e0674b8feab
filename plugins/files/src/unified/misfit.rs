//! Why a hunk does not fit a file, told so that the next try can be right. Every text goes on after
//! "hunk N". Pure: nothing is read or written.

use crate::closest::{closest, difference};

/// Most places named in one message.
pub(super) const PLACES_NAMED: usize = 10;

/// The old lines stand nowhere: the first that differs, where they come closest.
pub(super) fn nowhere(lines: &[&str], old: &[&str], stated: usize) -> String {
    let at = closest(lines, old, stated).unwrap_or(stated);
    let differs = (0..old.len()).find(|&n| lines.get(at + n) != Some(&old[n])).unwrap_or_default();
    let wanted = old.get(differs).copied().unwrap_or_default();
    let line = at + differs + 1;
    let place = if at == stated {
        String::new()
    } else {
        format!(" line {} as it says, and comes closest at line {}", stated + 1, at + 1)
    };
    match lines.get(at + differs) {
        Some(found) => {
            let shown = difference(found, wanted);
            format!(
                "does not fit{place}: line {line} of the file is {}, the patch has {}{}. Read the file again",
                shown.found, shown.wanted, shown.look_alikes
            )
        }
        None => format!(
            "does not fit{place}: the patch has {}, but line {line} is past the end, the file has {}. Read the file again",
            difference("", wanted).wanted,
            counted(lines.len(), "line")
        ),
    }
}

/// The old lines stand at several places, none of them the stated one.
pub(super) fn several(places: &[usize], stated: usize) -> String {
    let named: Vec<String> =
        places.iter().take(PLACES_NAMED).map(|at| (at + 1).to_string()).collect();
    let more = if places.len() > PLACES_NAMED { ", …" } else { "" };
    format!(
        "does not stand at line {} as it says, but fits at lines {}{more}; correct the line number or add context",
        stated + 1,
        named.join(", ")
    )
}

/// The old lines stand only before the end of the hunk above.
pub(super) fn out_of_order(at: usize) -> String {
    format!(
        "fits only at line {}, before the end of the hunk above it; hunks go from top to bottom and do not overlap",
        at + 1
    )
}

/// A hunk that only adds lines, at a line that is not there or already passed.
pub(super) fn without_lines(lines: &[&str], stated: usize, from: usize) -> String {
    if stated < from {
        return format!(
            "adds lines after line {stated}, before the end of the hunk above it; hunks go from top to bottom and do \
             not overlap"
        );
    }
    format!(
        "adds lines after line {stated}, but the file has {}; correct the line number or add context",
        counted(lines.len(), "line")
    )
}

/// The hunk has the file end where it goes on.
pub(super) fn goes_on(unended: &str, next: &str, at: usize) -> String {
    format!(
        "says that the file ends behind {}, but line {at}, {}, follows; leave the line with the backslash out",
        difference("", unended).wanted,
        difference(next, "").found
    )
}

/// A number of things, in words.
pub(super) fn counted(count: usize, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{ending}")
}
