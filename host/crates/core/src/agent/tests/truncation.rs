//! Replies cut by the output limit, and replies that hold nothing.

use std::sync::Arc;

use super::rig::{rig, rig_of, route, sketch};
use crate::agent::TurnInput;
use crate::message::FinishReason;
use crate::result::EndKind;
use crate::router::ModelRouter;
use crate::store::Store;
use crate::testing::{Script, ScriptedTransport, call, text};
use crate::transport::{Delta, ErrorKind, TransportError};
use crate::usage::Usage;

fn cut(piece: &str) -> Script {
    Script::Reply(vec![Delta::Text(piece.into()), Delta::Finish(FinishReason::Length)])
}

fn cut_call() -> Script {
    let arguments = "{\"path\": \"/et".into();
    let (id, name) = (Some("c".into()), Some("write".into()));
    Script::Reply(vec![
        Delta::ToolCall { slot: 0, id, name, arguments },
        Delta::Finish(FinishReason::Length),
    ])
}

fn empty() -> Script {
    Script::Reply(vec![Delta::Reasoning("hm".into()), Delta::Finish(FinishReason::Stop)])
}

#[tokio::test(start_paused = true)]
async fn a_cut_text_goes_on_where_it_ended() {
    let rig = rig([cut("one, "), cut("two, "), text("three")]);
    let result = rig.agent.run_turn(TurnInput::user("count")).await;
    assert_eq!(result.final_response.as_deref(), Some("one, two, three"));
    assert_eq!(result.end.kind, EndKind::Finished);
    let stored = rig.store.load(&result.session_id).await.unwrap();
    let roles: Vec<_> = sketch(&stored.messages)
        .iter()
        .map(|line| line.split(':').next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user", "assistant"]);
}

#[tokio::test(start_paused = true)]
async fn the_fourth_cut_ends_the_turn_with_what_there_is() {
    let rig = rig([cut("a"), cut("b"), cut("c"), cut("d"), text("never")]);
    let result = rig.agent.run_turn(TurnInput::user("count")).await;
    assert_eq!(result.error.as_ref().map(|error| error.kind), Some(ErrorKind::Truncated));
    assert_eq!((result.final_response.as_deref(), result.api_calls), (Some("abcd"), 4));
}

#[tokio::test(start_paused = true)]
async fn a_cut_call_never_runs_and_is_asked_for_again_with_more_room() {
    let rig = rig([cut_call(), call(&[("c", "write", "{\"path\":\"a\"}")]), text("done")]);
    let result = rig.agent.run_turn(TurnInput::user("write")).await;
    assert_eq!(rig.log(), ["write {\"path\":\"a\"}"]);
    assert_eq!(result.final_response.as_deref(), Some("done"));
    assert_eq!(result.messages.len(), 4, "the cut reply is not part of the history");
}

#[tokio::test(start_paused = true)]
async fn a_configured_limit_is_raised_step_by_step() {
    for (configured, asked) in [
        (None, [None, None, None]),
        (Some(1000), [Some(1000), Some(2000), Some(4000)]),
        (Some(20_000), [Some(20_000), Some(32_768), Some(32_768)]),
        (Some(50_000), [Some(50_000), Some(50_000), Some(50_000)]),
    ] {
        let model = Arc::new(ScriptedTransport::new([cut("a"), cut("b"), text("c")]));
        let mut primary = route("p", model.clone(), None);
        primary.sampling.max_tokens = configured;
        let rig = rig_of(ModelRouter::new(primary), |builder| builder);
        rig.agent.run_turn(TurnInput::user("count")).await;
        let room: Vec<_> = model.requests().iter().map(|r| r.sampling.max_tokens).collect();
        assert_eq!(room, asked);
    }
}

#[tokio::test(start_paused = true)]
async fn text_the_person_saw_before_a_cut_call_is_not_said_twice() {
    let Script::Reply(mut deltas) = cut_call() else { unreachable!("a reply") };
    deltas.insert(0, Delta::Text("I write it.".into()));
    let rig = rig([Script::Reply(deltas), text("done")]);
    let result = rig.agent.run_turn(TurnInput::user("write")).await;
    assert_eq!((result.api_calls, rig.log().len()), (2, 0));
    assert_eq!(result.messages[1].content.text(), "I write it.");
    assert_eq!(rig.event_types().iter().filter(|kind| *kind == "delta").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_piece_that_was_seen_is_the_answer_even_if_the_next_call_fails() {
    let failure = TransportError::new(ErrorKind::Auth, "no key");
    let rig = rig([cut("half of it"), Script::Fail(Vec::new(), failure)]);
    let result = rig.agent.run_turn(TurnInput::user("count")).await;
    assert_eq!(result.end.kind, EndKind::Failed);
    assert_eq!(result.final_response.as_deref(), Some("half of it"));
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_always_cut_end_the_turn_by_name() {
    let rig = rig((0..9).map(|_| cut_call()));
    let result = rig.agent.run_turn(TurnInput::user("write")).await;
    assert_eq!((result.api_calls, rig.log().len()), (4, 0));
    let error = result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Truncated);
    assert!(error.message.contains("cut a tool call 4 times"), "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn a_limit_spent_on_reasoning_alone_is_named() {
    let thought = vec![Delta::Reasoning("hm".into()), Delta::Finish(FinishReason::Length)];
    let rig = rig([Script::Reply(thought)]);
    let result = rig.agent.run_turn(TurnInput::user("think")).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::Truncated);
}

#[tokio::test(start_paused = true)]
async fn empty_replies_are_retried_then_nudged_then_failed_by_name() {
    let rig = rig([empty(), empty(), empty(), text("sorry, here")]);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!((result.final_response.as_deref(), result.api_calls), (Some("sorry, here"), 4));
    let last = rig.model.requests().pop().unwrap();
    assert_eq!(sketch(&last.messages).len(), 1, "no two messages of one role in a row");
    assert!(last.messages[0].content.text().contains("Your replies were empty"));
    assert_eq!(result.messages.len(), 2, "the nudge is no part of the history");

    let rig = super::rig::rig((0..9).map(|_| empty()));
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!((result.error.unwrap().kind, result.api_calls), (ErrorKind::EmptyReply, 6));
}

#[tokio::test(start_paused = true)]
async fn tokens_of_replies_that_held_nothing_are_booked() {
    let Script::Reply(mut deltas) = empty() else { unreachable!("a reply") };
    deltas.push(Delta::Usage(Usage {
        input: 100,
        output: 500,
        reasoning: 500,
        ..Usage::default()
    }));
    let rig = rig([Script::Reply(deltas.clone()), Script::Reply(deltas), text("here")]);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!(result.final_response.as_deref(), Some("here"));
    assert_eq!((result.usage.reasoning, result.api_calls), (1000, 3));
    assert!(result.usage.output > 1000 && result.cost.is_some_and(|cost| cost.usd > 0.005));
}

/// Text, the beginning of a call, then a connection that breaks.
fn breaks(piece: &str) -> Script {
    let Script::Reply(mut deltas) = cut_call() else { unreachable!("a reply") };
    deltas.pop();
    deltas.insert(0, Delta::Text(piece.into()));
    Script::Fail(deltas, TransportError::new(ErrorKind::Connection, "the connection broke"))
}

#[tokio::test(start_paused = true)]
async fn a_text_whose_connection_broke_goes_on_where_it_ended() {
    let rig = rig([breaks("one, "), breaks("two, "), text("three"), text("hello")]);
    let result = rig.agent.run_turn(TurnInput::user("count")).await;
    assert_eq!(result.final_response.as_deref(), Some("one, two, three"));
    assert_eq!((result.end.kind, result.api_calls, rig.log().len()), (EndKind::Finished, 3, 0));
    assert!(!rig.event_types().contains(&"status".to_owned()));
    let second = sketch(&rig.model.requests()[1].messages);
    assert_eq!(second[1], "assistant: one, ", "the half call is gone");
    assert!(second[2].starts_with("user: [the connection broke"), "{second:?}");
}

#[tokio::test(start_paused = true)]
async fn connections_that_always_break_end_the_turn_or_go_on_with_another_model() {
    let rig = rig((0..9).map(|_| breaks("a")));
    let result = rig.agent.run_turn(TurnInput::user("count")).await;
    assert_eq!(result.error.as_ref().map(|error| error.kind), Some(ErrorKind::Connection));
    assert_eq!((result.final_response.as_deref(), result.api_calls), (Some("aaaa"), 4));
    assert_eq!(rig.event_types().iter().filter(|kind| *kind == "status").count(), 1);

    let primary = Arc::new(ScriptedTransport::new((0..9).map(|_| breaks("a"))));
    let other = Arc::new(ScriptedTransport::new([text("b")]));
    let routes =
        ModelRouter::new(route("p", primary, None)).with_fallbacks(vec![route("q", other, None)]);
    let rig = rig_of(routes, |builder| builder);
    let result = rig.agent.run_turn(TurnInput::user("count")).await;
    assert_eq!(result.final_response.as_deref(), Some("aaaab"));
    assert_eq!((&*result.provider, result.api_calls), ("q", 5));
}

#[tokio::test(start_paused = true)]
async fn text_before_an_error_that_does_not_pass_ends_the_turn_with_it() {
    let filtered = TransportError::new(ErrorKind::ContentFilter, "filtered");
    let rig = rig([Script::Fail(vec![Delta::Text("half".into())], filtered), text("never")]);
    let result = rig.agent.run_turn(TurnInput::user("count")).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::ContentFilter);
    assert_eq!((result.final_response.as_deref(), result.api_calls), (Some("half"), 1));
}
