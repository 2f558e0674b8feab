//! The command line: what is printed where, and with which exit code.

use std::io::Read;

use serde_json::{Value, json};

use crate::host::{Host, finish};
use crate::model::{Model, Reply, calls, delta, text};

#[test]
fn standard_output_carries_only_the_answer() {
    let model = Model::new([calls(&[("c1", "count", json!({}))]), text("It is 0.")]);
    let output = Host::asking(model.url()).with_guests("").run(&["-q", "count"]);
    assert_eq!((output.code, &*output.stdout, &*output.stderr), (Some(0), "It is 0.\n", ""));
}

#[test]
fn a_prompt_comes_from_where_it_is_said_to() {
    let model = Model::new([text("a"), text("b"), text("c")]);
    let host = Host::asking(model.url());
    host.run_with(&["-q", "-"], "from the pipe");
    host.run_with(&["-q", "sum", "--stdin"], "1\n2\n");
    host.run_with(&[], "all of it");
    let prompts: Vec<Value> =
        model.requests().iter().map(|request| request["messages"][1]["content"].clone()).collect();
    assert_eq!(prompts, ["from the pipe", "sum\n\n```\n1\n2\n```", "all of it"]);
}

#[test]
fn an_inherited_pipe_that_never_closes_does_not_hang_a_run() {
    let model = Model::new([text("done")]);
    let host = Host::asking(model.url());
    let (reader, writer) = std::io::pipe().unwrap();
    let child = host.command(&["-q", "hi"]).stdin(reader).spawn().unwrap();
    assert_eq!(finish(child).stdout, "done\n");
    drop(writer);
}

#[test]
fn exit_codes_tell_how_it_ended() {
    let endless =
        || Model::new((0..9).map(|n| calls(&[("c", "echo", json!({"text": n.to_string()}))])));
    let model = endless();
    let spent = Host::asking(model.url()).with_guests("").run(&["-q", "go", "--max-turns", "2"]);
    assert_eq!(spent.code, Some(3), "{spent:?}");
    assert_eq!(spent.stderr, "hermes-host: all 2 iterations of the turn are used\n");

    let refused = Model::new([Reply::Raw(404, "application/json", "{\"error\":{\"message\":\"The model `fake` does not exist\",\"code\":\"model_not_found\"}}".into())]);
    let failed = Host::asking(refused.url()).run(&["-q", "hi"]);
    assert_eq!(failed.code, Some(1));
    assert!(
        failed.stderr.starts_with("hermes-host: failed (model_not_found): "),
        "{}",
        failed.stderr
    );
}

#[test]
fn what_the_user_must_mend_is_exit_2_with_the_reason() {
    let here = "http://127.0.0.1:9/v1";
    for (args, wanted) in [
        (vec!["-q", "hi"], "no model is configured"),
        (
            vec!["-q", "hi", "--base-url", here],
            "no model is named for provider \"custom\"; say --model NAME",
        ),
        (
            vec!["-q", "hi", "--base-url", "nonsense", "--model", "m"],
            "base URL \"nonsense\" is no URL",
        ),
        (
            vec!["-q", "hi", "--base-url", "http://u:p@h/v1", "--model", "m"],
            "the base URL carries a user name or password",
        ),
        (
            vec!["-q", "hi", "--base-url", here, "--model", "m", "--api-mode", "soap"],
            "unknown api mode \"soap\"",
        ),
        (vec!["-q", "hi", "--provider", "nowhere"], "no provider is named \"nowhere\""),
        (vec!["-q", "  ", "--base-url", here, "--model", "m"], "the prompt is empty"),
        (
            vec!["--continue", "-q", "hi", "--base-url", here, "--model", "m"],
            "there is no session to continue",
        ),
        (
            vec!["--resume", "zz", "-q", "hi", "--base-url", here, "--model", "m"],
            "hermes-host sessions list shows what is stored",
        ),
        (vec!["--plugins", "./missing", "-q", "hi", "--base-url", here, "--model", "m"], "missing"),
        (
            vec!["--grant", "nonsense", "-q", "hi", "--base-url", here, "--model", "m"],
            "grant \"nonsense\": must be NAME:KIND:REST",
        ),
        (vec!["--max-turns", "0", "-q", "hi"], "--max-turns"),
    ] {
        let output = Host::new().run(&args);
        assert_eq!(output.code, Some(2), "{args:?}: {output:?}");
        assert!(output.stderr.contains(wanted), "{args:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{args:?}");
    }
}

