//! Replies as servers really send them, with the whole of what they decode to.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use bytes::Bytes;
use hermes_core::message::FinishReason::{ContentFilter, Incomplete, Length, Stop, ToolCalls};
use serde_json::{Value, json};

use super::*;
use crate::sse;

mod calls;
mod endings;
mod splits;

type Call = (Option<String>, Option<String>, String);

/// What a reply came to, put together the way the loop does it.
#[derive(Debug, Default, PartialEq)]
struct Reply {
    text: String,
    reasoning: String,
    /// Id, name, arguments.
    calls: Vec<Call>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    model: Option<String>,
    replay: Option<Value>,
    fault: Option<Fault>,
}

impl Reply {
    fn take(&mut self, delta: Delta) {
        assert_eq!(self.finish, None, "the finish is last");
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
            Delta::Finish(reason) => self.finish = Some(reason),
            Delta::Usage(usage) => self.usage = Some(usage),
            Delta::Model(model) => {
                assert_eq!(self.model.replace(model), None, "another model is named once");
            }
            Delta::Replay(replay) => {
                assert_eq!(self.replay.replace(replay), None, "what is wanted back is said once");
            }
        }
    }
}

fn run(events: &mut sse::Decoder, decoder: &mut Decoder, out: &mut Deltas) -> Result<Flow, Fault> {
    while let Some(event) = events.next_event().unwrap() {
        if decoder.event(&event, out)? == Flow::Done {
            return Ok(Flow::Done);
        }
    }
    Ok(Flow::More)
}

/// Decodes a body that arrives in these pieces.
fn stream<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Reply {
    let mut reply = Reply::default();
    let mut events = sse::Decoder::default();
    let mut decoder = Decoder::new("m");
    let mut out = Deltas::new();
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
    assert_eq!(decoder.is_finished(), matches!(told, Ok(Flow::Done)));
    out.into_iter().for_each(|delta| reply.take(delta));
    reply.fault = told.err();
    reply
}

fn whole(body: &str) -> Reply {
    let mut decoder = Decoder::new("m");
    let mut out = Deltas::new();
    let fault = decoder.whole(body, &mut out).err();
    let mut reply = Reply { fault, ..Reply::default() };
    out.into_iter().for_each(|delta| reply.take(delta));
    reply
}

/// A stream of these events in the form OpenAI sends it.
fn body(events: &[Value]) -> String {
    events.iter().fold(String::new(), |mut body, event| {
        let _ = write!(body, "event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
        body
    })
}

/// The reply of a stream of these events.
fn events(events: &[Value]) -> Reply {
    stream([body(events).as_bytes()])
}

/// The event that ends a reply with this output.
fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "output": output}})
}

