//! Hooks around a call: what each verdict does, and that failure is refusal.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;

use super::rig::{Says, rig_with, sketch};
use crate::agent::TurnInput;
use crate::approver::{Approval, Approver, Question};
use crate::hook::{HookFailure, PostVerdict, PreVerdict};
use crate::testing::{call, text};
use crate::tool::Part;

const CALL: (&str, &str, &str) = ("c", "write", "{\"path\":\"a\"}");

fn failure() -> HookFailure {
    HookFailure { reason: "trapped".into(), detail: "unreachable at 0x1".into() }
}

#[tokio::test(start_paused = true)]
async fn the_words_of_a_denial_reach_the_model_only_where_trusted() {
    let why = || PreVerdict::Deny { reason: "not today".into() };
    for (trusted, answer) in [
        (true, "tool c: error [denied]: denied by policy gate: not today"),
        (false, "tool c: error [denied]: denied by policy gate"),
    ] {
        let gate = Says::new("gate", trusted, move |_| Ok(why()));
        let rig = rig_with([call(&[CALL]), text("ok")], |builder| builder.pre_tool_call(gate));
        let result = rig.agent.run_turn(TurnInput::user("go")).await;
        assert_eq!(sketch(&result.messages[2..3]), [answer]);
        assert_eq!(rig.verdicts(), ["gate: deny (not today)"], "the user is told in full");
        assert!(rig.log().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn b134_a_gate_that_fails_denies() {
    let gate = Says::new("gate", false, |_| Err(failure()));
    let rig = rig_with([call(&[CALL]), text("ok")], |builder| builder.pre_tool_call(gate));
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert!(rig.log().is_empty());
    assert_eq!(
        sketch(&result.messages[2..3]),
        ["tool c: error [denied]: denied by policy gate: the hook trapped"]
    );
    assert_eq!(rig.verdicts(), ["gate: failed (trapped: unreachable at 0x1)"]);
}

#[tokio::test(start_paused = true)]
async fn a_rewrite_runs_is_seen_by_the_others_and_leaves_the_models_own_in_history() {
    let rewrite = |_: &str| Ok(PreVerdict::Rewrite { arguments: "{\"path\":\"b\"}".into() });
    let first = Says::new("a-rewriter", false, rewrite);
    let watcher = Says::new("watcher", true, |arguments: &str| {
        let seen_new = arguments.contains('b');
        Ok(if seen_new { PreVerdict::Proceed } else { PreVerdict::Deny { reason: "old".into() } })
    });
    let asked = Arc::clone(&first);
    let rig = rig_with([call(&[CALL]), text("ok")], |builder| {
        builder.pre_tool_call(first).pre_tool_call(watcher)
    });
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert_eq!(rig.log(), ["write {\"path\":\"b\"}"]);
    assert_eq!(result.messages[1].tool_calls[0].arguments, CALL.2);
    assert_eq!(asked.asked.load(Ordering::Relaxed), 2, "at most one rewrite a hook and call");
    let receipt = &rig.store.receipts()[0];
    assert_eq!(receipt.rewritten_arguments.as_deref(), Some("{\"path\":\"b\"}"));
    assert_eq!(receipt.verdicts, ["a-rewriter: rewrite", "watcher: proceed"]);
}

#[tokio::test(start_paused = true)]
async fn a_rewrite_that_does_not_fit_the_schema_denies() {
    let bad = |_: &str| Ok(PreVerdict::Rewrite { arguments: "{\"path\":1}".into() });
    let rig = rig_with([call(&[CALL]), text("ok")], |builder| {
        builder.pre_tool_call(Says::new("gate", true, bad))
    });
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert!(rig.log().is_empty());
    assert_eq!(
        sketch(&result.messages[2..3]),
        [
            "tool c: error [denied]: a policy's rewritten arguments do not fit: at /path: 1 is not of type \"string\""
        ]
    );
}

/// Answers every question the same and remembers how often it was asked.
struct Answers(Approval, std::sync::Mutex<Vec<Question>>);

#[async_trait]
impl Approver for Answers {
    async fn ask(&self, question: &Question) -> Approval {
        self.1.lock().unwrap().push(question.clone());
        self.0
    }
}

#[tokio::test(start_paused = true)]
async fn approval_is_asked_for_the_exact_arguments_and_remembered_as_said() {
    for (answer, ran, times) in
        [(Approval::Once, 2, 2), (Approval::Session, 2, 1), (Approval::Deny, 0, 2)]
    {
        let person = Arc::new(Answers(answer, Default::default()));
        let script = [call(&[CALL]), call(&[("d", CALL.1, CALL.2)]), text("ok")];
        let rig = rig_with(script, |builder| {
            let gate =
                Says::new("gate", true, |_| Ok(PreVerdict::Ask { question: "sure?".into() }));
            builder.pre_tool_call(gate).approver(person.clone())
        });
        rig.agent.run_turn(TurnInput::user("go")).await;
        let asked = person.1.lock().unwrap();
        assert_eq!((rig.log().len(), asked.len()), (ran, times), "{answer:?}");
        assert_eq!((&*asked[0].text, &*asked[0].arguments), ("sure?", CALL.2));
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_there_is_a_no() {
    let gate = Says::new("gate", true, |_| Ok(PreVerdict::Ask { question: "sure?".into() }));
    let rig = rig_with([call(&[CALL]), text("ok")], |builder| builder.pre_tool_call(gate));
    let result = rig.agent.run_turn(TurnInput::user("go")).await;
    assert!(rig.log().is_empty());
    assert_eq!(
        sketch(&result.messages[2..3]),
        ["tool c: error [denied]: policy gate asks for the user's approval, and it was not given"]
    );
}

#[tokio::test(start_paused = true)]
async fn deny_outranks_ask_and_rewrite() {
    let ask = Says::new("a", true, |_| Ok(PreVerdict::Ask { question: "sure?".into() }));
    let deny = Says::new("b", true, |_| Ok(PreVerdict::Deny { reason: "no".into() }));
    let person = Arc::new(Answers(Approval::Always, Default::default()));
    let rig = rig_with([call(&[CALL]), text("ok")], |builder| {
        builder.pre_tool_call(ask).pre_tool_call(deny).approver(person.clone())
    });
    rig.agent.run_turn(TurnInput::user("go")).await;
    assert!(rig.log().is_empty() && person.1.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn every_verdict_after_a_call_does_what_it_says() {
    let replaced = || Ok(PostVerdict::Replace { parts: vec![Part::text("masked")] });
    let noted = || Ok(PostVerdict::Note { text: "careful".into() });
    let withheld = || Ok(PostVerdict::Withhold { reason: "secret".into() });
    type Verdict = fn() -> Result<PostVerdict, HookFailure>;
    let table: [(Verdict, bool, &str); 8] = [
        (|| Ok(PostVerdict::Keep), true, "write {\"path\":\"a\"}"),
        (replaced, false, "masked"),
        (noted, true, "write {\"path\":\"a\"}\n[note by review] careful"),
        (noted, false, "write {\"path\":\"a\"}"),
        (
            withheld,
            true,
            "error [denied]: the call ran, but its result is withheld by policy review: secret",
        ),
        (
            withheld,
            false,
            "error [denied]: the call ran, but its result is withheld by policy review",
        ),
        // In this rig a trusted hook also guards.
        (
            || Err(failure()),
            true,
            "error [denied]: the call ran, but its result is withheld by policy review: the hook trapped",
        ),
        (|| Err(failure()), false, "write {\"path\":\"a\"}"),
    ];
    for (verdict, trusted, seen) in table {
        let review = Says::new("review", trusted, move |_| verdict());
        let rig = rig_with([call(&[CALL]), text("ok")], |builder| builder.post_tool_call(review));
        let result = rig.agent.run_turn(TurnInput::user("go")).await;
        assert_eq!(result.messages[2].content.text(), seen);
    }
}
