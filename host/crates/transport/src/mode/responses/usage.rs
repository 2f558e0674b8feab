//! Token counts.

use hermes_core::usage::Usage;
use serde_json::value::RawValue;

use crate::mode::lenient::Count;

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Wire {
    /// What was read from a cache or written to one included.
    input_tokens: Count,
    /// Reasoning included.
    output_tokens: Count,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
    /// Another name for it, of some gateways.
    cache_creation_tokens: Count,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Count,
}

/// The counts in `raw`; none if it holds neither input nor output tokens.
pub(super) fn read(raw: &RawValue) -> Option<Usage> {
    let wire: Wire = serde_json::from_str(raw.get()).ok()?;
    if wire.input_tokens.0.is_none() && wire.output_tokens.0.is_none() {
        return None;
    }
    let count = |count: Count| count.0.unwrap_or_default();
    let details = wire.input_tokens_details.unwrap_or_default();
    let cached = count(details.cached_tokens);
    let written = details.cache_write_tokens.0.or(details.cache_creation_tokens.0);
    let cache_write = written.unwrap_or_default();
    let input = count(wire.input_tokens).saturating_sub(cached).saturating_sub(cache_write);
    let output = count(wire.output_tokens);
    let reasoning = count(wire.output_tokens_details.unwrap_or_default().reasoning_tokens);
    Some(Usage { input, output, cached, cache_write, reasoning, estimated: false })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn counts_are_read_and_cached_ones_taken_out() {
        let usage = |input, output, cached, cache_write, reasoning| {
            Some(Usage { input, output, cached, cache_write, reasoning, estimated: false })
        };
        let cases = [
            (
                r#"{"input_tokens":328,"input_tokens_details":{"cached_tokens":300},
                    "output_tokens":52,"output_tokens_details":{"reasoning_tokens":40},
                    "total_tokens":380}"#,
                usage(28, 52, 300, 0, 40),
            ),
            (
                r#"{"input_tokens":100,"input_tokens_details":{"cached_tokens":10,
                    "cache_write_tokens":20},"output_tokens":5}"#,
                usage(70, 5, 10, 20, 0),
            ),
            (
                r#"{"input_tokens":100,"input_tokens_details":{"cache_creation_tokens":20},
                    "output_tokens":"5","output_tokens_details":null}"#,
                usage(80, 5, 0, 20, 0),
            ),
            (
                r#"{"input_tokens":7,"output_tokens":null,"input_tokens_details":{"cached_tokens":9}}"#,
                usage(0, 0, 9, 0, 0),
            ),
            ("{}", None),
            ("null", None),
            ("[]", None),
        ];
        for (json, expected) in cases {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            assert_eq!(read(raw), expected, "{json}");
        }
    }
}