fn event(kind: &str, index: u64, item_id: &str, fields: Value) -> Value {
    let mut event = json!({
        "type": format!("response.{kind}"), "output_index": index, "item_id": item_id
    });
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn said(text: &str, finish: FinishReason) -> Reply {
    Reply { text: text.into(), finish: Some(finish), ..Reply::default() }
}

fn called(calls: Vec<Call>) -> Reply {
    Reply { calls, finish: Some(ToolCalls), ..Reply::default() }
}

fn call(id: &str, name: &str, arguments: &str) -> Call {
    (Some(id.into()), Some(name.into()), arguments.into())
}

fn message(id: &str, text: &str) -> Value {
    json!({
        "id": id, "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]
    })
}

fn thought(id: &str, summary: &[&str]) -> Value {
    let part = |text: &&str| json!({"type": "summary_text", "text": text});
    json!({
        "id": id, "type": "reasoning", "summary": summary.iter().map(part).collect::<Vec<_>>(),
        "encrypted_content": "sealed"
    })
}

fn function(id: &str, call_id: &str, arguments: &str) -> Value {
    json!({
        "id": id, "type": "function_call", "call_id": call_id, "name": "read",
        "arguments": arguments, "status": "completed"
    })
}

/// Reasoning, an announcement and a call, as OpenAI streams them.
fn by_the_book() -> Vec<Value> {
    let output = json!([
        thought("rs_1", &["First.", "Then."]),
        message("msg_1", "I look."),
        function("fc_1", "call_1", "{\"path\":\"a\"}"),
    ]);
    let response = |status: &str| json!({"id": "resp_1", "model": "m-2026", "status": status});
    let mut last = response("completed");
    last["output"] = output.clone();
    last["usage"] = json!({
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 6,
        "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 16
    });
    let summary = |number: u64, delta: &str| {
        let fields = json!({"summary_index": number, "delta": delta});
        event("reasoning_summary_text.delta", 0, "rs_1", fields)
    };
    let text = |delta: &str| event("output_text.delta", 1, "msg_1", json!({"delta": delta}));
    let piece =
        |delta: &str| event("function_call_arguments.delta", 2, "fc_1", json!({"delta": delta}));
    vec![
        json!({"type": "response.created", "response": response("in_progress")}),
        json!({"type": "response.in_progress", "response": response("in_progress")}),
        added(0, json!({"id": "rs_1", "type": "reasoning", "summary": []})),
        event("reasoning_summary_part.added", 0, "rs_1", json!({"summary_index": 0})),
        summary(0, "Fir"),
        summary(0, "st."),
        event("reasoning_summary_text.done", 0, "rs_1", json!({"text": "First."})),
        summary(1, "Then."),
        done(0, output[0].clone()),
        added(1, json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []})),
        event("content_part.added", 1, "msg_1", json!({"content_index": 0})),
        text("I "),
        text("look."),
        event("output_text.done", 1, "msg_1", json!({"text": "I look."})),
        done(1, output[1].clone()),
        added(2, function("fc_1", "call_1", "")),
        piece("{\"path\""),
        piece(":\"a\"}"),
        event("function_call_arguments.done", 2, "fc_1", json!({"arguments": "{\"path\":\"a\"}"})),
        done(2, output[2].clone()),
        json!({"type": "response.completed", "response": last}),
    ]
}

fn by_the_book_reply() -> Reply {
    Reply {
        text: "I look.".into(),
        reasoning: "First.\n\nThen.".into(),
        calls: vec![call("call_1", "read", "{\"path\":\"a\"}")],
        finish: Some(ToolCalls),
        usage: Some(Usage { input: 6, output: 6, cached: 4, reasoning: 5, ..Usage::default() }),
        model: Some("m-2026".into()),
        replay: Some(json!([
            {
                "type": "reasoning", "id": "rs_1",
                "summary": [
                    {"type": "summary_text", "text": "First."},
                    {"type": "summary_text", "text": "Then."},
                ],
                "encrypted_content": "sealed"
            },
            {"type": "message", "bytes": 7},
            {"type": "function_call", "call_id": "call_1"},
        ])),
        fault: None,
    }
}

#[test]
fn a_reply_by_the_book_at_every_cut() {
    let body = body(&by_the_book());
    let bytes = body.as_bytes();
    assert_eq!(stream([bytes]), by_the_book_reply());
    for cut in 1..bytes.len() {
        assert_eq!(stream([&bytes[..cut], &bytes[cut..]]), by_the_book_reply(), "cut at {cut}");
    }
    assert_eq!(stream(bytes.chunks(1)), by_the_book_reply(), "byte by byte");
}

#[test]
fn the_same_reply_as_one_body() {
    let last = by_the_book().pop().unwrap();
    assert_eq!(whole(&last["response"].to_string()), by_the_book_reply());
}

#[test]
fn an_empty_output_in_the_last_event_takes_nothing_back() {
    let mut events_of_it = by_the_book();
    events_of_it.last_mut().unwrap()["response"]["output"] = json!([]);
    assert_eq!(events(&events_of_it), by_the_book_reply());
}

#[test]
fn items_in_the_last_event_alone_are_enough() {
    let last = by_the_book().pop().unwrap();
    assert_eq!(events(&[last]), by_the_book_reply());
}

