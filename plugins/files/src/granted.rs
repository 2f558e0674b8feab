//! Which folders are granted, as far as a path can tell without being opened.
//!
//! The sandbox decides what may be touched. This file exists because the C library beneath `std`
//! drops the leading `/` when one of the folders is called `.`: `/etc/hosts`, which nobody granted,
//! would quietly become `etc/hosts` in the first granted folder.

use std::path::{Component, Path, PathBuf};

use hermes_plugin_sdk::prelude::*;

/// Refuses a path that cannot lie in a granted folder, or is none.
///
/// # Errors
/// It is empty, or absolute and outside every granted folder, or no folder is granted.
pub(crate) fn check(path: &str) -> Result<(), Failure> {
    within(folders().as_deref(), path)
}

/// The granted folders by the names they are opened under; unknown in a native build, where nothing
/// is granted or refused.
fn folders() -> Option<Vec<String>> {
    #[cfg(target_os = "wasi")]
    {
        let folders = wasip2::filesystem::preopens::get_directories();
        Some(folders.into_iter().map(|(_, name)| name).collect())
    }
    #[cfg(not(target_os = "wasi"))]
    None
}

fn within(folders: Option<&[String]>, path: &str) -> Result<(), Failure> {
    if path.is_empty() {
        return Err(Failure::invalid_arguments(
            "the path is empty; `.` is the first granted folder",
        ));
    }
    let Some(folders) = folders else { return Ok(()) };
    if folders.is_empty() {
        return Err(Failure::denied(format!(
            "cannot open {path}: no folder is granted to this plugin; its user can grant one"
        )));
    }
    let path_given = Path::new(path);
    if !path_given.is_absolute() {
        return Ok(());
    }
    let path_plain = plain(path_given);
    if folders.iter().any(|folder| path_plain.starts_with(plain(Path::new(folder)))) {
        return Ok(());
    }
    Err(Failure::denied(format!(
        "{path} is outside the granted folders: {}; a path without / in front begins in the first",
        folders.join(", ")
    )))
}

/// The path without `.` and `..`, as far as its text tells.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            Component::ParentDir if out.has_root() => {}
            part => out.push(part),
        }
    }
    if out.as_os_str().is_empty() { PathBuf::from(".") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &str) -> Option<String> {
        let folders = [".".to_owned(), "/home/ada/work".to_owned()];
        within(Some(&folders), path).err().map(|failure| failure.to_string())
    }

    #[test]
    fn an_absolute_path_must_lie_in_a_granted_folder() {
        for path in ["a.txt", "./a", "../a", "/home/ada/work", "/home/ada/work/x/../y"] {
            assert_eq!(refusal(path), None, "{path}");
        }
        for path in ["/etc/hosts", "/home/ada/workshop", "/home/ada/work/../x", "/"] {
            let wanted = format!(
                "denied: {path} is outside the granted folders: ., /home/ada/work; a path without / in front begins in \
                 the first"
            );
            assert_eq!(refusal(path), Some(wanted));
        }
    }

    #[test]
    fn no_path_and_no_folder_are_told_apart() {
        assert_eq!(
            refusal("").as_deref(),
            Some("invalid-arguments: the path is empty; `.` is the first granted folder")
        );
        assert_eq!(
            within(Some(&[]), "a").map_err(|failure| failure.to_string()),
            Err("denied: cannot open a: no folder is granted to this plugin; its user can grant one".to_owned())
        );
        assert_eq!(within(None, "/etc/hosts"), Ok(()));
    }

    #[test]
    fn dots_are_resolved_as_far_as_the_text_tells() {
        for (path, wanted) in [
            ("./a/../b", "b"),
            ("../a", "../a"),
            ("a/..", "."),
            ("/../a/.", "/a"),
            ("a/../../b", "../b"),
        ] {
            assert_eq!(plain(Path::new(path)), Path::new(wanted), "{path}");
        }
    }
}
