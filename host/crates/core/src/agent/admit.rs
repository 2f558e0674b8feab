//! What enters history is validated: a reply becomes a message that every provider will take back.
//!
//! Ids are made unique, names legal, arguments a JSON object. Nothing is lost by that: arguments
//! that were none stay readable in the message's attributes, from where the answer to the call
//! explains them.

use std::collections::HashSet;

use serde_json::Value;

use crate::message::{Message, ToolCall};
use crate::toolset::ToolSet;
use crate::{id, schema, text};

/// Attribute of a reply: arguments that were no JSON object, by call id.
const UNUSABLE: &str = "unusable_arguments";

/// Most of unusable arguments that is kept: enough to see what the model tried.
const UNUSABLE_BYTES: usize = 2000;

/// Makes `reply` fit for history. `seen` holds the ids of all calls so far and learns the new ones.
pub(super) fn admit(reply: &mut Message, tools: &ToolSet, seen: &mut HashSet<String>) {
    let mut unusable = serde_json::Map::new();
    for call in &mut reply.tool_calls {
        if !seen.insert(call.id.clone()) {
            call.id = format!("call_{}", id::fresh());
            seen.insert(call.id.clone());
        }
        call.name = match tools.find(&call.name) {
            Some(entry) => entry.tool.spec().name.clone(),
            None => ToolCall::legal_name(&call.name),
        };
        call.arguments = match schema::parse_arguments(&call.arguments) {
            Ok(_) if call.arguments.trim().is_empty() || call.arguments.trim() == "null" => {
                "{}".into()
            }
            Ok(_) => text::mend_lone_surrogates(&call.arguments).into_owned(),
            Err(problem) => {
                let tried = text::ellipsis(&call.arguments, UNUSABLE_BYTES);
                unusable.insert(
                    call.id.clone(),
                    serde_json::json!({"problem": problem, "tried": tried}),
                );
                "{}".into()
            }
        };
    }
    if !unusable.is_empty() {
        reply.attributes.insert(UNUSABLE.into(), Value::Object(unusable));
    }
}

/// Why the arguments of a call in an admitted reply cannot be used, if they cannot.
pub(super) fn unusable_arguments(reply: &Message, call_id: &str) -> Option<String> {
    let problem = reply.attributes.get(UNUSABLE)?.get(call_id)?.get("problem")?;
    problem.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn admitted(calls: &[(&str, &str, &str)], seen: &mut HashSet<String>) -> Message {
        let mut reply = Message::assistant("");
        for (id, name, arguments) in calls {
            let (id, name, arguments) = ((*id).into(), (*name).into(), (*arguments).into());
            reply.tool_calls.push(ToolCall { id, name, arguments });
        }
        admit(&mut reply, &ToolSet::new(Vec::new()).unwrap(), seen);
        reply
    }

    #[test]
    fn ids_become_unique_across_the_session() {
        let mut seen = HashSet::from(["c1".to_owned()]);
        let reply = admitted(&[("c1", "a", "{}"), ("c2", "a", "{}"), ("c2", "a", "{}")], &mut seen);
        let ids: HashSet<_> = reply.tool_calls.iter().map(|call| call.id.clone()).collect();
        assert_eq!(ids.len(), 3);
        assert!(!ids.contains("c1") && ids.contains("c2"));
    }

    #[test]
    fn arguments_become_an_object_and_what_was_tried_stays_readable() {
        let reply = admitted(
            &[("a", "x", ""), ("b", "x", "{\"p\": 1}"), ("c", "x", "{\"p\": ")],
            &mut HashSet::new(),
        );
        let arguments: Vec<_> = reply.tool_calls.iter().map(|call| &*call.arguments).collect();
        assert_eq!(arguments, ["{}", "{\"p\": 1}", "{}"]);
        assert!(
            unusable_arguments(&reply, "c")
                .unwrap()
                .starts_with("the arguments are not valid JSON")
        );
        assert_eq!(reply.attributes[UNUSABLE]["c"]["tried"], "{\"p\": ");
        assert_eq!(unusable_arguments(&reply, "b"), None);
    }

    #[test]
    fn b053_a_blank_name_is_stored_as_a_legal_one() {
        let reply = admitted(&[("a", "  ", "{}")], &mut HashSet::new());
        assert_eq!(reply.tool_calls[0].name, "invalid_tool_call");
    }
}
