//! The sender against a server of raw bytes: what goes out, what comes back, and what breaks.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use futures_util::StreamExt;
use hermes_core::message::FinishReason;
use hermes_core::transport::{Delta, ErrorKind, Transport};
use hermes_core::usage::Usage;
use hermes_transport::{ProxyChoice, Secret, Settings, SettingsError, Timeouts, open};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use support::{Act, STREAM, answer, ask, chunk, request, serve};

const KEY: &str = "sk-test-0123456789abcdef";
const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"héllo 世界 🙂\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const USAGE: &str =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn settings(url: &str) -> Settings {
    Settings {
        credentials: Secret::new(KEY).into(),
        ..Settings::new("chat_completions", format!("{url}/v1?api-version=1"))
    }
}

fn transport(url: &str) -> std::sync::Arc<dyn Transport> {
    open(&settings(url)).unwrap()
}

fn reply() -> Vec<Delta> {
    vec![
        Delta::Text("héllo 世界 🙂".into()),
        Delta::Usage(Usage { input: 9, output: 2, ..Usage::default() }),
        Delta::Finish(FinishReason::Stop),
    ]
}

/// A complete chunked stream.
fn stream() -> Vec<u8> {
    let events = [TEXT, STOP, USAGE, DONE, ""].map(chunk).concat();
    format!("{STREAM}{events}").into_bytes()
}

fn write(bytes: impl Into<Vec<u8>>) -> Act {
    Act::Write(bytes.into(), usize::MAX)
}

#[tokio::test]
async fn a_request_goes_out_whole_and_a_stream_comes_back() {
    let server = serve(vec![vec![write(stream())]]).await;
    let settings =
        Settings { headers: vec![("X-Title".into(), "hermes".into())], ..settings(&server.url) };
    let transport = open(&settings).unwrap();
    assert_eq!(transport.api_mode(), "chat_completions");
    assert_eq!(ask(&*transport, true).await, (reply(), None));
    let sent = server.requests.lock().unwrap().remove(0);
    let (head, body) = sent.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.lines().collect();
    lines[1..].sort_unstable();
    let length = format!("content-length: {}", body.len());
    let host = format!("host: {}", server.url.trim_start_matches("http://"));
    let expected = [
        "POST /v1/chat/completions?api-version=1 HTTP/1.1",
        "accept: text/event-stream, application/json",
        "authorization: Bearer sk-test-0123456789abcdef",
        &length,
        "content-type: application/json",
        &host,
        concat!("user-agent: hermes-host/", env!("CARGO_PKG_VERSION")),
        "x-title: hermes",
    ];
    assert_eq!(lines, expected);
    let expected = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}"#;
    assert_eq!(body, expected);
}

#[tokio::test]
async fn b011_a_stream_of_single_bytes_is_the_same_stream() {
    let server = serve(vec![vec![Act::Write(stream(), 1)]]).await;
    assert_eq!(ask(&*transport(&server.url), true).await, (reply(), None));
}

#[tokio::test]
async fn b020_a_stream_without_done_or_end_of_chunks_is_a_success() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let to_the_end = [head, TEXT, USAGE, STOP].concat();
    let cut = [STREAM, &[TEXT, USAGE, STOP].map(chunk).concat()].concat();
    for bytes in [to_the_end, cut] {
        let server = serve(vec![vec![write(bytes), Act::Close]]).await;
        assert_eq!(ask(&*transport(&server.url), true).await, (reply(), None));
    }
}

