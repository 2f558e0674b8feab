//! Token counts. They come twice in a stream, and the later ones add up what came before.

use hermes_core::usage::Usage;
use serde_json::value::RawValue;

use crate::mode::lenient::Count;

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Wire {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    output_tokens_details: Option<Details>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Details {
    thinking_tokens: Count,
}

/// `known` with the counts in `raw`. Anthropic's `input_tokens` already leaves out what was read
/// from the cache or written to it, as ours does. A count never falls: some servers repeat only
/// the ones that grew, and send the others as zero.
pub(super) fn updated(known: Option<Usage>, raw: &RawValue) -> Option<Usage> {
    let Ok(wire) = serde_json::from_str::<Wire>(raw.get()) else { return known };
    if known.is_none() && wire.input_tokens.0.is_none() && wire.output_tokens.0.is_none() {
        return None;
    }
    let known = known.unwrap_or_default();
    let most = |known: u64, told: Count| known.max(told.0.unwrap_or_default());
    let details = wire.output_tokens_details.unwrap_or_default();
    Some(Usage {
        input: most(known.input, wire.input_tokens),
        output: most(known.output, wire.output_tokens),
        cached: most(known.cached, wire.cache_read_input_tokens),
        cache_write: most(known.cache_write, wire.cache_creation_input_tokens),
        reasoning: most(known.reasoning, details.thinking_tokens),
        estimated: false,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn counts_add_up_over_a_stream() {
        let usage = |input, output, cached, cache_write, reasoning| {
            Some(Usage { input, output, cached, cache_write, reasoning, estimated: false })
        };
        let start = r#"{"input_tokens":9,"cache_creation_input_tokens":248,
            "cache_read_input_tokens":1800,"output_tokens":1,"service_tier":"standard"}"#;
        let cases: &[(&[&str], _)] = &[
            (&[start], usage(9, 1, 1800, 248, 0)),
            (&[start, r#"{"output_tokens":89}"#], usage(9, 89, 1800, 248, 0)),
            (
                &[start, r#"{"output_tokens":89,"output_tokens_details":{"thinking_tokens":40}}"#],
                usage(9, 89, 1800, 248, 40),
            ),
            (
                &[
                    r#"{"input_tokens":0,"output_tokens":0}"#,
                    r#"{"input_tokens":7,"output_tokens":3}"#,
                ],
                usage(7, 3, 0, 0, 0),
            ),
            (&[start, r#"{"input_tokens":0,"output_tokens":"5"}"#], usage(9, 5, 1800, 248, 0)),
            (&[r#"{"cache_read_input_tokens":3}"#], None),
            (&["{}", "[]", "7"], None),
            (&[start, "null"], usage(9, 1, 1800, 248, 0)),
        ];
        for (told, expected) in cases {
            let read = |json: &&str| serde_json::from_str::<Box<RawValue>>(json).unwrap();
            let told = told.iter().map(read);
            let got = told.fold(None, |known, raw| updated(known, &raw));
            assert_eq!(got, *expected);
        }
    }
}
