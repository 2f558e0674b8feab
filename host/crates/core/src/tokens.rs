//! How many tokens a text is: counted by the model's own tokenizer where there is one, else
//! estimated by script and shape, and in either case corrected by what the provider reports.
//!
//! Loading a tokenizer takes tens of megabytes and is an adapter's business; here is its port.

mod context;
mod estimate;

use std::sync::Arc;

pub use context::{Overhead, context_tokens, message_tokens};
pub use estimate::Estimate;

use crate::usage::Usage;

/// Counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// Tokens of `text`, without anything a wire format adds.
    fn count(&self, text: &str) -> u64;
}

/// A counter corrected by what the provider said a request came to: tokenizers of different
/// vendors differ by a third on the same text, but hardly from one request to the next.
#[derive(Clone)]
pub struct Calibrated {
    counter: Arc<dyn TokenCounter>,
    factor: f64,
}

/// Least and most a report can correct by: one report out of range is a provider's mistake.
const FACTORS: std::ops::RangeInclusive<f64> = 0.5..=2.5;

/// How much the newest report counts beside those before it.
const NEWEST: f64 = 0.5;

/// Requests smaller than this say little about the text in them.
const LEAST_TOKENS: u64 = 500;

impl Calibrated {
    /// A counter nothing has been reported about yet.
    pub fn new(counter: Arc<dyn TokenCounter>) -> Self {
        Self { counter, factor: 1.0 }
    }

    /// Learns from a request that was counted as `counted` tokens by this counter, uncorrected, and
    /// that the provider says came to `reported`.
    pub fn learn(&mut self, counted: u64, reported: &Usage) {
        let prompt = prompt_tokens(reported);
        if reported.estimated || counted < LEAST_TOKENS || prompt < LEAST_TOKENS {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "no request has 2^53 tokens")]
        let ratio = prompt as f64 / counted as f64;
        let mixed = self.factor * (1.0 - NEWEST) + ratio * NEWEST;
        self.factor = mixed.clamp(*FACTORS.start(), *FACTORS.end());
    }

    /// Tokens of `text` before any correction.
    pub fn uncorrected(&self) -> &dyn TokenCounter {
        &*self.counter
    }
}

impl TokenCounter for Calibrated {
    fn count(&self, text: &str) -> u64 {
        #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 tokens")]
        let corrected = self.counter.count(text) as f64 * self.factor;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "both factors are positive and small"
        )]
        let tokens = corrected.ceil() as u64;
        tokens
    }
}

/// All tokens of a prompt, wherever the provider booked them.
pub fn prompt_tokens(usage: &Usage) -> u64 {
    usage.input.saturating_add(usage.cached).saturating_add(usage.cache_write)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes;

    impl TokenCounter for Bytes {
        fn count(&self, text: &str) -> u64 {
            u64::try_from(text.len()).unwrap_or(u64::MAX)
        }
    }

    #[test]
    fn reports_correct_the_count_and_nonsense_does_not() {
        let mut counter = Calibrated::new(Arc::new(Bytes));
        let reported = |input| Usage { input, ..Usage::default() };
        counter.learn(1000, &Usage { estimated: true, ..reported(9000) });
        counter.learn(10, &reported(9000));
        assert_eq!(counter.count("0123456789"), 10);
        for _ in 0..20 {
            counter.learn(1000, &Usage { cached: 800, cache_write: 100, ..reported(400) });
        }
        assert_eq!(counter.count("0123456789"), 13);
        for _ in 0..20 {
            counter.learn(1000, &reported(900_000));
        }
        assert_eq!(counter.count("0123456789"), 25, "a report cannot correct beyond reason");
    }
}