#[tokio::test]
async fn the_answers_form_is_followed_whatever_was_asked_for() {
    let whole = r#"{"choices":[{"message":{"content":"héllo 世界 🙂"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;
    let expected = vec![reply()[1].clone(), reply()[0].clone(), reply()[2].clone()];
    let json = "content-type: application/json\r\n";
    let server = serve(vec![answer("200 OK", json, whole), vec![write(stream())]]).await;
    let transport = transport(&server.url);
    assert_eq!(ask(&*transport, true).await, (expected, None));
    assert_eq!(ask(&*transport, false).await, (reply(), None));
    let requests = server.requests.lock().unwrap();
    assert!(requests[1].contains("accept: application/json\r\n"), "{}", requests[1]);
    assert!(requests[1].ends_with(r#""stream":false}"#), "{}", requests[1]);
}

#[tokio::test]
async fn a_connection_serves_the_next_call() {
    let server = serve(vec![vec![write(stream())]; 3]).await;
    let transport = transport(&server.url);
    for _ in 0..3 {
        assert_eq!(ask(&*transport, true).await, (reply(), None));
    }
    assert_eq!(*server.connections.lock().unwrap(), 1);
}

#[tokio::test]
async fn a_connection_the_server_closed_meanwhile_is_replaced() {
    let answers = vec![vec![write(stream()), Act::Close], vec![write(stream())]];
    let server = serve(answers).await;
    let transport = transport(&server.url);
    assert_eq!(ask(&*transport, true).await, (reply(), None));
    assert_eq!(ask(&*transport, true).await, (reply(), None));
    assert_eq!(*server.connections.lock().unwrap(), 2);
}

#[tokio::test]
async fn a_cut_connection_says_what_was_delivered() {
    let started = format!("{STREAM}{}", chunk(TEXT));
    let cuts = [
        (String::new(), false, 0),
        ("HTTP/1.1 200 OK\r\ncontent-ty".into(), false, 0),
        (STREAM.into(), false, 0),
        (started.clone(), true, 1),
        (format!("{started}ff\r\ndata: {{\"ch"), true, 1),
    ];
    for (bytes, delivered, count) in cuts {
        let server = serve(vec![vec![write(bytes.clone()), Act::Close]]).await;
        let (deltas, error) = ask(&*transport(&server.url), true).await;
        let error = error.unwrap();
        assert_eq!(error.kind, ErrorKind::Connection, "{bytes:?}: {error}");
        assert_eq!((error.delivered, deltas.len()), (delivered, count), "{bytes:?}");
        assert!(error.message.contains("127.0.0.1:"), "{error}");
    }
}

/// Time stands still for the client until everything sleeps, so a stall is over at once.
#[tokio::test(start_paused = true)]
async fn a_stall_is_a_timeout() {
    let started = format!("{STREAM}{}", chunk(TEXT));
    for (bytes, delivered) in [(String::new(), false), (STREAM.into(), false), (started, true)] {
        let server = serve(vec![vec![write(bytes), Act::AwaitClose]]).await;
        let timeouts = Timeouts { stall: Duration::from_secs(7), ..Timeouts::default() };
        let transport = open(&Settings { timeouts, ..settings(&server.url) }).unwrap();
        let (_, error) = ask(&*transport, true).await;
        let error = error.unwrap();
        assert_eq!((error.kind, error.delivered), (ErrorKind::Timeout, delivered));
        let place = server.url.trim_start_matches("http://");
        let message = format!("{place} sent nothing for 7s; try again or raise stall_timeout_s");
        assert_eq!(error.message, message);
        server.closed.notified().await;
    }
}

#[tokio::test]
async fn dropping_the_reply_closes_the_connection() {
    let started = format!("{STREAM}{}", chunk(TEXT));
    let server = serve(vec![vec![write(started), Act::AwaitClose]]).await;
    let transport = transport(&server.url);
    let mut reply = transport.send(&request(true)).await.unwrap();
    assert!(matches!(reply.next().await, Some(Ok(Delta::Text(_)))));
    drop(reply);
    server.closed.notified().await;
}

#[tokio::test]
async fn a_refusal_comes_with_its_evidence() {
    let body = format!(
        r#"{{"error":{{"message":"Rate limit reached for {KEY}","type":"tokens","code":"rate_limit_exceeded"}}}}"#
    );
    let headers = "content-type: application/json\r\nretry-after: 7\r\nx-request-id: req_1\r\nset-cookie: a=b\r\n";
    let server = serve(vec![answer("429 Too Many Requests", headers, &body)]).await;
    let (deltas, error) = ask(&*transport(&server.url), true).await;
    let error = error.unwrap();
    assert_eq!(deltas, []);
    assert_eq!(error.kind, ErrorKind::RateLimited);
    assert_eq!(error.status, Some(429));
    assert_eq!(error.code.as_deref(), Some("rate_limit_exceeded"));
    assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
    let kept = [("retry-after", "7"), ("x-request-id", "req_1")];
    assert_eq!(error.headers, kept.map(|(n, v)| (n.to_owned(), v.to_owned())));
    let place = server.url.trim_start_matches("http://");
    let message = format!(
        "{place} answered 429 (rate_limit_exceeded): Rate limit reached for [masked]; wait, or use another model or provider"
    );
    assert_eq!(error.message, message);
    assert_eq!(error.body, body.replace(KEY, "[masked]"));
    assert!(!error.delivered);
}

#[tokio::test]
async fn b025_pages_of_proxies_are_errors() {
    let page = "<html><head><title>502</title></head><body>cloud edge error</body></html>";
    let html = "content-type: text/html\r\n";
    let server = serve(vec![
        answer("502 Bad Gateway", html, page),
        answer("200 OK", html, page),
        answer("200 OK", "", ""),
    ])
    .await;
    let transport = transport(&server.url);
    let place = server.url.trim_start_matches("http://").to_owned();
    let expected = [
        (
            ErrorKind::Overloaded,
            format!(
                "{place} answered 502: text/html: {page}; try again later, or use another provider"
            ),
        ),
        (
            ErrorKind::MalformedReply,
            format!(
                "{place} answered 200 with text/html: {page}, which is no reply; check that the base URL is the API's"
            ),
        ),
        (
            ErrorKind::EmptyReply,
            format!(
                "{place} answered 200 with no content type and an empty reply; try again, or check the model and the base URL"
            ),
        ),
    ];
    for (kind, message) in expected {
        let (deltas, error) = ask(&*transport, true).await;
        let error = error.unwrap();
        assert_eq!((deltas, error.kind, error.message.as_str()), (vec![], kind, message.as_str()));
        assert!(error.kind.passes());
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = serve(vec![]).await;
    let location = format!("location: {}/v1/chat/completions?key=abc\r\n", other.url);
    let server = serve(vec![answer("307 Temporary Redirect", &location, "")]).await;
    let (_, error) = ask(&*transport(&server.url), true).await;
    let error = error.unwrap();
    assert_eq!((error.kind, error.status), (ErrorKind::BadRequest, Some(307)));
    let target = format!("a redirect to {}/v1/chat/completions;", other.url);
    assert!(error.message.contains(&target), "{error}");
    assert_eq!(*other.connections.lock().unwrap(), 0);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap().to_string();
    drop(listener);
    let (_, error) = ask(&*transport(&format!("http://{place}")), true).await;
    let error = error.unwrap();
    assert_eq!(error.kind, ErrorKind::Connection);
    let start = format!("could not connect to {place}: Connection refused");
    assert!(error.message.starts_with(&start), "{error}");
    assert!(!error.message.contains("/v1"), "{error}");
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_a_connection_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.read_u8().await.unwrap();
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let (_, error) = ask(&*transport(&format!("https://{place}")), true).await;
    let error = error.unwrap();
    assert_eq!(error.kind, ErrorKind::Connection);
    assert!(error.message.starts_with(&format!("could not connect to {place}: ")), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_never_ends_is_a_timeout() {
    let server = serve(vec![]).await;
    let place = server.url.trim_start_matches("http://");
    let (_, error) = ask(&*transport(&format!("https://{place}")), true).await;
    let error = error.unwrap();
    let message =
        format!("no connection to {place} within 30s; check the base URL and the network");
    assert_eq!((error.kind, error.message), (ErrorKind::Timeout, message));
}

#[tokio::test]
async fn proxies_are_used_where_chosen_but_not_for_this_machine() {
    let proxy = serve(vec![vec![write(stream())]]).await;
    let direct = serve(vec![vec![write(stream())]]).await;
    let choice = ProxyChoice {
        http: Some(Secret::new(&proxy.url.replace("http://", "http://me:hunter22@"))),
        https: None,
        no_proxy: Some("direct.invalid".into()),
    };
    let through = |url: &str| open(&Settings { proxy: choice.clone(), ..settings(url) }).unwrap();
    assert_eq!(ask(&*through("http://api.invalid"), true).await, (reply(), None));
    let sent = proxy.requests.lock().unwrap().remove(0);
    assert!(
        sent.starts_with("POST http://api.invalid/v1/chat/completions?api-version=1 HTTP/1.1"),
        "{sent}"
    );
    assert!(sent.contains("proxy-authorization: Basic"), "{sent}");
    assert_eq!(ask(&*through(&direct.url), true).await, (reply(), None));
    assert_eq!(*proxy.connections.lock().unwrap(), 1);
}

#[tokio::test]
async fn each_api_mode_is_reached_at_its_own_place_under_any_of_its_names() {
    let cases = [
        ("chat_completions", "chat_completions", "POST /v1/chat/completions HTTP/1.1"),
        ("responses", "responses", "POST /v1/responses HTTP/1.1"),
        ("codex_responses", "responses", "POST /v1/responses HTTP/1.1"),
    ];
    for (name, mode, expected) in cases {
        let said = r#"{"output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}],
            "choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
        let server = serve(vec![answer("200 OK", "", said)]).await;
        let settings =
            Settings { credentials: Secret::new(KEY).into(), ..Settings::new(name, &*server.url) };
        let transport = open(&settings).unwrap();
        assert_eq!(transport.api_mode(), mode);
        let reply = vec![Delta::Text("hi".into()), Delta::Finish(FinishReason::Stop)];
        assert_eq!(ask(&*transport, false).await, (reply, None), "{name}");
        let sent = server.requests.lock().unwrap().remove(0);
        assert_eq!(sent.lines().next(), Some(expected));
        assert!(sent.contains(&format!("authorization: Bearer {KEY}")), "{name}");
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let base = || settings("http://localhost");
    let refused = |settings: Settings| open(&settings).err().unwrap().to_string();
    let cases = [
        (
            Settings { api_mode: "chat_completion".into(), ..base() },
            "unknown api mode \"chat_completion\"; known are chat_completions, responses, anthropic_messages; did you mean chat_completions?",
        ),
        (
            Settings { api_mode: "x".into(), ..base() },
            "unknown api mode \"x\"; known are chat_completions, responses, anthropic_messages",
        ),
        (
            Settings { base_url: "http://a:b@c".into(), ..base() },
            "the base URL carries a user name or password; remove it and give the key instead",
        ),
        (
            Settings { credentials: Secret::new("sk-a\nb").into(), ..base() },
            "the key holds characters no header can carry; check that it was copied whole",
        ),
        (
            Settings { headers: vec![("bad name".into(), "x".into())], ..base() },
            "header \"bad name\" cannot be sent: its name is not made of letters, digits and -_",
        ),
        (
            Settings { headers: vec![("Host".into(), "x".into())], ..base() },
            "header \"Host\" cannot be sent: it is written by the connection itself",
        ),
        (
            Settings { headers: vec![("x".into(), "\u{1}".into())], ..base() },
            "header \"x\" cannot be sent: its value holds characters no header can carry",
        ),
    ];
    for (settings, expected) in cases {
        assert_eq!(refused(settings), expected);
    }
    for address in ["socks5://me:hunter22@proxy", "http://", "::"] {
        let proxy = ProxyChoice { https: Some(address.into()), ..ProxyChoice::default() };
        let settings = Settings { proxy, base_url: "https://api.invalid".into(), ..base() };
        assert_eq!(
            open(&settings).err(),
            Some(SettingsError::Proxy { scheme: "https" }),
            "{address}"
        );
    }
}

#[tokio::test]
async fn anthropics_headers_are_sent_with_and_without_a_key() {
    let body = r#"{"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}"#;
    let reply = || answer("200 OK", "content-type: application/json\r\n", body);
    let server = serve(vec![reply(), reply()]).await;
    let keyless = Settings::new("anthropic_messages", format!("{}/anthropic", server.url));
    let keyed = Settings { credentials: Secret::new(KEY).into(), ..keyless.clone() };
    for settings in [keyed, keyless] {
        let (deltas, error) = ask(&*open(&settings).unwrap(), false).await;
        let expected = [Delta::Text("hi".into()), Delta::Finish(FinishReason::Stop)];
        assert_eq!((deltas.as_slice(), error), (&expected[..], None));
    }
    let sent = server.requests.lock().unwrap().clone();
    for (sent, key) in sent.iter().zip([true, false]) {
        assert!(sent.starts_with("POST /anthropic/v1/messages HTTP/1.1\r\n"), "{sent}");
        assert!(sent.contains("anthropic-version: 2023-06-01\r\n"), "{sent}");
        assert_eq!(sent.contains(&format!("x-api-key: {KEY}\r\n")), key, "{sent}");
        assert!(!sent.contains("authorization:"), "{sent}");
    }
}

#[tokio::test]
async fn a_key_goes_into_the_header_its_server_reads_and_a_token_stays_a_bearer() {
    let body = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
    let token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl";
    let server = serve(vec![answer("200 OK", "", body), answer("200 OK", "", body)]).await;
    for key in [KEY, token] {
        let mut settings = settings(&server.url);
        settings.credentials = Secret::new(key).into();
        settings.quirks.api_key_header = true;
        assert_eq!(ask(&*open(&settings).unwrap(), false).await.1, None);
    }
    let sent = server.requests.lock().unwrap().clone();
    assert!(sent[0].contains(&format!("api-key: {KEY}\r\n")), "{}", sent[0]);
    assert!(!sent[0].contains("authorization:"), "{}", sent[0]);
    assert!(sent[1].contains(&format!("authorization: Bearer {token}\r\n")), "{}", sent[1]);
    assert!(!sent[1].contains("api-key:"), "{}", sent[1]);
}
