//! Text of others made fit for a terminal: no control character reaches it, and cuts fall between
//! what a reader sees as characters, counted in columns.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// `text` without characters that command a terminal or hide other text: controls other than line
/// ends and tabs, and marks that reverse reading direction.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if commands(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn commands(c: char) -> bool {
    let directional = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || directional
}

/// One line of at most `max` columns, with an ellipsis where something was left out.
pub(crate) fn columns(text: &str, max: usize) -> String {
    let line = printable(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.width() <= max {
        return line;
    }
    let mut out = String::new();
    let mut width = 0;
    for grapheme in line.graphemes(true) {
        width += grapheme.width();
        if width + 1 > max {
            break;
        }
        out.push_str(grapheme);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_commands_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\r\nc\td\u{202e}"), "a\u{fffd}[2Jb\u{fffd}\nc\td\u{fffd}");
    }

    #[test]
    fn b140_cuts_fall_between_graphemes_and_count_columns() {
        let text = "é".repeat(60) + &"世".repeat(60) + &"👩\u{200d}💻".repeat(50) + "\u{202f}";
        for shift in 0..8 {
            let text: String = text.chars().skip(shift).collect();
            for max in 0..200 {
                let cut = columns(&text, max);
                assert!(cut.width() <= max.max(1), "{max}: {cut}");
                assert!(!cut.contains("👩…") && !cut.contains("\u{200d}…"));
            }
        }
        assert_eq!(columns("世界世界", 5), "世界…");
        assert_eq!(columns("a\n  b", 10), "a b");
    }
}
