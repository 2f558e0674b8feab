//! Hooks that fail deny, by whatever way they fail; powers they lack are not theirs to use.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::hook::{FinishedCall, HookFailure, PostVerdict, PreVerdict};
use hermes_core::tool::Part;
use hermes_plugin::policy::HookPowers;
use serde_json::{Value, json};

use super::rig::{gate, hook_options, pending};

const ALL: HookPowers = HookPowers { full: true, rewrite: true, replace: true };
const NONE: HookPowers = HookPowers { full: false, rewrite: false, replace: false };

async fn check(settings: Value, powers: HookPowers) -> Result<PreVerdict, HookFailure> {
    gate(settings, powers).gate(hook_options()).check(&pending(&json!({"text": "x"}))).await
}

async fn review(settings: Value, powers: HookPowers) -> Result<PostVerdict, HookFailure> {
    let finished = FinishedCall {
        call: pending(&json!({"text": "x"})),
        outcome: Arc::new(Ok(vec![Part::text("result")])),
        duration: Duration::from_millis(3),
    };
    gate(settings, powers).review(hook_options()).review(&finished).await
}

#[tokio::test]
async fn every_verdict_comes_through() {
    let says = |how: &str| json!({"check": how});
    assert_eq!(check(json!({}), ALL).await, Ok(PreVerdict::Proceed));
    let own = "words of the guest's own".to_owned();
    assert_eq!(check(says("deny"), ALL).await, Ok(PreVerdict::Deny { reason: own }));
    let question = "is this all right?".to_owned();
    assert_eq!(check(says("ask"), ALL).await, Ok(PreVerdict::Ask { question }));
    let arguments = "{\"text\":\"rewritten\"}".to_owned();
    assert_eq!(check(says("rewrite"), ALL).await, Ok(PreVerdict::Rewrite { arguments }));

    let says = |how: &str| json!({"review": how});
    assert_eq!(review(json!({}), ALL).await, Ok(PostVerdict::Keep));
    let parts = vec![Part::text("replaced")];
    assert_eq!(review(says("replace"), ALL).await, Ok(PostVerdict::Replace { parts }));
    let text = "a note".to_owned();
    assert_eq!(review(says("note"), ALL).await, Ok(PostVerdict::Note { text }));
    let reason = "echo took 3 ms".to_owned();
    assert_eq!(review(says("withhold"), ALL).await, Ok(PostVerdict::Withhold { reason }));
}

#[tokio::test]
async fn b134_a_gate_that_fails_gives_a_failure_and_stays_closed_after_a_trap() {
    for (how, reason) in [
        ("trap", "trapped"),
        ("memory", "trapped"),
        ("loop", "gave no answer within 50 ms"),
        ("error", "answered with an error"),
    ] {
        let mut options = hook_options();
        if how == "memory" {
            // Touching 64 MiB may take longer than a gate usually has.
            options.timeout = hermes_plugin::MAX_TIMEOUT;
        }
        let gate = gate(json!({"check": how}), ALL).gate(options);
        let call = pending(&json!({}));
        let failed = gate.check(&call).await.unwrap_err();
        assert_eq!(failed.reason, reason, "{how}: {}", failed.detail);
        let again = gate.check(&call).await.unwrap_err();
        let expected = if reason == "trapped" { "is closed after it failed" } else { reason };
        assert_eq!(again.reason, expected, "{how}");
        if how == "loop" {
            gate.check(&call).await.unwrap_err();
            assert_eq!(gate.check(&call).await.unwrap_err().reason, "is closed after it failed");
        }
    }
}

#[tokio::test]
async fn a_rewrite_or_replacement_without_the_power_does_not_happen() {
    let failed = check(json!({"check": "rewrite"}), NONE).await.unwrap_err();
    assert_eq!(failed.reason, "rewrote the arguments without the power to");
    assert_eq!(failed.detail, "allow it: hermes-host plugins grant gate hook:rewrite");
    assert_eq!(review(json!({"review": "replace"}), NONE).await, Ok(PostVerdict::Keep));
}

#[tokio::test]
async fn without_the_power_full_a_hook_sees_long_strings_cut() {
    let call = pending(&json!({"text": "x".repeat(1000)}));
    let shows = |powers| gate(json!({"check": "show"}), powers).gate(hook_options());
    let Ok(PreVerdict::Deny { reason }) = shows(NONE).check(&call).await else { panic!() };
    assert_eq!(reason.len(), "{\"text\":\"\"}".len() + 256);
    let Ok(PreVerdict::Deny { reason }) = shows(ALL).check(&call).await else { panic!() };
    assert_eq!(reason.len(), "{\"text\":\"\"}".len() + 1000);
}
