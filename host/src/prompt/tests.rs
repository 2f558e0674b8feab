#![allow(clippy::unwrap_used)]
use std::fs;

use super::*;

struct Place {
    home: tempfile::TempDir,
    work: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), work: tempfile::tempdir().unwrap() }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.work.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn source(&self, folder: &str) -> PromptSource {
        PromptSource {
            whole: None,
            identity: None,
            home: Home::at(self.home.path()),
            folder: Some(self.work.path().join(folder)),
            context_files: true,
            context_chars: 1000,
            plugins: Vec::new(),
        }
    }

    /// Paths below the working folder and texts of the context files seen from `folder`.
    fn context(&self, folder: &str) -> (Vec<(String, String)>, Vec<String>) {
        let mut problems = Vec::new();
        let files = folder::context_files(&self.work.path().join(folder), &mut problems);
        let below = |path: &str| path[self.work.path().to_str().unwrap().len() + 1..].to_owned();
        let files = files.into_iter().map(|file| (below(&file.path), file.text)).collect();
        (files, problems.iter().map(|problem| below(problem)).collect())
    }
}

fn found(files: &[(&str, &str)]) -> (Vec<(String, String)>, Vec<String>) {
    (files.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect(), Vec::new())
}

#[test]
fn files_are_found_up_to_the_root_of_the_repository_and_no_further() {
    let place = Place::new();
    for (path, text) in [
        ("AGENTS.md", "above"),
        ("repo/.git/HEAD", ""),
        ("repo/CLAUDE.md", "root"),
        ("repo/a/.cursorrules", "near"),
        ("repo/a/.hermes.md", "nearest"),
        ("repo/a/AGENTS.md/is-a-folder", ""),
        ("repo/a/b/other.md", ""),
    ] {
        place.write(path, text);
    }
    let near = [("repo/a/.hermes.md", "nearest"), ("repo/a/.cursorrules", "near")];
    let all = [near[0], near[1], ("repo/CLAUDE.md", "root")];
    assert_eq!(place.context("repo/a/b"), found(&all));
    assert_eq!(place.context("repo/a"), found(&all));
    fs::remove_dir_all(place.work.path().join("repo/.git")).unwrap();
    assert_eq!(place.context("repo/a"), found(&near), "no repository, so only the folder itself");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_repository_is_not_followed_and_named() {
    let place = Place::new();
    place.write("secret", "key");
    place.write("repo/.git/HEAD", "");
    place.write("repo/AGENTS.md", "inside");
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, place.work.path().join(name)).unwrap();
    };
    link("AGENTS.md", "repo/CLAUDE.md");
    link("../secret", "repo/.cursorrules");
    link("nowhere", "repo/.hermes.md");
    let (files, problems) = place.context("repo");
    assert_eq!(files, found(&[("repo/AGENTS.md", "inside"), ("repo/CLAUDE.md", "inside")]).0);
    assert_eq!(
        problems,
        ["repo/.cursorrules: it is a link to a file outside of the repository, so it is left out"]
    );
}

#[test]
fn identity_is_configured_or_soul_or_the_default() {
    let place = Place::new();
    let identity = |source: &PromptSource| {
        let layer = source.read().prompt.layers.swap_remove(0);
        (layer.source, layer.text)
    };
    let source = place.source("");
    assert_eq!(identity(&source), ("default".into(), IDENTITY.into()));
    let soul = place.home.path().join("SOUL.md");
    fs::write(&soul, "\u{FEFF}You are Soul.\n").unwrap();
    assert_eq!(identity(&source), (soul.display().to_string(), "You are Soul.".into()));
    let configured = PromptSource { identity: Some("You are X.".into()), ..source };
    assert_eq!(identity(&configured), ("[agent] system".into(), "You are X.".into()));
    let whole = PromptSource { whole: Some(" exactly this\n".into()), ..configured };
    assert_eq!(whole.read().prompt.text(), " exactly this\n");
}

#[test]
fn memory_is_in_the_prompt_and_a_broken_file_is_named() {
    let place = Place::new();
    let memories = place.home.path().join("memories");
    fs::create_dir(&memories).unwrap();
    fs::write(memories.join("MEMORY.md"), "one\n§\ntwo").unwrap();
    fs::write(memories.join("USER.md"), b"\xFF").unwrap();
    let read = place.source("").read();
    let memory = &read.prompt.layers[1];
    assert_eq!((memory.kind, memory.source.as_str()), (LayerKind::Memory, "MEMORY.md"));
    assert!(memory.text.ends_with("\none\n§\ntwo\n</memory_entries>"), "{}", memory.text);
    assert_eq!(
        read.notes(),
        [format!(
            "cannot read {}: it is not UTF-8 text; convert it in an editor, nothing was changed",
            memories.join("USER.md").display()
        )]
    );
}

#[test]
fn the_environment_has_a_date_and_no_clock() {
    let place = Place::new();
    let source = place.source("");
    let text = source.read().prompt.text();
    let environment = &text[text.find("# Environment").unwrap()..];
    let lines: Vec<&str> = environment.lines().collect();
    assert_eq!(lines[1], format!("System: {} {}", std::env::consts::OS, std::env::consts::ARCH));
    assert_eq!(
        lines[2].strip_prefix("Working directory: ").unwrap(),
        place.work.path().join("").display().to_string()
    );
    assert!(chrono::NaiveDate::parse_from_str(&lines[3]["Date: ".len()..], "%Y-%m-%d").is_ok());
    assert_eq!(lines.len(), 4);
}
