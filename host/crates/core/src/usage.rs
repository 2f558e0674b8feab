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
