//! Whatever a history looks like and on whichever occasion it is compressed: what is sent after it
//! is a request that a strict provider of each wire format accepts.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use hermes_host::core::agent::{Agent, Limits, TurnInput};
use hermes_host::core::compress::{CompressionSettings, SYSTEM};
use hermes_host::core::message::{Content, ContentPart, FinishReason, ImageUrl, Message, ToolCall};
use hermes_host::core::result::EndKind;
use hermes_host::core::router::{ModelRouter, Route};
use hermes_host::core::testing::MemoryStore;
use hermes_host::core::transport::{
    Delta, DeltaStream, ErrorKind, ModelRequest, Sampling, Transport, TransportError,
};
use hermes_transport::Quirks;
use proptest::prelude::*;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::model::{MODES, Mode};
use crate::strict;

/// A model that sums up when asked to, otherwise says `done`, refuses the first request if it is to
/// overflow, and checks everything.
struct Strict {
    mode: &'static Mode,
    overflows: Mutex<bool>,
    problems: Mutex<Vec<String>>,
    /// Requests that were not about a summary.
    asked: Mutex<usize>,
}

#[async_trait]
impl Transport for Strict {
    fn api_mode(&self) -> &str {
        self.mode.name
    }

    async fn send(&self, request: &ModelRequest) -> Result<DeltaStream, TransportError> {
        let mode = hermes_transport::mode::Mode::named(self.mode.name).unwrap();
        let body: Value =
            serde_json::from_slice(&(mode.encode)(request, &Quirks::default())).unwrap();
        let found = strict::problems(self.mode, &body);
        self.problems
            .lock()
            .unwrap()
            .extend(found.iter().map(|problem| format!("{problem} in {body}")));
        let says = if &*request.system == SYSTEM {
            "## Goal\nto get on"
        } else {
            *self.asked.lock().unwrap() += 1;
            if std::mem::take(&mut *self.overflows.lock().unwrap()) {
                return Err(TransportError::new(ErrorKind::ContextOverflow, "too long"));
            }
            "done"
        };
        let deltas = [Delta::Text(says.into()), Delta::Finish(FinishReason::Stop)];
        Ok(stream::iter(deltas.map(Ok)).boxed())
    }
}

/// Text in more than one script, sometimes long, sometimes blank.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,40}",
        Just("修改服务端的计划，昨晚开会讨论数据库。".to_owned()),
        Just("{\"key\": [1, 2, 3]}".to_owned()),
        (1usize..400).prop_map(|n| "a long story ".repeat(n)),
    ]
}

fn any_content() -> impl Strategy<Value = Content> {
    (any_text(), 0..8u8).prop_map(|(text, image)| {
        if image > 0 {
            return text.into();
        }
        let url = "data:image/png;base64,iVBORw0KGgo=".into();
        let image = ContentPart::ImageUrl { image_url: ImageUrl { url } };
        vec![ContentPart::Text { text }, image].into()
    })
}

/// A reply with so many calls, and the results it got: some may be missing or come late.
fn any_group() -> impl Strategy<Value = Vec<Message>> {
    let result = (any_content(), 0..10u8);
    let results = proptest::collection::vec(result, 0..4);
    (any_text(), proptest::option::of(any_text()), results, any::<u64>(), any::<bool>()).prop_map(
        |(text, reasoning, results, seed, backwards)| {
            let mut reply = Message::assistant(text);
            reply.reasoning = reasoning;
            let call = |at: usize| ToolCall {
                id: format!("call_{seed:x}_{at}"),
                name: "read".into(),
                arguments: format!("{{\"path\":\"{at}\"}}"),
            };
            reply.tool_calls = (0..results.len()).map(call).collect();
            let answered = reply.tool_calls.iter().zip(results);
            let mut answers: Vec<Message> = answered
                .filter(|(_, (_, fate))| *fate > 0)
                .map(|(call, (content, _))| Message::tool(call, content))
                .collect();
            if backwards {
                answers.reverse();
            }
            std::iter::once(reply).chain(answers).collect()
        },
    )
}

fn any_history() -> impl Strategy<Value = Vec<Message>> {
    let piece = prop_oneof![
        2 => any_content().prop_map(|content| vec![Message::user(content)]),
        3 => any_group(),
    ];
    proptest::collection::vec(piece, 1..40).prop_map(|pieces| pieces.concat())
}

/// Why a history is compressed.
#[derive(Debug, Clone, Copy)]
enum Occasion {
    Window(u64),
    Overflow,
    Asked,
}

fn any_occasion() -> impl Strategy<Value = Occasion> {
    prop_oneof![
        (2_000..20_000u64).prop_map(Occasion::Window),
        Just(Occasion::Overflow),
        Just(Occasion::Asked),
    ]
}

/// What a strict provider has against the requests of two turns, the history compressed between
/// them or within.
fn objections(mode: &'static Mode, history: Vec<Message>, occasion: Occasion) -> Vec<String> {
    let overflows = matches!(occasion, Occasion::Overflow);
    let transport = Arc::new(Strict {
        mode,
        overflows: Mutex::new(overflows),
        problems: Mutex::default(),
        asked: Mutex::default(),
    });
    let window = match occasion {
        Occasion::Window(tokens) => tokens,
        Occasion::Overflow | Occasion::Asked => 200_000,
    };
    let route = Route {
        provider: "strict".into(),
        model: "strict".into(),
        context_window: Some(window),
        prices: None,
        sampling: Sampling::default(),
        stream: true,
        transport: transport.clone(),
    };
    let compression = CompressionSettings { protect_last_n: 4, ..Default::default() };
    let agent = Agent::builder(ModelRouter::new(route), Arc::new(MemoryStore::default()))
        .limits(Limits { compression, ..Limits::default() })
        .system("be brief")
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let first = TurnInput { history: Some(history), ..TurnInput::user("the newest request") };
        let result = agent.run_turn(first).await;
        if matches!(occasion, Occasion::Asked) {
            agent.compress(None, CancellationToken::new()).await.unwrap();
        }
        let second = agent.run_turn(TurnInput::user("and on")).await;
        for result in [result, second] {
            assert_eq!(result.end.kind, EndKind::Finished, "{:?}", result.end);
        }
    });
    assert!(*transport.asked.lock().unwrap() >= 2);
    std::mem::take(&mut *transport.problems.lock().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_compressed_history_is_valid_in_every_wire_format(
        history in any_history(), occasion in any_occasion(),
    ) {
        for mode in MODES {
            let found = objections(mode, history.clone(), occasion);
            prop_assert!(found.is_empty(), "{}: {:#?}", mode.name, found);
        }
    }
}
