//! How a turn ends: one struct, always whole.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::{FinishReason, Message};
use crate::transport::ErrorKind;
use crate::usage::{Cost, Usage};

/// Version of the JSON form of results and events.
pub const WIRE_VERSION: u32 = 1;

/// Why a turn stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnd {
    /// The kind.
    pub kind: EndKind,
    /// One sentence for a person; empty when it simply finished.
    pub detail: String,
}

/// The kinds of end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    /// The model answered.
    Finished,
    /// The budget of the turn is spent.
    BudgetSpent,
    /// The person interrupted it.
    Interrupted,
    /// A hook ended it.
    StoppedByHook,
    /// It failed; [`TurnResult::error`] says how.
    Failed,
}

/// An error as front ends see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorInfo {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The provider's HTTP status.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// The provider that failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    /// What was wrong, with which value, and what to do next.
    pub message: String,
}

/// A tool call that gave no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolErrorInfo {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The failure's code.
    pub code: String,
    /// The failure's message.
    pub message: String,
}

/// One model call with its tool results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationInfo {
    /// Counted from 1 within the turn.
    pub n: u32,
    /// Readable reasoning, if the model sent any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reasoning: Option<String>,
    /// Why the reply ended.
    pub finish_reason: FinishReason,
    /// Calls that failed.
    pub tool_errors: Vec<ToolErrorInfo>,
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnResult {
    /// [`WIRE_VERSION`].
    pub v: u32,
    /// The session; empty only if none could be made.
    pub session_id: String,
    /// The caller's id for this piece of work, or a fresh one.
    pub task_id: String,
    /// The turn within the session, from 1.
    pub turn: u32,
    /// The answer.
    pub final_response: Option<String>,
    /// `end.kind` is `finished`.
    pub completed: bool,
    /// `end.kind` is `failed` or `stopped_by_hook`.
    pub failed: bool,
    /// `end.kind` is `interrupted`.
    pub interrupted: bool,
    /// Why the turn stopped.
    pub end: TurnEnd,
    /// What went wrong, if something did.
    pub error: Option<ErrorInfo>,
    /// The messages of this turn.
    pub messages: Vec<Arc<Message>>,
    /// Model calls made, failed ones included.
    pub api_calls: u32,
    /// What happened in each iteration.
    pub iterations: Vec<IterationInfo>,
    /// Tokens of the turn.
    pub usage: Usage,
    /// Money of the turn, where known.
    pub cost: Option<Cost>,
    /// The model that answered last.
    pub model: String,
    /// The provider that answered last.
    pub provider: String,
    /// The wire format it was asked in.
    pub api_mode: String,
    /// What the person typed meanwhile and the model has not seen.
    pub pending_steer: Option<String>,
}

impl TurnResult {
    /// Whether the flags say what `end` says; a test of every result we make.
    pub fn is_consistent(&self) -> bool {
        let kind = self.end.kind;
        self.completed == (kind == EndKind::Finished)
            && self.failed == matches!(kind, EndKind::Failed | EndKind::StoppedByHook)
            && self.interrupted == (kind == EndKind::Interrupted)
            && self.error.is_some() == (kind == EndKind::Failed)
    }
}
