//! The port to the person who may say yes, and who may know. Silence is refusal.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// What the person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The call that waits.
    pub call_id: String,
    /// The tool it calls.
    pub tool: String,
    /// Who asks: a hook's name, or the plugin that needs a power.
    pub asked_by: String,
    /// The question itself.
    pub text: String,
    /// The exact arguments that will run.
    pub arguments: Arc<str>,
}

/// What the person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Yes, this call.
    Once,
    /// Yes, and do not ask this again in this session.
    Session,
    /// Yes, for good.
    Always,
    /// No.
    Deny,
}

impl Approval {
    /// Whether it is a yes.
    pub fn allows(self) -> bool {
        self != Self::Deny
    }
}

/// What the model wants to know from the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inquiry {
    /// The call that waits.
    pub call_id: String,
    /// The question, in the model's words.
    pub text: String,
    /// Answers it proposes; the person may give another.
    pub choices: Vec<String>,
}

/// Asks the person.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Contract: returns [`Approval::Deny`] when nobody can be asked; may wait as long as it
    /// takes; dropping the future withdraws the question.
    async fn ask(&self, question: &Question) -> Approval;

    /// What the person answers, word by word. Contract: as [`Approver::ask`], with nothing at once
    /// when nobody can be asked, as here.
    async fn inquire(&self, _inquiry: &Inquiry) -> Option<String> {
        None
    }
}

/// Refuses everything: for runs nobody watches.
pub struct Unattended;

#[async_trait]
impl Approver for Unattended {
    async fn ask(&self, _question: &Question) -> Approval {
        Approval::Deny
    }
}
