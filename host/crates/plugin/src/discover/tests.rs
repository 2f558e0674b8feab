//! Folders of all kinds and what is found in them.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::symlink;

use super::*;

/// A folder of plugins; `ROOT` stands for it in what is compared.
struct Shelf(tempfile::TempDir);

impl Shelf {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// A plugin of that name in a folder of that name.
    fn plugin(&self, folder: &str, name: &str) -> &Self {
        let manifest = format!("[plugin]\nname = \"{name}\"\ncomponent = \"{name}.wasm\"\n");
        self.file(&format!("{folder}/plugin.toml"), manifest);
        self.file(&format!("{folder}/{name}.wasm"), "")
    }

    fn short(&self, text: &str) -> String {
        text.replace(&self.path().canonicalize().unwrap().display().to_string(), "ROOT")
            .replace(&self.path().display().to_string(), "ROOT")
    }

    /// `NAME at PATH` for what may load, `NAME: REASON` for what may not.
    fn found_in(&self, folders: &[PathBuf]) -> Vec<String> {
        let found = discover(folders).unwrap();
        let candidates = found.candidates.iter().map(|one| {
            assert!(one.component.is_file());
            format!("{} at {}", one.name, one.path.display())
        });
        let refused = found.refused.iter().map(|one| format!("{}: {}", one.name, one.reason));
        candidates.chain(refused).map(|line| self.short(&line)).collect()
    }

    fn found(&self) -> Vec<String> {
        self.found_in(&[self.path().to_owned()])
    }
}

#[test]
fn manifests_and_bare_components_are_found_and_nothing_else() {
    let shelf = Shelf::new();
    shelf.plugin("files", "files").plugin("b", "data").file("bare.wasm", "").file("notes.txt", "");
    shelf.plugin(".hidden", "hidden").plugin("target", "copy").file(".dot.wasm", "");
    shelf.file("no-manifest/x.wasm", "").plugin("deeper/still", "deep");
    assert_eq!(shelf.found(), ["bare at ROOT/bare.wasm", "data at ROOT/b", "files at ROOT/files"]);
}

#[test]
fn a_folder_with_a_manifest_is_the_plugin_itself() {
    let shelf = Shelf::new();
    shelf.plugin("files", "files").plugin("files/nested", "nested");
    assert_eq!(shelf.found_in(&[shelf.path().join("files")]), ["files at ROOT/files"]);
}

#[test]
fn one_place_named_twice_is_one_plugin() {
    let shelf = Shelf::new();
    shelf.plugin("all/files", "files");
    symlink(shelf.path().join("all"), shelf.path().join("link")).unwrap();
    let folders = ["all", "all/", "all/files", "link"].map(|name| shelf.path().join(name));
    assert_eq!(shelf.found_in(&folders), ["files at ROOT/all/files"]);
}

#[test]
fn a_missing_folder_is_an_error() {
    let shelf = Shelf::new();
    shelf.file("x.wasm", "");
    let error = |name| shelf.short(&discover(&[shelf.path().join(name)]).unwrap_err().to_string());
    assert_eq!(
        error("gone"),
        "cannot use the plugin folder ROOT/gone: No such file or directory (os error 2)"
    );
    assert_eq!(
        error("x.wasm"),
        "cannot use the plugin folder ROOT/x.wasm: it is no folder; name the folder it is in"
    );
}

#[test]
fn two_plugins_of_one_name_are_both_refused_with_both_paths() {
    let shelf = Shelf::new();
    shelf.plugin("one", "files").plugin("two", "files").plugin("other", "other");
    let both = "files: 2 plugins are called \"files\": ROOT/one and ROOT/two; remove or rename all \
                but one";
    assert_eq!(shelf.found(), ["other at ROOT/other", both, both]);
    shelf.file("other.wasm", "");
    let both = "other: 2 plugins are called \"other\": ROOT/other and ROOT/other.wasm; remove or \
                rename all but one";
    assert_eq!(shelf.found()[2..], [both, both]);
}

