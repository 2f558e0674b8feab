//! A built component exports exactly what its `plugin!` lists. Both guests are built here for
//! wasm32-wasip2; whether a host runs them is the host's own test.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use wasmparser::{Parser, Payload};

/// The folder cargo builds this crate into, so that guests share what is already compiled.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

fn build(arguments: &[&str]) {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--target", "wasm32-wasip2", "--target-dir"])
        .arg(target())
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What the outermost component of a file imports and exports.
fn interfaces(file: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let bytes = std::fs::read(target().join("wasm32-wasip2/debug").join(file)).unwrap();
    let (mut imports, mut exports) = (BTreeSet::new(), BTreeSet::new());
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(&bytes) {
        match payload.unwrap() {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(section) if depth == 0 => {
                imports.extend(section.into_iter().map(|i| i.unwrap().name.name.to_owned()));
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                exports.extend(section.into_iter().map(|e| e.unwrap().name.name.to_owned()));
            }
            _ => {}
        }
    }
    (imports, exports)
}

fn ours(names: &BTreeSet<String>) -> Vec<&str> {
    names.iter().map(String::as_str).filter(|name| name.starts_with("hermes:")).collect()
}

#[test]
fn the_template_exports_tools_alone() {
    build(&["--manifest-path", "template/Cargo.toml"]);
    let (imports, exports) = interfaces("greeter.wasm");
    assert_eq!(exports.iter().collect::<Vec<_>>(), ["hermes:plugin/tools@0.1.0"]);
    // The log is for panics; what a plugin does not use it does not import.
    assert_eq!(ours(&imports), ["hermes:plugin/log@0.1.0", "hermes:plugin/plugin-types@0.1.0"]);
}

#[test]
fn a_plugin_of_hooks_exports_no_tools() {
    build(&["--example", "hooks"]);
    let (imports, exports) = interfaces("examples/hooks.wasm");
    assert_eq!(
        exports.iter().collect::<Vec<_>>(),
        [
            "hermes:plugin/observer@0.1.0",
            "hermes:plugin/post-tool-call@0.1.0",
            "hermes:plugin/pre-tool-call@0.1.0",
        ]
    );
    assert_eq!(
        ours(&imports),
        [
            "hermes:plugin/config@0.1.0",
            "hermes:plugin/log@0.1.0",
            "hermes:plugin/plugin-types@0.1.0",
            "hermes:plugin/state@0.1.0",
        ]
    );
}
