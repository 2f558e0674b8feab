//! What an answer's headers say about when to come back and which request it was.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

use crate::classify::Answer;
use crate::limits::{self, RateLimits};

/// Most bytes kept of one header's value.
const VALUE_BYTES: usize = 200;

/// Headers that name the request, for the provider's support.
const REQUEST_IDS: [&str; 4] = ["x-request-id", "request-id", "cf-ray", "x-amzn-requestid"];

/// What is worth keeping of `headers`. `now` is what a date in `Retry-After` is compared with.
pub(crate) fn kept(headers: &HeaderMap, now: SystemTime) -> Answer {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let kept = headers.iter().filter(|(name, _)| is_useful(name.as_str()));
    let kept = kept.filter_map(|(name, value)| {
        let value = hermes_core::text::prefix(value.to_str().ok()?, VALUE_BYTES);
        Some((name.as_str().to_owned(), value.to_owned()))
    });
    let texts =
        headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    let limits = RateLimits::read(texts, now);
    let told = retry_after(text("retry-after-ms"), text("retry-after"), now);
    let media = text("content-type").unwrap_or_default().trim().to_ascii_lowercase();
    Answer {
        content_type: hermes_core::text::prefix(&media, VALUE_BYTES).to_owned(),
        headers: kept.collect(),
        retry_after: told,
        limits,
        location: text("location").map(shown_location),
        ..Answer::default()
    }
}

fn is_useful(name: &str) -> bool {
    name == "retry-after"
        || name == "retry-after-ms"
        || REQUEST_IDS.contains(&name)
        || (name.contains("ratelimit") && name.contains("reset"))
}

/// The wait asked for: milliseconds, which OpenAI sends beside the standard header, before
/// seconds or a date.
fn retry_after(ms: Option<&str>, standard: Option<&str>, now: SystemTime) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let exact = ms.and_then(number).and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
    exact.or_else(|| {
        let text = standard?.trim();
        match number(text) {
            Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            None => match httpdate::parse_http_date(text) {
                Ok(date) => Some(date.duration_since(now).unwrap_or_default()),
                Err(_) => limits::units(text),
            },
        }
    })
}

/// The wait a sentence asks for: `try again in 6.5s`, `Please retry in 34.07s`.
pub(super) fn told_wait(text: &str) -> Option<Duration> {
    let text = text.to_lowercase();
    let rest = ["try again in ", "retry in ", "retry after "]
        .iter()
        .find_map(|phrase| text.split_once(phrase).map(|(_, rest)| rest))?;
    let mut words = rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')' | '"'));
    let wait = words.next()?.trim_end_matches('.');
    let unit = match words.next().unwrap_or_default().trim_end_matches(['.', ',']) {
        "second" | "seconds" => "s",
        "minute" | "minutes" => "m",
        "hour" | "hours" => "h",
        _ => "",
    };
    limits::units(wait).or_else(|| limits::units(&format!("{wait}{unit}")))
}

/// A redirect's target without its query, which may hold anything.
fn shown_location(location: &str) -> String {
    let end = location.find(['?', '#']).unwrap_or(location.len());
    hermes_core::text::prefix(&location[..end], VALUE_BYTES).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_comes_from_milliseconds_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2015 07:28:00 GMT").expect("a date");
        let ms = |ms| Some(Duration::from_millis(ms));
        let cases = [
            (Some("1500"), Some("2"), ms(1500)),
            (Some("12.5"), None, Some(Duration::from_micros(12_500))),
            (Some("soon"), Some("2"), ms(2000)),
            (None, Some(" 7 "), ms(7000)),
            (None, Some("0.25"), ms(250)),
            (None, Some("0"), ms(0)),
            (None, Some("-1"), None),
            (None, Some("NaN"), None),
            (None, Some("1e400"), None),
            (None, Some("Wed, 21 Oct 2015 07:29:30 GMT"), ms(90_000)),
            (None, Some("Wed, 21 Oct 2015 07:00:00 GMT"), ms(0)),
            (None, Some("tomorrow"), None),
            (None, Some("2s"), ms(2000)),
            (None, None, None),
        ];
        for (exact, standard, expected) in cases {
            assert_eq!(retry_after(exact, standard, now), expected, "{exact:?} {standard:?}");
        }
    }

    #[test]
    fn a_sentence_may_ask_for_a_wait() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let cases = [
            ("Limit 30000. Please try again in 6.5s. Visit the page.", ms(6500)),
            ("Please try again in 20 seconds.", ms(20_000)),
            ("Please retry in 34.074s.", ms(34_074)),
            ("Please try again in 1m26.4s, or upgrade", ms(86_400)),
            ("Try again in 2 minutes", ms(120_000)),
            ("please try again in a while", None),
            ("try again in 5", None),
            ("try again later", None),
            ("try again in ", None),
        ];
        for (text, expected) in cases {
            assert_eq!(told_wait(text), expected, "{text}");
        }
    }

    #[test]
    fn only_headers_that_help_are_kept() {
        let all = [
            ("content-type", "Application/JSON; charset=utf-8"),
            ("retry-after", "3"),
            ("x-request-id", "req_1"),
            ("x-ratelimit-reset-tokens", "6m0s"),
            ("anthropic-ratelimit-requests-reset", "2026-01-01T00:00:00Z"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("set-cookie", "session=abc"),
            ("openai-organization", "org"),
            ("location", "https://else.example/v1?key=abc#x"),
        ];
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(name, value.parse().expect("a value"));
        }
        let answer = kept(&headers, SystemTime::UNIX_EPOCH);
        assert_eq!(answer.content_type, "application/json; charset=utf-8");
        assert_eq!(answer.retry_after, Some(Duration::from_secs(3)));
        assert_eq!(answer.location.as_deref(), Some("https://else.example/v1"));
        let expected = [
            ("retry-after", "3"),
            ("x-request-id", "req_1"),
            ("x-ratelimit-reset-tokens", "6m0s"),
            ("anthropic-ratelimit-requests-reset", "2026-01-01T00:00:00Z"),
        ];
        assert_eq!(answer.headers, expected.map(|(n, v)| (n.to_owned(), v.to_owned())));
    }
}
