//! How a turn can end, and what is retried before it does.

use std::time::Duration;

use tokio::time::Instant;

use super::rig::{rig, sketch};
use crate::agent::TurnInput;
use crate::message::{FinishReason, Message};
use crate::result::EndKind;
use crate::testing::{Script, call, text};
use crate::transport::{Delta, ErrorKind, TransportError};

fn fails(kind: ErrorKind) -> Script {
    Script::Fail(Vec::new(), TransportError::new(kind, format!("{kind} happened")))
}

#[tokio::test(start_paused = true)]
async fn a_passing_failure_is_tried_three_times_with_backoff() {
    let rig = rig([fails(ErrorKind::Overloaded), fails(ErrorKind::Connection), text("there")]);
    let before = Instant::now();
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!((result.final_response.as_deref(), result.api_calls), (Some("there"), 3));
    let waited = before.elapsed();
    assert!((Duration::from_secs(6)..=Duration::from_secs(9)).contains(&waited), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn the_fourth_attempt_is_not_made() {
    let rig =
        rig([ErrorKind::Timeout, ErrorKind::Timeout, ErrorKind::Timeout, ErrorKind::Timeout]
            .map(fails));
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!((rig.model.requests().len(), result.end.kind), (3, EndKind::Failed));
    assert!(result.is_consistent());
    assert_eq!(result.error.unwrap().kind, ErrorKind::Timeout);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_will_not_pass_is_not_retried() {
    let rig = rig([fails(ErrorKind::Auth), text("never")]);
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!(rig.model.requests().len(), 1);
    let error = result.error.unwrap();
    assert_eq!((error.kind, error.provider.as_deref()), (ErrorKind::Auth, Some("fake")));
    assert_eq!(result.messages.len(), 1, "what the person said is kept");
}

#[tokio::test(start_paused = true)]
async fn the_provider_says_how_long_to_wait() {
    let mut busy = TransportError::new(ErrorKind::RateLimited, "busy");
    busy.retry_after = Some(Duration::from_secs(42));
    let rig = rig([Script::Fail(Vec::new(), busy), text("there")]);
    let before = Instant::now();
    rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!(before.elapsed(), Duration::from_secs(42));
    assert!(rig.event_types().contains(&"status".to_owned()), "a long pause is told");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_while_the_model_speaks_keeps_what_was_seen() {
    let rig = rig([Script::Hang(vec![Delta::Text("Once upon".into())]), text("Yes?")]);
    let input = TurnInput::user("a story");
    let cancel = input.cancel.clone();
    let interrupt = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(rig.agent.run_turn(input), interrupt);
    assert!(result.interrupted && result.is_consistent());
    assert_eq!(result.final_response.as_deref(), Some("Once upon"));
    let next = rig.agent.run_turn(TurnInput::user("hello?")).await;
    assert_eq!(next.final_response.as_deref(), Some("Yes?"));
}

#[tokio::test(start_paused = true)]
async fn b053_a_blank_tool_name_gets_a_short_answer_and_ends_in_bounds() {
    let rig = rig((0..10).map(|_| call(&[("c1", "  ", "{}")])));
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!(rig.model.requests().len(), 5);
    assert_eq!(result.error.as_ref().unwrap().kind, ErrorKind::ToolLoop);
    assert_eq!(result.messages[1].tool_calls[0].name, "invalid_tool_call");
    let answer = result.messages[2].content.text();
    assert!(answer.len() < 500 && !answer.contains("write"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn an_empty_reply_is_asked_again_and_never_stored() {
    let empty = || Script::Reply(vec![Delta::Finish(FinishReason::Stop)]);
    let rig = rig((0..9).map(|_| empty()));
    let result = rig.agent.run_turn(TurnInput::user("hi")).await;
    assert_eq!((result.api_calls, result.messages.len()), (6, 1));
    assert_eq!(result.error.unwrap().kind, ErrorKind::EmptyReply);
}

#[tokio::test(start_paused = true)]
async fn a_turn_without_words_goes_on_from_tool_results_only() {
    let rig = rig([text("done")]);
    let refused = rig.agent.run_turn(TurnInput::default()).await;
    assert_eq!(refused.error.unwrap().kind, ErrorKind::BadRequest);

    let mut asked = Message::assistant("");
    asked.tool_calls.push(crate::message::ToolCall {
        id: "c".into(),
        name: "read".into(),
        arguments: "{}".into(),
    });
    let answered = Message::tool(&asked.tool_calls[0], "a");
    let history = Some(vec![Message::user("go"), asked, answered]);
    let result = rig.agent.run_turn(TurnInput { history, ..TurnInput::default() }).await;
    assert_eq!(sketch(&result.messages), ["assistant: done"]);
}

#[tokio::test(start_paused = true)]
async fn chat_returns_the_answer_or_why_there_is_none() {
    let rig = rig([text("hello"), fails(ErrorKind::Auth)]);
    assert_eq!(rig.agent.chat("hi").await, "hello");
    assert_eq!(rig.agent.chat("hi").await, "auth happened");
}
