//! How many tokens a text is: counted by the model's own tokenizer where there is one, else
//! estimated by script and shape, and in either case corrected by what the provider reports.
//!
//! Loading a tokenizer takes tens of megabytes and is an adapter's business; here is its port.

mod context;
mod estimate;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use context::{ContextSize, Overhead, message_tokens};
pub use estimate::Estimate;

use crate::usage::Usage;

/// Counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// Tokens of `text`, without anything a wire format adds.
    fn count(&self, text: &str) -> u64;
}

/// A counter corrected by what the provider said a request came to: tokenizers of different
/// vendors differ by a third on the same text, but hardly from one request to the next.
pub struct Calibrated {
    counter: Arc<dyn TokenCounter>,
    /// Millionths.
    factor: AtomicU64,
}

/// Least and most a count is corrected by: one report out of range is a provider's mistake.
const FACTORS: std::ops::RangeInclusive<u64> = 500_000..=2_500_000;

/// A factor of one.
const ONE: u64 = 1_000_000;

/// Requests smaller than this say little about the text in them.
const LEAST_TOKENS: u64 = 500;

impl Calibrated {
    /// A counter nothing has been reported about yet.
    pub fn new(counter: Arc<dyn TokenCounter>) -> Self {
        Self { counter, factor: ONE.into() }
    }

    /// Learns from a request that this counter counted as `counted` tokens and that the provider
    /// says came to `reported`. The newest report counts as much as all before it.
    pub fn learn(&self, counted: u64, reported: &Usage) {
        let prompt = reported.prompt();
        if reported.estimated || counted < LEAST_TOKENS || prompt < LEAST_TOKENS {
            return;
        }
        let factor = self.factor.load(Ordering::Relaxed);
        let right = scaled(factor, prompt, counted);
        let mixed = (factor / 2).saturating_add(right / 2);
        self.factor.store(mixed.clamp(*FACTORS.start(), *FACTORS.end()), Ordering::Relaxed);
    }
}

impl TokenCounter for Calibrated {
    fn count(&self, text: &str) -> u64 {
        scaled(self.counter.count(text), self.factor.load(Ordering::Relaxed), ONE)
    }
}

/// `number * by / from`, rounded up, without overflow on the way.
fn scaled(number: u64, by: u64, from: u64) -> u64 {
    let wide = (u128::from(number) * u128::from(by)).div_ceil(u128::from(from.max(1)));
    u64::try_from(wide).unwrap_or(u64::MAX)
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
        let counter = Calibrated::new(Arc::new(Bytes));
        let text = "x".repeat(1000);
        let reported = |input| Usage { input, ..Usage::default() };
        counter.learn(1000, &Usage { estimated: true, ..reported(9000) });
        counter.learn(10, &reported(9000));
        assert_eq!(counter.count("0123456789"), 10);
        for _ in 0..20 {
            let counted = counter.count(&text);
            counter.learn(counted, &Usage { cached: 800, cache_write: 100, ..reported(400) });
        }
        assert_eq!(counter.count("0123456789"), 13);
        for _ in 0..20 {
            counter.learn(counter.count(&text), &reported(900_000));
        }
        assert_eq!(counter.count("0123456789"), 25, "a report cannot correct beyond reason");
    }
}
