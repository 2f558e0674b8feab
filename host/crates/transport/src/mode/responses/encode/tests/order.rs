//! The items of a reply that were kept: their order, and reasoning with its partner.

use hermes_core::transport::Delta;

use super::*;
use crate::mode::responses::Decoder;
use crate::mode::{Decode, Deltas};

fn thought(id: &str) -> Value {
    json!({
        "type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": format!("sealed {id}")
    })
}

fn asked(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"})
}

fn said(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": text})
}

fn phased(text: &str, phase: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": text, "phase": phase})
}

#[test]
fn items_go_back_in_the_order_they_came() {
    let entries = json!([
        thought("rs_1"),
        replay::text(5, Some("commentary")),
        thought("rs_2"),
        replay::call("c1"),
        replay::call("c2"),
        thought("rs_3"),
        replay::text(4, Some("final_answer")),
    ]);
    let sent = input(vec![replayed("look:\n\ndone", &["c1", "c2"], entries)]);
    let expected = json!([
        thought("rs_1"),
        phased("look:", "commentary"),
        thought("rs_2"),
        asked("c1"),
        asked("c2"),
        thought("rs_3"),
        phased("done", "final_answer"),
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn b036_reasoning_and_its_partner_are_sent_together_or_not_at_all() {
    let two_calls =
        json!([thought("rs_1"), replay::call("c1"), thought("rs_2"), replay::call("c2")]);
    let call_gone = replayed("", &["c2"], two_calls);
    let cut_short = replayed("so", &[], json!([replay::text(2, None), thought("rs_3")]));
    let text_gone =
        replayed("", &["c3"], json!([thought("rs_4"), replay::text(2, None), replay::call("c3")]));
    let unknown_partner =
        replayed("", &["c4"], json!([thought("rs_5"), replay::unknown(), replay::call("c4")]));
    let two_thoughts =
        replayed("", &["c5"], json!([thought("rs_6"), thought("rs_7"), replay::call("c5")]));
    let sent = input(vec![call_gone, cut_short, text_gone, unknown_partner, two_thoughts]);
    let expected = json!([
        thought("rs_2"),
        asked("c2"),
        said("so"),
        asked("c3"),
        asked("c4"),
        thought("rs_6"),
        thought("rs_7"),
        asked("c5"),
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn text_that_was_changed_since_goes_in_one_piece() {
    for text in ["ab\n\ncdX", "abcd", "a", "é\u{2028}"] {
        let entries = json!([
            thought("rs_1"),
            replay::text(2, Some("commentary")),
            thought("rs_2"),
            replay::text(2, None),
        ]);
        let sent = input(vec![replayed(text, &[], entries)]);
        assert_eq!(sent, json!([thought("rs_1"), phased(text, "commentary")]), "{text:?}");
    }
    let added = replayed("new", &["c1"], json!([thought("rs_1"), replay::call("c1")]));
    assert_eq!(input(vec![added]), json!([said("new"), thought("rs_1"), asked("c1")]));
}

#[test]
fn no_reasoning_item_is_sent_twice() {
    let reply = |id| replayed("", &[id], json!([thought("rs_1"), replay::call(id)]));
    let sent = input(vec![reply("c1"), reply("c2")]);
    assert_eq!(sent, json!([thought("rs_1"), asked("c1"), asked("c2")]));
}

#[test]
fn what_a_server_without_memory_could_not_know_is_not_kept() {
    let summary = ["hm".to_owned()];
    assert_eq!(replay::reasoning("rs_1", &summary, "sealed rs_1"), Some(thought("rs_1")));
    for (id, sealed) in [("", "x"), ("rs_1", ""), ("rs_tmp_9", "x")] {
        assert_eq!(replay::reasoning(id, &summary, sealed), None, "{id} {sealed}");
    }
    assert_eq!(replay::text(3, Some("analysis")), json!({"type": "message", "bytes": 3}));
}

/// The message a loop makes of a whole reply with this output.
fn decoded(output: &Value) -> Message {
    let mut out = Deltas::new();
    let body = json!({"status": "completed", "output": output}).to_string();
    Decoder::new("m").whole(&body, &mut out).unwrap();
    let mut message = replayed("", &[], Value::Null);
    let mut text = String::new();
    for delta in out {
        match delta {
            Delta::Text(piece) => text.push_str(&piece),
            Delta::ToolCall { id, .. } => message.tool_calls.extend(id.map(|id| call(&id, "{}"))),
            Delta::Replay(data) => message.replay.as_mut().unwrap().data = data,
            _ => {}
        }
    }
    message.content = text.into();
    message
}

#[test]
fn what_was_decoded_goes_back_as_it_came() {
    let message = |text: &str, phase: &str| {
        json!({
            "type": "message", "id": "msg_1", "phase": phase,
            "content": [{"type": "output_text", "text": text, "annotations": []}]
        })
    };
    let plain = |text: &str| json!({"type": "message", "content": text});
    let replies = [
        (
            json!([
                thought("rs_1"),
                message("Ich prüfe.", "commentary"),
                thought("rs_2"),
                asked("c1"),
                asked("c2"),
                thought("rs_3"),
                message("Fertig 🙂", "final_answer"),
            ]),
            json!([
                thought("rs_1"),
                phased("Ich prüfe.", "commentary"),
                thought("rs_2"),
                asked("c1"),
                asked("c2"),
                thought("rs_3"),
                phased("Fertig 🙂", "final_answer"),
            ]),
        ),
        (json!([thought("rs_1"), asked("c1")]), json!([thought("rs_1"), asked("c1")])),
        (json!([asked("c1"), plain("after")]), json!([asked("c1"), said("after")])),
        (json!([plain("hi"), asked("c1")]), json!([said("hi"), asked("c1")])),
        // Reasoning whose follower is none of ours, or never came.
        (
            json!([thought("rs_1"), {"type": "web_search_call"}, plain("hi"), thought("rs_2")]),
            json!([said("hi")]),
        ),
    ];
    for (output, expected) in replies {
        assert_eq!(input(vec![decoded(&output)]), expected, "{output}");
    }
}
