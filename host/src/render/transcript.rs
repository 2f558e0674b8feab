//! A stored conversation as lines for a person.

use std::sync::Arc;

use hermes_core::message::{Message, Role};

use super::{columns, printable};

/// Columns of a tool call or result; whole text is for people and the model.
const LINE_COLUMNS: usize = 100;

/// One line or block for each message.
pub(crate) fn transcript(messages: &[Arc<Message>]) -> Vec<String> {
    messages.iter().flat_map(|message| lines(message)).collect()
}

fn lines(message: &Message) -> Vec<String> {
    let text = message.content.text();
    match message.role {
        Role::User => vec![format!("user      {}", printable(&text))],
        Role::System => vec![format!("system    {}", printable(&text))],
        Role::Tool => {
            let name = message.name.as_deref().unwrap_or_default();
            vec![format!("result    {}", columns(&format!("{name}: {text}"), LINE_COLUMNS))]
        }
        Role::Assistant => {
            let said = (!text.is_empty()).then(|| format!("assistant {}", printable(&text)));
            let calls = message.tool_calls.iter().map(|call| {
                format!(
                    "call      {}",
                    columns(&format!("{} {}", call.name, call.arguments), LINE_COLUMNS)
                )
            });
            said.into_iter().chain(calls).collect()
        }
    }
}
