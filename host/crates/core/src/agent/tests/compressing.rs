//! Turns whose history outgrows the window.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use super::rig::{Rig, rig_on, sketch};
use crate::agent::{Limits, TurnInput};
use crate::compress::{CompressionSettings, SYSTEM};
use crate::event::EventKind;
use crate::message::{FinishReason, Message, Role};
use crate::result::EndKind;
use crate::store::Store;
use crate::testing::text;
use crate::tokens::{ContextSize, Estimate, Overhead};
use crate::transport::{Delta, DeltaStream, ErrorKind, ModelRequest, Transport, TransportError};

/// A model that calls `read` with long arguments for so many iterations, then answers; sums up when
/// asked to; and refuses whatever does not fit its window or is no valid history.
struct Worker {
    iterations: usize,
    window: u64,
    /// What it says to a request for a summary.
    summary: Result<&'static str, ErrorKind>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    asked: usize,
    summaries: usize,
    largest: u64,
    problems: Vec<String>,
}

impl Worker {
    fn new(iterations: usize, window: u64, summary: Result<&'static str, ErrorKind>) -> Arc<Self> {
        Arc::new(Self { iterations, window, summary, seen: Mutex::default() })
    }
}

#[async_trait]
impl Transport for Worker {
    fn api_mode(&self) -> &str {
        "scripted"
    }

    async fn send(&self, request: &ModelRequest) -> Result<DeltaStream, TransportError> {
        let mut seen = self.seen.lock().unwrap();
        let overhead = Overhead { system: &request.system, tools: &request.tools };
        let tokens = ContextSize::of(&request.messages, overhead, &Estimate).tokens();
        if tokens > self.window {
            return Err(TransportError::new(ErrorKind::ContextOverflow, "too long"));
        }
        let deltas = if &*request.system == SYSTEM {
            seen.summaries += 1;
            match self.summary {
                Ok(summary) => vec![Delta::Text(summary.into()), Delta::Finish(FinishReason::Stop)],
                Err(kind) => return Err(TransportError::new(kind, "no summary today")),
            }
        } else {
            seen.largest = seen.largest.max(tokens);
            seen.asked += 1;
            let problems = problems(&request.messages);
            seen.problems.extend(problems);
            reply(seen.asked, self.iterations)
        };
        Ok(stream::iter(deltas.into_iter().map(Ok)).boxed())
    }
}

fn reply(n: usize, iterations: usize) -> Vec<Delta> {
    if n > iterations {
        return vec![Delta::Text("all done".into()), Delta::Finish(FinishReason::Stop)];
    }
    let filler = format!("file number {n} of the long job; ").repeat(30);
    let call = Delta::ToolCall {
        slot: 0,
        id: Some(format!("c{n}")),
        name: Some("read".into()),
        arguments: serde_json::json!({ "path": filler }).to_string(),
    };
    vec![call, Delta::Finish(FinishReason::ToolCalls)]
}

/// What a strict provider would object to, and whether the user's request is still there.
fn problems(messages: &[Arc<Message>]) -> Vec<String> {
    let mut problems = Vec::new();
    if !messages.iter().any(|m| m.content.text().contains("read all files and say when")) {
        problems.push("the request is gone".into());
    }
    let mut open: Vec<String> = Vec::new();
    let mut last = None;
    for message in messages {
        if message.role == Role::Tool {
            let id = message.tool_call_id.clone().unwrap_or_default();
            match open.iter().position(|call| *call == id) {
                Some(at) => drop(open.remove(at)),
                None => problems.push(format!("result {id} without its call")),
            }
        } else {
            problems.extend(open.drain(..).map(|id| format!("call {id} without its result")));
            open = message.tool_calls.iter().map(|call| call.id.clone()).collect();
            if last == Some(message.role) {
                problems.push(format!("two neighbours of role {:?}", message.role));
            }
        }
        last = Some(message.role);
    }
    problems
}

fn on(worker: &Arc<Worker>, window: u64) -> Rig {
    rig_on(worker.clone(), Some(window), |builder| builder)
}

fn statuses(rig: &Rig) -> Vec<String> {
    let events = rig.events.lock().unwrap();
    let status = |kind: &EventKind| match kind {
        EventKind::Status { message } => Some(message.clone()),
        _ => None,
    };
    events.iter().filter_map(|event| status(&event.kind)).collect()
}

#[tokio::test(start_paused = true)]
async fn three_hundred_iterations_fit_a_window_of_32_k() {
    let worker = Worker::new(300, 32_000, Ok("## Goal\nreading on"));
    let rig = on(&worker, 32_000);
    let request = TurnInput::user("read all files and say when");
    let result = rig.agent.run_turn(request).await;
    let stored = rig.store.load(&result.session_id).await.unwrap();
    let seen = worker.seen.lock().unwrap();
    assert_eq!(result.final_response.as_deref(), Some("all done"), "{:?}", result.end);
    assert_eq!(seen.problems, Vec::<String>::new());
    assert_eq!(seen.asked, 301);
    assert!((2..=12).contains(&seen.summaries), "{}", seen.summaries);
    assert!(seen.largest < 24_500, "{}", seen.largest);
    assert_eq!(result.messages.len(), 1 + 300 * 2 + 1, "the result has all the turn said");
    assert!(stored.messages.len() < 200 && stored.messages.iter().any(|m| m.is_summary()));
    assert_eq!(stored.messages[0].content.text(), "read all files and say when");
}

