//! What real servers send, through the whole host: one answer, one stored reply, the right usage.

use serde_json::{Value, json};

use crate::host::Host;
use crate::model::{Model, Reply, calls, delta, text};

fn call_delta(call: Value) -> Value {
    delta(json!({"tool_calls": [call]}), None)
}

#[test]
fn b001_a_usage_only_chunk_after_the_finish_is_no_cut_stream() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}});
    let events =
        vec![delta(json!({"content": "done."}), None), delta(json!({}), Some("stop")), usage];
    let model = Model::new([Reply::Events(events, true)]);
    let result = Host::asking(model.url()).ask("hi");
    assert_eq!(result["final_response"], "done.");
    assert_eq!(model.requests().len(), 1);
    assert_eq!(result["messages"].as_array().unwrap().len(), 2);
    assert_eq!(
        result["usage"],
        json!({"input": 9, "output": 2, "cached": 0, "cache_write": 0, "reasoning": 0, "estimated": false})
    );
}

#[test]
fn b005_parallel_calls_that_share_index_0_stay_two_calls() {
    let one = |id: &str, text: &str| {
        let arguments = json!({"text": text}).to_string();
        call_delta(json!({"index": 0, "id": id, "type": "function",
                          "function": {"name": "echo", "arguments": arguments}}))
    };
    let events = vec![one("cA", "a"), one("cB", "b"), delta(json!({}), Some("tool_calls"))];
    let model = Model::new([Reply::Events(events, true), text("ok")]);
    let result = Host::asking(model.url()).with_guests("").ask("go");
    let messages = result["messages"].as_array().unwrap();
    assert_eq!((&messages[2]["content"], &messages[3]["content"]), (&json!("a"), &json!("b")));
    let second = &model.requests()[1]["messages"];
    assert_eq!(second.as_array().unwrap().len(), 5, "system, user, reply and two results");
}

#[test]
fn b020_a_stream_without_its_end_mark_is_a_success() {
    let events = vec![delta(json!({"content": "hi"}), Some("stop"))];
    let model = Model::new([Reply::Events(events, false)]);
    let output = Host::asking(model.url()).run(&["-q", "hello"]);
    assert_eq!((output.code, &*output.stdout), (Some(0), "hi\n"), "{output:?}");
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn b025_a_page_where_a_reply_was_expected_is_an_error_that_says_so() {
    let page = "<html><head><title>502</title></head><body>cloud edge error</body></html>";
    for (status, body) in [(200, page), (200, "")] {
        let replies = (0..3).map(|_| Reply::Raw(status, "text/html", body.to_owned()));
        let model = Model::new(replies);
        let host = Host::asking(model.url());
        let output = host.run(&["-q", "hi", "--output", "json"]);
        assert_eq!(output.code, Some(1), "{output:?}");
        let result: Value = serde_json::from_str(&output.stdout).unwrap();
        let message = result["error"]["message"].as_str().unwrap();
        assert!(message.contains("text/html"), "{message}");
        assert!(!message.contains("expected value at line 1"), "{message}");
        assert!(message.len() < 500, "{message}");
        assert_eq!(result["messages"].as_array().unwrap().len(), 1, "nothing empty is stored");
    }
}

#[test]
fn b042_blank_arguments_are_an_empty_object() {
    for arguments in [json!(""), json!("  \n"), Value::Null] {
        let mut function = json!({"name": "count", "arguments": arguments});
        if arguments.is_null() {
            function.as_object_mut().unwrap().remove("arguments");
        }
        let call = json!({"index": 0, "id": "c1", "type": "function", "function": function});
        let mut missing = call.clone();
        (missing["index"], missing["id"]) = (json!(1), json!("c2"));
        missing["function"]["name"] = json!("echo");
        let events =
            vec![call_delta(call), call_delta(missing), delta(json!({}), Some("tool_calls"))];
        let model = Model::new([Reply::Events(events, true), text("ok")]);
        let result = Host::asking(model.url()).with_guests("").ask("go");
        assert_eq!(result["messages"][2]["content"], "0", "{arguments}");
        let required = result["messages"][3]["content"].as_str().unwrap();
        assert_eq!(required, "error [invalid-arguments]: \"text\" is a required property");
        model.requests();
    }
}

#[test]
fn b045_arguments_as_an_object_are_taken_and_sent_back_as_text() {
    let call = json!({"index": 0, "id": "c1", "type": "function",
                      "function": {"name": "echo", "arguments": {"text": "a"}}});
    let events = vec![call_delta(call), delta(json!({}), Some("tool_calls"))];
    let model = Model::new([Reply::Events(events, true), text("ok")]);
    let result = Host::asking(model.url()).with_guests("").ask("go");
    assert_eq!(result["messages"][2]["content"], "a");
    let sent = &model.requests()[1]["messages"][2]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(sent, "{\"text\":\"a\"}");
}

#[test]
fn b049_lone_surrogates_and_invalid_text_never_reach_the_store() {
    let model = Model::new([
        calls(&[
            ("c1", "echo", json!("{\"text\": \"bad \\ud99c end\"}")),
            ("c2", "misbehave", json!({"how": "invalid_utf8"})),
        ]),
        text("ok"),
    ]);
    let host = Host::asking(model.url()).with_guests("");
    let result = host.ask("go");
    assert_eq!(result["messages"][2]["content"], "bad \u{fffd} end");
    let database = rusqlite::Connection::open(host.home().join("state.db")).unwrap();
    let bodies: Vec<String> = database
        .prepare("SELECT body FROM messages")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(bodies.len(), 5);
    for body in bodies {
        assert!(!body.to_lowercase().contains("\\ud99c"), "{body}");
    }
    model.requests();
}

#[test]
fn b053_a_blank_tool_name_is_answered_shortly_and_ends_in_bounds() {
    let model = Model::new((0..10).map(|_| calls(&[("c1", "  ", json!({}))])));
    let host = Host::asking(model.url()).with_guests("");
    let output = host.run(&["-q", "go", "--output", "json"]);
    let result: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((output.code, &result["error"]["kind"]), (Some(1), &json!("tool_loop")));
    assert_eq!(model.requests().len(), 5);
    let answer = result["messages"][2]["content"].as_str().unwrap();
    assert!(answer.len() < 500 && !answer.contains("misbehave"), "{answer}");
}

#[test]
fn a_provider_that_refuses_the_key_says_so_without_showing_it() {
    let body = "{\"error\":{\"message\":\"Incorrect API key provided: sk-canary-1234567890abcdef\",\"code\":\"invalid_api_key\"}}";
    let model = Model::new([Reply::Raw(401, "application/json", body.into())]);
    let host = Host::asking(model.url()).env("HERMES_HOST_API_KEY", "sk-canary-1234567890abcdef");
    let output = host.run(&["-q", "hi", "--output", "json", "-vvv"]);
    assert_eq!(output.code, Some(1));
    let result: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(result["error"]["kind"], "auth");
    assert!(!output.stdout.contains("canary") && !output.stderr.contains("canary"), "{output:?}");
}
