//! Replies as servers really send them, with the whole of what they decode to.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use bytes::Bytes;
use hermes_core::message::FinishReason::{ContentFilter, Incomplete, Length, Stop, ToolCalls};
use serde_json::{Value, json};

use super::*;
use crate::sse;

mod endings;
mod splits;

/// What a reply came to, put together the way the loop does it.
#[derive(Debug, Default, PartialEq)]
struct Reply {
    text: String,
    reasoning: String,
    /// Id, name, arguments.
    calls: Vec<(String, String, String)>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    model: Option<String>,
    replay: Option<Value>,
    fault: Option<Fault>,
}

impl Reply {
    fn take(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::Reasoning(text) => self.reasoning.push_str(&text),
            Delta::ToolCall { slot, id, name, arguments } => {
                assert!(slot <= self.calls.len(), "slots open in order");
                assert_eq!(id.is_some(), slot == self.calls.len(), "an id is sent once, at first");
                assert_eq!(id.is_some(), name.is_some(), "and so is the name");
                if let (Some(id), Some(name)) = (id, name) {
                    self.calls.push((id, name, String::new()));
                }
                self.calls[slot].2.push_str(&arguments);
            }
            Delta::Finish(reason) => {
                assert_eq!(self.finish.replace(reason), None, "a finish is sent once");
            }
            Delta::Usage(usage) => self.usage = Some(usage),
            Delta::Model(model) => {
                assert_eq!(self.model.replace(model), None, "another model is named once");
            }
            Delta::Replay(replay) => {
                assert_eq!(self.replay.replace(replay), None, "a replay is sent once");
            }
        }
    }
}

/// Decodes a body that arrives in these pieces.
fn stream<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Reply {
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
    let spoken = |delta: &Delta| {
        matches!(delta, Delta::Text(_) | Delta::Reasoning(_) | Delta::ToolCall { .. })
    };
    assert_eq!(decoder.has_delivered(), out.iter().any(spoken));
    let mut reply = Reply { fault: told.err(), ..Reply::default() };
    out.into_iter().for_each(|delta| reply.take(delta));
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

/// A stream of these events, each named as its type says.
fn events(list: &[Value]) -> String {
    list.iter().fold(String::new(), |mut body, event| {
        let name = event["type"].as_str().unwrap_or_default();
        let _ = write!(body, "event: {name}\ndata: {event}\n\n");
        body
    })
}

fn start(index: usize, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: usize, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: usize) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

/// How a reply ends for `reason`.
fn ends(reason: &str) -> [Value; 2] {
    let told = json!({"stop_reason": reason, "stop_sequence": null});
    [json!({"type": "message_delta", "delta": told}), json!({"type": "message_stop"})]
}

/// The reply of a stream of these events, ended for `reason`.
fn reply(list: &[Value], reason: &str) -> Reply {
    stream([events(&[list, &ends(reason)].concat()).as_bytes()])
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.into(), name.into(), arguments.into())
}

fn said(text: &str, finish: FinishReason) -> Reply {
    Reply { text: text.into(), finish: Some(finish), ..Reply::default() }
}

fn called(calls: Vec<(String, String, String)>) -> Reply {
    Reply { calls, finish: Some(ToolCalls), ..Reply::default() }
}

fn uses(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {}})
}

fn json_delta(partial: &str) -> Value {
    json!({"type": "input_json_delta", "partial_json": partial})
}

