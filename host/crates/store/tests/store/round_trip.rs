//! Whatever a message holds comes back the same.

use hermes_core::failure::Attributes;
use hermes_core::message::{
    Content, ContentPart, Effect, FinishReason, ImageUrl, Replay, Role, ToolCall,
};
use hermes_core::usage::Usage;
use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn attributes() -> impl Strategy<Value = Attributes> {
    prop::collection::btree_map(any::<String>(), json(), 0..3)
        .prop_map(|map| map.into_iter().collect())
}

fn content() -> impl Strategy<Value = Content> {
    let part = prop_oneof![
        any::<String>().prop_map(|text| ContentPart::Text { text }),
        any::<String>().prop_map(|url| ContentPart::ImageUrl { image_url: ImageUrl { url } }),
    ];
    prop_oneof![
        any::<String>().prop_map(Content::from),
        prop::collection::vec(part, 2..4).prop_map(Content::from),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    (any::<[u64; 5]>(), any::<bool>()).prop_map(
        |([input, output, cached, cache_write, reasoning], estimated)| Usage {
            input,
            output,
            cached,
            cache_write,
            reasoning,
            estimated,
        },
    )
}

fn replay() -> impl Strategy<Value = Replay> {
    (any::<[String; 3]>(), json()).prop_map(|([api_mode, provider, model], data)| Replay {
        api_mode,
        provider,
        model,
        data,
    })
}

prop_compose! {
    fn message()(
        role in prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]),
        content in content(),
        calls in prop::collection::vec(any::<[String; 3]>(), 0..3),
        texts in any::<[Option<String>; 4]>(),
        finish_reason in prop::option::of(prop::sample::select(vec![
            FinishReason::Stop, FinishReason::ToolCalls, FinishReason::Length,
            FinishReason::ContentFilter, FinishReason::Incomplete,
        ])),
        effect in prop::option::of(
            prop::sample::select(vec![Effect::None, Effect::Applied, Effect::Unknown])
        ),
        usage in prop::option::of(usage()),
        replay in prop::option::of(replay()),
        attributes in attributes(),
        created_ms in any::<u64>(),
    ) -> Message {
        let tool_calls = calls
            .into_iter()
            .map(|[id, name, arguments]| ToolCall { id, name, arguments })
            .collect();
        let [tool_call_id, name, reasoning, failure] = texts;
        Message {
            tool_calls, tool_call_id, name, reasoning, finish_reason, effect, failure, usage,
            replay, attributes, created_ms,
            ..Message::new(role, content)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_message_comes_back_the_same(messages in prop::collection::vec(message(), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let messages: Vec<Arc<Message>> = messages.into_iter().map(Arc::new).collect();
        let loaded = runtime.block_on(async {
            let home = Home::new();
            let store = home.open();
            let session = new_session(&store).await;
            append(&store, &session, &messages).await;
            store.load(&session).await.unwrap()
        });
        prop_assert_eq!(loaded.messages, messages);
    }
}

#[tokio::test]
async fn a_long_message_comes_back_the_same() {
    let home = Home::new();
    let store = home.open();
    let session = new_session(&store).await;
    let long = said(&["\u{0}\u{1f}\"\\\u{2028}世👩".repeat(100_000).as_str(), "short"]);
    append(&store, &session, &long).await;
    assert_eq!(store.load(&session).await.unwrap().messages, long);
}
