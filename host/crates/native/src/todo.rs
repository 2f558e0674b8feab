//! `todo`: the model's list of what is to be done in this session.
//!
//! Every answer holds the whole list, so the history is where it is kept: a resumed session finds
//! it in the newest answer. While the process lives the list is remembered as well, since a
//! compression may take that answer out of the conversation.

mod list;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use hermes_core::failure::{Failure, code};
use hermes_core::message::Effect;
use hermes_core::store::Store;
use hermes_core::tool::{Outcome, Part, Tool, ToolInvocation, ToolResult, ToolSpec, ToolTraits};
use list::{Item, List};
use serde::Deserialize;
use serde_json::value::RawValue;

const PARAMETERS: &str = r#"{"type":"object","additionalProperties":false,"properties":{"todos":{"type":"array","maxItems":256,"description":"The items, the most important first. Without it the list is only read.","items":{"type":"object","additionalProperties":false,"required":["id","content","status"],"properties":{"id":{"type":"string","minLength":1,"maxLength":100},"content":{"type":"string","minLength":1},"status":{"type":"string","enum":["pending","in_progress","completed","cancelled"]}}}},"merge":{"type":"boolean","description":"true: change the items with these ids and add new ones. false (default): replace the whole list."}}}"#;

/// Sessions whose lists are remembered; those used longest ago are read from history again.
const REMEMBERED: usize = 64;

/// The tool.
pub struct Todo {
    spec: ToolSpec,
    store: Arc<dyn Store>,
    /// Lists by session, the one used last at the end.
    lists: Mutex<VecDeque<(Arc<str>, List)>>,
}

#[derive(Deserialize)]
struct Arguments {
    todos: Option<Vec<Item>>,
    #[serde(default)]
    merge: bool,
}

impl Todo {
    /// The tool's name.
    pub const NAME: &str = "todo";

    /// Lists of the sessions in `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        let parameters = RawValue::from_string(PARAMETERS.into());
        let spec = ToolSpec {
            name: Self::NAME.into(),
            title: Some("To do".into()),
            description: "Keeps the list of what is to be done in this session, for work of three steps or more. Have one item in progress at a time, and mark it completed as soon as it is. Answers with the whole list."
                .into(),
            parameters: parameters.expect("the schema above is JSON").into(),
            source: "native".into(),
            // Changes nothing but its own answer, though two changes at once would lose one.
            traits: ToolTraits { read_only: true, ..ToolTraits::default() },
        };
        Self { spec, store, lists: Mutex::default() }
    }

    async fn answer(&self, invocation: &ToolInvocation) -> Outcome {
        let arguments: Arguments = serde_json::from_str(&invocation.arguments)
            .map_err(|error| Failure::new(code::INVALID_ARGUMENTS, error.to_string()))?;
        let mut list = self.list(&invocation.session_id).await?;
        if let Some(items) = arguments.todos {
            list = list
                .with(items, arguments.merge)
                .map_err(|problem| Failure::new(code::TOO_LARGE, problem))?;
        }
        let answer = list.answer();
        self.remember(&invocation.session_id, list);
        Ok(vec![Part::text(answer)])
    }

    async fn list(&self, session: &str) -> Result<List, Failure> {
        if let Some(list) = self.remembered(session) {
            return Ok(list);
        }
        let stored = self.store.load(session).await;
        let stored = stored.map_err(|error| Failure::new(code::UNAVAILABLE, error.to_string()))?;
        Ok(List::find(&stored.messages, Self::NAME))
    }

    fn remembered(&self, session: &str) -> Option<List> {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.iter().find(|(id, _)| &**id == session).map(|(_, list)| list.clone())
    }

    fn remember(&self, session: &Arc<str>, list: List) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.retain(|(id, _)| id != session);
        if lists.len() >= REMEMBERED {
            lists.pop_front();
        }
        lists.push_back((Arc::clone(session), list));
    }
}

#[async_trait]
impl Tool for Todo {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: ToolInvocation) -> ToolResult {
        ToolResult::new(self.answer(&invocation).await, Effect::None)
    }
}

#[cfg(test)]
#[path = "todo/tests.rs"]
mod tests;
