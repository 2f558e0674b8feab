//! Replies as servers really send them, with the whole of what they decode to.

use std::fmt::Write as _;

use bytes::Bytes;
use hermes_core::message::FinishReason::{ContentFilter, Incomplete, Length, Stop, ToolCalls};
use proptest::prelude::*;

use super::*;
use crate::sse;

/// What a reply came to, put together the way the loop does it.
#[derive(Debug, Default, PartialEq)]
struct Reply {
    text: String,
    reasoning: String,
    /// Id, name, arguments.
    calls: Vec<(Option<String>, Option<String>, String)>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    model: Option<String>,
    fault: Option<Fault>,
}

impl Reply {
    fn take(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::Reasoning(text) => self.reasoning.push_str(&text),
            Delta::ToolCall { slot, id, name, arguments } => {
                assert!(slot <= self.calls.len(), "slots open in order");
                if slot == self.calls.len() {
                    self.calls.push(Default::default());
                }
                let call = &mut self.calls[slot];
                assert!(id.is_none() || call.0.is_none(), "an id is sent once");
                assert!(name.is_none() || call.1.is_none(), "a name is sent once");
                call.0 = id.or(call.0.take());
                call.1 = name.or(call.1.take());
                call.2.push_str(&arguments);
            }
            Delta::Finish(reason) => {
                assert_eq!(self.finish.replace(reason), None, "a finish is sent once");
            }
            Delta::Usage(usage) => self.usage = Some(usage),
            Delta::Model(model) => {
                assert_eq!(self.model.replace(model), None, "another model is named once");
            }
            Delta::Replay(_) => panic!("this mode has no replay"),
        }
    }
}

/// Decodes a body that arrives in these pieces.
fn stream<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Reply {
    let mut reply = Reply::default();
    let mut events = sse::Decoder::default();
    let mut decoder = Decoder::new("m");
    let mut out = Deltas::new();
    let run = |events: &mut sse::Decoder, decoder: &mut Decoder, out: &mut Deltas| {
        while let Some(event) = events.next_event().unwrap() {
            if decoder.event(&event, out)? == Flow::Done {
                return Ok(Flow::Done);
            }
        }
        Ok(Flow::More)
    };
    let mut told = Ok(Flow::More);
    for piece in pieces {
        events.push(Bytes::copy_from_slice(piece));
        told = run(&mut events, &mut decoder, &mut out);
        if told != Ok(Flow::More) {
            break;
        }
    }
    if told == Ok(Flow::More) {
        events.finish();
        told = run(&mut events, &mut decoder, &mut out);
    }
    if told == Ok(Flow::More) {
        told = decoder.end(&mut out).map(|()| Flow::Done);
    }
    let delivered =
        !out.iter().all(|d| matches!(d, Delta::Finish(_) | Delta::Usage(_) | Delta::Model(_)));
    assert_eq!(decoder.has_delivered(), delivered);
    out.into_iter().for_each(|delta| reply.take(delta));
    reply.fault = told.err();
    reply
}

/// The reply of a stream, the same at every cut in two and byte by byte.
fn stream_at_every_cut(body: &[u8]) -> Reply {
    let whole = stream([body]);
    for cut in 1..body.len() {
        assert_eq!(stream([&body[..cut], &body[cut..]]), whole, "cut at {cut}");
    }
    assert_eq!(stream(body.chunks(1)), whole, "byte by byte");
    whole
}

fn whole(body: &str) -> Reply {
    let mut decoder = Decoder::new("m");
    let mut out = Deltas::new();
    let fault = decoder.whole(body, &mut out).err();
    let mut reply = Reply { fault, ..Reply::default() };
    out.into_iter().for_each(|delta| reply.take(delta));
    reply
}

/// A stream of these chunks and `[DONE]`.
fn events(chunks: &[&str]) -> String {
    chunks.iter().chain(&["[DONE]"]).fold(String::new(), |mut body, chunk| {
        let _ = write!(body, "data: {chunk}\n\n");
        body
    })
}

