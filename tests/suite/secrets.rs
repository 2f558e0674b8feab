//! `secrets`: kept, listed and forgotten without ever being shown, and used by a plugin without a
//! trace in anything a run leaves behind.

use std::path::Path;

use serde_json::{Value, json};

use crate::host::{Host, Output};
use crate::model::{Model, calls, text};

const VALUE: &str = "the-canary/in+the mine";

const SET: [&str; 3] = ["secrets", "set", "HOSTILE_TOKEN"];

fn list(host: &Host) -> Value {
    serde_json::from_str(&host.run(&["secrets", "list", "--output", "json"]).stdout).unwrap()
}

#[test]
fn a_secret_is_kept_listed_and_forgotten_and_never_shown() {
    let host = Host::new().with_guests("");
    let asked = |granted| json!([{"name": "hostile", "granted": granted}]);
    let row = |source: Value, granted| json!([{"name": "HOSTILE_TOKEN", "source": source, "problem": null, "plugins": asked(granted)}]);
    assert_eq!(list(&host), row(Value::Null, false));
    let set = host.run_with(&SET, &format!("{VALUE}\n"));
    let file = host.home().join("secrets.toml");
    assert_eq!(set.stdout, format!("HOSTILE_TOKEN is kept in {}\n", file.display()), "{set:?}");
    host.run(&["plugins", "grant", "hostile", "secret:HOSTILE_TOKEN"]);
    assert_eq!(list(&host), row("file".into(), true));
    let people = host.run(&["secrets", "list"]).stdout;
    assert_eq!(people, format!("{:<24} {:<12} hostile (granted)\n", "HOSTILE_TOKEN", "file"));
    let removed = host.run(&["secrets", "remove", "HOSTILE_TOKEN"]);
    assert_eq!((removed.code, &*removed.stdout), (Some(0), "removed HOSTILE_TOKEN\n"));
    let host = host.env("HERMES_HOST_SECRET_HOSTILE_TOKEN", VALUE);
    assert_eq!(list(&host), row("environment".into(), true));
}

#[test]
fn what_cannot_be_kept_is_said_without_the_value() {
    let host = Host::new();
    let error = |output: Output| {
        assert_eq!(output.code, Some(2), "{output:?}");
        output.stderr
    };
    for (name, value, expected) in [
        (
            "token",
            VALUE,
            "hermes-host: \"token\" names no secret: it must be 1 to 64 of the characters A-Z, 0-9 and _, as SERVICE_TOKEN\n",
        ),
        ("TOKEN", " \n", "hermes-host: TOKEN was not kept: the value is empty\n"),
        (
            "TOKEN",
            "one\ntwo-three",
            "hermes-host: TOKEN was not kept: the value must be one line without control characters\n",
        ),
    ] {
        assert_eq!(error(host.run_with(&["secrets", "set", name], value)), expected);
    }
    let short = error(host.run_with(&["secrets", "set", "TOKEN"], "hunter2"));
    assert!(!short.contains("hunter2") && short.contains("fewer than 8 bytes"), "{short}");
    let gone = error(host.run(&["secrets", "remove", "TOKEN"]));
    assert_eq!(
        gone,
        "hermes-host: no secret TOKEN is kept; hermes-host secrets list shows what is kept\n"
    );
    assert!(!host.home().join("secrets.toml").exists());
}

/// Everything below a folder but the file the secret is kept in.
fn files_with(value: &str, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(value, &path));
        } else if std::fs::read(&path).unwrap().windows(value.len()).any(|w| w == value.as_bytes())
        {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

#[test]
fn b133_a_run_that_meets_the_value_leaves_no_trace_of_it() {
    // What only one form of the value holds, so that the model's own words are not taken for a leak.
    let encoded = VALUE.replace('/', "%2F").replace('+', "%2B").replace(' ', "%20");
    let model = Model::new([
        calls(&[("c1", "secret", json!({"name": "HOSTILE_TOKEN"}))]),
        calls(&[("c2", "fail", json!({"text": encoded}))]),
        text("done"),
    ]);
    let host = Host::asking(model.url()).with_guests("").env("HERMES_HOST_LOG", "trace");
    host.run_with(&SET, VALUE);
    let run = host.run(&[
        "--grant",
        "hostile:secret:HOSTILE_TOKEN",
        "--output",
        "stream-json",
        "-vv",
        "-q",
        "go",
    ]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let result = model.requests().last().unwrap()["messages"].to_string();
    assert!(result.contains("exists true same true hmx_placeholder_"), "{result}");
    assert!(result.contains("[redacted]"), "{result}");
    assert!(!run.stdout.contains(VALUE) && !run.stderr.contains(VALUE));
    let written: Vec<&str> =
        run.stderr.lines().filter(|line| line.contains("plugin=hostile")).collect();
    assert!(written.iter().any(|line| line.contains("[redacted]")), "{}", run.stderr);
    assert!(!written.iter().any(|line| line.contains(&encoded)), "{written:?}");
    assert_eq!(files_with(VALUE, host.home()), ["secrets.toml"]);
}
