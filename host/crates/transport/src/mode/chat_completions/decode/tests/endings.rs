//! How replies end: finish reasons, errors, cuts.

use hermes_core::message::FinishReason::{Incomplete, Length};

use super::*;

#[test]
fn b016_an_error_object_in_a_stream_is_an_error() {
    let error = r#"{"code":502,"message":"upstream worker limit reached"}"#;
    let bodies = [
        events(&[&format!(
            r#"{{"id":"x","object":"chat.completion.chunk","choices":[],"error":{error}}}"#
        )]),
        events(&[&format!(r#"{{"error":{error}}}"#)]),
        events(&[&format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":""}},"error":{error},"finish_reason":"error"}}]}}"#
        )]),
        format!("event: error\ndata: {error}\n\n"),
    ];
    for body in &bodies {
        let expected = Reply { fault: Some(Fault::Reported(error.into())), ..Reply::default() };
        assert_eq!(stream([body.as_bytes()]), expected, "{body}");
    }
    let expected = Reply { fault: Some(Fault::Reported(error.into())), ..Reply::default() };
    assert_eq!(whole(&format!(r#"{{"error":{error}}}"#)), expected);
}

#[test]
fn errors_without_the_usual_wrapping_are_seen_too() {
    let bare = [
        r#"{"object":"error","message":"m","type":"BadRequestError","code":400}"#,
        r#"{"type":"error","message":"m"}"#,
        r#"{"detail":"m"}"#,
        r#"{"message":"m","code":"x"}"#,
        r#"{"error":"m"}"#,
    ];
    for error in bare {
        for reply in [stream([events(&[error]).as_bytes()]), whole(error)] {
            assert!(matches!(reply.fault, Some(Fault::Reported(_))), "{error}: {reply:?}");
        }
    }
    // Fields that say there is no error, and chunks that say nothing.
    let body = events(&[
        r#"{"type":"ping"}"#,
        r#"{"error":null,"choices":[{"delta":{"content":"a"}}]}"#,
        r#"{"error":"","choices":[{"delta":{"content":"b"}}]}"#,
        r#"{"error":{},"choices":[{"delta":{"content":"c"},"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(stream([body.as_bytes()]), said("abc", Stop));
}

#[test]
fn b020_an_end_after_the_finish_reason_needs_no_done() {
    let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    for end in [body, body.trim_end()] {
        assert_eq!(stream_at_every_cut(end.as_bytes()), said("hi", Stop));
    }
}

#[test]
fn an_end_without_finish_reason_is_cut_unless_done_says_otherwise() {
    let text = r#"{"choices":[{"index":0,"delta":{"content":"hi"}}]}"#;
    let started = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":"{\"pa"}}]}}]}"#;
    let cut = |reply: Reply| Reply { finish: None, fault: Some(Fault::Cut), ..reply };
    let data = |chunk: &str| format!("data: {chunk}\n\n");
    assert_eq!(stream([data(text).as_bytes()]), cut(said("hi", Stop)));
    assert_eq!(stream([data(started).as_bytes()]), cut(called(vec![call("c", "read", "{\"pa")])));
    assert_eq!(stream([&b""[..]]), cut(Reply::default()));
    // A last event that is itself cut is part of the cut.
    let half = format!("{}data: {{\"choices\":[{{\"del", data(text));
    assert_eq!(stream([half.as_bytes()]), cut(said("hi", Stop)));
    assert_eq!(stream([events(&[text]).as_bytes()]), said("hi", Stop));
    assert_eq!(stream([events(&[started]).as_bytes()]), called(vec![call("c", "read", "{\"pa")]));
    let empty = Reply { fault: Some(Fault::Empty), ..Reply::default() };
    assert_eq!(stream([events(&[]).as_bytes()]), empty);
    let usage = events(&[r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0}}"#]);
    assert_eq!(stream([usage.as_bytes()]), Reply { usage: tokens(9, 0), ..empty });
}

#[test]
fn finish_reasons_become_one_set() {
    let cases = [
        (r#""stop""#, Stop),
        (r#""length""#, Length),
        (r#""max_tokens""#, Length),
        (r#""MAX_TOKENS""#, Length),
        (r#""content_filter""#, ContentFilter),
        (r#""tool_calls""#, ToolCalls),
        (r#""function_call""#, ToolCalls),
        (r#""insufficient_system_resource""#, Incomplete),
        (r#""eos""#, Stop),
        (r#""whatever""#, Stop),
        ("3", Stop),
        ("true", Stop),
    ];
    for (sent, expected) in cases {
        assert_eq!(deltas(&[r#"{"content":"x"}"#], sent), said("x", expected), "{sent}");
    }
    let list = r#"{"tool_calls":[{"id":"c","function":{"name":"read","arguments":"{}"}}]}"#;
    assert_eq!(deltas(&[list], r#""stop""#), called(vec![call("c", "read", "{}")]));
    let reply = deltas(&[r#"{"content":"x"}"#], r#""error""#);
    assert!(matches!(reply.fault, Some(Fault::Reported(_))), "{reply:?}");
}

#[test]
fn a_finish_reason_is_remembered_and_an_empty_one_is_none() {
    let body = events(&[
        r#"{"choices":[{"delta":{"content":"a"},"finish_reason":""}]}"#,
        r#"{"choices":[{"delta":{"content":"b"},"finish_reason":"length"}]}"#,
        r#"{"choices":[{"delta":{"content":"c"},"finish_reason":null}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(stream([body.as_bytes()]), said("abc", Length));
}

#[test]
fn what_is_no_chunk_is_malformed_and_says_how() {
    let fault = |reply: Reply| match reply.fault {
        Some(Fault::Malformed { reason, text }) => (reason, text),
        other => panic!("{other:?}"),
    };
    let (reason, text) = fault(stream([&b"data: upstream timed out\n\n"[..]]));
    assert_eq!((reason.as_str(), text.as_str()), ("it is not JSON", "upstream timed out"));
    let (reason, text) = fault(whole(r#"{"status":"ok"}"#));
    assert_eq!((reason.as_str(), text.as_str()), ("it has no `choices`", r#"{"status":"ok"}"#));
    let (reason, _) = fault(whole(r#"{"choices":"#));
    assert_eq!(reason, "its JSON is cut short");
    let (reason, _) = fault(whole(r#"{"choices":7}"#));
    assert_eq!(
        reason,
        "its form is unexpected: invalid type: integer `7`, expected a list of choices at line 1 column 12"
    );
}
