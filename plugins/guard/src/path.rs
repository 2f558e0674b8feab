//! Paths as rules see them, however a call spells them.

/// `path` without the spellings that lead to the same file: backslashes, `.` and `..`, doubled and
/// trailing slashes, letter case, and blanks around it. Always relative to some root, so that
/// `**/x` finds it.
pub(crate) fn normal(path: &str) -> String {
    let path = path.trim().replace('\\', "/").to_lowercase();
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part.trim_end_matches(['.', ' ']) {
            // Windows ignores dots and blanks at the end of a name.
            "" if part == ".." => {
                parts.pop();
            }
            "" => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The files a unified diff would touch, as its headers name them; git's `a/` and `b/` are cut.
pub(crate) fn patch_targets(patch: &str) -> impl Iterator<Item = &str> {
    let header = |line: &'_ str| -> bool { line.starts_with("+++ ") || line.starts_with("--- ") };
    patch.lines().filter(move |line| header(line)).map(|line| {
        let path = line[4..].split('\t').next().unwrap_or_default().trim().trim_matches('"');
        path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "../../.env",
        ] {
            assert_eq!(normal(spelling), ".env", "{spelling:?}");
        }
        assert_eq!(normal("a/.env.local"), "a/.env.local");
        assert_eq!(normal("..."), "");
    }

    #[test]
    fn a_patch_names_its_targets_in_its_headers() {
        let patch = "--- a/src/x.rs\t2026-01-01\n+++ b/src/x.rs\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ \".env\"\n";
        let targets: Vec<&str> = patch_targets(patch).collect();
        assert_eq!(targets, ["src/x.rs", "src/x.rs", "/dev/null", ".env"]);
    }
}
