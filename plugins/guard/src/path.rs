//! Paths as rules see them, however a call spells them.
//!
//! Nothing here looks at a disk: what a link leads to is unknown.

/// Longest path the usual systems open, in bytes (Linux's `PATH_MAX`). Longer texts are no paths.
const LONGEST: usize = 4096;

/// A path without the spellings that lead to the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    /// Parts joined by single slashes, in lower case. Begins with `..` where the path climbs above
    /// its start, never with a slash, and is empty for the start itself.
    pub(crate) text: String,
    /// Whether it began with a slash.
    pub(crate) absolute: bool,
}

impl Path {
    /// Resolves `.` and `..`, doubled, trailing and backward slashes, letter case, the dots, blanks
    /// and `::$DATA` that Windows ignores at the end of a name, characters that file systems ignore,
    /// and look-alikes of dot and slash. Nothing if the result is too long to be a path.
    pub(crate) fn of(spelling: &str) -> Option<Self> {
        let folded = fold(spelling.trim());
        let absolute = folded.starts_with('/');
        let mut parts: Vec<&str> = Vec::new();
        for part in folded.split('/') {
            let name = part.split("::$").next().unwrap_or(part).trim_end_matches(['.', ' ']);
            if part == ".." {
                match parts.last() {
                    Some(&last) if last != ".." => {
                        parts.pop();
                    }
                    _ if absolute => {}
                    _ => parts.push(".."),
                }
            } else if !name.is_empty() {
                parts.push(name);
            }
        }
        let text = parts.join("/");
        (text.len() <= LONGEST).then_some(Self { text, absolute })
    }
}

/// Lower case, as file systems that ignore case compare names.
pub(crate) fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // By way of upper case, since letters like the long s have none of their own below it.
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// The text in one alphabet: case, slashes, look-alikes and what nobody sees. It ends at a NUL, where
/// the systems' own functions stop reading.
fn fold(spelling: &str) -> String {
    let letters = spelling.chars().take_while(|&letter| letter != '\0');
    let plain: String = letters.filter(|&letter| !is_ignored(letter)).map(look_alike).collect();
    fold_case(&plain)
}

/// Characters that take no room: HFS+ ignores most of them in names, readers all.
fn is_ignored(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

fn look_alike(letter: char) -> char {
    match letter {
        '\\' | '\u{ff3c}' | '\u{2044}' | '\u{2215}' | '\u{29f8}' => '/',
        '\u{2024}' | '\u{fe52}' => '.',
        // The full-width forms stand in the order of ASCII.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(letter as u32 - 0xfee0).unwrap_or(letter),
        letter => letter,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(spelling: &str) -> String {
        Path::of(spelling).unwrap().text
    }

    #[test]
    fn one_file_in_many_spellings() {
        for spelling in [
            ".env",
            "./.env",
            "a/../.env",
            "/.env",
            ".ENV",
            ".env/",
            ".\\.env",
            " .env ",
            "a//..//.env",
            ".env.",
            ".env. .",
            "/../../.env",
            ".env\0.txt",
            ".e\u{200b}nv",
            "\u{ff0e}\u{ff45}nv",
            "\u{2024}env",
            "x\u{ff0f}..\u{2215}.env",
            ".env::$DATA",
        ] {
            assert_eq!(text(spelling), ".env", "{spelling:?}");
        }
        assert_eq!(text(".\u{17f}\u{17f}h/config"), ".ssh/config");
    }

    #[test]
    fn different_files_stay_different() {
        for (spelling, wanted) in [
            ("a/.env.local", "a/.env.local"),
            ("../../x/../.env", "../../.env"),
            ("a/../../b", "../b"),
            ("...", ""),
            (".", ""),
            ("Größe/Maß", "grösse/mass"),
        ] {
            assert_eq!(text(spelling), wanted, "{spelling:?}");
        }
        assert!(Path::of("/etc/hosts").unwrap().absolute);
        assert!(!Path::of("etc/hosts").unwrap().absolute);
    }

    #[test]
    fn a_text_too_long_to_be_opened_is_no_path_but_a_long_detour_is() {
        assert_eq!(Path::of(&"x".repeat(LONGEST + 1)), None);
        assert_eq!(text(&format!("{}.env", "./".repeat(LONGEST))), ".env");
    }
}
