//! The paths a text names: it may be a path, a patch of several files, or a command with paths in it.

use crate::glob::Reach;
use crate::path::Path;
use crate::text::{Text, is_command};

/// Arguments whose text goes into a file; what stands in a file is no path, whatever it looks like.
const CONTENTS: &[&str] =
    &["content", "contents", "old_string", "new_string", "old_str", "new_str", "file_text"];

/// How the lines of a patch begin that name a file: unified diffs, git's own, and envelopes that
/// begin with `*** Begin Patch`.
const HEADERS: &[&str] = &[
    "--- ",
    "+++ ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "Index: ",
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// What separates the words of a command, whatever shell or language it is in.
const SEPARATORS: &[char] =
    &['<', '>', '|', ';', '&', '(', ')', '=', ',', '`', '{', '}', '[', ']', '@', ':'];

/// Whether a text is content, and so holds no path unless a rule says so.
pub(crate) fn is_content(text: &Text<'_>) -> bool {
    !text.is_name && CONTENTS.contains(&text.name)
}

/// Whether a text is a patch, by its name or by how it begins.
pub(crate) fn is_patch(text: &Text<'_>) -> bool {
    let start = text.text.trim_start();
    let begins = |mark| start.starts_with(mark);
    text.text.contains('\n')
        && (["patch", "diff"].contains(&text.name)
            || ["--- ", "diff --git ", "Index: ", "*** Begin Patch"].into_iter().any(begins))
}

/// The paths a text names; with `Reach::Wide` also those it might name.
pub(crate) fn paths(text: &Text<'_>, reach: Reach) -> Vec<Path> {
    if is_patch(text) {
        return patched(&text.text, reach);
    }
    if is_command(text.name) && !text.is_name {
        return words(&text.text);
    }
    Path::of(&text.text).into_iter().collect()
}

/// The files a patch touches.
fn patched(patch: &str, reach: Reach) -> Vec<Path> {
    let mut found = Vec::new();
    for line in patch.lines() {
        if let Some(both) = line.strip_prefix("diff --git ") {
            let (old, new) = both.split_once(" b/").unwrap_or((both, both));
            header(old, reach, &mut found);
            header(new, reach, &mut found);
        } else if let Some(name) = HEADERS.iter().find_map(|mark| line.strip_prefix(mark)) {
            header(name, reach, &mut found);
        }
    }
    found.dedup();
    found
}

/// The path of a header line: without time stamp, quotes and git's `a/` or `b/`, which may also be a
/// folder's name; none for the empty file.
fn header(name: &str, reach: Reach, found: &mut Vec<Path>) {
    let name = name.split('\t').next().unwrap_or(name).trim();
    let name = if name.starts_with('"') { unquoted(name) } else { name.to_owned() };
    if name == "/dev/null" {
        return;
    }
    let plain = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    if let Some(plain) = plain {
        found.extend(Path::of(plain));
    }
    if plain.is_none() || reach == Reach::Wide {
        found.extend(Path::of(&name));
    }
}

/// A name as git quotes it: `"\056env"` is `.env`.
fn unquoted(name: &str) -> String {
    let bytes = name.trim_matches('"').as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let octal = bytes.get(at + 1..at + 4).filter(|_| byte == b'\\');
        let code = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(code) = code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            out.push(code);
            at += 4;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Every word of a command, as a path: with its backslashes as slashes, and without them, since to a
/// shell they are nothing.
fn words(command: &str) -> Vec<Path> {
    let mut found = Vec::new();
    for word in command.split(|letter: char| letter.is_whitespace() || SEPARATORS.contains(&letter))
    {
        let word = word.replace(['"', '\''], "");
        found.extend(Path::of(&word).filter(|path| !path.text.is_empty()));
        if word.contains('\\') {
            found.extend(Path::of(&word.replace('\\', "")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, text: &str) -> Vec<String> {
        let text = Text { name, text: text.into(), is_name: false };
        paths(&text, Reach::Narrow).into_iter().map(|path| path.text).collect()
    }

    #[test]
    fn a_patch_names_the_files_of_its_headers() {
        let patch = "--- a/src/x.rs\t2026-01-01\n+++ b/src/x.rs\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ \".env\"\n";
        assert_eq!(named("patch", patch), ["src/x.rs", ".env"]);
        assert_eq!(named("input", patch), ["src/x.rs", ".env"], "whatever its name");
        assert_eq!(named("diff", "+++ \"b/\\056env\"\n"), [".env"]);
        let renamed =
            "diff --git a/x b/.env\nsimilarity index 100%\nrename from x\nrename to .env\n";
        assert_eq!(named("diff", renamed), ["x", ".env", "x", ".env"]);
        let patch = Text { name: "diff", text: "+++ b/x\n".into(), is_name: false };
        let wide: Vec<String> =
            paths(&patch, Reach::Wide).into_iter().map(|path| path.text).collect();
        assert_eq!(wide, ["x", "b/x"], "b may be a folder");
        let envelope = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: .ssh/b\n@@\n-x\n+y\n*** End Patch";
        assert_eq!(named("input", envelope), ["a.rs", ".ssh/b"]);
    }

    #[test]
    fn a_command_names_its_words() {
        assert_eq!(named("command", "cat x>.e\"n\"v"), ["cat", "x", ".env"]);
        assert_eq!(named("argv", "--file=.env"), ["--file", ".env"]);
        assert_eq!(named("code", "open('.env', 'w')"), ["open", ".env", "w"]);
        assert_eq!(named("cmd", "type .\\.env"), ["type", ".env", "..env"]);
        assert_eq!(named("cmd", "cat .e\\nv"), ["cat", ".e/nv", ".env"]);
    }

    #[test]
    fn anything_else_is_a_path_as_a_whole() {
        assert_eq!(named("path", "a b/c"), ["a b/c"]);
        assert_eq!(named("patch", "fixes/one.patch"), ["fixes/one.patch"]);
        assert!(named("data", &"x".repeat(5000)).is_empty());
    }
}
