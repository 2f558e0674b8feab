//! Notices: a line at the very end of one request that tells the model of pressure it cannot see,
//! such as a budget that is nearly spent.
//!
//! None is given by default: a model that reads of limits gives up early. A notice is never stored
//! and never changes what stands before it, so the prompt prefix stays what it was.

/// How close the turn is to its limits, as the next request is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pressure {
    /// Iterations used, this one included.
    pub iterations: u32,
    /// Iterations the turn may take.
    pub max_iterations: u32,
    /// The part of the scarcest limit that is spent, in percent: iterations, tokens, money or time.
    pub budget_percent: u64,
    /// Tokens of the request, as far as they can be told.
    pub context_tokens: u64,
    /// Tokens above which the history is compressed.
    pub compress_at: u64,
}

/// May have a word for the end of a request.
pub trait PromptNotice: Send + Sync {
    /// Contract: answers at once, and with nothing most of the time.
    fn notice(&self, pressure: &Pressure) -> Option<String>;
}

/// Says how many iterations are left once most of the budget is spent.
#[derive(Debug, Clone, Copy, Default)]
pub struct BudgetNotice;

/// Says that the history is about to be compressed.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContextNotice;

/// The part of the budget from which on it is told, in percent.
const BUDGET_PERCENT: u64 = 70;

/// The part of the budget from which on it is urgent, in percent.
const BUDGET_URGENT_PERCENT: u64 = 90;

/// The part of what fits before a compression from which on that is told, in percent.
const CONTEXT_PERCENT: u64 = 85;

impl PromptNotice for BudgetNotice {
    fn notice(&self, pressure: &Pressure) -> Option<String> {
        let Pressure { iterations, max_iterations, budget_percent: percent, .. } = pressure;
        let what = if *percent >= BUDGET_URGENT_PERCENT {
            "Come to an end now"
        } else if *percent >= BUDGET_PERCENT {
            "Begin to come to an end"
        } else {
            return None;
        };
        Some(format!(
            "{percent} % of this turn's budget is spent (iteration {iterations} of {max_iterations}). {what}."
        ))
    }
}

impl PromptNotice for ContextNotice {
    fn notice(&self, pressure: &Pressure) -> Option<String> {
        let percent = percent(pressure.context_tokens, pressure.compress_at);
        (percent >= CONTEXT_PERCENT).then(|| {
            format!(
                "The conversation fills {percent} % of what fits before its older part is summed up. Note what must not \
                 be lost."
            )
        })
    }
}

/// `part` of `whole` in percent, rounded down; nothing of nothing is nothing.
pub(crate) fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_told_only_when_there_is_some() {
        let at = |budget_percent, context_tokens| Pressure {
            iterations: 9,
            max_iterations: 10,
            budget_percent,
            context_tokens,
            compress_at: 1000,
        };
        assert_eq!(BudgetNotice.notice(&at(69, 0)), None);
        assert_eq!(
            BudgetNotice.notice(&at(90, 0)).as_deref(),
            Some("90 % of this turn's budget is spent (iteration 9 of 10). Come to an end now.")
        );
        assert!(BudgetNotice.notice(&at(70, 0)).is_some_and(|text| text.contains("Begin to")));
        assert_eq!(ContextNotice.notice(&at(99, 849)), None);
        assert!(ContextNotice.notice(&at(0, 850)).is_some_and(|text| text.contains("85 %")));
        let nothing = Pressure { compress_at: 0, ..at(0, 5) };
        assert_eq!(ContextNotice.notice(&nothing), None);
    }
}