#[test]
fn what_cannot_be_a_plugin_is_refused_beside_one_that_is() {
    let shelf = Shelf::new();
    shelf.plugin("good", "good");
    shelf.plugin("unbuilt", "unbuilt");
    std::fs::remove_file(shelf.path().join("unbuilt/unbuilt.wasm")).unwrap();
    shelf.plugin("escape", "escape").file("elsewhere", "");
    std::fs::remove_file(shelf.path().join("escape/escape.wasm")).unwrap();
    symlink("../elsewhere", shelf.path().join("escape/escape.wasm")).unwrap();
    shelf.plugin("odd", "odd");
    std::fs::remove_file(shelf.path().join("odd/odd.wasm")).unwrap();
    std::fs::create_dir(shelf.path().join("odd/odd.wasm")).unwrap();
    shelf.file("bytes/plugin.toml", b"[plugin]\n\xff");
    shelf.file("huge/plugin.toml", "#".repeat(300_000));
    shelf.file("broken/plugin.toml", "[plugin]\nname = \"real-name\"\nx = 1\ncomponent=\"a.wasm\"");
    std::fs::create_dir_all(shelf.path().join("folder/plugin.toml")).unwrap();
    std::fs::create_dir_all(shelf.path().join("dangling")).unwrap();
    symlink("gone", shelf.path().join("dangling/plugin.toml")).unwrap();
    shelf.file("Bad Name.wasm", "").file("fast.cwasm", "");
    assert_eq!(
        shelf.found(),
        [
            "good at ROOT/good",
            "Bad Name: ROOT/Bad Name.wasm: the name of a bare component must be 1 to 40 of the \
             characters a-z, 0-9 and -; rename it",
            "real-name: ROOT/broken/plugin.toml:3: unknown key `plugin.x`; known here: name, \
             component, wit, title, version, description, license",
            "bytes: ROOT/bytes/plugin.toml is not UTF-8 text (at byte 9)",
            "dangling: cannot read ROOT/dangling/plugin.toml: No such file or directory (os \
             error 2)",
            "escape: ROOT/escape/escape.wasm is a link that leaves its folder, to ROOT/elsewhere; \
             put the file itself there",
            "fast: ROOT/fast.cwasm is precompiled code, which is not loaded from a plugin folder; \
             put the .wasm it was compiled from there",
            "folder: ROOT/folder/plugin.toml is no regular file",
            "huge: ROOT/huge/plugin.toml has 300000 bytes; a manifest has at most 262144",
            "odd: ROOT/odd/odd.wasm is no regular file",
            "unbuilt: ROOT/unbuilt/unbuilt.wasm does not exist; build it: hermes-host plugins \
             build ROOT/unbuilt",
        ]
    );
}

#[test]
fn a_pipe_in_place_of_a_file_does_not_hang_the_host() {
    let shelf = Shelf::new();
    shelf.plugin("good", "good");
    std::fs::create_dir(shelf.path().join("pipe")).unwrap();
    for pipe in ["pipe/plugin.toml", "pipe.wasm"] {
        let made = std::process::Command::new("mkfifo").arg(shelf.path().join(pipe)).status();
        assert!(made.unwrap().success());
    }
    assert_eq!(
        shelf.found(),
        [
            "good at ROOT/good",
            "pipe: ROOT/pipe/plugin.toml is no regular file",
            "pipe: ROOT/pipe.wasm is no regular file",
        ]
    );
}

#[test]
fn what_is_refused_still_tells_what_it_would_guard() {
    let shelf = Shelf::new();
    let hook = "[[hooks]]\npoint = \"pre_tool_call\"\ntools = [\"write_*\"]\n";
    let manifest = format!("[plugin]\nname = \"a\"\ncomponent = \"a.wasm\"\n{hook}");
    shelf.file("unbuilt/plugin.toml", &manifest);
    shelf.file("broken/plugin.toml", format!("{manifest}wrong = 1\n"));
    let found = discover(&[shelf.path().to_owned()]).unwrap();
    let gates: Vec<_> = found.refused.iter().map(|one| (&*one.name, &one.gates[..])).collect();
    let guarded = ["write_*".to_owned()];
    assert_eq!(gates, [("a", &guarded[..]), ("a", &guarded[..])]);
}
