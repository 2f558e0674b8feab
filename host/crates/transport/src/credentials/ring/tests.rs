//! Which key is sent when, in virtual time.

#![allow(clippy::unwrap_used)]

use async_trait::async_trait;
use tokio::time::advance;

use super::*;

/// A source that gives these answers, one after the other.
struct Script(Mutex<Vec<Result<&'static str, &'static str>>>);

#[async_trait]
impl KeySource for Script {
    async fn fresh(&self) -> Result<Secret, String> {
        tokio::task::yield_now().await;
        let mut answers = self.0.lock().unwrap();
        assert!(!answers.is_empty(), "the source is asked too often");
        answers.remove(0).map(Secret::new).map_err(str::to_owned)
    }
}

fn ring(keys: &[&str], source: Option<&[Result<&'static str, &'static str>]>) -> Ring {
    let credentials = Credentials::new(keys.iter().map(|key| Secret::new(key)));
    let credentials = match source {
        Some(answers) => credentials.with_source(Arc::new(Script(Mutex::new(answers.to_vec())))),
        None => credentials,
    };
    Ring::new(&credentials, Mask::default())
}

async fn key(ring: &Ring) -> String {
    ring.choose().await.unwrap().unwrap().secret.expose().to_owned()
}

/// The key in use is refused.
async fn refused(ring: &Ring, kind: ErrorKind, retry_after: Option<u64>) -> TransportError {
    let credential = Some(ring.choose().await.unwrap().unwrap().number);
    let retry_after = retry_after.map(Duration::from_secs);
    TransportError { credential, retry_after, ..TransportError::new(kind, "no") }
}

async fn renew(ring: &Ring, kind: ErrorKind, retry_after: Option<u64>) -> bool {
    let error = refused(ring, kind, retry_after).await;
    ring.renew(&error).await
}

#[tokio::test(start_paused = true)]
async fn keys_are_offered_once_each_in_their_order() {
    for kind in [ErrorKind::Auth, ErrorKind::RateLimited, ErrorKind::Billing] {
        let ring = ring(&["key-a", "key-b", "key-c", "key-a", " "], None);
        assert_eq!(key(&ring).await, "key-a");
        assert!(renew(&ring, kind, Some(0)).await);
        assert_eq!(key(&ring).await, "key-b");
        assert!(renew(&ring, kind, None).await);
        assert_eq!(key(&ring).await, "key-c");
        assert!(!renew(&ring, kind, None).await, "{kind}");
        assert!(!renew(&ring, kind, None).await, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_else_changes_a_key() {
    let ring = ring(&["key-a", "key-b"], None);
    for kind in [ErrorKind::Overloaded, ErrorKind::BadRequest, ErrorKind::Timeout] {
        assert!(!renew(&ring, kind, None).await);
    }
    assert!(!ring.renew(&TransportError::new(ErrorKind::Auth, "without a key")).await);
    assert_eq!(key(&ring).await, "key-a");
}

#[tokio::test(start_paused = true)]
async fn two_calls_refused_with_one_key_change_it_once() {
    let ring = ring(&["key-a", "key-b", "key-c"], None);
    let one = refused(&ring, ErrorKind::Auth, None).await;
    let other = one.clone();
    assert!(ring.renew(&one).await);
    assert!(ring.renew(&other).await);
    assert_eq!(key(&ring).await, "key-b");
}

#[tokio::test(start_paused = true)]
async fn two_calls_refused_together_fetch_one_fresh_key() {
    let ring = ring(&["old-key"], Some(&[Ok("new-key")]));
    let one = refused(&ring, ErrorKind::Auth, None).await;
    let (first, second) = tokio::join!(ring.renew(&one), ring.renew(&one));
    assert!(first && second);
    assert_eq!(key(&ring).await, "new-key");
}

#[tokio::test(start_paused = true)]
async fn a_paced_key_is_avoided_until_its_time() {
    let ring = ring(&["key-a", "key-b"], None);
    assert!(renew(&ring, ErrorKind::RateLimited, Some(100)).await);
    assert!(!renew(&ring, ErrorKind::RateLimited, Some(300)).await);
    // Both rest: the one that is ready first is sent, and comes back alone.
    assert_eq!(key(&ring).await, "key-a");
    advance(Duration::from_secs(101)).await;
    assert!(!renew(&ring, ErrorKind::RateLimited, Some(500)).await);
    assert_eq!(key(&ring).await, "key-b");
    advance(Duration::from_secs(200)).await;
    assert!(!renew(&ring, ErrorKind::Billing, None).await);
    assert_eq!(key(&ring).await, "key-a");
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_is_fetched_afresh_before_the_next_is_tried() {
    let ring = ring(&["old-key", "spare-key"], Some(&[Ok("new-key"), Ok("newer-key")]));
    assert!(renew(&ring, ErrorKind::Auth, None).await);
    assert_eq!(key(&ring).await, "new-key");
    let number = ring.choose().await.unwrap().unwrap().number;
    ring.worked(number);
    assert!(renew(&ring, ErrorKind::Auth, None).await);
    assert_eq!(key(&ring).await, "newer-key");
    // It never worked: the source is left alone, the spare key is next, then nothing is.
    assert!(renew(&ring, ErrorKind::Auth, None).await);
    assert_eq!(key(&ring).await, "spare-key");
    assert!(!renew(&ring, ErrorKind::Auth, None).await);
}

#[tokio::test(start_paused = true)]
async fn a_source_without_another_key_is_asked_again_only_later() {
    let ring = ring(&["old-key"], Some(&[Ok("old-key"), Err("locked"), Ok("new-key")]));
    assert!(!renew(&ring, ErrorKind::Auth, None).await);
    assert!(!renew(&ring, ErrorKind::Auth, None).await);
    advance(LEAST).await;
    assert!(!renew(&ring, ErrorKind::Auth, None).await);
    advance(LEAST).await;
    assert!(renew(&ring, ErrorKind::Auth, None).await);
    assert_eq!(key(&ring).await, "new-key");
}

#[tokio::test(start_paused = true)]
async fn a_source_alone_gives_the_first_key() {
    let ring = ring(&[], Some(&[Err("the safe is locked"), Ok("first-key")]));
    let error = ring.choose().await.map(|_| ()).unwrap_err();
    assert_eq!(
        (error.kind, &*error.message),
        (ErrorKind::Auth, "there is no key: the safe is locked")
    );
    let (one, other) = tokio::join!(key(&ring), key(&ring));
    assert_eq!((&*one, &*other), ("first-key", "first-key"));
}

#[tokio::test(start_paused = true)]
async fn b066_every_key_there_ever_was_is_masked() {
    let ring = ring(&["sk-CANARY-1-456"], Some(&[Ok("sk-CANARY-2-789")]));
    assert!(renew(&ring, ErrorKind::Auth, None).await);
    let text = "was sk-CANARY-1-456, is sk-CANARY-2-789";
    assert_eq!(ring.mask().text(text), "was [masked], is [masked]");
    assert_eq!(format!("{ring:?}"), "Ring { keys: 2, .. }");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_no_key_gets_none() {
    let ring = ring(&[], None);
    assert!(ring.choose().await.unwrap().is_none());
}
