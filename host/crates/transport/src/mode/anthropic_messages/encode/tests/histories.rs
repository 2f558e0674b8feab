//! Any history the loop can send makes a body a strict provider accepts.

use proptest::prelude::*;

use super::*;

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just(" \n".into()), any::<String>(), "[a-z]{1,6} ?"]
}

fn any_content() -> impl Strategy<Value = Content> {
    let url =
        prop_oneof!["https://[a-z]{1,8}", "data:image/png;base64,[A-Z]{0,4}", any::<String>()];
    let part = prop_oneof![
        3 => any_text().prop_map(|text| ContentPart::Text { text }),
        1 => url.prop_map(|url| image(&url)),
    ];
    prop_oneof![
        any_text().prop_map(Content::from),
        proptest::collection::vec(part, 0..4).prop_map(Content),
    ]
}

/// What a message may claim to have been made of, right or wrong.
fn any_layout() -> impl Strategy<Value = Value> {
    let piece = prop_oneof![
        (any_text(), any_text()).prop_map(|(thinking, signature)| {
            json!({"type": "thinking", "thinking": thinking, "signature": signature})
        }),
        any_text().prop_map(|data| json!({"type": "redacted_thinking", "data": data})),
        (0_usize..8).prop_map(|bytes| json!({"type": "text", "bytes": bytes})),
        Just(json!({"type": "tool_use"})),
    ];
    let pieces = proptest::collection::vec(piece, 0..6);
    let layout = pieces.prop_map(|blocks| json!({"blocks": blocks}));
    prop_oneof![4 => layout, 1 => Just(json!(null)), 1 => Just(json!({"blocks": 7}))]
}

/// One step of a conversation: an assistant's message with its results, or a user's message.
fn any_step() -> impl Strategy<Value = Vec<Message>> {
    let calls =
        proptest::collection::vec((any_text(), any_text(), any_content(), any::<bool>()), 0..4);
    let reply = (any_content(), calls, proptest::option::of(any_layout())).prop_map(
        |(content, calls, layout)| {
            let mut reply = Message::assistant("");
            reply.content = content;
            reply.replay = layout.and_then(replay);
            let mut results = vec![];
            for (n, (id, arguments, content, failed)) in calls.into_iter().enumerate() {
                // Unique, as the loop makes them; legal or not.
                let call = call(&format!("{id}{}{n}", reply.id), &arguments);
                let mut result = Message::tool(&call, content);
                result.failure = failed.then(|| "timeout".into());
                reply.tool_calls.push(call);
                results.push(result);
            }
            results.insert(0, reply);
            results
        },
    );
    prop_oneof![2 => reply, 1 => any_content().prop_map(|content| vec![Message::user(content)])]
}

proptest! {
    #[test]
    fn every_history_makes_a_valid_body(
        steps in proptest::collection::vec(any_step(), 0..8),
        system in any_text(),
        stream in any::<bool>(),
        offered in any::<bool>(),
    ) {
        let mut request = ModelRequest { system: system.into(), stream, ..request(steps.concat()) };
        if !offered {
            request.tools = Arc::new([]);
        }
        let body = body(&request);
        prop_assert_eq!(&body["stream"], &json!(stream));
    }
}
