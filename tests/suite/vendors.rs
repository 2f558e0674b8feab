//! The vendors' own clients between the host and the scripted server: what the host sends is a
//! request to them, and what the server says is a reply to them, so that neither is only our idea
//! of the format.
//!
//! The clients are Python packages (`tests/vendors/requirements.txt`). CI installs them into a
//! virtual environment under the target folder; without one this says so, and in CI fails.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::host::{Host, root};
use crate::model::{MODES, Mode, Model, Reply, asks, text};

/// The interpreter with the clients.
fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../vendors/bin/python");
    if python.exists() {
        return Some(python);
    }
    let missing = format!(
        "{} is missing; python3 -m venv target/vendors, then target/vendors/bin/pip install -r tests/vendors/requirements.txt",
        python.display()
    );
    assert!(std::env::var_os("CI").is_none(), "{missing}");
    #[allow(clippy::print_stderr)] // a test's own word to whoever runs it
    {
        eprintln!("SKIPPED the vendors' own clients: {missing}");
    }
    None
}

/// A thought, words and two calls.
fn everything() -> Reply {
    let calls = [
        ("call_1", "echo", json!({"text": "grün"})),
        ("call_2", "echo", json!({"text": "\"blue\"\n"})),
    ];
    let mut speech = asks(&calls).thinking("Two colours.");
    speech.text = "I echo both — now.".into();
    speech.reply()
}

/// The requests of a turn with calls, and of one after it.
fn requests(mode: &Mode, args: &[&str]) -> Vec<Value> {
    let model = Model::new([everything(), text("Both."), text("Gern.")]);
    let host = Host::asking(model.url()).args(["--api-mode", mode.name]);
    let host = host.args(args.iter().copied()).with_guests("");
    for args in [&["-q", "echo two colours"][..], &["--continue", "-q", "danke"]] {
        let output = host.run(args);
        assert_eq!(output.code, Some(0), "{output:?}");
    }
    model.requests()
}

#[test]
fn the_vendors_clients_take_our_requests_and_read_our_server() {
    let Some(python) = python() else { return };
    let exchanges: Vec<Value> = MODES
        .into_iter()
        .flat_map(|mode| [(mode, &[][..]), (mode, &["--no-stream"])])
        .flat_map(|(mode, args)| requests(mode, args).into_iter().map(move |body| (mode, body)))
        .map(|(mode, body)| json!({"mode": mode.name, "body": body}))
        .collect();
    assert_eq!(exchanges.len(), MODES.len() * 2 * 3);
    let model = Model::new(exchanges.iter().map(|_| everything()));
    let mut child = Command::new(python)
        .arg(root().join("tests/vendors/exchange.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let task = json!({"base_url": model.url(), "exchanges": exchanges}).to_string();
    child.stdin.take().unwrap().write_all(task.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let said: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!({
        "reasoning": "Two colours.",
        "text": "I echo both — now.",
        "calls": [
            {"id": "call_1", "name": "echo", "arguments": {"text": "grün"}},
            {"id": "call_2", "name": "echo", "arguments": {"text": "\"blue\"\n"}},
        ],
    });
    assert_eq!(said, vec![expected; exchanges.len()]);
}
