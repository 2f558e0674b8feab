//! Folders kept and brought back, in real folders.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::shelf::Shelf;
use super::*;

const LIMITS: Limits =
    Limits { files: 1000, file_bytes: 1000, total_bytes: 1 << 20, checkpoints: 5 };

/// A home and a folder, both new.
struct Rig {
    dir: tempfile::TempDir,
    shelf: Shelf,
}

impl Rig {
    fn new(limits: Limits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        fs::create_dir_all(dir.path().join("work")).unwrap();
        let shelf = Shelf::new(home.join("checkpoints"), home, limits);
        Self { dir, shelf }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("work").canonicalize().unwrap()
    }

    fn write(&self, path: &str, content: &str) {
        let place = self.folder().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, content).unwrap();
    }

    fn keep(&self) -> Checkpoint {
        self.shelf.keep(&self.folder(), Cause::Rollback).unwrap()
    }

    /// Every file and link with what it holds or where it points.
    fn tree(&self) -> BTreeMap<PathBuf, String> {
        let mut tree = BTreeMap::new();
        let mut folders = vec![self.folder()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(entry.path());
                    continue;
                }
                let content = match fs::read_link(entry.path()) {
                    Ok(target) => format!("-> {}", target.display()),
                    Err(_) => fs::read_to_string(entry.path()).unwrap(),
                };
                tree.insert(below(&self.folder(), &entry.path()).unwrap(), content);
            }
        }
        tree
    }
}

#[test]
fn a_folder_comes_back_as_it_was_and_the_way_back_has_a_way_back() {
    let rig = Rig::new(LIMITS);
    for (path, content) in [("a", "one"), ("b/c", "two"), ("gone/d", "three"), ("same", "four")] {
        rig.write(path, content);
    }
    let before = rig.tree();
    let checkpoint = rig.keep();
    rig.write("a", "changed");
    rig.write("new/deep/e", "new");
    fs::remove_dir_all(rig.folder().join("gone")).unwrap();
    fs::remove_dir_all(rig.folder().join("b")).unwrap();
    rig.write("b", "a file now");
    let changed = rig.tree();

    let restored = rig.shelf.restore(&checkpoint).unwrap();
    assert_eq!(rig.tree(), before);
    let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(
        restored,
        Restored {
            back: paths(&["a", "b/c", "gone/d"]),
            removed: paths(&["b", "new/deep/e"]),
            left: Vec::new(),
        }
    );
    assert!(!rig.folder().join("new").exists(), "no empty folder is left");

    let undo = rig.shelf.checkpoints().unwrap().remove(0);
    rig.shelf.restore(&undo).unwrap();
    assert_eq!(rig.tree(), changed);
}

#[test]
fn what_is_ignored_is_not_touched_whatever_became_of_the_rules() {
    let rig = Rig::new(LIMITS);
    rig.write(".gitignore", "secret\nbuild/\n");
    rig.write("kept", "yes");
    rig.write("secret", "mine");
    rig.write("build/out", "big");
    rig.write(".git/config", "git's");
    let before = rig.tree();
    let checkpoint = rig.keep();
    assert_eq!(checkpoint.len(), 2);
    // Rules that would show what was hidden, at the top and below.
    rig.write(".gitignore", "");
    rig.write("build/.gitignore", "!out\n");
    rig.write("kept", "no");
    rig.shelf.restore(&checkpoint).unwrap();
    fs::remove_file(rig.folder().join("build/.gitignore")).ok();
    assert_eq!(rig.tree(), before);
}

