//! Shortening a history that grows beyond the model's window: what is decided, without doing it.
//!
//! Old tool output goes first, then the middle of the conversation is summed up by a model; the
//! beginning, the end, the newest request of the user and every tool call with its results stay
//! whole. Asking the model and archiving are the loop's (`agent/compress.rs`).

mod digest;
mod plan;
mod prune;
mod summary;

pub use digest::digest;
pub use plan::{Plan, Sizes, plan};
pub use prune::prune;
pub use summary::{MEMORY_QUESTION, Request, SYSTEM, fenced, notes_of, replacement};

/// When and how far to compress.
#[derive(Debug, Clone, PartialEq)]
pub struct CompressionSettings {
    /// Whether to compress at all. Default true.
    pub enabled: bool,
    /// Part of the usable window above which to compress, 0 to 1. Default 0.50; windows below
    /// 512 000 tokens are used to three quarters at least, since half of a small one is little.
    pub threshold: f64,
    /// Part of the threshold that the kept end of the conversation may take, 0.1 to 0.8. Default
    /// 0.20.
    pub target_ratio: f64,
    /// Messages kept at the beginning, until there is a summary. Default 3.
    pub protect_first_n: usize,
    /// Messages at the end whose tool output is not pruned, and of which eight are never summed
    /// up while they fit. Default 20.
    pub protect_last_n: usize,
    /// Whether a compressed history is a session of its own that continues the one there was, instead
    /// of taking its place. Default false.
    pub in_child: bool,
    /// The tool through which the model may keep what later sessions should know, before a part of
    /// the history is summed up. Default: it is not asked.
    pub memory_tool: Option<String>,
    /// Summaries a turn may try, whatever the occasion; one more for each eight iterations it gets
    /// through. Default 3.
    pub per_turn: u32,
    /// The window of a model nobody knows it of, in tokens. Default 128 000.
    pub default_window: u64,
}

impl Default for CompressionSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            threshold: 0.50,
            target_ratio: 0.20,
            protect_first_n: 3,
            protect_last_n: 20,
            in_child: false,
            memory_tool: None,
            per_turn: 3,
            default_window: 128_000,
        }
    }
}

/// Windows from here on are so large that half of one is still a lot.
const LARGE_WINDOW: u64 = 512_000;

/// Least part of a smaller window that is used.
const SMALL_WINDOW_THRESHOLD: f64 = 0.75;

impl CompressionSettings {
    /// Tokens of a request above which its history is compressed, for a model with this `window`
    /// that may generate `max_output` tokens.
    pub fn threshold(&self, window: u64, max_output: Option<u64>) -> u64 {
        let least = if window < LARGE_WINDOW { SMALL_WINDOW_THRESHOLD } else { 0.0 };
        let usable = match window.saturating_sub(max_output.unwrap_or(0)) {
            0 => window,
            usable => usable,
        };
        part_of(usable, self.threshold.max(least).clamp(0.05, 0.95)).max(1)
    }

    /// Tokens the kept end may take, of a history that may take `room` tokens.
    pub fn tail_tokens(&self, room: u64) -> u64 {
        part_of(room, self.target_ratio.clamp(0.1, 0.8))
    }
}

/// Most tokens of a summary, for a model with this `window`: a twentieth of it and at most 10 000,
/// but in a small window as much as it takes to say anything.
pub fn summary_tokens(window: u64) -> u64 {
    (window / 20).clamp(window.div_euclid(8).min(1000), 10_000)
}

/// A part of a number of tokens.
fn part_of(tokens: u64, part: f64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no window has 2^53 tokens, and parts lie between 0 and 1"
    )]
    let tokens = (tokens as f64 * part) as u64;
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_follows_the_window() {
        let settings = CompressionSettings::default();
        for (window, max_output, threshold) in [
            (8_000, None, 6_000),
            (32_000, Some(4_000), 21_000),
            (100_000, None, 75_000),
            (128_000, Some(32_000), 72_000),
            (200_000, Some(32_000), 126_000),
            (400_000, Some(32_000), 276_000),
            (512_000, None, 256_000),
            (1_000_000, Some(32_000), 484_000),
            (1_000, Some(32_000), 750),
        ] {
            assert_eq!(settings.threshold(window, max_output), threshold, "{window}");
        }
        let late = CompressionSettings { threshold: 0.9, ..settings };
        assert_eq!(late.threshold(1_000_000, None), 900_000);
        assert_eq!(late.threshold(100_000, None), 90_000);
    }

    #[test]
    fn a_summary_is_small_beside_its_window() {
        let got: Vec<u64> =
            [800, 8_000, 32_000, 128_000, 1_000_000].into_iter().map(summary_tokens).collect();
        assert_eq!(got, [100, 1_000, 1_600, 6_400, 10_000]);
    }
}
