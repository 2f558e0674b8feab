//! Naming a new session beside its first turn.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::rig::{Rig, rig_of, route};
use crate::agent::TurnInput;
use crate::router::ModelRouter;
use crate::testing::{Script, ScriptedTransport, text};
use crate::transport::{Delta, ErrorKind, Transport, TransportError};
use crate::usage::Usage;

/// A main model and one for titles, with these scripts.
fn titled(main: Vec<Script>, title: Script) -> (Rig, Arc<ScriptedTransport>) {
    let main: Arc<dyn Transport> = Arc::new(ScriptedTransport::new(main));
    let titles = Arc::new(ScriptedTransport::new([title]));
    let routes = vec![route("titles", titles.clone(), None)];
    let router = ModelRouter::new(route("main", main, None)).with_auxiliary("title", routes);
    (rig_of(router, |builder| builder), titles)
}

#[tokio::test(start_paused = true)]
async fn a_new_session_is_named_once_and_the_name_is_paid_for() {
    let usage = Usage { input: 50, output: 5, ..Usage::default() };
    let said = vec![Delta::Text("\"Fixing it\"".into()), Delta::Usage(usage)];
    let (rig, titles) = titled(vec![text("one"), text("two")], Script::Reply(said));
    let one = rig.agent.run_turn(TurnInput::user("fix the parser")).await;
    let two = rig.agent.run_turn(TurnInput::user("and now")).await;
    assert_eq!(rig.store.title(&one.session_id).as_deref(), Some("Fixing it"));
    let asked = titles.requests();
    assert_eq!((asked.len(), one.api_calls, two.api_calls), (1, 2, 1));
    assert!(asked[0].messages[0].content.text().contains("fix the parser"));
    assert!(one.usage.input >= 50 && one.usage.output > 5 && one.cost.unwrap().usd > 0.0);
    assert_eq!(one.messages.len(), 2, "nothing of it is part of the history");
}

#[tokio::test(start_paused = true)]
async fn a_title_that_fails_or_takes_long_is_done_without() {
    let failure = TransportError::new(ErrorKind::Auth, "no key");
    for (script, longest) in [(Script::Fail(vec![], failure), 1), (Script::Hang(vec![]), 6)] {
        let (rig, _) = titled(vec![text("done"), text("no title here")], script);
        let began = Instant::now();
        let result = rig.agent.run_turn(TurnInput::user("hi")).await;
        assert_eq!(result.final_response.as_deref(), Some("done"));
        assert!(began.elapsed() < Duration::from_secs(longest), "{:?}", began.elapsed());
        assert_eq!(rig.event_types().last().map(String::as_str), Some("turn_ended"));
        assert!(!rig.event_types().contains(&"status".to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_waits_for_no_title() {
    let (rig, _) = titled(vec![text("done")], Script::Hang(vec![]));
    let input = TurnInput::user("hi");
    let cancel = input.cancel.clone();
    let began = Instant::now();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(rig.agent.run_turn(input), stop);
    assert_eq!(result.final_response.as_deref(), Some("done"));
    assert_eq!(began.elapsed().as_secs(), 1);
}
