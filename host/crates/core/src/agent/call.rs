//! One prepared tool call from start to stored result: run it under its clock, let hooks review
//! what it came to, cap what the model sees, store it, and tell the front end.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use super::prepare::{Action, Prepared};
use super::turn::Turn;
use super::{deliver, review};
use crate::event::EventKind;
use crate::failure::{Failure, code};
use crate::keep::Receipt;
use crate::message::{Effect, Message};
use crate::store::StoreError;
use crate::text;
use crate::tool::{Tool, ToolInvocation, ToolResult};

/// How long a running call may take to notice that the turn is interrupted.
const CANCEL_GRACE: Duration = Duration::from_secs(3);

/// Length of the previews in events: a line or two of a terminal.
const PREVIEW_BYTES: usize = 200;

/// Runs one call, or takes the answer it already has, and stores the result. `ends` is when the
/// clock of its segment runs out.
pub(super) async fn call(
    turn: &Turn<'_>,
    prepared: Prepared,
    ends: Instant,
) -> Result<Arc<Message>, StoreError> {
    let started = Instant::now();
    turn.emitter.emit(EventKind::ToolCallStarted {
        call_id: prepared.call.id.clone(),
        tool: prepared.call.name.clone(),
        plugin: prepared.source().to_owned(),
        arguments_preview: text::ellipsis(prepared.arguments(), PREVIEW_BYTES).into_owned(),
    });
    let mut verdicts = Vec::new();
    let mut result = match &prepared.action {
        Action::Answer(failure) => ToolResult::refused(failure.clone()),
        Action::Run { tool, arguments, .. } => {
            let result = run(turn, tool, &prepared.call.id, Arc::clone(arguments), ends).await;
            review::review(turn, &prepared, arguments, result, started.elapsed(), &mut verdicts)
                .await
        }
    };
    let receipt = receipt(turn, &prepared, &mut result, started.elapsed(), verdicts);
    let message = Arc::new(deliver::deliver(turn, &prepared.call, result).await);
    turn.store(&message, message.effect != Some(Effect::None)).await?;
    turn.emitter.emit(EventKind::ToolCallFinished {
        call_id: prepared.call.id.clone(),
        outcome: receipt.outcome.clone(),
        duration_ms: receipt.total_us / 1000,
        preview: text::ellipsis(&message.content.text(), PREVIEW_BYTES).into_owned(),
    });
    turn.agent.receipts.record(receipt);
    Ok(message)
}

/// Runs the tool itself. Whatever happens, there is a result.
async fn run(
    turn: &Turn<'_>,
    tool: &Arc<dyn Tool>,
    call_id: &str,
    arguments: Arc<str>,
    ends: Instant,
) -> ToolResult {
    let spec = tool.spec();
    let deadline =
        (!spec.traits.interactive).then(|| ends.saturating_duration_since(Instant::now()));
    let invocation = ToolInvocation {
        call_id: call_id.to_owned(),
        session_id: Arc::clone(&turn.session_id),
        turn: turn.number,
        arguments,
        cancel: turn.cancel.clone(),
        deadline,
        progress: turn.progress_sink(call_id),
        approver: Arc::clone(&turn.agent.approver),
    };
    // What a call that was cut short left behind.
    let cut = if spec.traits.read_only { Effect::None } else { Effect::Unknown };
    let stopped =
        |code: &str, message: String| ToolResult::new(Err(Failure::new(code, message)), cut);
    let interrupted = async {
        turn.cancel.cancelled().await;
        tokio::time::sleep(CANCEL_GRACE).await;
    };
    let clock = async {
        match deadline {
            Some(_) => tokio::time::sleep_until(ends).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        result = AssertUnwindSafe(tool.call(invocation)).catch_unwind() => result.unwrap_or_else(|_| {
            stopped(code::INTERNAL, format!("the tool {:?} failed inside; this is a bug in it", spec.name))
        }),
        () = interrupted => stopped(code::CANCELLED, "interrupted before it answered".into()),
        () = clock => {
            let limit = turn.agent.limits.segment_timeout.as_secs();
            stopped(code::TIMEOUT, format!("no answer within {limit} s, the limit for calls made together"))
        }
    }
}

/// What the call cost, on top of what its tool measured itself.
fn receipt(
    turn: &Turn<'_>,
    prepared: &Prepared,
    result: &mut ToolResult,
    total: Duration,
    reviews: Vec<String>,
) -> Receipt {
    let mut receipt = result.receipt.take().unwrap_or_default();
    receipt.call_id.clone_from(&prepared.call.id);
    receipt.session_id = turn.session_id.to_string();
    receipt.tool.clone_from(&prepared.call.name);
    prepared.source().clone_into(&mut receipt.source);
    receipt.outcome = match &result.outcome {
        Ok(_) => "ok".into(),
        Err(failure) => failure.code.clone(),
    };
    receipt.total_us = u64::try_from(total.as_micros()).unwrap_or(u64::MAX);
    receipt.verdicts = prepared.verdicts.iter().cloned().chain(reviews).collect();
    if let Action::Run { arguments, rewritten: true, .. } = &prepared.action {
        receipt.rewritten_arguments = Some(arguments.to_string());
    }
    receipt
}
