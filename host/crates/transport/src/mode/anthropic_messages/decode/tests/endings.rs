//! How replies end: stop reasons, errors, cuts.

use super::*;

fn hi() -> [Value; 2] {
    [
        start(0, json!({"type": "text", "text": ""})),
        delta(0, json!({"type": "text_delta", "text": "hi"})),
    ]
}

#[test]
fn stop_reasons_become_one_set() {
    let cases = [
        ("end_turn", Stop),
        ("stop_sequence", Stop),
        ("tool_use", ToolCalls),
        ("max_tokens", Length),
        ("MAX_TOKENS", Length),
        ("model_context_window_exceeded", Length),
        ("refusal", ContentFilter),
        ("pause_turn", Incomplete),
        ("whatever", Stop),
    ];
    for (sent, expected) in cases {
        assert_eq!(reply(&hi(), sent), said("hi", expected), "{sent}");
        let body = json!({"content": [{"type": "text", "text": "hi"}], "stop_reason": sent});
        assert_eq!(whole(&body.to_string()), said("hi", expected), "{sent}");
    }
    let list = [start(0, uses("t", "read")), stop(0)];
    assert_eq!(reply(&list, "end_turn"), called(vec![call("t", "read", "{}")]));
}

#[test]
fn b016_an_error_in_a_stream_is_an_error() {
    let error = json!({"type": "error", "request_id": "req_1",
        "error": {"type": "overloaded_error", "message": "Overloaded"}})
    .to_string();
    let reported = |reply: Reply| Reply { fault: Some(Fault::Reported(error.clone())), ..reply };
    for body in [format!("event: error\ndata: {error}\n\n"), format!("data: {error}\n\n")] {
        assert_eq!(stream([body.as_bytes()]), reported(Reply::default()));
        let late = events(&hi()) + &body;
        let seen = Reply { text: "hi".into(), ..Reply::default() };
        assert_eq!(stream([late.as_bytes()]), reported(seen));
    }
    assert_eq!(whole(&error), reported(Reply::default()));
    for other in [r#"{"error":{"code":502,"message":"m"}}"#, r#"{"detail":"m"}"#] {
        for reply in [stream([format!("data: {other}\n\n").as_bytes()]), whole(other)] {
            assert_eq!(
                reply,
                Reply { fault: Some(Fault::Reported(other.into())), ..Reply::default() }
            );
        }
    }
}

#[test]
fn a_stream_without_a_stop_reason_is_cut() {
    let cut = Reply { text: "hi".into(), fault: Some(Fault::Cut), ..Reply::default() };
    let [told, over] = ends("end_turn");
    assert_eq!(stream([events(&hi()).as_bytes()]), cut);
    assert_eq!(stream([events(&[&hi()[..], &[stop(0), over.clone()]].concat()).as_bytes()]), cut);
    assert_eq!(stream([(events(&hi()) + "data: [DONE]\n\n").as_bytes()]), cut);
    let half = events(&hi()) + "data: {\"type\":\"message_de";
    assert_eq!(stream([half.as_bytes()]), cut);
    assert_eq!(stream([&b""[..]]), Reply { fault: Some(Fault::Cut), ..Reply::default() });
    // After it nothing more is needed.
    let told = [&hi()[..], &[told]].concat();
    assert_eq!(stream([events(&told).as_bytes()]), said("hi", Stop));
    assert_eq!(stream([(events(&told) + "data: [DONE]\n\n").as_bytes()]), said("hi", Stop));
}

#[test]
fn a_whole_body_may_leave_its_stop_reason_out() {
    assert_eq!(whole(r#"{"content":[{"type":"text","text":"hi"}]}"#), said("hi", Stop));
    let empty = Reply { fault: Some(Fault::Empty), ..Reply::default() };
    assert_eq!(whole(r#"{"content":[]}"#), empty);
    let silent = Reply { finish: Some(Stop), ..Reply::default() };
    assert_eq!(whole(r#"{"content":[],"stop_reason":"end_turn"}"#), silent);
    assert_eq!(reply(&[], "end_turn"), silent);
}

#[test]
fn what_is_no_reply_is_malformed_and_says_how() {
    let fault = |reply: Reply| match reply.fault {
        Some(Fault::Malformed { reason, text }) => (reason, text),
        other => panic!("{other:?}"),
    };
    let told = |reason: &str, text: &str| (reason.to_owned(), text.to_owned());
    let got = fault(stream([&b"data: upstream timed out\n\n"[..]]));
    assert_eq!(got, told("it is not JSON", "upstream timed out"));
    let chunk = r#"{"choices":[{"delta":{"content":"hi"}}]}"#;
    let got = fault(stream([format!("data: {chunk}\n\n").as_bytes()]));
    assert_eq!(got, told("an event of it has no `type`", chunk));
    assert_eq!(fault(whole(chunk)), told("it has no `content`", chunk));
    assert_eq!(fault(whole("{\"content\":")), told("its JSON is cut short", "{\"content\":"));
}
