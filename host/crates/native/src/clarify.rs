//! `clarify`: a question of the model to the person, where only they can decide. A run nobody
//! watches says so at once, and the model decides for itself.

use async_trait::async_trait;
use hermes_core::approver::Inquiry;
use hermes_core::failure::{Failure, code};
use hermes_core::message::Effect;
use hermes_core::tool::{Outcome, Part, Tool, ToolInvocation, ToolResult, ToolSpec, ToolTraits};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

const PARAMETERS: &str = r#"{"type":"object","additionalProperties":false,"required":["question"],"properties":{"question":{"type":"string","minLength":1,"maxLength":2000,"description":"One question. Options belong into choices, not in here."},"choices":{"type":"array","maxItems":4,"items":{"type":"string","minLength":1,"maxLength":300},"description":"Answers you propose; the user may give another."}}}"#;

/// The tool.
pub struct Clarify {
    spec: ToolSpec,
}

#[derive(Deserialize)]
struct Arguments {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    question: &'a str,
    choices_offered: &'a [String],
    user_response: &'a str,
}

impl Clarify {
    /// The tool's name.
    pub const NAME: &str = "clarify";

    /// The tool; whom to ask comes with each call.
    pub fn new() -> Self {
        let parameters = RawValue::from_string(PARAMETERS.into());
        let spec = ToolSpec {
            name: Self::NAME.into(),
            title: Some("Ask the user".into()),
            description: "Asks the user a question and waits for the answer. Only for what they alone can decide and what changes the work; otherwise choose, and say what you chose."
                .into(),
            parameters: parameters.expect("the schema above is JSON").into(),
            source: "native".into(),
            traits: ToolTraits { read_only: true, interactive: true, ..ToolTraits::default() },
        };
        Self { spec }
    }

    async fn ask(&self, invocation: &ToolInvocation) -> Outcome {
        let Arguments { question, choices } = serde_json::from_str(&invocation.arguments)
            .map_err(|error| Failure::new(code::INVALID_ARGUMENTS, error.to_string()))?;
        let call_id = invocation.call_id.clone();
        let inquiry = Inquiry { call_id, text: question, choices };
        let answer = invocation.approver.inquire(&inquiry).await.ok_or_else(|| {
            Failure::new(
                code::UNAVAILABLE,
                "nobody can be asked now; decide yourself and say what you assumed",
            )
        })?;
        let answer = chosen(&inquiry.choices, answer.trim());
        if answer.is_empty() {
            let text = "The user gave no answer; decide yourself and say what you assumed.";
            return Ok(vec![Part::text(text)]);
        }
        let answer = Answer {
            question: &inquiry.text,
            choices_offered: &inquiry.choices,
            user_response: answer,
        };
        let json = serde_json::to_string(&answer);
        json.map(|json| vec![Part::text(json)])
            .map_err(|error| Failure::new(code::INTERNAL, error.to_string()))
    }
}

impl Default for Clarify {
    fn default() -> Self {
        Self::new()
    }
}

/// The choice `answer` is the number of, or `answer` itself.
fn chosen<'a>(choices: &'a [String], answer: &'a str) -> &'a str {
    let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number.and_then(|index| choices.get(index)).map_or(answer, String::as_str)
}

#[async_trait]
impl Tool for Clarify {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: ToolInvocation) -> ToolResult {
        ToolResult::new(self.ask(&invocation).await, Effect::None)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use hermes_core::approver::{Approval, Approver, Question, Unattended};
    use hermes_core::tool::Body;

    use super::*;

    struct Says(&'static str);

    #[async_trait]
    impl Approver for Says {
        async fn ask(&self, _question: &Question) -> Approval {
            Approval::Deny
        }

        async fn inquire(&self, inquiry: &Inquiry) -> Option<String> {
            assert_eq!(inquiry.text, "Which?");
            Some(self.0.into())
        }
    }

    async fn ask(approver: Arc<dyn Approver>, arguments: &str) -> Result<String, String> {
        let invocation = ToolInvocation {
            call_id: "c1".into(),
            session_id: "s".into(),
            turn: 1,
            arguments: arguments.into(),
            cancel: Default::default(),
            deadline: None,
            progress: Arc::new(|_| {}),
            approver,
        };
        let outcome = Clarify::new().call(invocation).await.outcome;
        let parts = outcome.map_err(|failure| failure.to_string())?;
        let Body::Text(text) = &parts[0].body else { return Err("bytes".into()) };
        Ok(text.clone())
    }

    #[tokio::test]
    async fn the_answer_is_a_choice_by_its_number_or_the_persons_own() {
        let arguments = r#"{"question":"Which?","choices":["red","blue"]}"#;
        for (said, meant) in [("2\n", "blue"), ("green", "green"), ("3", "3"), ("0", "0")] {
            let expected = format!(
                r#"{{"question":"Which?","choices_offered":["red","blue"],"user_response":"{meant}"}}"#
            );
            assert_eq!(ask(Arc::new(Says(said)), arguments).await.unwrap(), expected);
        }
        assert_eq!(
            ask(Arc::new(Says(" \n")), arguments).await.unwrap(),
            "The user gave no answer; decide yourself and say what you assumed."
        );
    }

    #[tokio::test]
    async fn a_run_nobody_watches_says_so_at_once() {
        assert_eq!(
            ask(Arc::new(Unattended), r#"{"question":"Which?"}"#).await.unwrap_err(),
            "unavailable: nobody can be asked now; decide yourself and say what you assumed"
        );
    }
}
