//! How replies end: statuses, errors, cuts.

use super::*;

fn text(delta: &str) -> Value {
    event("output_text.delta", 0, "msg_1", json!({"delta": delta}))
}

fn ended(kind: &str, response: Value) -> Value {
    json!({"type": format!("response.{kind}"), "response": response})
}

#[test]
fn statuses_become_one_set_of_reasons() {
    let incomplete =
        |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}});
    let cases = [
        ("completed", json!({"status": "completed"}), Stop),
        ("completed", json!({}), Stop),
        ("completed", json!({"status": "in_progress"}), Stop),
        ("done", json!({}), Stop),
        ("completed", incomplete("max_output_tokens"), Length),
        ("incomplete", incomplete("max_output_tokens"), Length),
        ("incomplete", incomplete("content_filter"), ContentFilter),
        ("incomplete", incomplete("other"), Incomplete),
        ("incomplete", json!({"incomplete_details": null}), Incomplete),
    ];
    for (kind, response, finish) in cases {
        let sent = [text("x"), ended(kind, response)];
        assert_eq!(events(&sent), said("x", finish), "{sent:?}");
    }
    let mut body = json!({"output": [message("msg_1", "x")]});
    assert_eq!(whole(&body.to_string()), said("x", Stop));
    body["status"] = json!("incomplete");
    body["incomplete_details"] = json!({"reason": "max_output_tokens"});
    assert_eq!(whole(&body.to_string()), said("x", Length));
}

#[test]
fn a_refusal_is_text_and_filtered_content() {
    let item = json!({
        "id": "msg_1", "type": "message", "content": [{"type": "refusal", "refusal": "I can't."}]
    });
    let piece = |delta: &str| event("refusal.delta", 0, "msg_1", json!({"delta": delta}));
    let whole = event("refusal.done", 0, "msg_1", json!({"refusal": "I can't."}));
    let end = || completed(json!([item]));
    for sent in
        [vec![piece("I "), piece("can't."), whole.clone(), end()], vec![whole, end()], vec![end()]]
    {
        assert_eq!(events(&sent), said("I can't.", ContentFilter), "{sent:?}");
    }
    let spoken = [text("Well."), piece(" I can't."), completed(json!([]))];
    assert_eq!(events(&spoken), said("Well. I can't.", Stop));
}

#[test]
fn b016_an_error_in_a_stream_is_an_error() {
    let error = r#"{"code":"server_error","message":"upstream worker limit reached"}"#;
    let flat =
        r#"{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}"#;
    let cases = [
        (format!(r#"{{"type":"error","error":{error}}}"#), error),
        (flat.to_owned(), flat),
        (format!(r#"{{"error":{error}}}"#), error),
        (
            format!(
                r#"{{"type":"response.failed","response":{{"status":"failed","error":{error}}}}}"#
            ),
            error,
        ),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#.to_owned(),
            r#"{"code":"server_error","message":"the provider ended the reply with status \"failed\""}"#,
        ),
        (
            r#"{"type":"invalid_request_error","message":"m"}"#.to_owned(),
            r#"{"type":"invalid_request_error","message":"m"}"#,
        ),
        (r#"{"detail":"no such path"}"#.to_owned(), r#"{"detail":"no such path"}"#),
    ];
    for (data, report) in &cases {
        let body = format!("{}data: {data}\n\n", body(&[text("so far")]));
        let fault = Some(Fault::Reported((*report).to_owned()));
        let expected = Reply { text: "so far".into(), fault, ..Reply::default() };
        assert_eq!(stream([body.as_bytes()]), expected, "{data}");
    }
    let named = stream([&b"event: error\ndata: overloaded\n\n"[..]]);
    assert_eq!(named.fault, Some(Fault::Reported("overloaded".into())));
    for body in [
        format!(r#"{{"error":{error}}}"#),
        format!(r#"{{"status":"failed","output":[],"error":{error}}}"#),
    ] {
        assert_eq!(whole(&body).fault, Some(Fault::Reported(error.into())), "{body}");
    }
}

#[test]
fn an_end_without_a_last_event_is_cut_unless_done_says_otherwise() {
    let cut = |reply: Reply| Reply { finish: None, fault: Some(Fault::Cut), ..reply };
    assert_eq!(events(&[text("hi")]), cut(said("hi", Stop)));
    assert_eq!(stream([&b""[..]]), cut(Reply::default()));
    let started = [
        added(0, function("fc_1", "c1", "")),
        event("function_call_arguments.delta", 0, "fc_1", json!({"delta": "{\"pa"})),
    ];
    assert_eq!(events(&started), cut(called(vec![call("c1", "read", "{\"pa")])));
    // A last event that is itself cut is part of the cut.
    let half = format!("{}data: {{\"type\":\"response.comp", body(&[text("hi")]));
    assert_eq!(stream([half.as_bytes()]), cut(said("hi", Stop)));
    let with_done = format!("{}data: [DONE]\n\n", body(&[text("hi")]));
    assert_eq!(stream([with_done.as_bytes()]), said("hi", Stop));
    let empty = Reply { fault: Some(Fault::Empty), ..Reply::default() };
    assert_eq!(stream([&b"data: [DONE]\n\n"[..]]), empty);
    let after = format!("{}data: [DONE]\n\n", body(&[text("hi"), completed(json!([]))]));
    assert_eq!(stream([after.as_bytes()]), said("hi", Stop));
}

#[test]
fn events_we_do_not_know_say_nothing() {
    let sent = [
        json!({"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws"}),
        json!({"type": "keepalive", "sequence_number": 3}),
        json!({"type": "codex.rate_limits", "message": "x"}),
        text("a"),
        json!({"type": "response.audio.delta", "delta": "UklGRg=="}),
        done(3, json!({"type": "web_search_call", "id": "ws"})),
        done(4, json!([1])),
        json!({"type": "response.output_item.added", "item": null}),
        completed(json!([7, null, {"type": "web_search_call"}])),
    ];
    assert_eq!(events(&sent), said("a", Stop));
}

#[test]
fn what_is_no_reply_is_malformed_and_says_how() {
    let fault = |reply: Reply| match reply.fault {
        Some(Fault::Malformed { reason, text }) => (reason, text),
        other => panic!("{other:?}"),
    };
    let (reason, text) = fault(stream([&b"data: upstream timed out\n\n"[..]]));
    assert_eq!((reason.as_str(), text.as_str()), ("it is not JSON", "upstream timed out"));
    let (reason, text) = fault(whole(r#"{"state":"ok"}"#));
    assert_eq!((reason.as_str(), text.as_str()), ("it has no `output`", r#"{"state":"ok"}"#));
    let (reason, _) = fault(whole(r#"{"status":"queued","output":[]}"#));
    assert_eq!(reason, "it is a reply that is still being written");
    let (reason, _) = fault(whole(r#"{"output":"#));
    assert_eq!(reason, "its JSON is cut short");
}
