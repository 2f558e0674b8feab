//! What all rules together say of a call.
//!
//! Every rule judges the call as it stands. The strictest counts: deny, then rewrite, then ask; of
//! several that deny or ask, the first gives the reason. A rewrite comes before the question because
//! the host then asks again, and the user should be asked about the call that will run. A rule that
//! allows ends the list for the calls it is about.

use hermes_plugin_sdk::prelude::*;
use serde_json::Value;

use crate::rule::{Action, Ready, Rule};

/// Most rounds of rewriting until nothing changes any more. Rules that settle do so in one round
/// each where one needs what another wrote.
const ROUNDS: usize = 8;

/// What the rules say in one round.
enum Said {
    Deny(String),
    Change(Value),
    Ask(String),
    Nothing,
}

/// The verdict on a call.
///
/// # Errors
/// A rule about this tool cannot be applied, or the rewrites never settle.
pub(crate) fn decide(
    tool: &str,
    arguments: Value,
    rules: &[Rule<'_>],
) -> Result<PreVerdict, String> {
    let about = rules.iter().filter(|rule| rule.is_about(tool));
    let rules: Vec<Ready<'_>> = about.map(Rule::ready).collect::<Result<_, _>>()?;
    let mut rewritten = None;
    for _ in 0..ROUNDS {
        let said = round(&rules, rewritten.as_ref().unwrap_or(&arguments))?;
        match (said, &rewritten) {
            (Said::Deny(why), _) => return Ok(PreVerdict::Deny(why)),
            (Said::Change(new), _) => rewritten = Some(new),
            (_, Some(new)) if *new != arguments => return Ok(PreVerdict::Rewrite(new.to_string())),
            (Said::Ask(question), _) => return Ok(PreVerdict::Ask(question)),
            (Said::Nothing, _) => return Ok(PreVerdict::Proceed),
        }
    }
    let names: Vec<&str> = rules
        .iter()
        .filter(|ready| matches!(ready.rule.action, Action::Rewrite(_)))
        .map(|ready| ready.rule.name)
        .collect();
    Err(format!("the rewrites of these rules undo each other: {}", names.join(", ")))
}

fn round(rules: &[Ready<'_>], arguments: &Value) -> Result<Said, String> {
    let mut question = None;
    let mut rewritten: Option<Value> = None;
    for ready in rules {
        if !ready.holds(arguments)? {
            continue;
        }
        match &ready.rule.action {
            Action::Deny => return Ok(Said::Deny(ready.rule.why())),
            Action::Ask => {
                question.get_or_insert_with(|| ready.rule.why());
            }
            Action::Rewrite(changes) => {
                ready.apply(changes, rewritten.get_or_insert_with(|| arguments.clone()))?;
            }
            Action::Allow => break,
        }
    }
    Ok(match (rewritten, question) {
        (Some(new), _) if new != *arguments => Said::Change(new),
        (_, Some(question)) => Said::Ask(question),
        _ => Said::Nothing,
    })
}
