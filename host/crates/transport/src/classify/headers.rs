//! What an answer's headers say about when to come back and which request it was.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

use crate::classify::Answer;

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
    let media = text("content-type").unwrap_or_default().trim().to_ascii_lowercase();
    Answer {
        content_type: hermes_core::text::prefix(&media, VALUE_BYTES).to_owned(),
        headers: kept.collect(),
        retry_after: retry_after(text("retry-after-ms"), text("retry-after"), now),
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
            None => {
                let date = httpdate::parse_http_date(text).ok()?;
                Some(date.duration_since(now).unwrap_or_default())
            }
        }
    })
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
            (None, None, None),
        ];
        for (exact, standard, expected) in cases {
            assert_eq!(retry_after(exact, standard, now), expected, "{exact:?} {standard:?}");
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
