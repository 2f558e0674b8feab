//! What a model's tokens cost, as far as a dated copy of the vendors' price lists tells.

use std::sync::LazyLock;

use hermes_core::usage::Prices;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    vendor: Vec<Vendor>,
}

/// One vendor's list. Where it is from and when it was compared is for who maintains it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vendor {
    provider: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the table"))]
    source: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the table"))]
    checked: String,
    models: Vec<Priced>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Priced {
    names: Vec<String>,
    input: f64,
    output: f64,
    cached: Option<f64>,
    cache_write: Option<f64>,
}

static TABLE: LazyLock<Vec<Vendor>> = LazyLock::new(|| {
    let table: Table =
        toml::from_str(include_str!("prices.toml")).expect("the table is tested to parse");
    table.vendor
});

/// The prices of a known provider's model.
pub(crate) fn of(provider: &str, model: &str) -> Option<Prices> {
    let vendor = TABLE.iter().find(|vendor| vendor.provider == provider)?;
    let priced = vendor.models.iter().find(|priced| {
        priced.names.iter().any(|name| {
            model.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || is_date(rest))
        })
    })?;
    let Priced { input, output, cached, cache_write, .. } = *priced;
    Some(Prices { input, output, cached, cache_write })
}

/// `-20251101` or `-2025-08-07`: the same model, pinned.
fn is_date(rest: &str) -> bool {
    let Some(date) = rest.strip_prefix('-') else { return false };
    let digits = date.bytes().filter(u8::is_ascii_digit).count();
    let dashes = date.bytes().filter(|byte| *byte == b'-').count();
    digits == 8 && digits + dashes == date.len() && matches!(dashes, 0 | 2)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::known;
    use super::*;

    fn input(provider: &str, model: &str) -> Option<f64> {
        of(provider, model).map(|prices| prices.input)
    }

    #[test]
    fn a_name_means_one_model_and_its_dated_forms() {
        for (provider, model, expected) in [
            ("anthropic", "claude-opus-5", Some(5.0)),
            ("anthropic", "claude-opus-5-5", Some(4.0)),
            ("anthropic", "claude-opus-4-5-20251101", Some(5.0)),
            ("anthropic", "claude-opus-4", None),
            ("openai", "gpt-5", Some(1.25)),
            ("openai", "gpt-5-2025-08-07", Some(1.25)),
            ("openai", "gpt-5-mini", Some(0.25)),
            ("openai", "gpt-5-pro", None),
            ("openai", "gpt-5-20250807x", None),
            ("openai", "claude-opus-5", None),
            ("groq", "openai/gpt-oss-120b", Some(0.15)),
            ("ollama", "llama3.2", None),
            ("custom", "gpt-5", None),
        ] {
            assert_eq!(input(provider, model), expected, "{provider} {model}");
        }
    }

    #[test]
    fn every_row_is_plausible_named_once_and_says_where_it_is_from() {
        for vendor in TABLE.iter() {
            let row = known::named(&vendor.provider).unwrap();
            assert_eq!(row.name, vendor.provider);
            assert!(vendor.source.starts_with("https://") && vendor.checked.starts_with("20"));
            let names: Vec<&String> = vendor.models.iter().flat_map(|m| &m.names).collect();
            for name in &names {
                assert_eq!(names.iter().filter(|other| other == &name).count(), 1, "{name}");
            }
            for Priced { names, input, output, cached, .. } in &vendor.models {
                assert!(0.0 < *input && input <= output && *output <= 100.0, "{names:?}");
                assert!(cached.is_none_or(|cached| cached < *input), "{names:?}");
            }
        }
    }

    #[test]
    fn the_models_that_go_without_saying_have_a_price_where_the_vendor_has_one() {
        for row in known::all() {
            let Some(model) = &row.model else { continue };
            assert_eq!(of(&row.name, model).is_some(), row.name != "openrouter", "{}", row.name);
        }
    }
}
