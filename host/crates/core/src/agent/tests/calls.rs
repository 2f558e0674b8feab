//! Tool calls: one result each, in the model's order, whatever happens.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::rig::{reads, rig, rig_with, sketch, spec};
use crate::agent::{Limits, Steer, TurnInput};
use crate::failure::Attributes;
use crate::message::{ContentPart, Effect, FinishReason};
use crate::result::EndKind;
use crate::testing::{Script, call, text};
use crate::tool::{Body, Part, Tool, ToolInvocation, ToolResult, ToolSpec};
use crate::transport::Delta;

#[tokio::test(start_paused = true)]
async fn a_turn_with_one_call_tells_everything_in_order() {
    let rig = rig([call(&[("c1", "read", "{\"path\":\"a\"}")]), text("It says a.")]);
    let result = rig.agent.run_turn(TurnInput::user("what is in a?")).await;

    assert!(result.is_consistent() && result.completed);
    assert_eq!(result.final_response.as_deref(), Some("It says a."));
    assert_eq!(
        sketch(&result.messages),
        [
            "user: what is in a?",
            "assistant: [c1 read]",
            "tool c1: read {\"path\":\"a\"}",
            "assistant: it says a.",
        ]
    );
    assert_eq!(
        rig.event_types(),
        [
            "turn_started",
            "iteration_started",
            "tool_call_started",
            "tool_call_finished",
            "iteration_started",
            "delta",
            "turn_ended",
        ]
    );
    let requests = rig.model.requests();
    assert_eq!(&*requests[1].system, "be brief");
    assert_eq!(sketch(&requests[1].messages), sketch(&result.messages[..3]));
    assert!(result.usage.estimated && result.usage.input > 0);
    assert_eq!((result.api_calls, result.iterations.len(), result.turn), (2, 2, 1));
    assert_eq!(rig.store.receipts()[0].outcome, "ok");
}

