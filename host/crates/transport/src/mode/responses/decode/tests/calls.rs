//! Calls: pieces, wholes and both, in every order and numbering.

use super::*;

fn piece(index: u64, id: &str, delta: &str) -> Value {
    event("function_call_arguments.delta", index, id, json!({"delta": delta}))
}

fn finished(index: u64, id: &str, arguments: &str) -> Value {
    event("function_call_arguments.done", index, id, json!({"arguments": arguments}))
}

fn end() -> Value {
    completed(json!([]))
}

#[test]
fn arguments_may_come_in_pieces_at_the_end_or_with_the_item() {
    let expected = || called(vec![call("c1", "read", "{\"a\":1}")]);
    let head = || added(0, function("fc_1", "c1", ""));
    let item = || done(0, function("fc_1", "c1", "{\"a\":1}"));
    let ways = [
        vec![head(), piece(0, "fc_1", "{\"a\""), piece(0, "fc_1", ":1}"), end()],
        vec![head(), finished(0, "fc_1", "{\"a\":1}"), end()],
        vec![head(), item(), end()],
        vec![item(), end()],
        vec![head(), completed(json!([function("fc_1", "c1", "{\"a\":1}")]))],
        // Pieces that stop early, or go on when all has come.
        vec![head(), piece(0, "fc_1", "{\"a"), finished(0, "fc_1", "{\"a\":1}"), item(), end()],
        vec![head(), finished(0, "fc_1", "{\"a\":1}"), piece(0, "fc_1", ":1}"), item(), end()],
        // Pieces before the item they belong to.
        vec![piece(0, "fc_1", "{\"a\":1}"), head(), item(), end()],
        vec![piece(0, "fc_1", "{\"a\":1}"), item(), end()],
        vec![head(), item(), item(), end()],
    ];
    for way in &ways {
        assert_eq!(events(way), expected(), "{way:#?}");
    }
}

#[test]
fn interleaved_calls_keep_their_pieces() {
    let sent = [
        added(0, function("fc_1", "c1", "")),
        added(1, function("fc_2", "c2", "")),
        piece(1, "fc_2", "{\"b\""),
        piece(0, "fc_1", "{\"a\""),
        piece(1, "fc_2", ":2}"),
        piece(0, "fc_1", ":1}"),
        done(1, function("fc_2", "c2", "{\"b\":2}")),
        done(0, function("fc_1", "c1", "{\"a\":1}")),
        completed(json!([
            function("fc_1", "c1", "{\"a\":1}"),
            function("fc_2", "c2", "{\"b\":2}"),
        ])),
    ];
    let expected =
        || called(vec![call("c1", "read", "{\"a\":1}"), call("c2", "read", "{\"b\":2}")]);
    assert_eq!(events(&sent), expected());
    // A server that numbers all items 0, and one that leaves the ids of items out.
    let without = |key: &str, value: Value| {
        let change = |event: &Value| {
            let mut event = event.clone();
            for at in ["", "/item"] {
                let object = event.pointer_mut(at).and_then(Value::as_object_mut);
                if let Some(known) = object.and_then(|object| object.get_mut(key)) {
                    *known = value.clone();
                }
            }
            event
        };
        sent.iter().map(change).collect::<Vec<_>>()
    };
    assert_eq!(events(&without("output_index", json!(0))), expected());
    let mut nameless = without("item_id", json!(""));
    nameless
        .iter_mut()
        .filter_map(|event| event.pointer_mut("/item/id"))
        .for_each(|id| *id = json!(null));
    assert_eq!(events(&nameless), expected());
}

#[test]
fn calls_one_after_the_other_need_neither_numbers_nor_ids() {
    let bare = |event: Value| {
        let mut event = event;
        let object = event.as_object_mut().unwrap();
        object.remove("output_index");
        object.remove("item_id");
        event
    };
    let sent = [
        added(0, function("", "c1", "")),
        piece(0, "", "{\"a\":1}"),
        done(0, function("", "c1", "{\"a\":1}")),
        added(0, function("", "c2", "")),
        piece(0, "", "{\"b\":2}"),
        done(0, function("", "c2", "{\"b\":2}")),
        end(),
    ];
    let expected = called(vec![call("c1", "read", "{\"a\":1}"), call("c2", "read", "{\"b\":2}")]);
    assert_eq!(events(&sent.map(bare)), expected);
}

#[test]
fn a_call_without_call_id_goes_by_the_id_of_its_item() {
    let mut item = function("fc_1", "", "{}");
    item.as_object_mut().unwrap().remove("call_id");
    let expected = called(vec![call("fc_1", "read", "{}")]);
    assert_eq!(events(&[completed(json!([item]))]), expected);
    let streamed = [added(0, item.clone()), piece(0, "fc_1", "{}"), end()];
    assert_eq!(events(&streamed), expected);
    assert_eq!(events(&[added(0, item.clone()), done(0, item), end()]), expected);
}

#[test]
fn arguments_may_be_an_object() {
    let mut item = function("fc_1", "c1", "");
    item["arguments"] = json!({"a": 1});
    assert_eq!(events(&[completed(json!([item]))]), called(vec![call("c1", "read", "{\"a\":1}")]));
    item["arguments"] = json!(null);
    assert_eq!(events(&[completed(json!([item]))]), called(vec![call("c1", "read", "")]));
}

#[test]
fn calls_before_text_are_given_back_in_that_order() {
    let output = json!([function("fc_1", "c1", "{}"), message("msg_1", "after")]);
    let expected = Reply {
        text: "after".into(),
        replay: Some(json!([
            {"type": "function_call", "call_id": "c1"}, {"type": "message", "bytes": 5}
        ])),
        ..called(vec![call("c1", "read", "{}")])
    };
    assert_eq!(events(&[completed(output)]), expected);
}
