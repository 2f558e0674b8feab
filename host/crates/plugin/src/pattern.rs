//! Patterns that can be intersected exactly: a sequence of words with wildcards, used for the
//! arguments of a process and for the segments of a URL's path.
//!
//! They are poorer than globs on purpose. What two of them allow together is again one of them, so
//! "request and grant" has an answer that can be shown, stored and tested.

use std::collections::BTreeSet;

/// A sequence of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    words: Vec<Word>,
    /// Whether any number of further words may follow.
    open: bool,
}

/// What stands at one place of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    /// Any one word.
    Any,
    /// One of these; never empty.
    OneOf(BTreeSet<String>),
}

impl Words {
    /// Arguments of a process: each a literal, alternatives `a|b`, or `*` for any one argument; a
    /// `*` at the end stands for any number of them. The program is never a wildcard.
    ///
    /// # Errors
    /// The text says what to write instead.
    pub fn from_argv<'a>(argv: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut words = argv.into_iter().map(argument).collect::<Result<Vec<_>, _>>()?;
        match words.first() {
            None => return Err("must name a program, as \"git\"".into()),
            Some(Word::Any) => return Err("must name its program; `*` may only follow it".into()),
            Some(Word::OneOf(_)) => {}
        }
        let open = words.last() == Some(&Word::Any);
        if open {
            words.pop();
        }
        Ok(Self { words, open })
    }

    /// The path of a URL: `/`-separated segments, each a literal or `*` for any one segment; a
    /// `**` at the end stands for any number of them.
    ///
    /// # Errors
    /// The text says what to write instead.
    pub fn from_path(path: &str) -> Result<Self, String> {
        let relative = path.strip_prefix('/').ok_or("must start with /")?;
        let mut segments: Vec<&str> = relative.split('/').collect();
        let open = segments.last() == Some(&"**");
        if open {
            segments.pop();
        }
        let last = segments.len().saturating_sub(1);
        let words = segments
            .iter()
            .enumerate()
            .map(|(n, text)| segment(text, n == last && !open))
            .collect::<Result<_, _>>()?;
        Ok(Self { words, open })
    }

    /// Whether a sequence fits.
    pub fn matches(&self, sequence: &[&str]) -> bool {
        let long_enough = sequence.len() >= self.words.len();
        long_enough
            && (self.open || sequence.len() == self.words.len())
            && self.words.iter().zip(sequence).all(|(word, text)| match word {
                Word::Any => true,
                Word::OneOf(texts) => texts.contains(*text),
            })
    }

    /// What fits both; `None` if nothing can.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let length = self.words.len().max(other.words.len());
        let words = (0..length)
            .map(|n| match (self.words.get(n), other.words.get(n)) {
                (Some(one), Some(two)) => one.intersect(two),
                (Some(word), None) if other.open => Some(word.clone()),
                (None, Some(word)) if self.open => Some(word.clone()),
                _ => None,
            })
            .collect::<Option<_>>()?;
        Some(Self { words, open: self.open && other.open })
    }

    /// As arguments, space separated.
    pub fn to_argv(&self) -> String {
        let tail = self.open.then(|| "*".to_owned());
        self.words.iter().map(Word::to_text).chain(tail).collect::<Vec<_>>().join(" ")
    }

    /// As a path.
    pub fn to_path(&self) -> String {
        let tail = self.open.then(|| "**".to_owned());
        let segments: Vec<_> = self.words.iter().map(Word::to_text).chain(tail).collect();
        format!("/{}", segments.join("/"))
    }

    /// Every sequence: the path `/**`.
    pub(crate) fn everything() -> Self {
        Self { words: Vec::new(), open: true }
    }

    /// Whether it is the path `/**`, which every path fits.
    pub(crate) fn is_everything(&self) -> bool {
        self.open && self.words.is_empty()
    }
}

impl Word {
    fn intersect(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Word::Any, word) | (word, Word::Any) => Some(word.clone()),
            (Word::OneOf(one), Word::OneOf(two)) => {
                let both: BTreeSet<_> = one.intersection(two).cloned().collect();
                (!both.is_empty()).then_some(Word::OneOf(both))
            }
        }
    }

    fn to_text(&self) -> String {
        match self {
            Word::Any => "*".into(),
            Word::OneOf(texts) => texts.iter().map(String::as_str).collect::<Vec<_>>().join("|"),
        }
    }
}

fn argument(text: &str) -> Result<Word, String> {
    if text == "*" {
        return Ok(Word::Any);
    }
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("must hold no spaces; write * for an argument that does".into());
    }
    if text.contains('*') {
        return Err("must use * only as a whole argument".into());
    }
    let texts: BTreeSet<String> = text.split('|').map(str::to_owned).collect();
    if texts.contains("") {
        return Err("must not be empty; write a literal, a|b, or *".into());
    }
    Ok(Word::OneOf(texts))
}

