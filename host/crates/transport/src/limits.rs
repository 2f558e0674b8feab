//! What a provider's headers say about the pace it allows: how many requests and tokens, how many
//! of them are left, and when they are full again.
//!
//! Known are `x-ratelimit-…` as OpenAI, Azure, Groq, xAI and Together send it, the form without a
//! bucket (OpenRouter), `ratelimit-…`, and `anthropic-ratelimit-…`. Headers of longer windows
//! (`…-1h`, `…-day`) are left out: one bucket of a kind is what a reader can act on.

use std::time::{Duration, SystemTime};

/// Longest wait a header is believed about; a longer one is a unit misunderstood.
const LONGEST: Duration = Duration::from_secs(31 * 24 * 3600);

/// The pace of one kind of thing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    /// How many there may be in a window.
    pub limit: Option<u64>,
    /// How many of them are left.
    pub remaining: Option<u64>,
    /// How long after the answer the window starts again.
    pub resets_in: Option<Duration>,
}

/// The pace a provider allowed in its last answer that said so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Requests.
    pub requests: Quota,
    /// Tokens of either direction together.
    pub tokens: Quota,
    /// Tokens sent.
    pub input_tokens: Quota,
    /// Tokens received.
    pub output_tokens: Quota,
}

impl RateLimits {
    /// What these headers (lower-case names) say; none if nothing. `now` is what points in time
    /// are compared with.
    pub fn read<'a>(
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
        now: SystemTime,
    ) -> Option<Self> {
        let mut limits = Self::default();
        for (name, value) in headers {
            let Some((_, parts)) = name.split_once("ratelimit-") else { continue };
            limits.take(parts, value.trim(), now);
        }
        (limits != Self::default()).then_some(limits)
    }

    /// How long until everything that is used up is there again; none if nothing is.
    pub fn refilled_in(&self) -> Option<Duration> {
        let all = [self.requests, self.tokens, self.input_tokens, self.output_tokens];
        let empty = all.iter().filter(|quota| quota.remaining == Some(0));
        empty.filter_map(|quota| quota.resets_in).max()
    }

    /// Takes one header: `limit-requests`, `requests-limit`, `input-tokens-reset`, `remaining`.
    fn take(&mut self, parts: &str, value: &str, now: SystemTime) {
        let field = ["limit", "remaining", "reset"].into_iter().find_map(|field| {
            let rest = parts.strip_prefix(field).or_else(|| parts.strip_suffix(field))?;
            Some((field, rest.trim_matches('-')))
        });
        let Some((field, bucket)) = field else { return };
        let quota = match bucket {
            "requests" | "" => &mut self.requests,
            "tokens" => &mut self.tokens,
            "input-tokens" => &mut self.input_tokens,
            "output-tokens" => &mut self.output_tokens,
            _ => return,
        };
        match field {
            "limit" => quota.limit = count(value).or(quota.limit),
            "remaining" => quota.remaining = count(value).or(quota.remaining),
            _ => quota.resets_in = wait(value, now).or(quota.resets_in),
        }
    }
}

/// A count; some send it with a fraction.
fn count(value: &str) -> Option<u64> {
    let whole = value.split_once('.').map_or(value, |(whole, _)| whole);
    whole.parse().ok()
}

/// A wait, however it is told: `6m0s`, `2ms`, seconds, a point in time in seconds or milliseconds
/// since 1970 or as text. A point that has passed is no wait at all.
pub(crate) fn wait(value: &str, now: SystemTime) -> Option<Duration> {
    let wait = match value.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => since_1970(number, now)?,
        Ok(_) => return None,
        Err(_) => match humantime::parse_rfc3339_weak(value) {
            Ok(point) => point.duration_since(now).unwrap_or_default(),
            Err(_) => units(value)?,
        },
    };
    (wait <= LONGEST).then_some(wait)
}

/// A number that is a wait in seconds or, being too large for one, a point in time.
fn since_1970(number: f64, now: SystemTime) -> Option<Duration> {
    const SECONDS: f64 = 1e9; // 2001
    const MILLISECONDS: f64 = 1e12; // 2001
    let seconds = if number >= MILLISECONDS { number / 1000.0 } else { number };
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    if seconds < SECONDS {
        return Some(duration);
    }
    let point = SystemTime::UNIX_EPOCH.checked_add(duration)?;
    Some(point.duration_since(now).unwrap_or_default())
}

