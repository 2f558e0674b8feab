//! Models asked on the side, here for a summary, and what is done when they fail.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::rig::{Rig, rig_of, route};
use crate::agent::TurnInput;
use crate::router::ModelRouter;
use crate::testing::{Script, ScriptedTransport, text};
use crate::transport::{ErrorKind, Remedy, Transport, TransportError};

fn fails(kind: ErrorKind) -> Script {
    Script::Fail(Vec::new(), TransportError::new(kind, "not now"))
}

/// A main model that has had a conversation worth summing up, and a side model with this script;
/// what was asked of the side model and how often the main one was asked for a summary.
async fn compressed(
    side: Vec<Script>,
    main: Vec<Script>,
    times: usize,
) -> (Arc<ScriptedTransport>, usize, Rig) {
    const TURNS: usize = 30;
    let talk = (0..TURNS).map(|_| text("I see."));
    let model = Arc::new(ScriptedTransport::new(talk.chain(main)));
    let side = Arc::new(ScriptedTransport::new(side));
    let main: Arc<dyn Transport> = model.clone();
    let aside = vec![route("aside", side.clone(), None)];
    let router = ModelRouter::new(route("main", main, None)).with_auxiliary("compression", aside);
    let rig = rig_of(router, |builder| builder);
    for turn in 0..TURNS {
        let said = format!("thing {turn} {}", "is long ".repeat(300));
        rig.agent.run_turn(TurnInput::user(said)).await;
    }
    for _ in 0..times {
        rig.agent.compress(None, CancellationToken::new()).await.unwrap();
    }
    (side, model.requests().len() - TURNS, rig)
}

#[tokio::test(start_paused = true)]
async fn a_side_model_is_asked_in_the_form_it_takes() {
    let error = TransportError::new(ErrorKind::BadRequest, "no streams here");
    let error = TransportError { remedy: Some(Remedy::WithoutStream), ..error };
    let script = vec![Script::Fail(Vec::new(), error), text("## Goal\nthings")];
    let (side, main, rig) = compressed(script, Vec::new(), 1).await;
    let streams: Vec<_> = side.requests().iter().map(|request| request.stream).collect();
    assert_eq!((streams, main), (vec![true, false], 0));
    assert!(rig.event_types().contains(&"compressed".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_side_model_that_failed_lately_is_asked_last() {
    let script = vec![fails(ErrorKind::Billing)];
    let answers = vec![text("## Goal\none"), text("## Goal\ntwo")];
    let (side, main, _) = compressed(script, answers, 2).await;
    assert_eq!((side.requests().len(), main), (1, 2), "the second time the main model is asked");
}

#[tokio::test(start_paused = true)]
async fn what_no_model_answers_fails_by_the_last_ones_word() {
    let script = vec![fails(ErrorKind::Auth)];
    let (_, main, rig) = compressed(script, vec![fails(ErrorKind::ModelNotFound)], 1).await;
    assert_eq!(main, 1);
    let events = rig.events.lock().unwrap();
    let told = events.iter().map(|event| serde_json::to_string(event).unwrap());
    assert_eq!(told.filter(|line| line.contains("stays as it is (not now")).count(), 1);
}
