//! Any reply as a stream, as a stream in any pieces and as one body; and any bytes at all.

use proptest::prelude::*;

use super::*;

/// One item of a reply, and how many bytes each of its pieces has.
#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Thought(Vec<String>),
    Call(String),
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        any::<String>().prop_map(Part::Text),
        proptest::collection::vec(any::<String>(), 0..3).prop_map(Part::Thought),
        any::<String>().prop_map(Part::Call),
    ]
}

fn item(n: usize, part: &Part) -> Value {
    let id = format!("id_{n}");
    match part {
        Part::Text(text) => message(&id, text),
        Part::Thought(texts) => thought(&id, &texts.iter().map(String::as_str).collect::<Vec<_>>()),
        Part::Call(arguments) => function(&id, &format!("call_{n}"), arguments),
    }
}

/// The events that stream an item, character by character.
fn streamed(n: usize, part: &Part) -> Vec<Value> {
    let (index, id) = (u64::try_from(n).unwrap(), format!("id_{n}"));
    let pieces = |kind: &str, number: usize, text: &str| -> Vec<Value> {
        let fields = |c: char| json!({"delta": c.to_string(), "summary_index": number});
        text.chars().map(|c| event(kind, index, &id, fields(c))).collect()
    };
    let empty = match part {
        Part::Text(_) => Part::Text(String::new()),
        Part::Thought(_) => Part::Thought(Vec::new()),
        Part::Call(_) => Part::Call(String::new()),
    };
    let mut events = vec![added(index, item(n, &empty))];
    match part {
        Part::Text(text) => events.extend(pieces("output_text.delta", 0, text)),
        Part::Call(text) => events.extend(pieces("function_call_arguments.delta", 0, text)),
        Part::Thought(texts) => {
            for (number, text) in texts.iter().enumerate() {
                events.extend(pieces("reasoning_summary_text.delta", number, text));
            }
        }
    }
    events.push(done(index, item(n, part)));
    events
}

proptest! {
    #[test]
    fn a_stream_in_any_pieces_and_a_whole_body_give_the_same_reply(
        parts in proptest::collection::vec(part(), 0..6),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        listed in any::<bool>(),
    ) {
        let output: Vec<Value> = parts.iter().enumerate().map(|(n, part)| item(n, part)).collect();
        let one = whole(&json!({"status": "completed", "output": output}).to_string());
        let mut sent: Vec<Value> =
            parts.iter().enumerate().flat_map(|(n, part)| streamed(n, part)).collect();
        sent.push(completed(if listed { json!(output) } else { json!([]) }));
        let body = body(&sent);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &body.as_bytes()[pair[0]..pair[1]]);
        prop_assert_eq!(&stream(pieces), &one);
        let called = parts.iter().filter_map(|part| match part {
            Part::Call(arguments) => Some(arguments.as_str()),
            _ => None,
        });
        let arguments = one.calls.iter().map(|call| call.2.as_str());
        prop_assert_eq!(arguments.collect::<Vec<_>>(), called.collect::<Vec<_>>());
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
            "\"type\":", "\"response.output_text.delta\"", "\"response.completed\"", "\"delta\":",
            "\"response.function_call_arguments.done\"", "\"response.output_item.done\"",
            "\"item\":", "\"output_index\":", "\"item_id\":", "\"response\":", "\"output\":",
            "\"arguments\":", "\"content\":", "\"summary\":", "\"function_call\"", "\"reasoning\"",
            "\"usage\":", "\"status\":", "\n", "\n\ndata: ",
        ]), 0..40),
    ) {
        let text = words.concat();
        stream([format!("data: {text}").as_bytes()]);
        whole(&text);
    }

    #[test]
    fn no_order_of_events_makes_the_decoder_panic(
        order in proptest::collection::vec(any::<prop::sample::Index>(), 0..24),
    ) {
        let book = by_the_book();
        let sent: Vec<Value> =
            order.iter().map(|index| book[index.index(book.len())].clone()).collect();
        events(&sent);
    }
}