#[tokio::test(start_paused = true)]
async fn b005_parallel_reads_run_together_and_answer_in_call_order() {
    let calls =
        [("a", "read", "{}"), ("b", "look", "{}"), ("c", "write", "{}"), ("d", "read", "{}")];
    let rig = rig([call(&calls), text("ok")]);
    let before = Instant::now();
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    // The two reads took 20 ms together, the write none, the last read 20 ms.
    assert_eq!(before.elapsed(), Duration::from_millis(40));
    assert_eq!(
        sketch(&result.messages[2..6]),
        ["tool a: read {}", "tool b: look {}", "tool c: write {}", "tool d: read {}"]
    );
    assert_eq!(rig.log(), ["read {}", "look {}", "write {}", "read {}"]);
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_bad_call_has_one_answer_and_harms_no_other() {
    let calls = [
        ("a", "nothing_like_it", "{}"),
        ("b", "reed", "{}"),
        ("c", "read", "{\"path\":"),
        ("d", "read", "{\"path\":7}"),
        ("e", "broken", "{}"),
        ("f", "Read", ""),
        ("g", "read", "[]"),
    ];
    let rig = rig([call(&calls), text("ok")]);
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!(
        sketch(&result.messages[2..9]),
        [
            "tool a: error [not-found]: there is no tool named \"nothing_like_it\"; use only the tools you were given",
            "tool b: error [not-found]: there is no tool named \"reed\"; did you mean read?",
            "tool c: error [invalid-arguments]: the arguments are not valid json (eof while parsing a value at line 1 \
             column 8); send one complete json object",
            "tool d: error [invalid-arguments]: at /path: 7 is not of type \"string\"",
            "tool e: error [internal]: the tool \"broken\" failed inside; this is a bug in it",
            "tool f: read {}",
            "tool g: error [invalid-arguments]: the arguments must be a json object, not an array: []",
        ]
    );
    assert_eq!(result.messages[6].effect, Some(Effect::Unknown));
    let failed: Vec<_> =
        result.iterations[0].tool_errors.iter().map(|error| &*error.call_id).collect();
    assert_eq!(failed, ["a", "b", "c", "d", "e", "g"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_over_the_clock_is_a_timeout_with_unknown_effect() {
    let rig = rig([call(&[("a", "slow", "{}"), ("b", "read", "{}")]), text("ok")]);
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!(
        sketch(&result.messages[2..4]),
        [
            "tool a: error [timeout]: no answer within 420 s, the limit for calls made together",
            "tool b: read {}"
        ]
    );
    assert_eq!(result.messages[2].effect, Some(Effect::Unknown));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_answers_every_call_and_the_session_goes_on() {
    let rig = rig([call(&[("a", "slow", "{}"), ("b", "write", "{}")]), text("hello again")]);
    let input = TurnInput::user("go");
    let cancel = input.cancel.clone();
    let turn = rig.agent.run_turn(input);
    let interrupt = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(turn, interrupt);
    assert_eq!(result.end.kind, EndKind::Interrupted);
    assert_eq!(
        sketch(&result.messages[2..]),
        [
            "tool a: error [cancelled]: interrupted before it answered",
            "tool b: error [cancelled]: interrupted before it started; nothing was changed",
        ]
    );
    let effects: Vec<_> = result.messages[2..].iter().map(|message| message.effect).collect();
    assert_eq!(effects, [Some(Effect::Unknown), Some(Effect::None)]);
    assert_eq!(rig.log(), ["slow {}"]);

    let next = rig.agent.run_turn(TurnInput::user("go on")).await;
    assert_eq!((next.turn, next.final_response.as_deref()), (2, Some("hello again")));
}

#[tokio::test(start_paused = true)]
async fn after_two_more_tries_a_cut_call_is_told_to_the_model() {
    let cut = || {
        Script::Reply(vec![
            Delta::ToolCall {
                slot: 0,
                id: Some("a".into()),
                name: Some("write".into()),
                arguments: "{}".into(),
            },
            Delta::Finish(FinishReason::Length),
        ])
    };
    let rig = rig([cut(), cut(), cut(), text("ok")]);
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert!(rig.log().is_empty());
    assert_eq!(
        sketch(&result.messages[2..3]),
        [
            "tool a: error [invalid-arguments]: the reply was cut by the output limit, so \"write\" was not run; \
             call it again with shorter arguments"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_too_long_is_kept_and_can_be_read() {
    let limits =
        Limits { result_bytes: 50, result_reader: Some("read_result".into()), ..Limits::default() };
    let long = format!("{{\"path\":\"{}\"}}", "é".repeat(3000));
    let rig =
        rig_with([call(&[("a", "read", &long)]), text("ok")], |builder| builder.limits(limits));
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    let seen = result.messages[2].content.text();
    assert!(seen.len() < 400, "{seen}");
    assert!(
        seen.contains("read more with read_result {\"call_id\": \"a\", \"offset\": 4000}"),
        "{seen}"
    );
    let kept =
        crate::keep::Spill::read(&*rig.store, &result.session_id, "a", 0, 1 << 20).await.unwrap();
    assert_eq!(kept.unwrap().0, format!("read {long}"));
}

#[tokio::test(start_paused = true)]
async fn what_the_person_types_meanwhile_reaches_the_model_as_theirs() {
    let rig = rig([call(&[("a", "read", "{}")]), text("ok")]);
    let input = TurnInput::user("go");
    assert!(input.steer.push("rather look at b") && !input.steer.push("  "));
    let result = rig.agent.run_turn(input).await;
    let first = &rig.model.requests()[0];
    assert_eq!(sketch(&first.messages), ["user: go\n\nrather look at b"]);
    assert_eq!(result.pending_steer, None);
}

/// A tool that types for the person.
struct Types(Steer, ToolSpec);

#[async_trait::async_trait]
impl Tool for Types {
    fn spec(&self) -> &ToolSpec {
        &self.1
    }
    async fn call(&self, _: ToolInvocation) -> ToolResult {
        self.0.push("rather look at b");
        ToolResult::new(Ok(vec![Part::text("typed")]), Effect::None)
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_too_late_for_the_budget_is_left_for_the_next_turn() {
    for (max_turns, told) in [(2, true), (1, false)] {
        let input = TurnInput::user("go");
        let types: Arc<dyn Tool> = Arc::new(Types(input.steer.clone(), spec("types", reads())));
        let script = [call(&[("a", "types", "{}")]), text("ok")];
        let limits = Limits { max_turns, ..Limits::default() };
        let rig = rig_with(script, |it| it.tools([types]).limits(limits));
        let result = rig.agent.run_turn(input).await;
        let second = sketch(&rig.model.requests()[1].messages);
        assert_eq!(second.iter().any(|line| line == "user: rather look at b"), told);
        assert_eq!(result.pending_steer.is_none(), told);
    }
}

/// Answers with an image of so many bytes.
struct Picture(usize, ToolSpec);

#[async_trait::async_trait]
impl Tool for Picture {
    fn spec(&self) -> &ToolSpec {
        &self.1
    }
    async fn call(&self, _: ToolInvocation) -> ToolResult {
        let bytes = vec![7; self.0];
        let part = Part {
            body: Body::Bytes(bytes),
            mime: "image/png".into(),
            attributes: Attributes::new(),
        };
        ToolResult::new(Ok(vec![part]), Effect::None)
    }
}

#[tokio::test(start_paused = true)]
async fn b038_an_image_over_the_limit_never_enters_the_history() {
    // 4 MiB of bytes are 5.3 MiB as base64, over the limit of 5 MiB.
    for (size, shown) in [(4 << 20, false), (3 << 20, true)] {
        let picture: Arc<dyn Tool> = Arc::new(Picture(size, spec("picture", reads())));
        let rig = rig_with([call(&[("a", "picture", "{}")]), text("seen"), text("hello")], |it| {
            it.tools([picture])
        });
        rig.agent.run_turn(TurnInput::user("look")).await;
        let next = rig.agent.run_turn(TurnInput::user("hello")).await;
        assert_eq!(next.final_response.as_deref(), Some("hello"));
        let sent = rig.model.requests().pop().unwrap();
        let image = |part: &ContentPart| matches!(part, ContentPart::ImageUrl { .. });
        let result = &sent.messages[2].content;
        assert_eq!(result.0.iter().any(image), shown, "{size}");
        assert_eq!(result.text().contains("is left out"), !shown);
    }
}
