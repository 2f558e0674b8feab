//! Any split of any stream, the same reply in one piece, and any bytes at all.

use proptest::prelude::*;

use super::*;

/// The events a block is streamed as, and the block in one piece.
fn any_block() -> impl Strategy<Value = (Value, Vec<Value>, Value)> {
    let texts = || proptest::collection::vec(any::<String>(), 0..4);
    let text = texts().prop_map(|texts| {
        let deltas = texts.iter().map(|text| json!({"type": "text_delta", "text": text}));
        let whole = json!({"type": "text", "text": texts.concat()});
        (json!({"type": "text", "text": ""}), deltas.collect(), whole)
    });
    let thinking = (texts(), any::<String>()).prop_map(|(texts, signature)| {
        let deltas = texts.iter().map(|text| json!({"type": "thinking_delta", "thinking": text}));
        let proof = json!({"type": "signature_delta", "signature": signature});
        let whole = json!({"type": "thinking", "thinking": texts.concat(), "signature": signature});
        let empty = json!({"type": "thinking", "thinking": "", "signature": ""});
        (empty, deltas.chain([proof]).collect(), whole)
    });
    let redacted = any::<String>().prop_map(|data| {
        let block = json!({"type": "redacted_thinking", "data": data});
        (block.clone(), Vec::new(), block)
    });
    let uses = (any::<String>(), "[a-z]{1,4}", any::<prop::sample::Index>()).prop_map(
        |(value, id, cut)| {
            let input = json!({"k": value});
            let text = input.to_string();
            let cut = text.floor_char_boundary(cut.index(text.len()));
            let deltas = [&text[..cut], &text[cut..]].map(json_delta);
            let whole = json!({"type": "tool_use", "id": id, "name": "f", "input": input});
            (super::uses(&id, "f"), deltas.to_vec(), whole)
        },
    );
    prop_oneof![text, thinking, redacted, uses]
}

proptest! {
    #[test]
    fn any_split_of_a_stream_gives_the_same_reply_as_the_whole_body(
        blocks in proptest::collection::vec(any_block(), 0..6),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        ends in proptest::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let mut list = Vec::new();
        for (n, (begun, deltas, _)) in blocks.iter().enumerate() {
            list.push(start(n, begun.clone()));
            list.extend(deltas.iter().map(|more| delta(n, more.clone())));
            list.push(stop(n));
        }
        list.extend(super::ends("max_tokens"));
        let body = events(&list).replace('\n', ends);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let reply = stream(cuts.windows(2).map(|pair| &body.as_bytes()[pair[0]..pair[1]]));
        let content: Vec<&Value> = blocks.iter().map(|(_, _, whole)| whole).collect();
        let one = json!({"content": content, "stop_reason": "max_tokens"});
        prop_assert_eq!(&reply.fault, &None);
        prop_assert_eq!(reply, whole(&one.to_string()));
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
            "\"type\":", "\"content_block_start\"", "\"content_block_delta\"", "\"index\":",
            "\"content_block\":", "\"delta\":", "\"tool_use\"", "\"input\":", "\"text_delta\"",
            "\"text\":", "\"message_delta\"", "\"stop_reason\":", "\"content\":", "\n\ndata: ",
        ]), 0..40),
    ) {
        let text = words.concat();
        stream([format!("data: {text}").as_bytes()]);
        whole(&text);
    }
}
