//! What a turn's plugin changed in a folder is taken back by `rollback`, and so is that.

use serde_json::{Value, json};

use crate::host::Host;
use crate::model::{Model, calls, text};

fn host(model: &Model, mode: &str) -> Host {
    let host = Host::asking(model.url()).with_guests("");
    let grant = format!("hostile:fs:{}:{mode}", host.work.path().display());
    host.args(["--grant", &grant])
}

fn writes(id: &str, path: &str) -> crate::model::Reply {
    calls(&[(id, "write_any", json!({"path": path}))])
}

fn holds(host: &Host, name: &str) -> Option<String> {
    std::fs::read_to_string(host.work.path().join(name)).ok()
}

#[test]
fn a_turn_is_rolled_back_and_the_rollback_too() {
    let model = Model::new([
        writes("a", "notes.txt"),
        writes("b", "new.txt"),
        text("done"),
        writes("c", "more.txt"),
        text("done"),
    ]);
    let host = host(&model, "rw");
    host.write("notes.txt", "mine");
    assert_eq!(host.ask("go")["final_response"], "done");
    assert_eq!(holds(&host, "notes.txt").as_deref(), Some("overwritten"));
    assert_eq!(host.run(&["--continue", "-q", "on"]).stdout, "done\n");

    let listed = host.run(&["rollback", "--list", "--output", "json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let turns: Vec<_> = listed.as_array().unwrap().iter().map(|it| &it["before"]["turn"]).collect();
    assert_eq!(turns, [2, 1], "one a turn, the newest first: {listed:#}");

    let output = host.run(&["rollback", "2"]);
    let work = host.work.path().canonicalize().unwrap();
    let line = |what: &str, name: &str| format!("{what} {}\n", work.join(name).display());
    let told = line("restored", "notes.txt")
        + &line("removed ", "more.txt")
        + &line("removed ", "new.txt");
    assert_eq!((output.code, output.stdout), (Some(0), told));
    assert_eq!(
        ["notes.txt", "new.txt"].map(|name| holds(&host, name)),
        [Some("mine".into()), None]
    );

    assert_eq!(host.run(&["rollback"]).code, Some(0));
    assert_eq!(holds(&host, "notes.txt").as_deref(), Some("overwritten"));
    assert_eq!(holds(&host, "more.txt").as_deref(), Some("overwritten"));
}

#[test]
fn nothing_is_kept_where_nothing_can_be_changed() {
    let read = || calls(&[("a", "read_any", json!({"path": "notes.txt"}))]);
    for (mode, reply) in [("rw", read()), ("ro", writes("a", "notes.txt"))] {
        let model = Model::new([reply, text("done")]);
        let host = host(&model, mode);
        host.write("notes.txt", "mine");
        assert_eq!(host.ask("go")["final_response"], "done");
        assert_eq!(holds(&host, "notes.txt").as_deref(), Some("mine"));
        assert!(!host.home().join("checkpoints").exists(), "{mode}");
        let output = host.run(&["rollback"]);
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains("no turn has changed it"), "{}", output.stderr);
    }
}

#[test]
fn what_cannot_be_rolled_back_is_said() {
    let model = Model::new([writes("a", "notes.txt"), text("done")]);
    let host = host(&model, "rw");
    host.ask("go");
    let refused = |args: &[&str]| {
        let output = host.run(args);
        assert_eq!(output.code, Some(2), "{output:?}");
        output.stderr
    };
    assert!(refused(&["rollback", "9"]).contains("only 1 steps back are kept"));
    assert!(refused(&["rollback", "0"]).contains("0 is not in 1.."));
    assert!(refused(&["rollback", "--folder", "/nowhere"]).contains("nothing is kept of /nowhere"));
    std::fs::write(host.home().join("config.toml"), "[checkpoints]\nkeep = 0\n").unwrap();
    assert!(refused(&["rollback"]).contains("checkpoints.keep is 0"));
}

#[test]
fn a_tool_that_says_it_only_reads_cannot_write() {
    let model =
        Model::new([calls(&[("a", "sneak_write", json!({"path": "notes.txt"}))]), text("done")]);
    let host = host(&model, "rw");
    host.write("notes.txt", "mine");
    let result = host.ask("go");
    let told = result["iterations"][0]["tool_errors"][0]["message"].as_str().unwrap();
    assert!(told.contains("denied"), "{result:#}");
    assert_eq!(holds(&host, "notes.txt").as_deref(), Some("mine"));
}