/// Numbers with units, without blanks: `1m26.4s`. All of the text must be that.
pub(crate) fn units(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let seconds = match &rest[..end] {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        rest = &rest[end..];
        total = total.checked_add(Duration::try_from_secs_f64(number * seconds).ok()?)?;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SystemTime {
        humantime::parse_rfc3339(text).expect("a point in time")
    }

    fn quota(limit: u64, remaining: u64, resets_in_ms: u64) -> Quota {
        let resets_in = Some(Duration::from_millis(resets_in_ms));
        Quota { limit: Some(limit), remaining: Some(remaining), resets_in }
    }

    #[test]
    fn every_providers_headers_are_read() {
        let now = at("2026-01-01T00:00:00Z");
        let openai = [
            ("x-ratelimit-limit-requests", "30000"),
            ("x-ratelimit-remaining-requests", "29999"),
            ("x-ratelimit-reset-requests", "2ms"),
            ("x-ratelimit-limit-tokens", "150000000"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "6m0s"),
            ("x-ratelimit-limit-requests-1h", "7"),
        ];
        let expected = RateLimits {
            requests: quota(30_000, 29_999, 2),
            tokens: quota(150_000_000, 0, 360_000),
            ..RateLimits::default()
        };
        assert_eq!(RateLimits::read(openai, now), Some(expected));
        assert_eq!(expected.refilled_in(), Some(Duration::from_secs(360)));

        let anthropic = [
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-01-01T00:00:12Z"),
            ("anthropic-ratelimit-input-tokens-limit", "40000"),
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "2026-01-01T00:00:30Z"),
            ("anthropic-ratelimit-output-tokens-limit", "8000"),
            ("anthropic-ratelimit-output-tokens-remaining", "8000"),
            ("anthropic-ratelimit-output-tokens-reset", "2025-12-31T23:00:00Z"),
        ];
        let expected = RateLimits {
            requests: quota(50, 0, 12_000),
            input_tokens: quota(40_000, 0, 30_000),
            output_tokens: quota(8000, 8000, 0),
            ..RateLimits::default()
        };
        assert_eq!(RateLimits::read(anthropic, now), Some(expected));
        assert_eq!(expected.refilled_in(), Some(Duration::from_secs(30)));

        let openrouter = [
            ("x-ratelimit-limit", "20"),
            ("x-ratelimit-remaining", "19"),
            ("x-ratelimit-reset", "1767225660000"),
        ];
        let expected = RateLimits { requests: quota(20, 19, 60_000), ..RateLimits::default() };
        assert_eq!(RateLimits::read(openrouter, now), Some(expected));
        assert_eq!(expected.refilled_in(), None);
    }

    #[test]
    fn other_headers_and_junk_say_nothing() {
        let junk = [
            ("retry-after", "3"),
            ("x-ratelimit-limit-requests", "many"),
            ("x-ratelimit-remaining-tokens", "-1"),
            ("x-ratelimit-reset-tokens", "soon"),
            ("x-ratelimit-reset-requests", "1e300"),
            ("x-ratelimit-remaining-tokens-day", "5"),
            ("anthropic-ratelimit-unified-status", "allowed"),
        ];
        assert_eq!(RateLimits::read(junk, SystemTime::now()), None);
    }

    #[test]
    fn waits_are_told_in_many_ways() {
        let now = at("2026-01-01T00:00:00Z");
        let ms = |ms| Some(Duration::from_millis(ms));
        let cases = [
            ("1m26.4s", ms(86_400)),
            ("1h0m1s", ms(3_601_000)),
            ("250ms", ms(250)),
            ("12.5", ms(12_500)),
            ("0", ms(0)),
            ("1767225605", ms(5000)),
            ("1767225605000", ms(5000)),
            ("1767225000", ms(0)),
            ("2026-01-01T00:00:07Z", ms(7000)),
            ("2025-01-01T00:00:00Z", ms(0)),
            ("-3", None),
            ("NaN", None),
            ("99d", None),
            ("5x", None),
            ("s", None),
            ("1.2.3s", None),
            ("", None),
        ];
        for (value, expected) in cases {
            assert_eq!(wait(value, now), expected, "{value}");
        }
    }
}
