//! What the memory keeps of a history before it is summed up.

use tokio_util::sync::CancellationToken;

use super::rig::{Rig, Says, rig_with};
use crate::agent::{AgentBuilder, Limits, TurnInput};
use crate::compress::CompressionSettings;
use crate::hook::PreVerdict;
use crate::testing::{Script, call, text};
use crate::transport::{ErrorKind, TransportError};

const TURNS: usize = 30;

/// A conversation worth summing up, compressed once; the model answers the two side questions with
/// `memory` and a summary.
async fn compressed(
    memory: Script,
    configure: impl FnOnce(AgentBuilder) -> AgentBuilder,
) -> (Rig, bool) {
    let talk = (0..TURNS).map(|_| text("I see."));
    let compression =
        CompressionSettings { memory_tool: Some("write".into()), ..Default::default() };
    let limits = Limits { compression, ..Limits::default() };
    let script = talk.chain([memory, text("## Goal\nthings")]);
    let rig = rig_with(script, |builder| configure(builder.limits(limits)));
    for turn in 0..TURNS {
        let said = format!("thing {turn} {}", "is long ".repeat(300));
        rig.agent.run_turn(TurnInput::user(said)).await;
    }
    let shorter = rig.agent.compress(None, CancellationToken::new()).await.unwrap();
    (rig, shorter)
}

fn keeps() -> Script {
    call(&[
        ("a", "write", "{\"path\":\"likes tests\"}"),
        ("b", "read", "{}"),
        ("c", "write", "{\"path\":7}"),
    ])
}

#[tokio::test(start_paused = true)]
async fn the_model_may_keep_what_is_worth_keeping_before_it_is_summed_up() {
    let (rig, shorter) = compressed(keeps(), |builder| builder).await;
    assert!(shorter);
    assert_eq!(
        rig.log(),
        ["write {\"path\":\"likes tests\"}"],
        "only that tool, and only what fits"
    );
    let asked = &rig.model.requests()[TURNS..];
    assert_eq!((asked.len(), asked[0].tools.len(), asked[1].tools.len()), (2, 1, 0));
    assert_eq!(&*asked[0].system, "be brief");
    assert!(asked[0].messages[0].content.text().contains("thing 12"));
    let id = rig.agent.session_id().await.unwrap();
    let stored = crate::store::Store::load(&*rig.store, &id).await.unwrap();
    assert!(stored.messages.iter().all(|message| message.tool_calls.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_objects_keeps_the_memory_as_it_is() {
    for verdict in [
        PreVerdict::Deny { reason: "no".into() },
        PreVerdict::Ask { question: "may it?".into() },
        PreVerdict::Rewrite { arguments: "{}".into() },
    ] {
        let hook = Says::new("guard", true, move |_| Ok(verdict.clone()));
        let (rig, shorter) = compressed(keeps(), |builder| builder.pre_tool_call(hook)).await;
        assert!(shorter && rig.log().is_empty(), "{:?}", rig.log());
    }
}

#[tokio::test(start_paused = true)]
async fn a_flush_that_fails_costs_nothing() {
    let failure = TransportError::new(ErrorKind::BadRequest, "no tools here");
    let (rig, shorter) = compressed(Script::Fail(Vec::new(), failure), |builder| builder).await;
    assert!(shorter && rig.log().is_empty());
}
