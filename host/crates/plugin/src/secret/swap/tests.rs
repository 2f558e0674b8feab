//! Where a placeholder becomes a value, and every way to carry one somewhere else.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, CONTENT_TYPE};

use super::*;
use crate::secret::{SecretError, SecretSource};

const VALUE: &str = "t0ken/with+\"signs\"";

struct One;

impl SecretSource for One {
    fn place(&self) -> &'static str {
        "test"
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        Ok((name == "TOKEN").then(|| Secret::parse(VALUE).unwrap()))
    }

    fn names(&self) -> Result<Vec<String>, SecretError> {
        Ok(vec!["TOKEN".into()])
    }
}

fn rule(name: &str, inject: Inject, body: bool) -> SecretRule {
    let audience = Url::parse("https://api.example").unwrap().origin();
    SecretRule { name: name.into(), audience, inject, body, hint: Some("ask the admin".into()) }
}

fn vault(inject: Inject, body: bool) -> Vault {
    Vault::new(vec![rule("TOKEN", inject, body)], Arc::new(One))
}

fn get(url: &str) -> Outgoing {
    let (method, headers, body) = (Method::GET, HeaderMap::new(), Bytes::new());
    Outgoing { method, url: Url::parse(url).unwrap(), headers, body }
}

fn with_header(url: &str, name: &'static str, value: &str) -> Outgoing {
    let mut request = get(url);
    request.headers.insert(name, HeaderValue::from_str(value).unwrap());
    request
}

fn with_body(url: &str, kind: &'static str, body: &str) -> Outgoing {
    let mut request = get(url);
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    request.body = Bytes::copy_from_slice(body.as_bytes());
    request
}

/// A vault without injection and a placeholder of this call.
fn placed(body: bool) -> (Vault, Placeholders, String) {
    let mut placeholders = Placeholders::default();
    let token = placeholders.issue("TOKEN");
    (vault(Inject::Placeholder, body), placeholders, token)
}

fn code_of(result: Result<Outgoing, Refused>) -> &'static str {
    result.err().map_or("sent", |refused| refused.code)
}

#[test]
fn a_placeholder_is_swapped_in_headers_queries_and_json_bodies() {
    let (vault, placeholders, token) = placed(true);
    let swapped = |request: Outgoing| swap(&request, &vault, &placeholders).unwrap();

    let sent = swapped(with_header("https://api.example/x", "x-key", &format!("key={token};v=1")));
    assert_eq!(sent.headers["x-key"], format!("key={VALUE};v=1"));
    assert!(sent.headers["x-key"].is_sensitive());

    let sent = swapped(get(&format!("https://api.example/x?a=%20&k={token}&b")));
    assert_eq!(sent.url.as_str(), "https://api.example/x?a=%20&k=t0ken%2Fwith%2B%22signs%22&b");

    let body = format!("{{\"a\": 1.50, \"key\": \"<{token}>\"}}");
    let sent =
        swapped(with_body("https://api.example/x", "application/json; charset=utf-8", &body));
    assert_eq!(sent.body, "{\"a\": 1.50, \"key\": \"<t0ken/with+\\\"signs\\\">\"}");
}

#[test]
fn the_host_builds_basic_and_understands_who_built_it_already() {
    let (vault, placeholders, token) = placed(false);
    let wanted = format!("Basic {}", STANDARD.encode(format!("me:{VALUE}")));
    for value in
        [format!("Basic me:{token}"), format!("basic {}", STANDARD.encode(format!("me:{token}")))]
    {
        let request = with_header("https://api.example/", "authorization", &value);
        let sent = swap(&request, &vault, &placeholders).unwrap();
        assert_eq!(sent.headers[AUTHORIZATION], wanted, "{value}");
    }
}

#[test]
fn what_the_manifest_injects_goes_to_its_audience_and_to_nobody_else() {
    let header =
        |prefix: &str| Inject::Header { header: "Authorization".into(), prefix: prefix.into() };
    let none = Placeholders::default();
    let sent = |inject, url: &str| swap(&get(url), &vault(inject, false), &none).unwrap();
    let bearer = sent(header("Bearer "), "https://api.example/");
    assert_eq!(bearer.headers[AUTHORIZATION], format!("Bearer {VALUE}"));
    let basic = sent(header("Basic me:"), "https://api.example/");
    let wanted = format!("Basic {}", STANDARD.encode(format!("me:{VALUE}")));
    assert_eq!(basic.headers[AUTHORIZATION], wanted);
    let query = || Inject::Query { query: "key".into() };
    let by_query = sent(query(), "https://api.example/?q=1&key=mine");
    assert_eq!(by_query.url.query(), Some("q=1&key=t0ken%2Fwith%2B%22signs%22"));
    for elsewhere in [
        "https://api.example.evil/",
        "http://api.example/",
        "https://api.example:8443/",
        "https://x.api.example/",
    ] {
        assert!(sent(header("Bearer "), elsewhere).headers.is_empty(), "{elsewhere}");
        assert_eq!(sent(query(), elsewhere).url.query(), None, "{elsewhere}");
    }
}