#[test]
fn items_without_pieces_are_enough() {
    let wholes = by_the_book().into_iter().filter(|event| {
        let kind = event["type"].as_str().unwrap();
        kind.ends_with("item.done") || kind == "response.completed"
    });
    assert_eq!(events(&wholes.collect::<Vec<_>>()), by_the_book_reply());
}

#[test]
fn ids_that_change_from_event_to_event_confuse_nothing() {
    let mut events_of_it = by_the_book();
    for (n, event) in events_of_it.iter_mut().enumerate() {
        for pointer in ["/item_id", "/item/id"] {
            if let Some(id) = event.pointer_mut(pointer).filter(|id| id.as_str() != Some("rs_1")) {
                *id = json!(format!("opaque{n}"));
            }
        }
        for item in event.pointer_mut("/response/output").into_iter().flat_map(Value::as_array_mut)
        {
            item.iter_mut().skip(1).for_each(|item| item["id"] = json!(format!("other{n}")));
        }
    }
    assert_eq!(events(&events_of_it), by_the_book_reply());
}

#[test]
fn text_whose_ids_change_and_whose_item_has_no_number_stays_in_one_piece() {
    let piece = |id: &str, delta: &str| json!({"type": "response.output_text.delta", "item_id": id, "delta": delta});
    let sent = [piece("a", "one "), piece("b", "piece"), completed(json!([]))];
    assert_eq!(events(&sent), said("one piece", Stop));
}

#[test]
fn items_that_share_one_id_are_all_read() {
    let output = [message("msg", "one"), message("msg", "two")];
    let expected = Reply { text: "one\n\ntwo".into(), ..said("", Stop) };
    assert_eq!(events(&[completed(json!(output))]), expected);
    let items = [done(0, output[0].clone()), done(1, output[1].clone())];
    assert_eq!(events(&[&items[..], &[completed(json!(output))]].concat()), expected);
}

#[test]
fn event_names_stand_in_for_missing_types() {
    let mut bare = String::new();
    for event in by_the_book() {
        let mut data = event.clone();
        data.as_object_mut().unwrap().remove("type");
        let _ = write!(bare, "event: {}\ndata: {data}\n\n", event["type"].as_str().unwrap());
    }
    assert_eq!(stream([bare.as_bytes()]), by_the_book_reply());
}

#[test]
fn several_messages_are_told_apart_and_their_phases_kept() {
    let phased = |mut item: Value, phase: &str| {
        item["phase"] = json!(phase);
        item
    };
    let output = json!([
        phased(message("msg_1", "look:"), "commentary"),
        function("fc_1", "call_1", "{}"),
        phased(message("msg_2", "done"), "final_answer"),
    ]);
    let expected = Reply {
        text: "look:\n\ndone".into(),
        replay: Some(json!([
            {"type": "message", "bytes": 5, "phase": "commentary"},
            {"type": "function_call", "call_id": "call_1"},
            {"type": "message", "bytes": 4, "phase": "final_answer"},
        ])),
        ..called(vec![call("call_1", "read", "{}")])
    };
    assert_eq!(events(&[completed(output)]), expected);
}

#[test]
fn readable_reasoning_of_open_models_is_shown_and_not_given_back() {
    let item = json!({
        "id": "rs_1", "type": "reasoning", "summary": [],
        "content": [{"type": "reasoning_text", "text": "hmm"}]
    });
    let piece =
        event("reasoning_text.delta", 0, "rs_1", json!({"content_index": 0, "delta": "hmm"}));
    let expected = Reply { reasoning: "hmm".into(), ..said("a", Stop) };
    let output = json!([item, message("msg_1", "a")]);
    assert_eq!(events(&[completed(output.clone())]), expected);
    assert_eq!(events(&[piece, done(0, item), completed(output)]), expected);
}

#[test]
fn b049_lone_surrogates_are_mended_before_parsing() {
    let text = r#"data: {"type":"response.output_text.delta","output_index":0,"item_id":"a","delta":"bad \ud99c end"}"#;
    let body = format!("{text}\n\n{}", body(&[completed(json!([]))]));
    assert_eq!(stream([body.as_bytes()]), said("bad \u{fffd} end", Stop));
}
