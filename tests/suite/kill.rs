//! A kill at any moment loses at most the step in flight, and a strict provider accepts what is
//! left.

use serde_json::{Value, json};

use crate::host::Host;
use crate::model::{Model, Reply, calls, text};

fn contents(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn b027_killed_while_a_tool_ran_the_session_goes_on() {
    let model = Model::new([
        calls(&[
            ("c1", "misbehave", json!({"how": "sleep"})),
            ("c2", "remember", json!({"key": "k", "value": "v"})),
        ]),
        text("went on"),
        text("and again"),
    ]);
    let settings = "[plugins.hostile.limits]\nwall_ms = 600000\n";
    let host = Host::asking(model.url()).with_guests(settings);
    // The plugins are compiled first, so that the kill falls into the call.
    host.run(&["plugins", "list"]);
    let mut child = host.spawn(&["-q", "go"]);
    let database = host.home().join("state.db");
    wait_for_reply(&database);
    child.kill().unwrap();
    child.wait().unwrap();

    let output = host.run(&["-q", "go on", "--continue"]);
    assert_eq!(output.stdout, "went on\n", "{output:?}");
    let resumed = contents(&model.requests()[1]);
    // One only reads, the other may have done something.
    assert!(resumed[3].contains("it changes nothing, so it can be called again"), "{resumed:?}");
    assert!(resumed[4].contains("interrupted, effect unknown"), "{resumed:?}");
    host.run(&["-q", "once more", "--continue"]);
    let again = contents(&model.requests()[2]);
    assert_eq!(again[..5], resumed[..5], "nothing is added a second time");
}

/// Kills, spread over a turn of three iterations and a few milliseconds around each request.
const KILLS: u64 = 200;

#[test]
fn a_kill_at_any_of_200_points_leaves_a_session_that_goes_on() {
    std::thread::scope(|scope| {
        for worker in 0..4 {
            scope.spawn(move || (worker..KILLS).step_by(4).for_each(killed_at));
        }
    });
}

/// A turn killed at the `n`th point; the next turn must do as if nothing had happened, with a
/// request that a strict provider accepts.
fn killed_at(n: u64) {
    let todo = |id: &str| {
        let item = json!({"id": "1", "content": "x", "status": "pending"});
        calls(&[(id, "todo", json!({"todos": [item]})), (&format!("{id}b"), "todo", json!({}))])
    };
    let model = Model::new([todo("a"), todo("b"), text("done")]);
    let host = Host::new();
    let ask = ["--base-url", model.url(), "--model", "fake", "-q", "go"];
    let mut child = host.spawn(&ask);
    // Up to the third request, then a moment that differs each time.
    let requests = usize::try_from(n % 4).unwrap();
    while model.count() < requests && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let dice = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let moment =
        std::time::Instant::now() + std::time::Duration::from_micros((dice >> 33) % 20_000);
    while std::time::Instant::now() < moment {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let next = Model::new([text("went on")]);
    let ask = ["--base-url", next.url(), "--model", "fake", "-q", "go on"];
    let mut output = host.run(&[&ask[..], &["--continue"]].concat());
    if output.stderr.contains("there is no session to continue") {
        output = host.run(&ask); // it was killed before there was one
    }
    assert_eq!((output.code, &*output.stdout), (Some(0), "went on\n"), "point {n}: {output:?}");
    let database = rusqlite::Connection::open(host.home().join("state.db")).unwrap();
    let twice = "SELECT count(*) - count(DISTINCT id) FROM messages";
    let twice: u32 = database.query_row(twice, [], |row| row.get(0)).unwrap();
    assert_eq!(twice, 0, "point {n}");
}

/// Waits until the model's reply is stored.
fn wait_for_reply(database: &std::path::Path) {
    loop {
        let stored = rusqlite::Connection::open(database).and_then(|db| {
            db.query_row("SELECT count(*) FROM messages", [], |row| row.get::<_, u32>(0))
        });
        if stored.is_ok_and(|count| count >= 2) {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn b083_what_a_tool_did_is_stored_before_the_model_is_asked_again() {
    let model = Model::new([
        calls(&[("c1", "echo", json!({"text": "R1"}))]),
        Reply::Silence,
        text("went on"),
    ]);
    let host = Host::asking(model.url()).with_guests("");
    let mut child = host.spawn(&["-q", "go"]);
    model.wait_for(2);
    child.kill().unwrap();
    child.wait().unwrap();
    host.run(&["-q", "go on", "--continue"]);
    let resumed = contents(&model.requests()[2]);
    assert_eq!(resumed[1..], ["go", "", "R1", "go on"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_turn_cleanly_and_the_session_goes_on() {
    let model = Model::new([Reply::Silence, text("went on")]);
    let host = Host::asking(model.url());
    let child = host.spawn(&["-q", "go", "--output", "json"]);
    model.wait_for(1);
    let status =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.unwrap().success());
    let output = crate::host::finish(child);
    let result: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((output.code, &result["interrupted"]), (Some(130), &json!(true)));
    let next = host.run(&["-q", "go on", "--continue"]);
    assert_eq!(next.stdout, "went on\n");
    assert_eq!(contents(&model.requests()[1])[1], "go\n\ngo on");
}