#[test]
fn a_program_gets_one_whole_result_even_when_a_run_cannot_begin() {
    let output = Host::new().run(&["-q", "hi", "--output", "json"]);
    let result: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(
        (output.code, &result["failed"], &result["end"]["kind"]),
        (Some(2), &json!(true), &json!("failed"))
    );
    assert!(result["error"]["message"].as_str().unwrap().starts_with("no model is configured"));
}

#[test]
fn an_unknown_key_in_the_configuration_is_named_with_the_right_one() {
    let host = Host::new();
    std::fs::write(host.home().join("config.toml"), "[agent]\nmax_turn = 3\n").unwrap();
    let output = host.run(&["-q", "hi"]);
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.contains("line 2: unknown key \"max_turn\"; did you mean \"max_turns\"?"),
        "{}",
        output.stderr
    );
}

#[test]
fn events_tell_the_whole_turn_and_end_with_its_result() {
    let model =
        Model::new([calls(&[("c1", "echo", json!({"text": "é".repeat(500)}))]), text("ok")]);
    let events = Host::asking(model.url()).with_guests("").events("go");
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        [
            "turn_started",
            "iteration_started",
            "tool_call_started",
            "tool_call_finished",
            "iteration_started",
            "delta",
            "turn_ended"
        ]
    );
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (0..7).collect::<Vec<u64>>());
    assert_eq!(events[6]["result"]["final_response"], "ok");
    let schema: Value = serde_json::from_str(
        &std::fs::read_to_string(crate::host::root().join("tests/events.schema.json")).unwrap(),
    )
    .unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for event in &events {
        let errors: Vec<String> =
            validator.iter_errors(event).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?} in {event}");
    }
}

#[test]
fn sessions_are_listed_shown_and_gone_on_with() {
    let model = Model::new([text("one"), text("two"), text("three")]);
    let host = Host::asking(model.url());
    let first = host.ask("the first question");
    let id = first["session_id"].as_str().unwrap();
    let output = host.run(&["--output", "json", "-q", "and then?", "--continue"]);
    let second: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&second["session_id"], &second["turn"]), (&first["session_id"], &json!(2)));
    host.run(&["-q", "and now?", "--resume", id]);
    assert_eq!(model.requests()[2]["messages"].as_array().unwrap().len(), 6);
    let listed = host.run(&["sessions", "list", "--output", "json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(
        (&listed[0]["title"], &listed[0]["messages"]),
        (&json!("the first question"), &json!(6))
    );
    let shown = host.run(&["sessions", "show", id]);
    assert!(
        shown.stdout.starts_with("user      the first question\nassistant one\n"),
        "{}",
        shown.stdout
    );
}

#[test]
fn b140_no_preview_cuts_inside_a_character() {
    let long = "é".repeat(6000) + &"世".repeat(6000) + &"👩\u{200d}💻".repeat(500);
    for shift in 0..8 {
        let shifted: String = "x".repeat(shift) + &long;
        let model = Model::new([calls(&[("c1", "echo", json!({"text": shifted}))]), text("ok")]);
        let host = Host::asking(model.url()).with_guests("[agent]\nresult_bytes = 5000\n");
        let output = host.run(&["-v", "-q", &"ü".repeat(80)]);
        assert_eq!((output.code, &*output.stdout), (Some(0), "ok\n"), "{}", output.stderr);
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
        let listed = host.run(&["sessions", "list"]);
        assert_eq!(listed.code, Some(0));
        model.requests();
    }
}

#[test]
fn b141_a_reader_that_goes_away_ends_it_quietly() {
    let words: Vec<Value> =
        (0..20_000).map(|_| delta(json!({"content": "many words "}), None)).collect();
    let model = Model::new([Reply::Events(words, true)]);
    let host = Host::asking(model.url());
    let mut child = host.spawn(&["-q", "go", "--output", "stream-json"]);
    let mut first = [0; 1];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    drop(child.stdout.take());
    let output = finish(child);
    assert!(matches!(output.code, Some(0 | 141)), "{output:?}");
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    let listed = host.run(&["sessions", "list", "--output", "json"]);
    assert!(listed.stdout.contains("\"messages\":"), "the turn is kept: {listed:?}");
}
