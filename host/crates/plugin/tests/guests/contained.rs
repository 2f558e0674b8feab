//! What a guest does to itself stays with it: a failure for the model, and everybody else goes on.

use std::time::{Duration, Instant};

use hermes_core::failure::code;
use hermes_core::message::Effect;
use hermes_plugin::policy::Effective;
use serde_json::json;

use super::rig::{call, failure, hostile, invocation, misbehave, text, tool};

#[tokio::test]
async fn every_way_to_die_is_a_short_failure_that_says_how() {
    let plugin = hostile(Effective::default());
    for (how, code, message) in [
        ("panic", code::INTERNAL, "plugin \"hostile\" panicked: the canary died"),
        ("memory_bomb", code::INTERNAL, "plugin \"hostile\" ran out of memory: it may use 64 MiB"),
        // The stack of a Rust guest lies in its memory.
        (
            "recurse",
            code::INTERNAL,
            "plugin \"hostile\" trapped: wasm trap: out of bounds memory access",
        ),
        ("loop", code::TIMEOUT, "plugin \"hostile\" gave no answer within 1000 ms"),
        ("sleep", code::TIMEOUT, "plugin \"hostile\" gave no answer within 1000 ms"),
        (
            "huge_result",
            code::TOO_LARGE,
            "the result has 50000000 bytes; at most 16 MiB are allowed. Ask for less",
        ),
    ] {
        let result = call(&plugin, "misbehave", misbehave(how)).await;
        assert_eq!(result.effect, Effect::None, "the tool says it only reads");
        let failure = failure(result);
        assert_eq!((&*failure.code, &*failure.message), (code, message), "{how}");
    }
    let alive = text(call(&plugin, "echo", json!({"text": "still here"})).await);
    assert_eq!(alive.unwrap(), "still here");
}

#[tokio::test]
async fn b049_text_that_is_no_utf8_never_becomes_a_result() {
    let plugin = hostile(Effective::default());
    let failure = failure(call(&plugin, "misbehave", misbehave("invalid_utf8")).await);
    assert_eq!(failure.code, code::INTERNAL);
    assert!(
        failure.message.contains("answered something that is no answer"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn floods_end_at_their_caps_and_the_call_goes_on() {
    let plugin = hostile(Effective::default());
    let logged = text(call(&plugin, "misbehave", misbehave("log_flood")).await);
    assert_eq!(logged.unwrap(), "logged");
    let printed = text(call(&plugin, "misbehave", misbehave("print_flood")).await);
    assert_eq!(printed.unwrap(), "printed");
}

/// B113: guests that never yield pin neither the clock nor the caller's only thread.
#[tokio::test(flavor = "current_thread")]
async fn b113_loops_end_at_their_deadline_while_others_go_on() {
    let plugin = hostile(Effective::default());
    let echo = tool(&plugin, "echo");
    echo.call(invocation(json!({"text": "warm"}))).await;
    let started = Instant::now();
    // More loops than there are processors.
    let loops = std::thread::available_parallelism().map_or(1, usize::from) + 1;
    let looping: Vec<_> = (0..loops)
        .map(|_| {
            let plugin = plugin.clone();
            tokio::spawn(async move { call(&plugin, "misbehave", misbehave("loop")).await })
        })
        .collect();
    let mut healthy = 0;
    while started.elapsed() < Duration::from_millis(500) {
        text(echo.call(invocation(json!({"text": "healthy"}))).await).unwrap();
        healthy += 1;
    }
    assert!(healthy >= 5, "only {healthy} calls went through beside the loops");
    for task in looping {
        assert_eq!(failure(task.await.unwrap()).code, code::TIMEOUT);
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

/// B114: a guest that waits inside a host call ends at its deadline all the same.
#[tokio::test]
async fn b114_a_guest_parked_in_a_host_call_ends_at_its_deadline() {
    let plugin = hostile(Effective::default());
    let started = Instant::now();
    let failure = failure(call(&plugin, "misbehave", misbehave("sleep")).await);
    assert_eq!(failure.code, code::TIMEOUT);
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}

#[tokio::test]
async fn an_interrupt_ends_a_call_after_its_grace() {
    let plugin = hostile(Effective::default());
    let invocation = invocation(misbehave("sleep"));
    invocation.cancel.cancel();
    let result = tool(&plugin, "misbehave").call(invocation).await;
    assert_eq!(failure(result).code, code::CANCELLED);
}

#[tokio::test]
async fn the_turns_own_deadline_counts_where_it_is_shorter() {
    let plugin = hostile(Effective::default());
    let mut invocation = invocation(misbehave("sleep"));
    invocation.deadline = Some(Duration::from_millis(30));
    let failure = failure(tool(&plugin, "misbehave").call(invocation).await);
    assert_eq!(failure.message, "plugin \"hostile\" gave no answer within 30 ms");
}

#[tokio::test]
async fn every_call_has_an_instance_of_its_own() {
    let plugin = hostile(Effective::default());
    for _ in 0..3 {
        assert_eq!(text(call(&plugin, "count", json!({})).await).unwrap(), "0");
    }
}

#[tokio::test]
async fn a_call_leaves_a_receipt() {
    let plugin = hostile(Effective::default());
    let result = call(&plugin, "echo", json!({"text": "hello"})).await;
    let receipt = result.receipt.unwrap();
    assert_eq!(receipt.result_bytes, 5);
    assert!(receipt.guest_us > 0 && receipt.peak_memory_bytes >= 1 << 16);
    assert_eq!(receipt.component.map(|digest| digest.len()), Some(64));
}
