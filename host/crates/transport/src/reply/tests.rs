//! Bodies piece by piece, without sockets. Time stands still but for what is waited for.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::stream::{self, StreamExt};
use hermes_core::message::FinishReason;
use hermes_core::usage::Usage;

use super::*;
use crate::mode::chat_completions::Decoder;
use crate::settings::Timeouts;

const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const USAGE: &str =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n";
const DONE: &str = "data: [DONE]\n\n";
const WHOLE: &str = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;

type Item = Result<Delta, TransportError>;

/// What a body does next.
#[derive(Clone, Debug)]
enum Step {
    Piece(String),
    Break(&'static str),
    /// Stays silent forever.
    Silence,
}

fn pieces(text: &str) -> Vec<Step> {
    vec![Step::Piece(text.into())]
}

fn body(steps: Vec<Step>) -> Body {
    let steps = stream::iter(steps).then(|step| async move {
        match step {
            Step::Piece(text) => Ok(Bytes::from(text)),
            Step::Break(cause) => Err(cause.to_owned()),
            Step::Silence => std::future::pending().await,
        }
    });
    Box::pin(steps)
}

fn reply(content_type: &str, body: Body) -> Reply {
    let answer = Answer {
        place: "x.com".into(),
        status: 200,
        content_type: content_type.into(),
        ..Answer::default()
    };
    let timeouts = Timeouts::default();
    let clock = Clock { deadline: Instant::now() + timeouts.total, timeouts };
    Reply::new(body, Box::new(Decoder::new("m", &crate::Quirks::default())), answer, clock)
}

async fn items(content_type: &str, steps: Vec<Step>) -> Vec<Item> {
    reply(content_type, body(steps)).collect().await
}

fn text(text: &str) -> Item {
    Ok(Delta::Text(text.into()))
}

fn finish() -> Item {
    Ok(Delta::Finish(FinishReason::Stop))
}

fn usage() -> Item {
    Ok(Delta::Usage(Usage { input: 9, output: 2, ..Usage::default() }))
}

/// The error that ends `items`, as kind, message and whether anything was delivered.
fn error(items: &[Item]) -> (ErrorKind, &str, bool) {
    match items.last() {
        Some(Err(error)) => (error.kind, error.message.as_str(), error.delivered),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_shape_of_a_body_is_seen_from_what_comes() {
    let stream = [TEXT, STOP, DONE].concat();
    let bodies = [
        ("text/event-stream", stream.clone()),
        ("application/json", stream.clone()),
        ("", format!("\n\n{stream}")),
        ("text/plain", format!(": hi\n\n{stream}")),
        ("", format!("\u{feff}event: x\n{stream}")),
        ("text/event-stream", format!("unknown: x\n{stream}")),
        ("application/json", WHOLE.to_owned()),
        ("text/event-stream", WHOLE.to_owned()),
        ("text/html", format!("\u{feff}  \n\n{WHOLE}\n")),
        ("", format!("{}{WHOLE}", " ".repeat(100))),
    ];
    for (content_type, body) in bodies {
        let expected = [text("hi"), finish()];
        assert_eq!(items(content_type, pieces(&body)).await, expected, "{content_type} {body:?}");
        let letters = body.chars().map(|c| Step::Piece(c.into())).collect();
        assert_eq!(items(content_type, letters).await, expected, "{content_type} {body:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn b025_pages_and_empty_bodies_are_no_reply() {
    let page = "<html><body>cloud edge error</body></html>";
    let found = items("text/html", pieces(page)).await;
    let message = format!(
        "x.com answered 200 with text/html: {page}, which is no reply; check that the base URL is the API's"
    );
    assert_eq!(found.len(), 1);
    assert_eq!(error(&found), (ErrorKind::MalformedReply, message.as_str(), false));
    for steps in [vec![], pieces(""), pieces(" \n\n")] {
        let found = items("application/json", steps).await;
        let message = "x.com answered 200 with application/json and an empty reply; try again, or check the model and the base URL";
        assert_eq!(found.len(), 1);
        assert_eq!(error(&found), (ErrorKind::EmptyReply, message, false));
    }
    for body in ["ok", "dat", "id", "\u{feff}", "{", "{}"] {
        let found = items("text/plain", pieces(body)).await;
        let kind = error(&found).0;
        let expected =
            if body == "\u{feff}" { ErrorKind::EmptyReply } else { ErrorKind::MalformedReply };
        assert_eq!(kind, expected, "{body:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_page_is_read_only_as_far_as_it_is_shown() {
    let endless = stream::repeat_with(|| Ok(Bytes::from_static(b"<p>more of it</p>")));
    let found: Vec<Item> = reply("text/html", Box::pin(endless)).collect().await;
    assert_eq!(error(&found).0, ErrorKind::MalformedReply);
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_told_after_what_had_come() {
    let broken = |before: &str| vec![Step::Piece(before.into()), Step::Break("reset by peer")];
    let found = items("text/event-stream", broken(TEXT)).await;
    assert_eq!(found[0], text("hi"));
    let message = format!(
        "the connection to x.com broke after {} bytes of the reply: reset by peer; try again",
        TEXT.len()
    );
    assert_eq!(error(&found), (ErrorKind::Connection, message.as_str(), true));
    for before in ["", ": hi\n", "data: {\"cho", "{\"choices\":[{\"mess"] {
        let found = items("text/event-stream", broken(before)).await;
        assert_eq!(found.len(), 1, "{before}");
        assert_eq!((error(&found).0, error(&found).2), (ErrorKind::Connection, false), "{before}");
    }
    let found = items("text/event-stream", pieces(TEXT)).await;
    let message = "the stream from x.com ended before the reply was complete; try again";
    assert_eq!(error(&found), (ErrorKind::Connection, message, true));
}

#[tokio::test(start_paused = true)]
async fn what_breaks_after_the_finish_reason_harms_nothing() {
    let complete = [TEXT, STOP].concat();
    for end in [Step::Break("reset by peer"), Step::Silence, Step::Piece("data: {\"cho".into())] {
        let steps = vec![Step::Piece(complete.clone()), end.clone()];
        let start = Instant::now();
        assert_eq!(items("", steps).await, [text("hi"), finish()], "{end:?}");
        assert!(start.elapsed() <= AFTER_FINISH + Duration::from_millis(10), "{end:?}");
    }
    let whole = vec![Step::Piece(WHOLE.into()), Step::Break("reset by peer")];
    assert_eq!(items("", whole).await, [text("hi"), finish()]);
}

#[tokio::test(start_paused = true)]
async fn silence_and_slowness_have_an_end() {
    let Timeouts { stall, total, .. } = Timeouts::default();
    let start = Instant::now();
    let found = items("", vec![Step::Piece(TEXT.into()), Step::Silence]).await;
    assert_eq!(found[0], text("hi"));
    let message = "x.com sent nothing for 180s; try again or raise stall_timeout_s";
    assert_eq!(error(&found), (ErrorKind::Timeout, message, true));
    assert!(start.elapsed() >= stall && start.elapsed() < stall * 2);

    let start = Instant::now();
    let slow = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(100)).await;
        Some((Ok(Bytes::from_static(b": still here\n\n")), ()))
    });
    let found: Vec<Item> = reply("", Box::pin(slow)).collect().await;
    let message = "the call to x.com took longer than 1800s; try again or raise total_timeout_s";
    assert_eq!(error(&found), (ErrorKind::Timeout, message, false));
    assert!(start.elapsed() >= total && start.elapsed() < total + stall);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_consumer_is_no_stall() {
    let mut reply = reply("", body(pieces(&[TEXT, STOP, DONE].concat())));
    assert_eq!(reply.next().await, Some(text("hi")));
    tokio::time::advance(Duration::from_secs(1000)).await;
    assert_eq!(reply.next().await, Some(finish()));
    assert_eq!(reply.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn after_done_the_body_is_read_to_its_end_but_not_waited_for() {
    let ended = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ended);
    let tail = stream::once(async move {
        flag.store(true, Ordering::Relaxed);
        Ok(Bytes::from_static(b"\n"))
    });
    let head = body(pieces(&[TEXT, STOP, USAGE, DONE].concat()));
    let found: Vec<Item> = reply("", Box::pin(head.chain(tail))).collect().await;
    assert_eq!(found, [text("hi"), usage(), finish()]);
    assert!(ended.load(Ordering::Relaxed));

    let start = Instant::now();
    let steps = vec![Step::Piece([TEXT, STOP, DONE].concat()), Step::Silence];
    assert_eq!(items("", steps).await, [text("hi"), finish()]);
    assert!(start.elapsed() < AFTER_DONE * 2);
}

#[tokio::test(start_paused = true)]
async fn what_follows_a_complete_reply_does_not_hold_it_up() {
    let complete = body(pieces(&[TEXT, STOP, DONE].concat()));
    let endless = stream::repeat_with(|| Ok(Bytes::from_static(b": more\n\n")));
    let found: Vec<Item> = reply("", Box::pin(complete.chain(endless))).collect().await;
    assert_eq!(found, [text("hi"), finish()]);

    let start = Instant::now();
    let finished = body(pieces(&[TEXT, STOP].concat()));
    let pings = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Some((Ok(Bytes::from_static(b": ping\n\n")), ()))
    });
    let found: Vec<Item> = reply("", Box::pin(finished.chain(pings))).collect().await;
    assert_eq!(found, [text("hi"), finish()]);
    assert!(start.elapsed() <= AFTER_FINISH + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_ahead_and_dropping_the_reply_drops_the_body() {
    struct Body {
        taken: Arc<AtomicUsize>,
        dropped: Arc<AtomicBool>,
    }
    impl Stream for Body {
        type Item = Result<Bytes, String>;
        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            self.taken.fetch_add(1, Ordering::Relaxed);
            Poll::Ready(Some(Ok(Bytes::from_static(TEXT.as_bytes()))))
        }
    }
    impl Drop for Body {
        fn drop(&mut self) {
            self.dropped.store(true, Ordering::Relaxed);
        }
    }
    let (taken, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let body = Body { taken: Arc::clone(&taken), dropped: Arc::clone(&dropped) };
    let mut reply = reply("", Box::pin(body));
    for n in 1..=1000 {
        assert_eq!(reply.next().await, Some(text("hi")));
        assert_eq!(taken.load(Ordering::Relaxed), n);
        assert!(reply.out.capacity() <= 8);
    }
    assert!(!dropped.load(Ordering::Relaxed));
    drop(reply);
    assert!(dropped.load(Ordering::Relaxed));
}

#[tokio::test(start_paused = true)]
async fn an_event_or_document_without_end_is_refused() {
    let line = Bytes::from(vec![b'x'; 1 << 20]);
    let endless = stream::repeat(line.clone()).map(Ok);
    let head = stream::iter([Ok(Bytes::from_static(b"data: "))]);
    let found: Vec<Item> = reply("", Box::pin(head.chain(endless))).collect().await;
    assert_eq!(found.len(), 1);
    let message = "x.com sent something that is no reply (an event of the stream is longer than 8388608 bytes): ; check that the base URL and the api mode fit the server";
    assert_eq!(error(&found), (ErrorKind::MalformedReply, message, false));
    let head = stream::iter([Ok(Bytes::from_static(b"{\"a\":\""))]);
    let endless = stream::repeat(line).map(Ok);
    let found: Vec<Item> = reply("", Box::pin(head.chain(endless))).collect().await;
    assert_eq!(error(&found).0, ErrorKind::MalformedReply);
}

#[test]
fn enough_of_a_beginning_tells_what_it_is() {
    use Kind::{Events, Json, Other};
    let cases = [
        ("", "", None, None),
        ("", " \r\n", None, None),
        ("", "{", Some(Json), Some(Json)),
        ("", "[", Some(Json), Some(Json)),
        ("text/event-stream", "<", Some(Other), Some(Other)),
        ("text/event-stream; charset=utf-8", "x", Some(Events), Some(Events)),
        ("", "x", Some(Other), Some(Other)),
        ("", "d", None, Some(Other)),
        ("", "dat", None, Some(Other)),
        ("", "data", None, Some(Other)),
        ("", "data:", Some(Events), Some(Events)),
        ("", "data is", Some(Other), Some(Other)),
        ("", ":", Some(Events), Some(Events)),
        ("", "dax", Some(Other), Some(Other)),
    ];
    for (content_type, head, soon, last) in cases {
        assert_eq!(Kind::of(content_type, head.as_bytes(), false), soon, "{head:?}");
        assert_eq!(Kind::of(content_type, head.as_bytes(), true), last, "{head:?}");
    }
    assert_eq!(Kind::of("", b"\xEF\xBB", false), None);
    assert_eq!(Kind::of("", b"\xEF\xBB\xBF", false), None);
    assert_eq!(Kind::of("", b"\xEF\xBB\xBF{", false), Some(Json));
}
