//! How many tokens to allow a reply where nobody said: Anthropic wants a number in every request.
//!
//! The numbers are the most each family of models can write, from Anthropic's pages about them
//! (<https://platform.claude.com/docs/en/models>, read in November 2026). A limit that turns out too high is refused with the right one in the message, which
//! the classifier turns into a remedy; one that is too low would cut replies unseen.

use serde_json::Value;

/// Parts of model names and what such models can write, the first match counts. Dots in a name
/// are read as dashes, since gateways write both.
const FAMILIES: [(&str, u64); 14] = [
    ("claude-3-7", 64_000),
    ("claude-3-5", 8_192),
    ("claude-3", 4_096),
    ("opus-4-5", 64_000),
    ("opus-4-6", 128_000),
    ("opus-4-7", 128_000),
    ("opus-4-8", 128_000),
    ("opus-4", 32_000),
    ("sonnet-4-6", 128_000),
    ("sonnet-5", 128_000),
    ("fable-5", 128_000),
    ("opus-5", 128_000),
    ("claude-2", 4_096),
    ("claude", 64_000),
];

/// For models of others behind the same API: the least that any Claude of the fourth generation
/// can write, which leaves most of a window of 128 000 tokens to the history.
const OTHERS: u64 = 32_000;

/// What a reply gets beside a fixed budget for thinking, which must stay below the limit.
const BESIDE_THINKING: u64 = 4_096;

/// The limit for `model`, with room for the thinking that `thinking` (the parameter of that name)
/// asks for.
pub(super) fn default_for(model: &str, thinking: Option<&Value>) -> u64 {
    let name = model.to_ascii_lowercase().replace('.', "-");
    let family = FAMILIES.iter().find(|(part, _)| name.contains(part));
    let limit = family.map_or(OTHERS, |(_, limit)| *limit);
    let budget =
        thinking.and_then(|thinking| thinking.get("budget_tokens")).and_then(Value::as_u64);
    budget.map_or(limit, |budget| limit.max(budget.saturating_add(BESIDE_THINKING)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_family_gets_what_it_can_write() {
        let cases = [
            ("claude-3-haiku-20240307", 4_096),
            ("anthropic/claude-3.5-sonnet", 8_192),
            ("claude-3-7-sonnet-latest", 64_000),
            ("claude-opus-4-20250514", 32_000),
            ("anthropic.claude-opus-4-1-20250805-v1:0", 32_000),
            ("claude-opus-4-5", 64_000),
            ("Claude-Opus-4.6", 128_000),
            ("claude-sonnet-4-20250514", 64_000),
            ("claude-sonnet-4-6", 128_000),
            ("claude-haiku-4-5", 64_000),
            ("claude-of-tomorrow", 64_000),
            ("kimi-k2", 32_000),
        ];
        for (model, expected) in cases {
            assert_eq!(default_for(model, None), expected, "{model}");
        }
    }

    #[test]
    fn a_budget_for_thinking_fits_in() {
        let thinking = |tokens| json!({"type": "enabled", "budget_tokens": tokens});
        assert_eq!(default_for("kimi-k2", Some(&thinking(1024))), 32_000);
        assert_eq!(default_for("kimi-k2", Some(&thinking(40_000))), 44_096);
        assert_eq!(default_for("kimi-k2", Some(&json!({"type": "adaptive"}))), 32_000);
    }
}
