//! Why a text is not found: the place that comes closest, and what is different there.

use crate::closest::{closest, difference};

/// Likeness from which a line counts as the one that was meant.
const NEAR: f64 = 0.6;

/// Longest line compared letter by letter, in bytes, and how many such comparisons are made: each
/// takes the product of the two lengths.
const COMPARED_BYTES: usize = 400;
const COMPARED_LINES: usize = 5000;

/// A line as a reader sees it who overlooks something.
type View = fn(&str) -> String;

/// How two texts may be the same for a reader and not for a program, from the smallest difference
/// to the largest.
const VIEWS: [(&str, View); 4] = [
    ("line ends: the file mixes both kinds, or lacks the last", str::to_owned),
    ("blanks or indentation", squeezed),
    ("look-alike characters", folded),
    ("upper and lower case", lowered),
];

/// One sentence or two on why `old` does not occur in `text`.
pub(super) fn no_match(text: &str, old: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.lines().collect();
    if text.is_empty() {
        return "old_string does not occur: the file is empty; use write_file".to_owned();
    }
    if wanted.iter().all(|line| is_numbered(line)) {
        return "old_string does not occur: its lines begin with the line numbers read_file shows; leave the numbers and \
                the tab out"
            .to_owned();
    }
    for (what, view) in VIEWS {
        if let Some((at, differs)) = same_but_for(&lines, &wanted, view) {
            return differing(what, at, differs, &lines, &wanted);
        }
    }
    nearest(&lines, &wanted)
}

/// Whether a line begins with a number and a tab.
fn is_numbered(line: &str) -> bool {
    line.split_once('\t').is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// Where the wanted lines stand if both are seen through `view`: the first line of the place, and
/// which of the wanted lines is the first that really differs.
fn same_but_for(lines: &[&str], wanted: &[&str], view: View) -> Option<(usize, usize)> {
    let seen: Vec<String> = wanted.iter().map(|line| view(line)).collect();
    if seen.iter().all(String::is_empty) {
        return None;
    }
    let lines_seen: Vec<String> = lines.iter().map(|line| view(line)).collect();
    // As one text each, since finding a text takes no longer than reading both.
    let text = lines_seen.join("\n");
    let at = text[..text.find(&seen.join("\n"))?].matches('\n').count();
    let differs = (0..wanted.len())
        .find(|&n| !stands_at(n, wanted.len(), lines[at + n], wanted[n]))
        .unwrap_or(wanted.len() - 1);
    Some((at, differs))
}

/// Whether the wanted line number `n` of `count` stands in a line of the file, which may hold more at
/// the first and the last.
fn stands_at(n: usize, count: usize, line: &str, want: &str) -> bool {
    match (n == 0, n + 1 == count) {
        (true, true) => line.contains(want),
        (true, false) => line.ends_with(want),
        (false, true) => line.starts_with(want),
        (false, false) => line == want,
    }
}

/// Without blanks.
fn squeezed(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

/// With typographic characters as the plain ones they look like, and without blanks.
fn folded(line: &str) -> String {
    let plain = |c: char| match c {
        '‘' | '’' | '‚' | '′' => '\'',
        '“' | '”' | '„' | '″' => '"',
        '‐'..='―' | '−' => '-',
        '\u{200b}' | '\u{feff}' => ' ',
        other => other,
    };
    squeezed(&line.chars().map(plain).collect::<String>())
}

/// As folded, and in lower case.
fn lowered(line: &str) -> String {
    folded(line).to_lowercase()
}

fn differing(what: &str, at: usize, differs: usize, lines: &[&str], wanted: &[&str]) -> String {
    let first = at + 1;
    if lines[at + differs] == wanted[differs] {
        return format!(
            "old_string is there at line {first} but for {what}; replace its lines one by one"
        );
    }
    format!(
        "old_string is there at line {first} but for {what}. {}",
        compared(at + differs, lines, wanted[differs])
    )
}

/// The place where most of the wanted lines stand, or the line most like the first wanted one that
/// says something.
fn nearest(lines: &[&str], wanted: &[&str]) -> String {
    let differs_at = |at: usize| {
        (0..wanted.len()).find(|&n| {
            lines.get(at + n).is_none_or(|line| !stands_at(n, wanted.len(), line, wanted[n]))
        })
    };
    let place = closest(lines, wanted, 0).and_then(|at| Some((at, differs_at(at)?)));
    if let Some((at, differs)) = place {
        return format!(
            "old_string does not occur. It comes closest at line {}. {}. Read the file again and copy it exactly",
            at + 1,
            compared(at + differs, lines, wanted[differs])
        );
    }
    let key =
        wanted.iter().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or_default();
    let best = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| (1..=COMPARED_BYTES).contains(&line.trim().len()))
        .take(if key.len() <= COMPARED_BYTES { COMPARED_LINES } else { 0 })
        .map(|(at, line)| (strsim::normalized_damerau_levenshtein(key, line.trim()), at))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
        .filter(|(likeness, _)| *likeness >= NEAR);
    match best {
        Some((_, at)) => {
            let shown = difference(lines[at].trim(), key);
            format!(
                "old_string does not occur. The nearest is line {}: {}; old_string has {}{}. Read the file again and \
                 copy it exactly",
                at + 1,
                shown.found,
                shown.wanted,
                shown.look_alikes
            )
        }
        None => "old_string does not occur, and nothing like it; read the file again".to_owned(),
    }
}

/// A line of the file, by its number from 0, beside the wanted one.
fn compared(at: usize, lines: &[&str], wanted: &str) -> String {
    let Some(line) = lines.get(at) else {
        let wanted = difference("", wanted).wanted;
        return format!("The file ends before line {}, old_string has {wanted}", at + 1);
    };
    let shown = difference(line, wanted);
    format!(
        "Line {} of the file is {}, old_string has {}{}",
        at + 1,
        shown.found,
        shown.wanted,
        shown.look_alikes
    )
}
