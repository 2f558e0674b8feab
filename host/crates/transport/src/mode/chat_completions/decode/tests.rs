//! Replies as servers really send them, with the whole of what they decode to.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use bytes::Bytes;
use hermes_core::message::FinishReason::{ContentFilter, Stop, ToolCalls};

use super::*;
use crate::sse;

mod calls;
mod endings;
mod replay;
mod splits;

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
    let mut decoder = Decoder::new("m", &Quirks::default());
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
    let mut decoder = Decoder::new("m", &Quirks::default());
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
        r#"{"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"length"}]}"#,
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
    assert_eq!(whole(r#"{"choices":[{"index":1,"message":{"content":"hi"}}]}"#), said("hi", Stop));
    let empty = Reply { fault: Some(Fault::Empty), ..Reply::default() };
    assert_eq!(whole(r#"{"choices":[]}"#), empty);
    assert_eq!(whole(r#"{"choices":[{"message":{"content":""}}]}"#), empty);
}
