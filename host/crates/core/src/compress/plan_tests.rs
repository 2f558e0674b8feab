#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;
use crate::message::ToolCall;

/// `u`ser, `a`nswer, `S`ummary, and a digit: a reply with as many calls, and their results.
fn history(shape: &str) -> Vec<Arc<Message>> {
    let mut messages = Vec::new();
    for (at, kind) in shape.chars().enumerate() {
        match kind {
            'u' => messages.push(Message::user(format!("request {at}"))),
            'a' => messages.push(Message::assistant("answer")),
            'S' => {
                let mut summary = Message::user("summary");
                summary.attributes.insert(Message::COMPRESSED.into(), "summary".into());
                messages.push(summary);
            }
            _ => {
                let calls: Vec<ToolCall> = (0..kind.to_digit(10).unwrap())
                    .map(|n| ToolCall {
                        id: format!("c{at}_{n}"),
                        name: "t".into(),
                        arguments: "{}".into(),
                    })
                    .collect();
                let results = calls.iter().map(|call| Message::tool(call, "out"));
                let results: Vec<_> = results.collect();
                messages.push(Message { tool_calls: calls, ..Message::assistant("") });
                messages.extend(results);
            }
        }
    }
    messages.into_iter().map(Arc::new).collect()
}

fn planned(shape: &str, each: u64, room: u64) -> Option<Plan> {
    let messages = history(shape);
    let sizes = vec![each; messages.len()];
    let sizes = Sizes { messages: &sizes, room, summary: 10 };
    plan(&messages, sizes, &CompressionSettings::default())
}

#[test]
fn beginning_and_end_stay_and_the_newest_request_is_said_again() {
    // 1 + 20 * 2 messages; the beginning is the request and one whole group.
    let shape = format!("u{}", "1".repeat(20));
    let plan_ = planned(&shape, 10, 400).unwrap();
    assert_eq!(plan_, Plan { middle: 3..29, repeated: None });
    let shape = format!("uaaau{}", "1".repeat(20));
    let plan_ = planned(&shape, 10, 400).unwrap();
    assert_eq!(plan_, Plan { middle: 3..33, repeated: Some(4) });
}

#[test]
fn a_new_summary_takes_in_the_last_one() {
    let shape = format!("u1Su{}", "1".repeat(20));
    assert_eq!(planned(&shape, 10, 400).unwrap(), Plan { middle: 3..33, repeated: Some(4) });
}

#[test]
fn b075_what_would_save_little_is_not_begun() {
    assert_eq!(planned("u111", 10, 1000), None);
    assert_eq!(planned("u", 900, 1000), None, "one message cannot be summed up");
    assert_eq!(planned("uu", 900, 1000).map(|plan| plan.middle), Some(0..1));
    assert_eq!(planned("", 0, 1000), None);
}

#[test]
fn a_group_larger_than_everything_stays_alone() {
    let messages = history("u11118");
    let mut sizes = vec![100; messages.len()];
    *sizes.last_mut().unwrap() = 5000;
    let sizes = Sizes { messages: &sizes, room: 1000, summary: 10 };
    let plan = plan(&messages, sizes, &CompressionSettings::default()).unwrap();
    assert_eq!(plan.middle, 1..9);
}

proptest! {
    #[test]
    fn b026_calls_and_their_results_are_never_parted(
        shape in "(u|a|1|2|8|S){0,40}",
        sizes in prop::collection::vec(1_u64..400, 400),
        room in 50_u64..4000,
        first in 0_usize..6,
        last in 0_usize..30,
    ) {
        let messages = history(&shape);
        let sizes = Sizes { messages: &sizes[..messages.len()], room, summary: 20 };
        let settings = CompressionSettings {
            protect_first_n: first, protect_last_n: last, ..CompressionSettings::default()
        };
        if let Some(plan) = plan(&messages, sizes, &settings) {
            let starts_group = |at: usize| messages.get(at).is_none_or(|m| m.role != Role::Tool);
            prop_assert!(starts_group(plan.middle.start) && starts_group(plan.middle.end));
            prop_assert!(plan.middle.start < plan.middle.end);
            prop_assert!(plan.middle.end < messages.len(), "the last group stays");
            let newest = newest_request(&messages);
            let kept = newest.is_none_or(|at| !plan.middle.contains(&at) || plan.repeated == Some(at));
            prop_assert!(kept, "the newest request of the user is never lost");
        }
    }
}
