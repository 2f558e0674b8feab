//! The ports to hooks: places around a tool call where somebody may speak, each with its own
//! verdict type, so that an impossible answer does not compile. Silence means go on.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::failure::Attributes;
use crate::tool::{Outcome, Part};

/// What every hook is told about the call it looks at.
#[derive(Debug, Clone)]
pub struct HookCall {
    /// The call's id.
    pub call_id: String,
    /// The session it belongs to.
    pub session_id: Arc<str>,
    /// The turn within the session, from 1.
    pub turn: u32,
    /// The tool's name.
    pub tool: String,
    /// Where the tool comes from: `native`, or a plugin's name.
    pub source: String,
    /// The arguments as they would run, a JSON object as text.
    pub arguments: Arc<str>,
    /// Fires when the turn is interrupted.
    pub cancel: CancellationToken,
}

/// What a hook before a tool call says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreVerdict {
    /// No objection.
    Proceed,
    /// The call must not run.
    Deny {
        /// Why, for the user.
        reason: String,
    },
    /// A person must agree first.
    Ask {
        /// The question for them.
        question: String,
    },
    /// The call runs with these arguments instead (a JSON object as text).
    Rewrite {
        /// The new arguments; validated like the model's own.
        arguments: String,
    },
}

/// What a hook after a tool call says.
#[derive(Debug, Clone, PartialEq)]
pub enum PostVerdict {
    /// As it is.
    Keep,
    /// The model sees these parts instead.
    Replace {
        /// The parts.
        parts: Vec<Part>,
    },
    /// The model sees the result and this text after it.
    Note {
        /// The text.
        text: String,
    },
    /// The model does not see the result.
    Withhold {
        /// Why, for the user.
        reason: String,
    },
}

/// A call that has ended.
#[derive(Debug, Clone)]
pub struct FinishedCall {
    /// The call.
    pub call: HookCall,
    /// What it came to.
    pub outcome: Arc<Outcome>,
    /// How long it ran.
    pub duration: Duration,
}

/// A hook that gave no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {detail}")]
pub struct HookFailure {
    /// What happened, in the host's own words (`trapped`, `timed out after 50 ms`); shown to the
    /// model.
    pub reason: String,
    /// The rest, for the user; may hold text of the hook's own making.
    pub detail: String,
}

/// What identifies a hook and says when it is asked.
pub trait Hook: Send + Sync {
    /// For events, receipts and denials: the plugin's name, or a built-in policy's.
    fn name(&self) -> &str;

    /// Lower runs first; ties go by name.
    fn priority(&self) -> i32;

    /// Whether it wants calls of this tool. Cheap: asked for every call.
    fn matches(&self, tool: &str) -> bool;

    /// Whether the model may see this hook's reasons and notes. Text of an untrusted hook would be
    /// a way to give the model instructions, so the model is then told the hook's name only.
    fn trusted(&self) -> bool;
}

/// Speaks before a tool call.
#[async_trait]
pub trait PreToolCall: Hook {
    /// Looks at a call. Contract: an `Err` is a failed hook and denies the call.
    async fn check(&self, call: &HookCall) -> Result<PreVerdict, HookFailure>;
}

/// Speaks after a tool call.
#[async_trait]
pub trait PostToolCall: Hook {
    /// Whether its silence would be dangerous: if it fails, the result is withheld.
    fn guards(&self) -> bool;

    /// Looks at a result. Contract: an `Err` is a failed hook and withholds the result if the hook
    /// guards.
    async fn review(&self, call: &FinishedCall) -> Result<PostVerdict, HookFailure>;
}

/// Listens. Its failures change nothing.
#[async_trait]
pub trait Observer: Send + Sync {
    /// For logs.
    fn name(&self) -> &str;

    /// Whether it wants this point (`turn_start`, `turn_end`, `tool_call_finished`, …).
    fn matches(&self, point: &str) -> bool;

    /// Hears of something. Must return soon; work goes elsewhere.
    async fn notify(&self, point: &str, fields: &Attributes);
}
