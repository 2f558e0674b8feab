//! The part of a text that shows what was found in it. Pure.

use std::ops::Range;

/// Longest snippet in characters: two or three lines of a terminal.
const CHARS: usize = 200;

/// How much of it stands before the first thing found, in characters.
const LEAD: usize = 40;

/// The part of `text` with the most of what was found, and where that is in it. `places` are
/// ordered and do not overlap; each has the number of the term it belongs to.
pub(crate) fn snippet(text: &str, places: &[(usize, Range<usize>)]) -> (String, Vec<Range<usize>>) {
    let whole = forth(text, 0, CHARS) == text.len();
    let best = best(text, places).filter(|_| !whole);
    let start = best.map_or(0, |first| back(text, first, LEAD));
    let end = forth(text, start, CHARS);
    let mut out = String::new();
    let mut marks = Vec::new();
    if start > 0 {
        out.push('…');
    }
    let mut inside = places.iter().map(|(_, place)| place).skip_while(|place| place.start < start);
    let mut next = inside.next();
    let mut open = None;
    for (at, c) in text[start..end].char_indices().map(|(at, c)| (start + at, c)) {
        if let Some(place) = next
            && at >= place.end
        {
            marks.extend(open.take().map(|open| open..out.len()));
            next = inside.next();
        }
        if next.is_some_and(|place| place.start == at) {
            open = Some(out.len());
        }
        push(&mut out, c);
    }
    marks.extend(open.map(|open| open..out.len()));
    if end < text.len() {
        out.push('…');
    }
    (out, marks)
}

/// Where the stretch begins that has the most different terms.
fn best(text: &str, places: &[(usize, Range<usize>)]) -> Option<usize> {
    let terms_from = |n: usize| {
        let end = forth(text, places[n].1.start, CHARS - LEAD);
        let near = places[n..].iter().take_while(|(_, place)| place.end <= end);
        let mut terms: Vec<usize> = near.map(|(term, _)| *term).collect();
        terms.sort_unstable();
        terms.dedup();
        terms.len()
    };
    // Of equals the first: `max_by_key` takes the last.
    let all = (0..places.len()).rev().max_by_key(|n| terms_from(*n));
    all.map(|n| places[n].1.start)
}

/// `chars` characters before `at`, or less where a word would be cut.
fn back(text: &str, at: usize, chars: usize) -> usize {
    let before = &text[..at];
    let Some((start, _)) = before.char_indices().rev().nth(chars) else { return 0 };
    let space = before[start..].find(char::is_whitespace);
    space.map_or(start, |space| {
        let space = start + space;
        space + before[space..].chars().next().map_or(0, char::len_utf8)
    })
}

fn forth(text: &str, at: usize, chars: usize) -> usize {
    text[at..].char_indices().nth(chars).map_or(text.len(), |(length, _)| at + length)
}

/// Adds a character in the form in which it is one line and harmless on a terminal.
fn push(out: &mut String, c: char) {
    let turns =
        matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    if c.is_whitespace() || c.is_control() || turns {
        if !out.ends_with(' ') {
            out.push(' ');
        }
    } else {
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The snippet with its marks as brackets.
    fn shown(text: &str, places: &[(usize, Range<usize>)]) -> String {
        let (mut out, marks) = snippet(text, places);
        for mark in marks.iter().rev() {
            out.insert(mark.end, ']');
            out.insert(mark.start, '[');
        }
        out
    }

    #[test]
    fn a_short_text_is_shown_whole_and_in_one_line() {
        assert_eq!(shown("a\n\tbig\u{1b}[0m\ncat", &[(0, 3..6), (1, 11..14)]), "a [big] [0m [cat]");
        assert_eq!(shown("", &[]), "");
        assert_eq!(shown("nothing found", &[]), "nothing found");
    }

    #[test]
    fn the_stretch_with_most_terms_is_shown() {
        let text = format!("one {}one two{}", "- ".repeat(300), " -".repeat(300));
        let two = text.find("two").expect("it is there");
        let places = [(0, 0..3), (0, two - 4..two - 1), (1, two..two + 3)];
        let lead = "- ".repeat(20);
        let tail = " -".repeat(76) + " ";
        assert_eq!(shown(&text, &places), format!("…{lead}[one] [two]{tail}…"));
    }

    #[test]
    fn marks_stand_at_characters_of_any_width() {
        let text = "前の".repeat(100) + "猫だ" + &"後".repeat(300);
        let cat = text.find('猫').expect("it is there");
        let (out, marks) = snippet(&text, &[(0, cat..cat + 3)]);
        assert_eq!(marks.iter().map(|mark| &out[mark.clone()]).collect::<Vec<_>>(), ["猫"]);
        assert_eq!(out.chars().count(), 202);
    }
}