/// One segment of a path; only the last may be empty, as in `/repos/`.
fn segment(text: &str, may_be_empty: bool) -> Result<Word, String> {
    if text == "*" {
        return Ok(Word::Any);
    }
    if text.contains('*') {
        return Err("must use * only as a whole segment, and ** only as the last".into());
    }
    if text.is_empty() && !may_be_empty {
        return Err("must not hold an empty segment (//)".into());
    }
    if text == "." || text == ".." {
        return Err("must be a normal path, without . and ..".into());
    }
    // What RFC 3986 allows in a segment, less the `*` handled above.
    let legal = |c: char| c.is_ascii_alphanumeric() || "-._~%!$&'()+,;=:@".contains(c);
    if let Some(c) = text.chars().find(|c| !legal(*c)) {
        return Err(format!("must not hold {c:?}; percent-encode it"));
    }
    Ok(Word::OneOf(BTreeSet::from([text.to_owned()])))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn argv(text: &str) -> Words {
        Words::from_argv(text.split(' ')).unwrap()
    }

    #[test]
    fn argument_patterns_say_what_may_run() {
        let git = argv("git status|diff *");
        assert!(git.matches(&["git", "status"]));
        assert!(git.matches(&["git", "diff", "--stat", "HEAD"]));
        assert!(!git.matches(&["git", "push"]));
        assert!(!git.matches(&["git"]));
        assert!(argv("make").matches(&["make"]));
        assert!(!argv("make").matches(&["make", "all"]));
        assert!(!argv("cp * /tmp").matches(&["cp", "/tmp"]));
    }

    #[test]
    fn path_patterns_match_whole_segments() {
        let path = |text: &str| Words::from_path(text).unwrap();
        assert!(path("/**").matches(&[""]) && path("/**").matches(&["a", "b"]));
        assert!(path("/repos/*/issues").matches(&["repos", "x", "issues"]));
        assert!(!path("/repos/*/issues").matches(&["repos", "x", "y", "issues"]));
        assert!(path("/repos/**").matches(&["repos"]));
        assert!(!path("/repos/**").matches(&["repository"]));
        assert!(path("/").matches(&[""]) && !path("/").matches(&["a"]));
    }

    #[test]
    fn bad_patterns_are_refused_with_what_to_write() {
        for (argv, expected) in [
            (vec![], "must name a program, as \"git\""),
            (vec!["*"], "must name its program; `*` may only follow it"),
            (vec!["git", "a b"], "must hold no spaces; write * for an argument that does"),
            (vec!["git", "st*"], "must use * only as a whole argument"),
            (vec!["git", "a||b"], "must not be empty; write a literal, a|b, or *"),
            (vec![""], "must not be empty; write a literal, a|b, or *"),
        ] {
            assert_eq!(Words::from_argv(argv).unwrap_err(), expected);
        }
        for (path, expected) in [
            ("repos", "must start with /"),
            ("/re*", "must use * only as a whole segment, and ** only as the last"),
            ("/**/x", "must use * only as a whole segment, and ** only as the last"),
            ("/a//b", "must not hold an empty segment (//)"),
            ("/a/../b", "must be a normal path, without . and .."),
            ("/a b", "must not hold ' '; percent-encode it"),
            ("/a?b", "must not hold '?'; percent-encode it"),
        ] {
            assert_eq!(Words::from_path(path).unwrap_err(), expected, "{path}");
        }
    }

    fn word() -> impl Strategy<Value = &'static str> {
        prop_oneof![Just("a"), Just("b"), Just("a|b"), Just("b|c"), Just("*")]
    }

    fn pattern() -> impl Strategy<Value = Words> {
        (prop_oneof![Just("a"), Just("a|b")], prop::collection::vec(word(), 0..4))
            .prop_map(|(first, rest)| Words::from_argv(std::iter::once(first).chain(rest)).unwrap())
    }

    fn sequence() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop_oneof![Just("a"), Just("b"), Just("c")], 0..6)
    }

    proptest! {
        #[test]
        fn an_intersection_is_what_both_allow(one in pattern(), two in pattern(), seq in sequence()) {
            let both = one.intersect(&two);
            prop_assert_eq!(
                both.is_some_and(|both| both.matches(&seq)),
                one.matches(&seq) && two.matches(&seq)
            );
        }

        #[test]
        fn an_intersection_can_be_written_and_read_again(one in pattern(), two in pattern()) {
            if let Some(both) = one.intersect(&two) {
                prop_assert_eq!(Words::from_argv(both.to_argv().split(' ')).unwrap(), both);
            }
        }

        #[test]
        fn paths_can_be_written_and_read_again(path in "(/([a-c]{1,2}|\\*)){0,3}(/|/\\*\\*|/x)") {
            let words = Words::from_path(&path).unwrap();
            prop_assert_eq!(words.to_path(), path);
        }
    }
}