#[test]
fn no_form_carries_a_placeholder_to_another_origin() {
    let (vault, placeholders, token) = placed(true);
    let base64 = STANDARD.encode(format!("me:{token}"));
    let percent: String = token.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let hex: String = token.bytes().map(|byte| format!("{byte:02x}")).collect();
    let to = "https://evil.example";
    let mut named = get(to);
    named
        .headers
        .insert(http::HeaderName::try_from(&token).unwrap(), HeaderValue::from_static("x"));
    let mut method = get(to);
    method.method = Method::from_bytes(token.as_bytes()).unwrap();
    for (what, request) in [
        ("header", with_header(to, "x-key", &token)),
        ("basic", with_header(to, "authorization", &format!("Basic {base64}"))),
        ("header name", named),
        ("method", method),
        ("path", get(&format!("{to}/{token}"))),
        ("encoded path", get(&format!("{to}/{percent}"))),
        ("query", get(&format!("{to}/?k={token}"))),
        ("query name", get(&format!("{to}/?{token}"))),
        ("hex", get(&format!("{to}/?k={hex}"))),
        ("user", get(&format!("https://{token}@evil.example/"))),
        ("host", get(&format!("https://{token}.evil.example/"))),
        ("other scheme", with_header("http://api.example/", "x-key", &token)),
        ("other port", with_header("https://api.example:444/", "x-key", &token)),
        ("body", with_body(to, "text/plain", &token)),
        ("base64 body", with_body(to, "text/plain", &base64)),
        ("escaped body", with_body(to, "application/json", &format!("\"\\u0068{}\"", &token[1..]))),
    ] {
        let refused = swap(&request, &vault, &placeholders).err();
        let refused = refused.unwrap_or_else(|| panic!("{what}: {}", request.url));
        assert_eq!(refused.code, code::DENIED, "{what}");
        let said = "denied: the secret \"TOKEN\" goes to https://api.example only, and this request \
                    goes to ";
        assert!(refused.message.starts_with(said), "{what}: {}", refused.message);
        assert!(!refused.message.contains(&token), "{what}");
    }
    // In halves it is inert: neither half is of any use.
    let (one, two) = token.split_at(20);
    assert_eq!(code_of(swap(&get(&format!("{to}/{one}/{two}")), &vault, &placeholders)), "sent");
}

#[test]
fn a_redirect_that_carries_the_value_to_another_origin_is_denied() {
    let (vault, placeholders, _) = placed(false);
    vault.learn();
    let echoed: String = url::form_urlencoded::byte_serialize(VALUE.as_bytes()).collect();
    let away = get(&format!("https://evil.example/?next={echoed}"));
    assert_eq!(code_of(swap(&away, &vault, &placeholders)), code::DENIED);
    let back = get(&format!("https://api.example/?next={echoed}"));
    assert_eq!(code_of(swap(&back, &vault, &placeholders)), "sent");
}

#[test]
fn a_placeholder_of_another_call_is_a_mistake_wherever_it_goes() {
    let stale = Placeholders::default().issue("TOKEN");
    let (vault, placeholders, _) = placed(false);
    for request in [
        with_header("https://api.example/", "x-key", &stale),
        with_header("https://evil.example/", "x-key", &stale),
        get(&format!("https://api.example/{stale}")),
        with_body("https://api.example/", "text/plain", &stale),
    ] {
        assert_eq!(code_of(swap(&request, &vault, &placeholders)), code::INVALID_ARGUMENTS);
    }
}

#[test]
fn a_placeholder_where_none_is_swapped_is_a_mistake_that_says_where() {
    let (vault, placeholders, token) = placed(false);
    let to = "https://api.example";
    for (request, place) in [
        (get(&format!("{to}/{token}")), "the URL before its query"),
        (get(&format!("{to}/?{token}=1")), "the name of a query parameter"),
        (with_body(to, "application/json", &format!("\"{token}\"")), "the body, and its manifest"),
    ] {
        let refused = swap(&request, &vault, &placeholders).err().expect(place);
        assert_eq!(refused.code, code::INVALID_ARGUMENTS);
        let said = format!("the placeholder of the secret \"TOKEN\" stands in {place}");
        assert!(refused.message.starts_with(&said), "{}", refused.message);
    }
    let (opted_in, placeholders, token) = placed(true);
    for (kind, body) in [("text/plain", format!("\"{token}\"")), ("application/json", token)] {
        let request = with_body(to, kind, &body);
        assert_eq!(code_of(swap(&request, &opted_in, &placeholders)), code::INVALID_ARGUMENTS);
    }
}

#[test]
fn a_granted_secret_without_a_value_is_asked_for() {
    let inject = Inject::Query { query: "key".into() };
    let vault = Vault::new(vec![rule("OTHER", inject, false)], Arc::new(One));
    let refused = swap(&get("https://api.example/"), &vault, &Placeholders::default()).err();
    let message = "the secret \"OTHER\" has no value (ask the admin). To give it one: hermes-host \
                   secrets set OTHER";
    assert_eq!(refused, Some(Refused::new(code::AUTH_REQUIRED, message.into())));
}