#[tokio::test(start_paused = true)]
async fn windows_from_8_k_up_work() {
    let worker = Worker::new(60, 8_000, Ok("## Goal\nreading on"));
    let rig = on(&worker, 8_000);
    let result = rig.agent.run_turn(TurnInput::user("read all files and say when")).await;
    assert_eq!(result.end.kind, EndKind::Finished, "{:?}", result.end);
    assert_eq!(worker.seen.lock().unwrap().problems, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_window_smaller_than_was_thought_is_learned_from_the_overflow() {
    let worker = Worker::new(80, 16_000, Ok("## Goal\nreading on"));
    let rig = on(&worker, 128_000);
    let result = rig.agent.run_turn(TurnInput::user("read all files and say when")).await;
    assert_eq!(result.end.kind, EndKind::Finished, "{:?}", result.end);
    let seen = worker.seen.lock().unwrap();
    assert_eq!(seen.problems, Vec::<String>::new());
    assert!(seen.largest <= 16_000);
}

#[tokio::test(start_paused = true)]
async fn b071_a_failed_summary_loses_nothing_and_is_told() {
    for kind in [ErrorKind::Overloaded, ErrorKind::Timeout, ErrorKind::EmptyReply] {
        // The window is larger than the host is told, so that the turn can go on.
        let worker = Worker::new(60, 100_000, Err(kind));
        let rig = on(&worker, 12_000);
        let result = rig.agent.run_turn(TurnInput::user("read all files and say when")).await;
        assert_eq!(result.final_response.as_deref(), Some("all done"));
        let stored = rig.store.load(&result.session_id).await.unwrap();
        assert_eq!(stored.messages.len(), 122, "nothing is summed up");
        assert!(!stored.messages.iter().any(|message| message.is_summary()));
        let told = statuses(&rig);
        let told: Vec<_> = told.iter().filter(|line| line.contains("stays as it is")).collect();
        assert!((1..=3).contains(&told.len()), "{told:?}");
        assert!(told[0].ends_with("the next try is in 60 s"), "{told:?}");
        assert!(worker.seen.lock().unwrap().summaries <= 9);
    }
}

#[tokio::test(start_paused = true)]
async fn b075_what_does_not_help_is_given_up_and_told() {
    // One request that alone is over the threshold: no summary can help.
    let worker = Worker::new(12, 100_000, Ok("short"));
    let rig = on(&worker, 4_000);
    let long = format!("read all files and say when {}", "and mind this ".repeat(1200));
    for _ in 0..10 {
        let result = rig.agent.run_turn(TurnInput::user(long.clone())).await;
        assert_eq!(result.end.kind, EndKind::Finished);
    }
    let given_up = statuses(&rig).iter().filter(|line| line.contains("not tried again")).count();
    assert_eq!(given_up, 1);
    assert!(worker.seen.lock().unwrap().summaries <= 3);
}

#[tokio::test(start_paused = true)]
async fn the_user_can_ask_for_it_with_a_topic() {
    let worker = Worker::new(20, 100_000, Ok("## Goal\nthe parser"));
    let rig = on(&worker, 100_000);
    assert!(!rig.agent.compress(None, CancellationToken::new()).await.unwrap());
    rig.agent.run_turn(TurnInput::user("read all files and say when")).await;
    assert!(rig.agent.compress(Some("the parser"), CancellationToken::new()).await.unwrap());
    let id = rig.agent.session_id().await.unwrap();
    let stored = rig.store.load(&id).await.unwrap();
    let lines = sketch(&stored.messages);
    assert!(lines.len() < 30, "{}", lines.len());
    assert!(lines.iter().any(|line| line.contains("the parser")), "{lines:?}");
    assert!(rig.event_types().contains(&"compressed".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_compressed_history_may_be_a_session_of_its_own() {
    let worker = Worker::new(60, 12_000, Ok("## Goal\nread on"));
    let compression = CompressionSettings { in_child: true, ..CompressionSettings::default() };
    let limits = Limits { compression, ..Limits::default() };
    let rig = rig_on(worker.clone(), Some(12_000), |it| it.system("be brief").limits(limits));
    let result = rig.agent.run_turn(TurnInput::user("read all files and say when")).await;
    assert_eq!(result.final_response.as_deref(), Some("all done"), "{:?}", result.end);
    assert_eq!(worker.seen.lock().unwrap().problems, Vec::<String>::new());

    let ids: Vec<_> = {
        let events = rig.events.lock().unwrap();
        let mut ids: Vec<_> = events.iter().map(|event| event.session_id.to_string()).collect();
        ids.dedup();
        ids
    };
    assert!(ids.len() >= 3, "it was compressed more than once: {ids:?}");
    assert_eq!(ids.last(), Some(&result.session_id));
    assert_eq!(rig.agent.session_id().await.as_deref(), Some(&*result.session_id));
    for id in &ids {
        let stored = rig.store.load(id).await.unwrap();
        assert_eq!(problems(&stored.messages), Vec::<String>::new(), "each can be gone on with");
    }
    let first = rig.store.load(&ids[0]).await.unwrap();
    assert!(!first.messages.iter().any(|message| message.is_summary()), "the first stays whole");
    let next = rig.agent.run_turn(TurnInput::user("and on")).await;
    assert_eq!((next.session_id, next.turn), (result.session_id, 2));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_leaves_the_history_whole() {
    let rig = super::rig::rig([text("hello")]);
    rig.agent.run_turn(TurnInput::user("hi")).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    rig.agent.compress(None, cancel).await.unwrap();
    let id = rig.agent.session_id().await.unwrap();
    assert_eq!(rig.store.load(&id).await.unwrap().messages.len(), 2);
    assert_eq!(statuses(&rig), Vec::<String>::new());
}