/// The reply of a stream whose deltas are these, finished with `finish`.
fn deltas(deltas: &[&str], finish: &str) -> Reply {
    let mut chunks: Vec<String> = deltas
        .iter()
        .map(|delta| {
            format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
        })
        .collect();
    chunks.push(format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":{finish}}}]}}"#));
    stream([events(&chunks.iter().map(String::as_str).collect::<Vec<_>>()).as_bytes()])
}

/// The reply of a stream with these `tool_calls` lists, one a chunk.
fn calls(lists: &[&str]) -> Reply {
    let lists: Vec<String> =
        lists.iter().map(|list| format!(r#"{{"tool_calls":{list}}}"#)).collect();
    deltas(&lists.iter().map(String::as_str).collect::<Vec<_>>(), r#""tool_calls""#)
}

fn call(id: &str, name: &str, arguments: &str) -> (Option<String>, Option<String>, String) {
    (Some(id.into()), Some(name.into()), arguments.into())
}

fn said(text: &str, finish: FinishReason) -> Reply {
    Reply { text: text.into(), finish: Some(finish), ..Reply::default() }
}

fn called(calls: Vec<(Option<String>, Option<String>, String)>) -> Reply {
    Reply { calls, finish: Some(ToolCalls), ..Reply::default() }
}

fn tokens(input: u64, output: u64) -> Option<Usage> {
    Some(Usage { input, output, ..Usage::default() })
}

#[test]
fn b001_usage_after_the_finish_reason_is_no_cut_stream() {
    let body = concat!(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"done.\"},\"finish_reason\":null}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"total_tokens\":11}}\n\n",
        "data: [DONE]",
    );
    let expected = Reply { usage: tokens(9, 2), ..said("done.", Stop) };
    assert_eq!(stream_at_every_cut(body.as_bytes()), expected);
}

#[test]
fn b005_a_new_id_on_an_occupied_index_opens_a_new_slot() {
    let reply = calls(&[
        r#"[{"index":0,"id":"cA","type":"function","function":{"name":"read_note","arguments":"{\"path\":\"a\"}"}}]"#,
        r#"[{"index":0,"id":"cB","type":"function","function":{"name":"read_note","arguments":"{\"path\":\"b\"}"}}]"#,
    ]);
    let expected = vec![
        call("cA", "read_note", r#"{"path":"a"}"#),
        call("cB", "read_note", r#"{"path":"b"}"#),
    ];
    assert_eq!(reply, called(expected.clone()));
    // The rest of a call follows its latest head.
    let reply = calls(&[
        r#"[{"index":0,"id":"cA","function":{"name":"read_note","arguments":"{\"path\":"}}]"#,
        r#"[{"index":0,"function":{"arguments":"\"a\"}"}}]"#,
        r#"[{"index":0,"id":"cB","function":{"name":"read_note","arguments":""}}]"#,
        r#"[{"index":0,"function":{"arguments":"{\"path\":\"b\"}"}}]"#,
    ]);
    assert_eq!(reply, called(expected));
}

#[test]
fn b011_no_cut_breaks_a_character() {
    let body = events(&[
        r#"{"choices":[{"index":0,"delta":{"content":"héllo 世界 🙂"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(stream_at_every_cut(body.as_bytes()), said("héllo 世界 🙂", Stop));
}

#[test]
fn b013_every_line_end_at_every_cut() {
    let first = r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#;
    let second = r#"{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}"#;
    let bodies = [
        format!("data: {first}\r\n\r\ndata: {second}\r\n\r\n"),
        format!("data: {first}\r\rdata: {second}\r\r"),
        format!("data: {first}\n\ndata: {second}\n\n"),
        format!("data:{first}\n\ndata:{second}\n\n"),
    ];
    for body in &bodies {
        assert_eq!(stream_at_every_cut(body.as_bytes()), said("ab", Stop), "{body:?}");
    }
    let pieces = [format!("data: {first}\r"), "\n\r".into(), format!("\ndata: {second}\r\n\r\n")];
    assert_eq!(stream(pieces.iter().map(String::as_bytes)), said("ab", Stop));
}

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
fn b042_absent_and_blank_arguments_are_a_call_all_the_same() {
    for (function, arguments) in [
        (r#"{"name":"list_notes","arguments":""}"#, ""),
        (r#"{"name":"list_notes","arguments":"  \n"}"#, "  \n"),
        (r#"{"name":"list_notes","arguments":null}"#, ""),
        (r#"{"name":"list_notes"}"#, ""),
    ] {
        let expected = called(vec![call("c", "list_notes", arguments)]);
        let fragment = format!(r#"[{{"index":0,"id":"c","function":{function}}}]"#);
        assert_eq!(calls(&[&fragment]), expected, "{function}");
        let body = format!(
            r#"{{"choices":[{{"message":{{"content":null,"tool_calls":{fragment}}},"finish_reason":"tool_calls"}}]}}"#
        );
        assert_eq!(whole(&body), expected, "{function}");
    }
}

#[test]
fn b045_arguments_as_an_object_become_its_text() {
    let list = r#"[{"index":0,"id":"c","function":{"name":"read_note","arguments":{"path":"a", "n":1.50}}}]"#;
    assert_eq!(calls(&[list]), called(vec![call("c", "read_note", r#"{"path":"a", "n":1.50}"#)]));
}

#[test]
fn b049_lone_surrogates_are_mended_before_parsing() {
    let reply =
        deltas(&[r#"{"content":"bad \ud99c end"}"#, r#"{"content":" \ud83d\ude42"}"#], r#""stop""#);
    assert_eq!(reply, said("bad \u{fffd} end 🙂", Stop));
    // One level deeper the escape is the model's own; it may be split over pieces, so it is
    // mended when the arguments are put together.
    let reply = calls(&[
        r#"[{"index":0,"id":"c","function":{"name":"put","arguments":"{\"t\":\"bad \\ud99c end"}}]"#,
        r#"[{"index":0,"function":{"arguments":" \\ud83d"}}]"#,
        r#"[{"index":0,"function":{"arguments":"\\ude42\"}"}}]"#,
    ]);
    let arguments = r#"{"t":"bad \ud99c end \ud83d\ude42"}"#;
    assert_eq!(reply, called(vec![call("c", "put", arguments)]));
    let mended = text::mend_lone_surrogates(arguments);
    let value: serde_json::Value = serde_json::from_str(&mended).unwrap();
    assert_eq!(value, serde_json::json!({"t": "bad \u{fffd} end 🙂"}));
}

#[test]
fn pieces_find_their_call() {
    let read = |id, path: &str| call(id, "read", &format!(r#"{{"path":"{path}"}}"#));
    let cases: &[(&str, &[&str], Vec<_>)] = &[
        (
            "several calls in one delta, and their rests interleaved",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}},{"index":1,"id":"b","function":{"name":"read","arguments":""}}]"#,
                r#"[{"index":1,"function":{"arguments":"{\"path\":"}},{"index":0,"function":{"arguments":"{\"path\":"}}]"#,
                r#"[{"index":0,"function":{"arguments":"\"1\"}"}},{"index":1,"function":{"arguments":"\"2\"}"}}]"#,
            ],
            vec![read("a", "1"), read("b", "2")],
        ),
        (
            "no index at all",
            &[
                r#"[{"id":"a","function":{"name":"read","arguments":"{\"path\":"}}]"#,
                r#"[{"function":{"arguments":"\"1\"}"}}]"#,
                r#"[{"id":"b","function":{"name":"read","arguments":"{\"path\":\"2\"}"}}]"#,
            ],
            vec![read("a", "1"), read("b", "2")],
        ),
        (
            "neither index nor id",
            &[
                r#"[{"function":{"name":"read","arguments":"{\"path\":\"1\"}"}},{"function":{"name":"read","arguments":"{\"path\":\"2\"}"}}]"#,
            ],
            vec![read("", "1"), read("", "2")],
        ),
        (
            "one index for all and no ids",
            &[
                r#"[{"index":0,"id":"","function":{"name":"read","arguments":"{\"path\":\"1\"}"}}]"#,
                r#"[{"index":0,"id":null,"function":{"name":"read","arguments":"{\"path\":\"2\"}"}}]"#,
            ],
            vec![read("", "1"), read("", "2")],
        ),
        (
            "id and name repeated in every piece",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"\"1\""}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"}"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "name split over pieces",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"re"}}]"#,
                r#"[{"index":0,"function":{"name":"ad","arguments":""}}]"#,
                r#"[{"index":0,"function":{"arguments":"{\"path\":\"1\"}"}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "name growing over pieces",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"re"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"1\"}"}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "id and name after the arguments",
            &[
                r#"[{"index":0,"function":{"arguments":"{\"path\":\"1\"}"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read"}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "numbers for strings and strings for numbers",
            &[
                r#"[{"index":"0","id":7,"function":{"name":"read","arguments":"{\"path\":"}}]"#,
                r#"[{"index":0.0,"function":{"arguments":"\"1\"}"}}]"#,
            ],
            vec![read("7", "1")],
        ),
        (
            "indices with gaps and out of order",
            &[
                r#"[{"index":5,"id":"a","function":{"name":"read","arguments":"{\"path\":\"1\"}"}}]"#,
                r#"[{"index":2,"id":"b","function":{"name":"read","arguments":"{\"path\":\"2\"}"}}]"#,
            ],
            vec![read("a", "1"), read("b", "2")],
        ),
        (
            "pieces that carry nothing",
            &[
                r#"[null,{},{"index":0},{"index":3,"id":"","function":{"name":"","arguments":""}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"1\"}"}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "an index that sets in late",
            &[
                r#"[{"id":"a","function":{"name":"read","arguments":"{\"path\":"}}]"#,
                r#"[{"index":0,"function":{"arguments":"\"1\"}"}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "braces inside strings do not end arguments",
            &[
                r#"[{"index":0,"function":{"name":"read","arguments":"{\"path\":\"}\\\"}"}}]"#,
                r#"[{"index":0,"function":{"name":"read","arguments":"x\"}"}}]"#,
            ],
            vec![call("", "read", r#"{"path":"}\"}x"}"#)],
        ),
        (
            "a call without a name",
            &[r#"[{"index":0,"id":"a","function":{"arguments":"{}"}}]"#],
            vec![(Some("a".into()), None, "{}".into())],
        ),
    ];
    for (what, lists, expected) in cases {
        assert_eq!(calls(lists), called(expected.clone()), "{what}");
    }
}

#[test]
fn a_name_is_sent_with_the_first_arguments() {
    let mut decoder = Decoder::new("m");
    let mut out = Deltas::new();
    let mut feed = |list: &str| {
        let data = format!(r#"{{"choices":[{{"delta":{{"tool_calls":{list}}}}}]}}"#);
        let event = Event { name: "", data: &data, complete: true };
        decoder.event(&event, &mut out).unwrap();
        out.drain(..).collect::<Vec<_>>()
    };
    let delta = |id: Option<&str>, name: Option<&str>, arguments: &str| Delta::ToolCall {
        slot: 0,
        id: id.map(str::to_owned),
        name: name.map(str::to_owned),
        arguments: arguments.into(),
    };
    assert_eq!(feed(r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]"#), []);
    let first = feed(r#"[{"index":0,"function":{"arguments":"{\"a"}}]"#);
    assert_eq!(first, [delta(Some("a"), Some("read"), "{\"a")]);
    assert_eq!(
        feed(r#"[{"index":0,"function":{"arguments":"\":1}"}}]"#),
        [delta(None, None, "\":1}")]
    );
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
fn reasoning_is_told_from_text_under_all_its_names() {
    let reply = deltas(
        &[
            r#"{"role":"assistant","content":"","reasoning_content":"a"}"#,
            r#"{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b"}]}"#,
            r#"{"reasoning_content":"c","reasoning":"c","content":null}"#,
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"d"}]},{"type":"text","text":"x"}]}"#,
            r#"{"content":["y",null,{"type":"text","text":"z"}],"reasoning":{"no":"string"}}"#,
        ],
        r#""stop""#,
    );
    assert_eq!(reply, Reply { reasoning: "abcd".into(), ..said("xyz", Stop) });
}

#[test]
fn a_refusal_is_shown_and_counts_as_content_filter() {
    let refused = said("I cannot.", ContentFilter);
    assert_eq!(deltas(&[r#"{"refusal":"I "}"#, r#"{"refusal":"cannot."}"#], r#""stop""#), refused);
    let body = r#"{"choices":[{"message":{"role":"assistant","content":null,"refusal":"I cannot."},"finish_reason":"stop"}]}"#;
    assert_eq!(whole(body), refused);
    let both = deltas(&[r#"{"content":"ok"}"#, r#"{"refusal":"no"}"#], r#""stop""#);
    assert_eq!(both, said("ok", Stop));
}

#[test]
fn what_is_not_asked_for_is_ignored() {
    let body = events(&[
        r#"{"id":1,"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"content":7}}],"model":"m"}"#,
        r#"{"choices":[{"index":0,"delta":{"function_call":{"name":"old","arguments":"{}"}}}],"new":[{}]}"#,
        r#"{"choices":null,"usage":null}"#,
        r#"{"choices":[{"index":0,"delta":null,"finish_reason":"stop","message":{"content":"again"}}]}"#,
    ]);
    assert_eq!(stream([body.as_bytes()]), said("7", Stop));
}

#[test]
fn usage_and_model_are_sent_when_they_change() {
    let body = events(&[
        r#"{"model":"m","choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}"#,
        r#"{"model":"m-2026","choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}"#,
        r#"{"model":"m-2026","choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":2}}],"usage":"none"}"#,
    ]);
    let expected = Reply { usage: tokens(5, 2), model: Some("m-2026".into()), ..said("ab", Stop) };
    assert_eq!(stream([body.as_bytes()]), expected);
}

#[test]
fn a_whole_body_goes_the_same_way() {
    let body = r#"{"id":"x","object":"chat.completion","model":"m2","choices":[{"index":0,"message":
        {"role":"assistant","content":"hi","reasoning_content":"hm","tool_calls":[
        {"id":"a","type":"function","function":{"name":"read","arguments":"{\"path\":\"\ud83d\"}"}},
        {"id":"a","type":"function","function":{"name":"read","arguments":{}}}]},
        "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;
    let expected = Reply {
        text: "hi".into(),
        reasoning: "hm".into(),
        usage: tokens(9, 2),
        model: Some("m2".into()),
        ..called(vec![call("a", "read", "{\"path\":\"\u{fffd}\"}"), call("a", "read", "{}")])
    };
    assert_eq!(whole(body), expected);
    assert_eq!(whole(r#"{"choices":[{"message":{"content":"hi"}}]}"#), said("hi", Stop));
    let empty = Reply { fault: Some(Fault::Empty), ..Reply::default() };
    assert_eq!(whole(r#"{"choices":[]}"#), empty);
    assert_eq!(whole(r#"{"choices":[{"message":{"content":""}}]}"#), empty);
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
        "its form is unexpected: invalid type: integer `7`, expected a sequence at line 1 column 12"
    );
}

proptest! {
    #[test]
    fn any_split_of_a_stream_gives_the_same_reply(
        texts in proptest::collection::vec(any::<String>(), 0..6),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        ends in proptest::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let mut body = String::new();
        for (n, text) in texts.iter().enumerate() {
            let delta = match n % 3 {
                0 => serde_json::json!({"content": text}),
                1 => serde_json::json!({"reasoning": text}),
                _ => serde_json::json!({"tool_calls": [
                    {"index": n, "id": n.to_string(), "function": {"name": "f", "arguments": text}}
                ]}),
            };
            let chunk = serde_json::json!({"choices": [{"index": 0, "delta": delta}]});
            let _ = write!(body, "data: {chunk}{ends}{ends}");
        }
        let _ = write!(body, "data: {{\"choices\":[{{\"finish_reason\":\"stop\"}}]}}{ends}{ends}");
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &body.as_bytes()[pair[0]..pair[1]]);
        let reply = stream(pieces);
        let spoken: String = texts.iter().step_by(3).map(String::as_str).collect();
        prop_assert_eq!(&reply.text, &spoken);
        prop_assert_eq!(reply, stream([body.as_bytes()]));
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(pieces in proptest::collection::vec(any::<Vec<u8>>(), 0..8)) {
        stream(pieces.iter().map(Vec::as_slice));
        whole(&String::from_utf8_lossy(&pieces.concat()));
    }

    #[test]
    fn no_json_makes_the_decoder_panic(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "null", "0", "-1", "1e9", "\"\"", "\"\\ud800\"",
            "\"choices\":", "\"delta\":", "\"message\":", "\"tool_calls\":", "\"index\":", "\"id\":",
            "\"function\":", "\"name\":", "\"arguments\":", "\"content\":", "\"error\":",
            "\"usage\":", "\"finish_reason\":", "\n", "\n\ndata: ",
        ]), 0..40),
    ) {
        let text = words.concat();
        stream([format!("data: {text}").as_bytes()]);
        whole(&text);
    }
}
