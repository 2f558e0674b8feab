//! Where some lines that stand nowhere in a file come closest to it, and how to quote two lines so
//! that their difference is seen. Pure: nothing is read or written.

/// Longest line quoted whole, in characters, and how many stand before the difference in a longer one.
const QUOTED_CHARS: usize = 160;
const BEFORE_DIFFERENCE: usize = 60;

/// Most pairs of lines compared; in the sandbox some tenth of a second.
const COMPARISONS: usize = 20_000_000;

/// The first line, from 0, of the place where most of the wanted lines stand as wanted but for blanks
/// around them; the nearest to `near` where several are as good. Nothing if no line stands anywhere.
pub(crate) fn closest(lines: &[&str], wanted: &[&str], near: usize) -> Option<usize> {
    let compared = (COMPARISONS / lines.len().max(1)).max(1);
    let trimmed: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    let wanted: Vec<&str> = wanted.iter().take(compared).map(|line| line.trim()).collect();
    let alike = |at: usize| {
        let pairs = wanted.iter().zip(&trimmed[at..]);
        pairs.filter(|(want, line)| !want.is_empty() && want == line).count()
    };
    let best = (0..lines.len()).map(|at| (alike(at), at)).filter(|(count, _)| *count > 0);
    best.max_by_key(|&(count, at)| (count, std::cmp::Reverse(at.abs_diff(near)))).map(|(_, at)| at)
}

/// Two lines that differ, quoted with their blanks visible.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The line of the file, or its part around the difference.
    pub(crate) found: String,
    /// The same of the line that was wanted.
    pub(crate) wanted: String,
    /// Which characters differ, where a reader could take one for the other; else empty.
    pub(crate) look_alikes: String,
}

/// Quotes a line of the file and the one that was wanted in its place.
pub(crate) fn difference(found: &str, wanted: &str) -> Difference {
    let same = found.chars().zip(wanted.chars()).take_while(|(a, b)| a == b).count();
    let (in_found, in_wanted) = (found.chars().nth(same), wanted.chars().nth(same));
    let is_exotic = |c: Option<char>| c.is_some_and(|c| !c.is_ascii());
    let look_alikes = if is_exotic(in_found) || is_exotic(in_wanted) {
        let (found, wanted) = (code_point(in_found), code_point(in_wanted));
        format!(" (character {}: {found} in the file, {wanted} wanted)", same + 1)
    } else {
        String::new()
    };
    Difference { found: quoted(found, same), wanted: quoted(wanted, same), look_alikes }
}

fn code_point(c: Option<char>) -> String {
    c.map_or_else(|| "the end".to_owned(), |c| format!("U+{:04X}", u32::from(c)))
}

/// A line, or of a long one the part around the character number `at`.
fn quoted(line: &str, at: usize) -> String {
    if line.chars().nth(QUOTED_CHARS).is_none() {
        return format!("{line:?}");
    }
    let first = at.saturating_sub(BEFORE_DIFFERENCE);
    let part: String = line.chars().skip(first).take(QUOTED_CHARS).collect();
    let before = if first > 0 { "…" } else { "" };
    let after = if line.chars().nth(first + QUOTED_CHARS).is_some() { "…" } else { "" };
    format!("{before}{part:?}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_with_most_wanted_lines_is_the_closest() {
        let lines = ["a", "b", "", "a", "  b", "c"];
        assert_eq!(closest(&lines, &["a", "b", "c"], 0), Some(3));
        assert_eq!(closest(&lines, &["a", "x"], 0), Some(0));
        assert_eq!(closest(&lines, &["a", "x"], 4), Some(3));
        assert_eq!(closest(&lines, &["x", "c"], 0), Some(4));
        assert_eq!(closest(&lines, &["x", ""], 0), None);
        assert_eq!(closest(&[], &["x"], 0), None);
    }

    #[test]
    fn a_difference_is_seen_in_long_lines_and_in_look_alikes() {
        let plain = |found: &str, wanted: &str| Difference {
            found: found.into(),
            wanted: wanted.into(),
            look_alikes: String::new(),
        };
        assert_eq!(difference("\ta", "a"), plain("\"\\ta\"", "\"a\""));
        let (long, short) = (format!("{}b{}", "a".repeat(100), "c".repeat(200)), "a".repeat(100));
        let around = format!("…\"{}b{}\"…", "a".repeat(60), "c".repeat(99));
        assert_eq!(difference(&long, &short), plain(&around, &format!("{short:?}")));
        assert_eq!(
            difference("р", "p").look_alikes,
            " (character 1: U+0440 in the file, U+0070 wanted)"
        );
        assert_eq!(
            difference("a", "a\u{200b}").look_alikes,
            " (character 2: the end in the file, U+200B wanted)"
        );
    }
}
