//! Tokens and money, as a provider reports them or as we estimate them.

use serde::{Deserialize, Serialize};

/// Tokens of one model call, or summed over several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Prompt tokens that were neither read from a cache nor written to one.
    pub input: u64,
    /// Generated tokens, reasoning included.
    pub output: u64,
    /// Prompt tokens read from the provider's cache.
    pub cached: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// The part of `output` spent on reasoning.
    pub reasoning: u64,
    /// Whether any of these numbers is ours rather than the provider's.
    pub estimated: bool,
}

impl Usage {
    /// All tokens of the prompt, wherever the provider booked them.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cached).saturating_add(self.cache_write)
    }

    /// All tokens, sent and generated.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.estimated = self.estimated || other.estimated;
    }
}

/// What something cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// US dollars.
    pub usd: f64,
    /// Whether the figure rests on estimated tokens or on our own price table.
    pub estimated: bool,
}

/// What a model's tokens cost, in US dollars a million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Prompt tokens.
    pub input: f64,
    /// Generated tokens, reasoning included.
    pub output: f64,
    /// Prompt tokens read from the provider's cache; absent: as `input`.
    #[serde(default)]
    pub cached: Option<f64>,
    /// Prompt tokens written to the provider's cache; absent: as `input`.
    #[serde(default)]
    pub cache_write: Option<f64>,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.usd += other.usd;
        self.estimated |= other.estimated;
    }
}

impl Prices {
    /// What `usage` costs. Always an estimate: a price table ages, and discounts are not in it.
    pub fn cost(&self, usage: &Usage) -> Cost {
        #[expect(clippy::cast_precision_loss, reason = "no call has 2^53 tokens")]
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let usd = part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.cached, self.cached.unwrap_or(self.input))
            + part(usage.cache_write, self.cache_write.unwrap_or(self.input));
        Cost { usd, estimated: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_is_summed_over_all_kinds_of_tokens() {
        let usage = Usage {
            input: 1_000_000,
            output: 500_000,
            cached: 2_000_000,
            cache_write: 100_000,
            reasoning: 400_000,
            estimated: false,
        };
        let prices = Prices { input: 3.0, output: 15.0, cached: Some(0.5), cache_write: None };
        let cost = prices.cost(&usage);
        assert!((cost.usd - (3.0 + 7.5 + 1.0 + 0.3)).abs() < 1e-9 && cost.estimated);
    }
}
