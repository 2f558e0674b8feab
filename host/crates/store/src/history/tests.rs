//! The pure parts: where replacements go, and what can be read back.

use hermes_core::failure::Attributes;
use serde_json::Value;

use super::*;

fn live(messages: &[(i64, &str)]) -> Vec<Live> {
    (1..)
        .zip(messages)
        .map(|(key, &(position, id))| Live { key, position, id: id.into() })
        .collect()
}

fn planned(messages: &[(i64, &str)], archived: &[&str], replacements: usize) -> Plan {
    let archived: Vec<String> = archived.iter().map(|&id| id.into()).collect();
    plan(&live(messages), &archived, replacements).expect("a plan")
}

#[test]
fn replacements_take_the_place_of_what_they_replace() {
    let messages = [(0, "a"), (1, "b"), (2, "c"), (3, "d")];
    assert_eq!(
        planned(&messages, &["c", "b"], 2),
        Plan { hidden: vec![2, 3], place: 1, shift: None }
    );
    assert_eq!(
        planned(&messages, &["a", "d"], 1),
        Plan { hidden: vec![1, 4], place: 0, shift: None }
    );
    assert_eq!(planned(&messages, &["d"], 5), Plan { hidden: vec![4], place: 3, shift: None });
}

#[test]
fn what_follows_moves_when_replacements_need_more_room() {
    let messages = [(0, "a"), (4, "b"), (6, "c"), (7, "d")];
    assert_eq!(
        planned(&messages, &["b"], 5),
        Plan { hidden: vec![2], place: 4, shift: Some((6, 3)) }
    );
    assert_eq!(planned(&messages, &["b"], 2), Plan { hidden: vec![2], place: 4, shift: None });
    assert_eq!(
        planned(&messages, &["b", "d"], 3),
        Plan { hidden: vec![2, 4], place: 4, shift: Some((6, 1)) }
    );
}

#[test]
fn depth_counts_brackets_outside_strings() {
    assert_eq!(depth(b"1"), 0);
    assert_eq!(depth(br#"{"a":[[1],{"b":2}]}"#), 3);
    assert_eq!(depth(br#"{"[[[[\"[":"\\","b":[]}"#), 2);
}

/// A message whose attributes nest as deep as `levels`.
fn nested(levels: usize) -> Message {
    let value = (1..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let attributes = Attributes::from_iter([("plugin".into(), value)]);
    Message { attributes, ..Message::user("deep") }
}

#[test]
fn what_was_just_shallow_enough_to_arrive_can_be_read_back() {
    for levels in [126, 127, 128, 200, MAX_DEPTH - 1] {
        let message = nested(levels);
        let row = MessageRow::new(&message).expect("a row");
        assert_eq!(MessageRow::parse(row.body.as_bytes()).expect("a message"), message, "{levels}");
    }
}

#[test]
fn bottomless_json_is_an_error_and_not_a_stack_overflow() {
    let body =
        r#"{"id":"x","role":"user","attributes":"#.to_owned() + &r#"{"a":"#.repeat(1_000_000);
    assert!(MessageRow::parse(body.as_bytes()).is_err());
}
