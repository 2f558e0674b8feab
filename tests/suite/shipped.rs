//! The shipped plugins, as components in the host, and their own tests.

use std::process::Command;

use serde_json::{Value, json};

use crate::host::{Host, root, shipped};
use crate::model::{Model, calls, text};

fn host() -> Host {
    Host::new().args(["--plugins", shipped().to_str().unwrap()])
}

#[test]
fn all_four_load_and_a_warm_start_knows_them() {
    let host = host();
    for _ in 0..2 {
        let output = host.run(&["plugins", "list", "--output", "json"]);
        let plugins: Value = serde_json::from_str(&output.stdout).unwrap();
        let states: Vec<(&str, &str)> = plugins
            .as_array()
            .unwrap()
            .iter()
            .map(|plugin| (plugin["name"].as_str().unwrap(), plugin["state"].as_str().unwrap()))
            .collect();
        assert_eq!(
            states,
            [("data", "loaded"), ("files", "loaded"), ("guard", "loaded"), ("redact", "loaded")]
        );
    }
}

#[test]
fn a_days_work_on_a_folder_with_a_guard_and_a_mask() {
    let model = Model::new([
        calls(&[
            (
                "a",
                "write_file",
                json!({"path": "src/a.txt", "content": "one\ntwo\nAPI_KEY=abcdef123456\n"}),
            ),
            (
                "b",
                "edit_file",
                json!({"path": "src/a.txt", "old_string": "two", "new_string": "2"}),
            ),
            ("c", "read_file", json!({"path": "src/a.txt"})),
            ("d", "search_files", json!({"pattern": "on[e]", "mode": "files"})),
            ("e", "write_file", json!({"path": "./x/../.env", "content": "A=1"})),
            ("f", "read_file", json!({"path": "../outside.txt"})),
            ("g", "calculate", json!({"expression": "0.1 + 0.2"})),
        ]),
        text("done"),
    ]);
    let host = host().args(["--base-url", model.url(), "--model", "fake"]).args([
        "--grant",
        "files:fs:.:rw",
        "--grant",
        "guard:hook:full,rewrite",
        "--grant",
        "redact:hook:full,replace",
    ]);
    let result = host.ask("work");
    let results: Vec<&str> = result["messages"].as_array().unwrap()[2..9]
        .iter()
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert_eq!(results[0], "created src/a.txt: 29 bytes, 3 lines");
    assert_eq!(results[1], "edited src/a.txt at line 2");
    assert_eq!(results[2], "1\tone\n2\t2\n3\tAPI_KEY=[masked]\n");
    assert_eq!(results[3], "src/a.txt\n");
    assert!(
        results[4].starts_with("error [denied]: denied by policy guard: credential files"),
        "{}",
        results[4]
    );
    assert!(results[5].starts_with("error ["), "{}", results[5]);
    assert!(results[6].contains("0.3"), "{}", results[6]);
    assert!(!host.work.path().join(".env").exists());
    let stored = std::fs::read_to_string(host.work.path().join("src/a.txt")).unwrap();
    assert_eq!(stored, "one\n2\nAPI_KEY=abcdef123456\n");
}

#[test]
fn the_model_is_told_which_folders_it_has() {
    let model = Model::new([text("ok")]);
    let host =
        host().args(["--base-url", model.url(), "--model", "fake", "--grant", "files:fs:.:ro"]);
    host.run(&["-q", "hi"]);
    let folder = host.work.path().canonicalize().unwrap();
    let tools = model.requests()[0]["tools"].to_string();
    assert!(tools.contains(&format!("Folders: {} (read-only)", folder.display())), "{tools}");
}

/// The workspaces of guests run their unit tests natively.
#[test]
fn the_plugins_and_the_sdk_pass_their_own_tests() {
    for workspace in ["plugins", "sdk/rust"] {
        let status = Command::new(env!("CARGO"))
            .args(["test", "--quiet", "--workspace"])
            .current_dir(root().join(workspace))
            .env_remove("RUSTFLAGS")
            .status()
            .unwrap();
        assert!(status.success(), "{workspace}");
    }
}
