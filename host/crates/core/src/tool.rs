//! The port to a tool: a spec the model sees and a call that answers it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::approver::Approver;
use crate::failure::{Attributes, Failure};
use crate::keep::Receipt;
use crate::message::Effect;

/// What the model is told about a tool, and what the loop needs to schedule it.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// `[a-zA-Z0-9_-]{1,64}`, unique among all tools of an agent.
    pub name: String,
    /// A short human name, for front ends.
    pub title: Option<String>,
    /// For the model.
    pub description: String,
    /// A JSON Schema of the arguments object, as compact text.
    pub parameters: Arc<RawValue>,
    /// Where it comes from: `native`, or a plugin's name.
    pub source: String,
    /// How it may be run.
    pub traits: ToolTraits,
}

/// How a tool may be run. The default is the careful one: it changes things and runs alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolTraits {
    /// Changes nothing anywhere.
    pub read_only: bool,
    /// May run beside other parallel-safe calls.
    pub parallel_safe: bool,
    /// Waits for a person: runs alone and outside every clock.
    pub interactive: bool,
    /// Destroys or overwrites something.
    pub destructive: bool,
    /// Doing it twice is doing it once.
    pub idempotent: bool,
    /// Names of the arguments that hold paths.
    pub path_arguments: Vec<String>,
    /// Folders of the host's that it may change, as canonical paths. They are kept before its first
    /// call in a turn.
    pub writable_folders: Vec<PathBuf>,
    /// The tool's own deadline, if shorter than the host's.
    pub timeout: Option<Duration>,
    /// The tool's own cap on its result in bytes, if lower than the host's.
    pub max_result_bytes: Option<usize>,
}

/// One call, ready to run: known, validated, allowed.
#[derive(Clone)]
pub struct ToolInvocation {
    /// The call's id.
    pub call_id: String,
    /// The session it belongs to.
    pub session_id: Arc<str>,
    /// The turn within the session, from 1.
    pub turn: u32,
    /// A JSON object as text, valid against the tool's schema.
    pub arguments: Arc<str>,
    /// Fires when the turn is interrupted. A tool that sees it answers soon; it is dropped otherwise.
    pub cancel: CancellationToken,
    /// Most time the call may take; absent for interactive tools.
    pub deadline: Option<Duration>,
    /// Tells the front end how far the call is.
    pub progress: ProgressSink,
    /// Asks the person, from inside a call.
    pub approver: Arc<dyn Approver>,
}

/// Where a running call reports to.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// For the person watching.
    pub message: String,
    /// Units done.
    pub done: Option<u64>,
    /// Units in all.
    pub total: Option<u64>,
}

/// One piece of a tool's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Media type of the body.
    pub mime: String,
    /// The body.
    pub body: Body,
    /// Extra facts; not shown to the model.
    pub attributes: Attributes,
}

/// The body of a [`Part`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Valid UTF-8.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl Part {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            mime: "text/plain".into(),
            body: Body::Text(text.into()),
            attributes: Attributes::new(),
        }
    }

    /// Size of the body in bytes.
    pub fn len(&self) -> usize {
        match &self.body {
            Body::Text(text) => text.len(),
            Body::Bytes(bytes) => bytes.len(),
        }
    }

    /// Whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a call came to: result parts or a failure.
pub type Outcome = Result<Vec<Part>, Failure>;

/// The answer of one call.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// Parts, or why there are none.
    pub outcome: Outcome,
    /// What the call did to the world.
    pub effect: Effect,
    /// Extra facts; not shown to the model.
    pub attributes: Attributes,
    /// What the call cost, where somebody measured it.
    pub receipt: Option<Receipt>,
}

impl ToolResult {
    /// A result without extra facts.
    pub fn new(outcome: Outcome, effect: Effect) -> Self {
        Self { outcome, effect, attributes: Attributes::new(), receipt: None }
    }

    /// A call that never ran, and why.
    pub fn refused(failure: Failure) -> Self {
        Self::new(Err(failure), Effect::None)
    }
}

/// Something the model can call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told; the same for the life of the tool.
    fn spec(&self) -> &ToolSpec;

    /// Answers one call. Contract: failing is a [`Failure`], never a panic; dropping the future
    /// abandons the call, whose effect is then unknown.
    async fn call(&self, invocation: ToolInvocation) -> ToolResult;
}
