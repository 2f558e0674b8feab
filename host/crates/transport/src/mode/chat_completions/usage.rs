//! Token counts, from the several names servers give them.

use hermes_core::usage::Usage;
use serde_json::value::RawValue;

use crate::mode::lenient::Count;

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Wire {
    prompt_tokens: Count,
    completion_tokens: Count,
    total_tokens: Count,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// Anthropic's names, which some gateways keep.
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    /// DeepSeek's name.
    prompt_cache_hit_tokens: Count,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
    cache_creation_tokens: Count,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Count,
}

/// The counts in `raw`; none if it holds neither prompt nor completion tokens.
pub(super) fn read(raw: &RawValue) -> Option<Usage> {
    let wire: Wire = serde_json::from_str(raw.get()).ok()?;
    let (prompt, completion) = (wire.prompt_tokens.0, wire.completion_tokens.0);
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let total = wire.total_tokens.0;
    let prompt = prompt.unwrap_or_default();
    let mut output = completion.unwrap_or_else(|| total.unwrap_or_default().saturating_sub(prompt));
    let details = wire.prompt_tokens_details.unwrap_or_default();
    let first = |counts: [Count; 3]| counts.iter().find_map(|count| count.0).unwrap_or_default();
    let cached =
        first([details.cached_tokens, wire.cache_read_input_tokens, wire.prompt_cache_hit_tokens]);
    let cache_write = first([
        details.cache_write_tokens,
        details.cache_creation_tokens,
        wire.cache_creation_input_tokens,
    ]);
    let details = wire.completion_tokens_details.unwrap_or_default();
    let reasoning = details.reasoning_tokens.0.unwrap_or_default();
    // xAI counts reasoning beside the completion; its total gives that away.
    let beside = [prompt, output, reasoning].iter().try_fold(0_u64, |sum, n| sum.checked_add(*n));
    if reasoning > 0 && total.is_some() && total == beside {
        output = output.saturating_add(reasoning);
    }
    let input = prompt.saturating_sub(cached).saturating_sub(cache_write);
    Some(Usage { input, output, cached, cache_write, reasoning, estimated: false })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn counts_are_found_under_all_their_names() {
        let usage = |input, output, cached, cache_write, reasoning| {
            Some(Usage { input, output, cached, cache_write, reasoning, estimated: false })
        };
        let cases = [
            (
                r#"{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}"#,
                usage(9, 2, 0, 0, 0),
            ),
            (
                r#"{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,
                    "prompt_tokens_details":{"cached_tokens":64,"audio_tokens":0},
                    "completion_tokens_details":{"reasoning_tokens":12}}"#,
                usage(36, 20, 64, 0, 12),
            ),
            (
                r#"{"prompt_tokens":100,"completion_tokens":20,"total_tokens":132,
                    "completion_tokens_details":{"reasoning_tokens":12}}"#,
                usage(100, 32, 0, 0, 12),
            ),
            (
                r#"{"prompt_tokens":100,"completion_tokens":5,
                    "prompt_tokens_details":{"cached_tokens":10,"cache_write_tokens":20}}"#,
                usage(70, 5, 10, 20, 0),
            ),
            (
                r#"{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":null,
                    "cache_read_input_tokens":10,"cache_creation_input_tokens":20}"#,
                usage(70, 5, 10, 20, 0),
            ),
            (
                r#"{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":8,
                    "prompt_cache_miss_tokens":2}"#,
                usage(2, 5, 8, 0, 0),
            ),
            (r#"{"prompt_tokens":"7","completion_tokens":3.0}"#, usage(7, 3, 0, 0, 0)),
            (r#"{"prompt_tokens":7,"total_tokens":9}"#, usage(7, 2, 0, 0, 0)),
            (r#"{"prompt_tokens":7,"completion_tokens":null}"#, usage(7, 0, 0, 0, 0)),
            (
                r#"{"prompt_tokens":7,"completion_tokens":-1,
                    "prompt_tokens_details":{"cached_tokens":9}}"#,
                usage(0, 0, 9, 0, 0),
            ),
            (r#"{"total_tokens":9}"#, None),
            ("{}", None),
            ("[]", None),
            (r#""none""#, None),
        ];
        for (json, expected) in cases {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            assert_eq!(read(raw), expected, "{json}");
        }
    }
}
