//! Folders that cannot be built, and one that can.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use super::*;

struct Ground(tempfile::TempDir);

impl Ground {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn manifest(&self, folder: &str) -> &Self {
        let text = format!("[plugin]\nname = \"{folder}\"\ncomponent = \"{folder}.wasm\"\n");
        self.file(&format!("{folder}/plugin.toml"), &text)
    }

    /// What `build` of these folders came to, and what it said.
    fn build(&self, folders: &[&str]) -> (Result<Vec<Built>, String>, Vec<String>) {
        let folders: Vec<PathBuf> = folders.iter().map(|name| self.0.path().join(name)).collect();
        let mut said = Vec::new();
        let built = build(&folders, |line| said.push(line.to_owned()));
        let short = |text: String| text.replace(&self.0.path().display().to_string(), "ROOT");
        (built.map_err(|error| short(error.to_string())), said)
    }
}

const SUPPORTED: &str = "and only Rust sources (a folder with plugin.toml and Cargo.toml) can be \
                         built here; build it with its own tools and put the component beside \
                         plugin.toml";

#[test]
fn folders_that_cannot_be_built_are_refused_with_what_can() {
    let ground = Ground::new();
    ground.manifest("bare").manifest("js").file("js/package.json", "{}").file("empty/x", "");
    ground.file("wrong/plugin.toml", "[plugin]\nname = 1");
    for (folder, expected) in [
        ("bare", format!("cannot build ROOT/bare: it has no Cargo.toml, {SUPPORTED}")),
        (
            "js",
            format!(
                "cannot build ROOT/js: it has package.json, so it seems to be JavaScript or \
                 TypeScript, {SUPPORTED}"
            ),
        ),
        (
            "empty",
            "cannot build ROOT/empty: there is no plugin in it; a plugin to build is a folder \
             with plugin.toml and Cargo.toml"
                .into(),
        ),
        ("gone", "cannot build ROOT/gone: No such file or directory (os error 2)".into()),
        ("wrong", "ROOT/wrong/plugin.toml:2: plugin.name = 1: must be a string".into()),
    ] {
        assert_eq!(ground.build(&[folder]), (Err(expected), vec![]), "{folder}");
    }
}

#[test]
fn a_finished_plugin_among_sources_is_left_as_it_is() {
    let ground = Ground::new();
    ground
        .manifest("all")
        .file("all/done/plugin.toml", "[plugin]\nname = \"d\"\ncomponent = \"d.wasm\"");
    std::fs::remove_file(ground.0.path().join("all/plugin.toml")).unwrap();
    ground.file("all/done/d.wasm", "");
    assert_eq!(
        ground.build(&["all"]),
        (Ok(vec![]), vec!["d: no sources here, the component is left as it is".to_owned()])
    );
}

#[test]
fn a_workspace_is_no_plugin() {
    let ground = Ground::new();
    ground.manifest("ws").file("ws/Cargo.toml", "[workspace]\nmembers = []\n");
    assert_eq!(
        ground.build(&["ws"]).0.unwrap_err(),
        "cannot build ROOT/ws: its Cargo.toml has no [package]; name the plugin's own folder"
    );
}

/// A package without dependencies, so that building it needs no network.
fn package(name: &str, kind: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\npath = \
         \"lib.rs\"\n{kind}\n"
    )
}

#[test]
fn plugins_of_one_workspace_are_built_together_and_put_in_place() {
    let ground = Ground::new();
    let cdylib = "crate-type = [\"cdylib\"]";
    ground.file("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"two\"]\n");
    for name in ["one", "two"] {
        ground.manifest(name).file(&format!("{name}/lib.rs"), "");
        ground.file(&format!("{name}/Cargo.toml"), &package(name, cdylib));
    }
    let (built, said) = ground.build(&[""]);
    let component = |name: &str| ground.0.path().join(format!("{name}/{name}.wasm"));
    let expected = |changed| {
        ["one", "two"].map(|name| {
            let component = component(name);
            let bytes = component.metadata().unwrap().len();
            Built { name: name.into(), component, bytes, changed }
        })
    };
    assert_eq!(built.unwrap(), expected(true));
    assert_eq!(said[0], "building one, two");
    assert!(said.last().unwrap().contains("Finished"), "{said:?}");
    for name in ["one", "two"] {
        let bytes = std::fs::read(component(name)).unwrap();
        assert_eq!(&bytes[..8], b"\0asm\x0d\0\x01\0", "a component");
    }
    // Again: nothing new, and the file is not touched.
    let before = component("one").metadata().unwrap().modified().unwrap();
    assert_eq!(ground.build(&["one", "two"]).0.unwrap(), expected(false));
    assert_eq!(component("one").metadata().unwrap().modified().unwrap(), before);
}

#[test]
fn what_cargo_says_reaches_the_user() {
    let ground = Ground::new();
    ground.manifest("bad").file("bad/lib.rs", "fn broken( {");
    ground.file("bad/Cargo.toml", &package("bad", "crate-type = [\"cdylib\"]"));
    let (built, said) = ground.build(&["bad"]);
    assert_eq!(built.unwrap_err(), "bad did not build; cargo, run in ROOT/bad, says why above");
    assert!(
        said.iter().any(|line| line.contains("mismatched closing delimiter")
            || line.contains("unclosed delimiter")),
        "{said:?}"
    );

    ground.manifest("rlib").file("rlib/lib.rs", "");
    ground.file("rlib/Cargo.toml", &package("rlib", "crate-type = [\"rlib\"]"));
    assert_eq!(
        ground.build(&["rlib"]).0.unwrap_err(),
        "ROOT/rlib built no component; its Cargo.toml needs [lib] crate-type = [\"cdylib\"]"
    );
}
