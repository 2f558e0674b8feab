//! The guard against a model that keeps making the same failing call. Pure counting over what
//! each iteration's calls came to.

use std::collections::HashMap;

/// Identical failures (tool, arguments and code) after which the turn ends. The model has been
/// told the same thing four times by then.
const SAME_CALL: u32 = 5;

/// Iterations in a row in which every call failed after which the turn ends, whatever the calls.
const NOTHING_WORKED: u32 = 10;

/// What one call came to.
pub(super) struct Observed<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a str,
    /// The failure's code; absent on success.
    pub(super) failure: Option<&'a str>,
}

/// Counts failures over a turn.
#[derive(Default)]
pub(super) struct Guardrail {
    same: HashMap<(String, String, String), u32>,
    failed_iterations: u32,
}

impl Guardrail {
    /// Takes in one iteration; `Some` says why the turn should end.
    pub(super) fn observe(&mut self, calls: &[Observed<'_>]) -> Option<String> {
        let mut verdict = None;
        for call in calls {
            let Some(code) = call.failure else {
                // A success of the tool proves the model is getting somewhere with it.
                self.same.retain(|(tool, _, _), _| tool != call.tool);
                continue;
            };
            let key = (call.tool.to_owned(), call.arguments.to_owned(), code.to_owned());
            let count = self.same.entry(key).or_insert(0);
            *count += 1;
            if *count >= SAME_CALL {
                let tool = call.tool;
                verdict = Some(format!(
                    "the model made the same failing call of {tool:?} {count} times ({code})"
                ));
            }
        }
        let all_failed = calls.iter().all(|call| call.failure.is_some());
        self.failed_iterations = if all_failed { self.failed_iterations + 1 } else { 0 };
        if self.failed_iterations >= NOTHING_WORKED && verdict.is_none() {
            let n = self.failed_iterations;
            verdict = Some(format!("every tool call failed in {n} iterations in a row"));
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed<'a>(tool: &'a str, arguments: &'a str) -> [Observed<'a>; 1] {
        [Observed { tool, arguments, failure: Some("not-found") }]
    }

    #[test]
    fn b053_the_same_failing_call_ends_the_turn_after_a_few() {
        let mut guard = Guardrail::default();
        let verdicts: Vec<_> =
            (0..5).map(|_| guard.observe(&failed("invalid_tool_call", "{}"))).collect();
        assert_eq!(verdicts[..4], [None, None, None, None]);
        assert_eq!(
            verdicts[4].as_deref(),
            Some(
                "the model made the same failing call of \"invalid_tool_call\" 5 times (not-found)"
            )
        );
    }

    #[test]
    fn varied_failures_end_it_later_and_a_success_starts_anew() {
        let mut guard = Guardrail::default();
        let ok = [Observed { tool: "read", arguments: "", failure: None }];
        for n in 0..9 {
            assert_eq!(guard.observe(&failed("read", &n.to_string())), None);
        }
        assert_eq!(guard.observe(&ok), None);
        for n in 0..9 {
            assert_eq!(guard.observe(&failed("read", &n.to_string())), None);
        }
        assert!(guard.observe(&failed("read", "last")).is_some());
    }
}
