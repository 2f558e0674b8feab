//! Keys that are refused, against a server of raw bytes.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)] // each file of tests uses its part of it
mod support;

use hermes_core::message::FinishReason;
use hermes_core::transport::{Delta, ErrorKind, Transport};
use hermes_transport::{Credentials, HttpTransport, Quota, RateLimits, Secret, Settings};

use support::{answer, ask, serve};

#[tokio::test]
async fn a_refused_key_is_changed_for_the_next_and_neither_is_shown() {
    let (old, new) = ("sk-CANARY-old-1234567", "sk-CANARY-new-1234567");
    let refusal = format!(r#"{{"error":{{"message":"Incorrect API key provided: {old}"}}}}"#);
    let body = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
    let paced = "x-ratelimit-limit-requests: 9\r\nx-ratelimit-remaining-requests: 8\r\n";
    let server = serve(vec![
        answer("401 Unauthorized", "", &refusal),
        answer("200 OK", paced, body),
        answer("401 Unauthorized", "", &refusal),
    ])
    .await;
    let settings = Settings {
        credentials: Credentials::new([old, new].map(Secret::new)),
        ..Settings::new("chat_completions", &*server.url)
    };
    let transport = HttpTransport::new(&settings).unwrap();
    assert_eq!(transport.rate_limits(), None);
    let refused = ask(&transport, false).await.1.unwrap();
    assert_eq!(refused.kind, ErrorKind::Auth);
    assert!(transport.renew_credential(&refused).await);
    let reply = vec![Delta::Text("hi".into()), Delta::Finish(FinishReason::Stop)];
    assert_eq!(ask(&transport, false).await, (reply, None));
    let requests = Quota { limit: Some(9), remaining: Some(8), resets_in: None };
    let limits = RateLimits { requests, ..RateLimits::default() };
    assert_eq!(transport.rate_limits(), Some(limits));
    let again = ask(&transport, false).await.1.unwrap();
    assert!(!transport.renew_credential(&again).await, "both keys have been refused");
    for error in [refused, again] {
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("CANARY") && shown.contains("[masked]"), "{shown}");
    }
    let sent = server.requests.lock().unwrap().clone();
    let keys = [old, new, new].map(|key| format!("authorization: Bearer {key}\r\n"));
    for (sent, key) in sent.iter().zip(keys) {
        assert!(sent.contains(&key), "{sent}");
    }
}
