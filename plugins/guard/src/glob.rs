//! Globs of tool names and of paths, with exceptions: `["**/.env.*", "!**/.env.example"]`.

use crate::path::{Path, fold_case};

/// How far the globs of paths reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// As far as they might be meant: at every depth, and the folder itself with what is in it. For
    /// rules that restrict, since a relative and an absolute path may name one file.
    Wide,
    /// As far as they say: from the start of the path. For rules that permit.
    Narrow,
}

impl Reach {
    fn other(self) -> Self {
        match self {
            Self::Wide => Self::Narrow,
            Self::Narrow => Self::Wide,
        }
    }
}

/// Whether a tool's name is meant.
pub(crate) fn is_tool(globs: &[&str], tool: &str) -> bool {
    let is_meant = |glob: &str| fast_glob::glob_match(glob, tool);
    let (except, meant) = split(globs);
    meant.into_iter().any(is_meant) && !except.into_iter().any(is_meant)
}

/// Exceptions without their mark, and the others.
fn split<'a>(globs: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let except = globs.iter().filter_map(|glob| glob.strip_prefix('!')).collect();
    let meant = globs.iter().copied().filter(|glob| !glob.starts_with('!')).collect();
    (except, meant)
}

/// Says what is wrong with a glob, if anything.
pub(crate) fn problem(glob: &str) -> Option<String> {
    let plain = glob.strip_prefix('!').unwrap_or(glob);
    match plain {
        "" => Some("a glob must not be empty".into()),
        _ if plain.starts_with('!') => Some(format!("the glob {glob:?} has two ! in front")),
        _ => fast_glob::validate(plain)
            .err()
            .map(|error| format!("the glob {glob:?} has an {error}")),
    }
}

/// Globs of paths, made ready to match.
pub(crate) struct PathGlobs {
    meant: Vec<PathGlob>,
    except: Vec<PathGlob>,
}

struct PathGlob {
    wide: String,
    narrow: String,
}

impl PathGlobs {
    pub(crate) fn new(globs: &[&str]) -> Self {
        let (except, meant) = split(globs);
        let ready = |globs: Vec<&str>| globs.into_iter().map(PathGlob::new).collect();
        Self { meant: ready(meant), except: ready(except) }
    }

    /// Whether a path is meant. What is excepted is read the other way round, so that an exception
    /// never makes a rule looser than it says.
    pub(crate) fn hold(&self, path: &Path, reach: Reach) -> bool {
        self.meant.iter().any(|glob| glob.holds(path, reach))
            && !self.except.iter().any(|glob| glob.holds(path, reach.other()))
    }
}

impl PathGlob {
    fn new(glob: &str) -> Self {
        let folded = fold_case(glob);
        let plain = folded.trim_start_matches("./");
        let inside = plain.strip_suffix('/').map(|folder| format!("{folder}/**"));
        let narrow = inside.unwrap_or_else(|| plain.to_owned());
        let wide = match narrow.strip_prefix('/') {
            Some(anchored) => anchored.to_owned(),
            None if narrow.starts_with("**") => narrow.clone(),
            None => format!("**/{narrow}"),
        };
        Self { wide, narrow }
    }

    fn holds(&self, path: &Path, reach: Reach) -> bool {
        let matches = |glob: &str, path: &str| fast_glob::glob_match(glob, path);
        match reach {
            Reach::Wide => {
                let folder = self.wide.strip_suffix("/**");
                matches(&self.wide, &path.text)
                    || folder.is_some_and(|folder| matches(folder, &path.text))
            }
            Reach::Narrow if path.absolute => matches(&self.narrow, &format!("/{}", path.text)),
            Reach::Narrow => matches(&self.narrow, &path.text),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn restricting_reaches_wider_than_permitting() {
        for (globs, path, wide, narrow) in [
            (&["secrets/**"][..], "secrets/a", true, true),
            (&["secrets/**"], "SECRETS/A", true, true),
            (&["secrets/**"], "/home/u/work/secrets/a", true, false),
            (&["secrets/**"], "x/secrets/a", true, false),
            (&["secrets/**"], "../secrets/a", true, false),
            (&["secrets/**"], "secrets", true, false),
            (&["secrets/"], "secrets/a/b", true, true),
            (&["./secrets/*"], "secrets/a", true, true),
            (&["secrets/**"], "my-secrets/a", false, false),
            (&["/etc/**"], "/etc/hosts", true, true),
            (&["/etc/**"], "x/etc/hosts", false, false),
            (&["**/*.md"], "/a/b.md", true, true),
            (&["*.md"], "a/b.md", true, false),
            (&["**"], "anything/at/all", true, true),
            (&["**/.env.*", "!**/.env.example"], ".env.local", true, true),
            (&["**/.env.*", "!**/.env.example"], "a/.env.example", false, false),
            (&["docs/**", "!private/**"], "docs/private/x", true, false),
        ] {
            let ready = PathGlobs::new(globs);
            let path = Path::of(path).unwrap();
            let held = (ready.hold(&path, Reach::Wide), ready.hold(&path, Reach::Narrow));
            assert_eq!(held, (wide, narrow), "{globs:?} {path:?}");
        }
    }

    #[test]
    fn tools_are_meant_by_name_with_exceptions() {
        assert!(is_tool(&["write_*"], "write_file"));
        assert!(!is_tool(&["write_*"], "rewrite_file"));
        assert!(is_tool(&["*", "!read_*"], "write_file"));
        assert!(!is_tool(&["*", "!read_*"], "read_file"));
    }

    #[test]
    fn a_glob_that_could_never_match_is_a_problem() {
        for (glob, wanted) in [
            ("", "a glob must not be empty"),
            ("!", "a glob must not be empty"),
            ("!!a", "the glob \"!!a\" has two ! in front"),
            ("a/{b,c", "the glob \"a/{b,c\" has an unclosed brace expansion"),
            ("[ab", "the glob \"[ab\" has an unclosed character class"),
        ] {
            let said = problem(glob).unwrap();
            assert!(said.starts_with(wanted), "{said}");
        }
        assert_eq!(problem("!**/{a,b}/[cd]*"), None);
    }
}
