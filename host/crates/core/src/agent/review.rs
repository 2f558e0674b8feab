//! After a tool call ran: hooks look at what it came to and may replace, annotate or withhold it.

use std::sync::Arc;
use std::time::Duration;

use super::prepare::{Action, Prepared};
use super::turn::Turn;
use crate::event::EventKind;
use crate::failure::{Failure, code};
use crate::hook::{FinishedCall, HookCall, HookFailure, PostToolCall, PostVerdict};
use crate::text;
use crate::tool::{Part, ToolResult};

/// Most of a note that reaches the model.
const NOTE_BYTES: usize = 2048;

/// Lets every matching hook see the result in turn, each as the one before left it.
pub(super) async fn review(
    turn: &Turn<'_>,
    prepared: &Prepared,
    arguments: &Arc<str>,
    mut result: ToolResult,
    duration: Duration,
    verdicts: &mut Vec<String>,
) -> ToolResult {
    let Action::Run { tool, .. } = &prepared.action else { return result };
    let spec = tool.spec();
    let hooks = turn.agent.hooks.post.iter().filter(|hook| hook.matches(&spec.name));
    for hook in hooks {
        let finished = FinishedCall {
            call: HookCall {
                call_id: prepared.call.id.clone(),
                session_id: Arc::clone(&turn.session_id),
                turn: turn.number,
                tool: spec.name.clone(),
                source: spec.source.clone(),
                arguments: Arc::clone(arguments),
                cancel: turn.cancel.clone(),
            },
            outcome: Arc::new(result.outcome),
            duration,
        };
        let verdict = hook.review(&finished).await;
        result.outcome =
            Arc::try_unwrap(finished.outcome).unwrap_or_else(|shared| (*shared).clone());
        let (word, reason) = apply(hook.as_ref(), verdict, &mut result);
        verdicts.push(format!("{}: {word}", hook.name()));
        if word != "keep" {
            turn.emitter.emit(EventKind::HookVerdict {
                call_id: prepared.call.id.clone(),
                hook: hook.name().to_owned(),
                verdict: word.to_owned(),
                reason,
            });
        }
    }
    result
}

/// Applies one verdict; the word for it and, for the user, the reason.
fn apply(
    hook: &dyn PostToolCall,
    verdict: Result<PostVerdict, HookFailure>,
    result: &mut ToolResult,
) -> (&'static str, Option<String>) {
    match verdict {
        Ok(PostVerdict::Keep) => ("keep", None),
        Ok(PostVerdict::Replace { parts }) => {
            replace(result, parts);
            ("replace", None)
        }
        Ok(PostVerdict::Note { text }) => {
            let text = text::ellipsis(&text, NOTE_BYTES).into_owned();
            // An untrusted hook's words are not for the model.
            if hook.trusted() {
                annotate(result, hook.name(), &text);
            }
            ("note", Some(text))
        }
        Ok(PostVerdict::Withhold { reason }) => {
            let shown = hook.trusted().then_some(&*reason);
            withhold(result, hook.name(), shown);
            ("withhold", Some(reason))
        }
        Err(failure) => {
            if hook.guards() {
                withhold(result, hook.name(), Some(&format!("the hook {}", failure.reason)));
            }
            ("failed", Some(failure.to_string()))
        }
    }
}

/// A replaced failure stays a failure: only its words change.
fn replace(result: &mut ToolResult, parts: Vec<Part>) {
    match &mut result.outcome {
        Ok(old) => *old = parts,
        Err(failure) => {
            let texts = parts.into_iter().filter_map(|part| match part.body {
                crate::tool::Body::Text(text) => Some(text),
                crate::tool::Body::Bytes(_) => None,
            });
            failure.message = texts.collect::<Vec<_>>().join("\n");
        }
    }
}

fn annotate(result: &mut ToolResult, hook: &str, text: &str) {
    let note = format!("[note by {hook}] {text}");
    match &mut result.outcome {
        Ok(parts) => parts.push(Part::text(note)),
        Err(failure) => failure.message = format!("{}\n{note}", failure.message),
    }
}

fn withhold(result: &mut ToolResult, hook: &str, reason: Option<&str>) {
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let message = format!("the call ran, but its result is withheld by policy {hook}{reason}");
    result.outcome = Err(Failure::new(code::DENIED, message));
}