#[cfg(unix)]
#[test]
fn links_are_links_and_nothing_is_written_through_one() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let rig = Rig::new(LIMITS);
    let outside = rig.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("c"), "theirs").unwrap();
    rig.write("b/c", "ours");
    rig.write("run", "#!/bin/sh");
    let run = rig.folder().join("run");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("run", rig.folder().join("link")).unwrap();
    let before = rig.tree();
    let checkpoint = rig.keep();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(rig.folder().join("link")).unwrap();
    symlink(&outside, rig.folder().join("link")).unwrap();
    fs::remove_dir_all(rig.folder().join("b")).unwrap();
    symlink(&outside, rig.folder().join("b")).unwrap();
    rig.shelf.restore(&checkpoint).unwrap();
    assert_eq!(rig.tree(), before);
    assert_eq!(fs::read_to_string(outside.join("c")).unwrap(), "theirs");
    assert_eq!(fs::metadata(&run).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn what_is_too_large_is_left_and_told() {
    let rig = Rig::new(LIMITS);
    rig.write("large", &"x".repeat(2000));
    rig.write("small", "x");
    let checkpoint = rig.keep();
    rig.write("large", "changed");
    rig.write("small", "changed");
    let restored = rig.shelf.restore(&checkpoint).unwrap();
    assert_eq!((restored.left, restored.back), (vec!["large".into()], vec!["small".into()]));
    let limits = Limits { files: 1, ..LIMITS };
    let shelf = Shelf::new(rig.dir.path().join("other"), rig.dir.path().join("home"), limits);
    let error = shelf.keep(&rig.folder(), Cause::Rollback).unwrap_err();
    assert!(
        error.starts_with("it holds more than 1 files; raise checkpoints.max_files"),
        "{error}"
    );
}

#[test]
fn the_oldest_go_when_there_are_too_many_or_they_take_too_much() {
    let kept = |rig: &Rig| {
        let contents = rig.dir.path().join("home/checkpoints/contents");
        let shelves = fs::read_dir(contents).unwrap();
        let count = |shelf: fs::DirEntry| fs::read_dir(shelf.path()).unwrap().count();
        let contents: usize = shelves.map(|shelf| count(shelf.unwrap())).sum();
        (rig.shelf.checkpoints().unwrap().len(), contents)
    };
    let rig = Rig::new(LIMITS);
    for n in 0..8 {
        rig.write("a", &n.to_string());
        rig.keep();
    }
    assert_eq!(kept(&rig), (5, 5));
    let rig = Rig::new(Limits { total_bytes: 1500, ..LIMITS });
    for n in 0..8 {
        rig.write("a", &n.to_string().repeat(600));
        rig.keep();
    }
    assert_eq!(kept(&rig), (2, 2));
}

#[test]
fn a_damaged_content_changes_nothing() {
    let rig = Rig::new(LIMITS);
    rig.write("a", "one");
    let checkpoint = rig.keep();
    rig.write("a", "two");
    let content = checkpoint.contents().next().unwrap().clone();
    let place = rig.dir.path().join("home/checkpoints/contents").join(&content[..2]).join(&content);
    fs::write(place, "forged").unwrap();
    let error = rig.shelf.restore(&checkpoint).unwrap_err();
    assert!(error.ends_with("is damaged"), "{error}");
    assert_eq!(rig.tree(), BTreeMap::from([("a".into(), "two".into())]));
}

/// Names that make folders and files take each other's place.
fn any_tree() -> impl Strategy<Value = BTreeMap<String, String>> {
    let name =
        prop_oneof![Just("a"), Just("b"), Just("a/a"), Just("a/b"), Just("b/a/c"), Just("c")];
    proptest::collection::btree_map(name.prop_map(str::to_owned), "[xy]{0,3}", 0..6)
}

/// Makes a folder hold these, as far as they can stand side by side.
fn fill(rig: &Rig, tree: &BTreeMap<String, String>) {
    fs::remove_dir_all(rig.folder()).unwrap();
    fs::create_dir(rig.dir.path().join("work")).unwrap();
    for (path, content) in tree {
        let place = rig.folder().join(path);
        if fs::create_dir_all(place.parent().unwrap()).is_ok() && !place.is_dir() {
            fs::write(place, content).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_folder_comes_back_from_any_change(one in any_tree(), two in any_tree()) {
        let rig = Rig::new(LIMITS);
        fill(&rig, &one);
        let before = rig.tree();
        let checkpoint = rig.keep();
        fill(&rig, &two);
        let changed = rig.tree();
        rig.shelf.restore(&checkpoint).unwrap();
        prop_assert_eq!(rig.tree(), before);
        let undo = rig.shelf.checkpoints().unwrap().remove(0);
        rig.shelf.restore(&undo).unwrap();
        prop_assert_eq!(rig.tree(), changed);
    }
}

#[test]
fn the_home_folder_is_never_kept() {
    let rig = Rig::new(LIMITS);
    rig.write("a", "one");
    rig.keep();
    let all = rig.shelf.keep(rig.dir.path(), Cause::Rollback).unwrap();
    assert_eq!(all.entries.keys().collect::<Vec<_>>(), [Path::new("work/a")]);
}