#[test]
fn b021_pieces_of_an_input_are_put_together_and_none_is_an_empty_object() {
    let block = |pieces: &[&str]| {
        let mut list = vec![start(0, uses("t1", "read_note"))];
        list.extend(pieces.iter().map(|piece| delta(0, json_delta(piece))));
        list.push(stop(0));
        stream_at_every_cut(events(&[&list[..], &ends("tool_use")].concat()).as_bytes())
    };
    let pieces = ["", "{\"pa", "th\": \"a\"}"];
    assert_eq!(block(&pieces), called(vec![call("t1", "read_note", r#"{"path": "a"}"#)]));
    for pieces in [&[][..], &[""]] {
        assert_eq!(block(pieces), called(vec![call("t1", "read_note", "{}")]));
    }
}

#[test]
fn an_input_that_is_not_streamed_is_taken_from_the_start_of_its_block() {
    let inputs = [
        (json!({"path": "a"}), r#"{"path":"a"}"#),
        (json!(r#"{"path": "a"}"#), r#"{"path": "a"}"#),
        (json!(null), "{}"),
        (json!(""), "{}"),
    ];
    for (input, expected) in inputs {
        let block = json!({"type": "tool_use", "id": "t1", "name": "read", "input": input});
        let expected = called(vec![call("t1", "read", expected)]);
        assert_eq!(reply(&[start(0, block.clone()), stop(0)], "tool_use"), expected);
        assert_eq!(reply(&[start(0, block.clone())], "tool_use"), expected, "no stop");
        let body = json!({"content": [block], "stop_reason": "tool_use"});
        assert_eq!(whole(&body.to_string()), expected);
    }
}

#[test]
fn interleaved_calls_and_thinking_keep_their_order() {
    let list = [
        json!({"type": "message_start", "message": {"id": "msg", "type": "message",
            "role": "assistant", "model": "m-2026", "content": [], "stop_reason": null,
            "usage": {"input_tokens": 9, "cache_read_input_tokens": 100,
                      "cache_creation_input_tokens": 20, "output_tokens": 1}}}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Let me "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "see.\n"})),
        delta(0, json!({"type": "signature_delta", "signature": "sig1"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "xyz"})),
        stop(1),
        start(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "I loök"})),
        delta(2, json!({"type": "citations_delta", "citation": {"type": "char_location"}})),
        delta(2, json!({"type": "text_delta", "text": "."})),
        stop(2),
        start(3, uses("t1", "read")),
        delta(3, json_delta("{\"a\":1}")),
        stop(3),
        start(4, json!({"type": "server_tool_use", "id": "s1", "name": "web", "input": {}})),
        delta(4, json_delta("{\"query\":\"x\"}")),
        stop(4),
        start(5, json!({"type": "of_tomorrow", "text": "unseen", "content": [1]})),
        delta(5, json!({"type": "text_delta", "text": "unseen"})),
        delta(5, json!({"type": "of_tomorrow_delta", "x": 1})),
        stop(5),
        start(6, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(6, json!({"type": "signature_delta", "signature": "sig2"})),
        stop(6),
        start(7, uses("t2", "list")),
        stop(7),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage":
            {"output_tokens": 42, "output_tokens_details": {"thinking_tokens": 30}}}),
        json!({"type": "message_stop"}),
    ];
    let expected = Reply {
        text: "I loök.".into(),
        reasoning: "Let me see.\n".into(),
        usage: Some(Usage {
            input: 9,
            output: 42,
            cached: 100,
            cache_write: 20,
            reasoning: 30,
            estimated: false,
        }),
        model: Some("m-2026".into()),
        replay: Some(json!({"blocks": [
            {"type": "thinking", "thinking": "Let me see.\n", "signature": "sig1"},
            {"type": "redacted_thinking", "data": "xyz"},
            {"type": "text", "bytes": 8},
            {"type": "tool_use"},
            {"type": "thinking", "thinking": "", "signature": "sig2"},
            {"type": "tool_use"},
        ]})),
        ..called(vec![call("t1", "read", "{\"a\":1}"), call("t2", "list", "{}")])
    };
    assert_eq!(stream_at_every_cut(events(&list).as_bytes()), expected);

    let body = json!({"id": "msg", "type": "message", "role": "assistant", "model": "m-2026",
        "content": [
            {"type": "thinking", "thinking": "Let me see.\n", "signature": "sig1"},
            {"type": "redacted_thinking", "data": "xyz"},
            {"type": "text", "text": "I loök.", "citations": [{"type": "char_location"}]},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"a": 1}},
            {"type": "server_tool_use", "id": "s1", "name": "web", "input": {"query": "x"}},
            {"type": "of_tomorrow", "text": "unseen"},
            {"type": "thinking", "thinking": "", "signature": "sig2"},
            {"type": "tool_use", "id": "t2", "name": "list", "input": {}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 9, "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 20, "output_tokens": 42,
            "output_tokens_details": {"thinking_tokens": 30}}});
    assert_eq!(whole(&body.to_string()), expected);
}

#[test]
fn b049_lone_surrogates_are_mended_before_parsing() {
    let body = concat!(
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"bad \ud99c end"}}"#,
        "\n\n",
        r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        "\n\n",
    );
    assert_eq!(stream([body.as_bytes()]), said("bad \u{fffd} end", Stop));
}

#[test]
fn a_block_needs_no_start_and_an_event_no_name() {
    let list = [
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(1, json!({"type": "text_delta", "text": "hi"})),
        delta(2, json_delta("{}")),
    ];
    let expected = Reply {
        reasoning: "hm".into(),
        replay: Some(json!({"blocks": [
            {"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "bytes": 2}
        ]})),
        ..said("hi", Stop)
    };
    let body = events(&[&list[..], &ends("end_turn")].concat());
    assert_eq!(stream([body.as_bytes()]), expected);
    let unnamed = body.replace("event: ", ": ");
    assert_eq!(stream([unnamed.as_bytes()]), expected);
    let untyped = "event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\nevent: message_delta\ndata: {\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n";
    assert_eq!(stream([untyped.as_bytes()]), said("hi", Stop));
}

#[test]
fn calls_that_share_an_index_are_calls_of_their_own() {
    let list = [
        start(0, uses("t1", "read")),
        start(0, json!({"type": "tool_use", "id": "t2", "name": "list", "input": {"a": 1}})),
        start(0, uses("t3", "find")),
        delta(0, json_delta("{\"b\":2}")),
        stop(0),
    ];
    let got = reply(&list, "tool_use");
    let expected = [
        call("t1", "read", "{}"),
        call("t2", "list", "{\"a\":1}"),
        call("t3", "find", "{\"b\":2}"),
    ];
    assert_eq!(got, called(expected.into()));
}
