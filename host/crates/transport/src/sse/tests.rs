//! Framing by tables, at every cut.

#![allow(clippy::unwrap_used)]

use super::*;

type Owned = (String, String, bool);

/// All events of `pieces`.
fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Owned> {
    let mut decoder = Decoder::default();
    let mut found = Vec::new();
    let mut drain = |decoder: &mut Decoder| {
        while let Some(event) = decoder.next_event().unwrap() {
            found.push((event.name.to_owned(), event.data.to_owned(), event.complete));
        }
    };
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        drain(&mut decoder);
    }
    decoder.finish();
    drain(&mut decoder);
    found
}

/// The data of all events of `input`, which must be the same however it is cut in two, and byte
/// by byte.
fn data_at_every_cut(input: &[u8]) -> Vec<Owned> {
    let whole = events([input]);
    for cut in 0..=input.len() {
        let (head, tail) = input.split_at(cut);
        assert_eq!(events([head, tail]), whole, "cut at {cut} of {}", input.escape_ascii());
    }
    assert_eq!(events(input.chunks(1)), whole, "byte by byte {}", input.escape_ascii());
    whole
}

fn named(name: &str, data: &str) -> Owned {
    (name.into(), data.into(), true)
}

fn plain(data: &str) -> Owned {
    named("", data)
}

#[test]
fn events_are_the_same_at_every_cut() {
    let cases: &[(&str, &[Owned])] = &[
        ("data: a\n\ndata: b\n\n", &[plain("a"), plain("b")]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", &[plain("a"), plain("b")]),
        ("data: a\r\rdata: b\r\r", &[plain("a"), plain("b")]),
        ("data: a\r\n\ndata: b\n\r", &[plain("a"), plain("b")]),
        ("data:a\n\ndata:  b\n\n", &[plain("a"), plain(" b")]),
        ("data: a\ndata: b\ndata\ndata:\n\n", &[plain("a\nb\n\n")]),
        (": hi\n\n:\n\ndata: a\n: in between\n\n", &[plain("a")]),
        ("\u{feff}data: a\n\n", &[plain("a")]),
        ("\u{feff}\ndata: a\n\n\u{feff}data: b\n\n", &[plain("a")]),
        ("event: error\ndata: a\n\ndata: b\n\n", &[named("error", "a"), plain("b")]),
        ("event: lost\n\ndata: a\n\n", &[plain("a")]),
        ("id: 1\nretry: 5\ndatax: no\n data: no\ndata : no\ndata: a\n\n", &[plain("a")]),
        ("data:\n\ndata: \n\ndata: a\n\n", &[plain("a")]),
        ("\n\r\n\rdata: a\n\n\n\n", &[plain("a")]),
        ("data: {\"t\":\"héllo 世界 🙂\"}\n\n", &[plain("{\"t\":\"héllo 世界 🙂\"}")]),
        ("", &[]),
        ("\n", &[]),
    ];
    for (input, expected) in cases {
        assert_eq!(data_at_every_cut(input.as_bytes()), *expected, "{input:?}");
    }
}

#[test]
fn the_last_event_needs_no_blank_line() {
    assert_eq!(data_at_every_cut(b"data: a\n\ndata: b\n"), [plain("a"), plain("b")]);
    assert_eq!(data_at_every_cut(b"data: b\r\n"), [plain("b")]);
    let cut = [plain("a"), ("end".into(), "b".into(), false)];
    assert_eq!(data_at_every_cut(b"data: a\n\nevent: end\ndata: b"), cut);
    assert_eq!(data_at_every_cut(b"data: a\n\n: cut comm"), [plain("a")]);
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_harm_nothing_else() {
    let found = data_at_every_cut(b"data: a\xED\xA6\x9Cb\n\ndata: c\n\n");
    assert_eq!(found, [plain("a\u{fffd}\u{fffd}\u{fffd}b"), plain("c")]);
}

#[test]
fn an_event_has_a_longest_length() {
    let too_long = |pieces: &[&[u8]]| {
        let mut decoder = Decoder::new(16);
        for piece in pieces {
            decoder.push(Bytes::copy_from_slice(piece));
            loop {
                match decoder.next_event() {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(error) => return Some(error),
                }
            }
        }
        None
    };
    let error = Some(TooLong { limit: 16 });
    assert_eq!(too_long(&[b"data: 0123456789\n\ndata: 0123456789\n\n"]), None);
    assert_eq!(too_long(&[b"data: 0123456789abcdefg\n\n"]), error);
    assert_eq!(too_long(&[b"data: 0123456789", b"abc\n\n"]), error);
    assert_eq!(too_long(&[b"0123456789", b"0123456789"]), error);
    assert_eq!(too_long(&[b"data: 01234567\ndata: 01234567\n\n"]), error);
    assert_eq!(
        error.map(|e| e.to_string()).as_deref(),
        Some("an event of the stream is longer than 16 bytes")
    );
}

#[test]
fn an_endless_stream_of_small_events_holds_one_event() {
    let mut decoder = Decoder::new(64);
    let mut count = 0;
    for _ in 0..10_000 {
        decoder.push(Bytes::from_static(b"data: 0123456789\n\ndata: 01"));
        while decoder.next_event().unwrap().is_some() {
            count += 1;
        }
        decoder.push(Bytes::from_static(b"23\n\n"));
        while decoder.next_event().unwrap().is_some() {
            count += 1;
        }
    }
    assert_eq!(count, 20_000);
    assert!(decoder.data.capacity() <= 64 && decoder.line.capacity() <= 64);
}
