//! Results too long for the model: kept whole, read in slices of whole characters.

use hermes_core::failure::Attributes;
use hermes_core::keep::Spill;
use hermes_core::tool::{Body, Part};

use super::*;

fn bytes(bytes: &[u8]) -> Part {
    Part {
        mime: "image/png".into(),
        body: Body::Bytes(bytes.into()),
        attributes: Attributes::from_iter([("width".into(), 3.into())]),
    }
}

#[tokio::test]
async fn text_parts_read_as_one_text_and_bytes_are_kept_beside() {
    let home = Home::new();
    let store = home.open();
    let parts = [Part::text("first"), bytes(&[0, 255]), Part::text(""), Part::text("last")];
    store.keep("s", "call_1", &parts).await.unwrap();
    let whole = "first\n\nlast";
    for offset in 0..whole.len() + 2 {
        for limit in 0..whole.len() + 2 {
            let end = (offset + limit).min(whole.len());
            let expected = whole.get(offset..end).unwrap_or_default();
            let read = store.read("s", "call_1", offset as u64, limit).await.unwrap();
            assert_eq!(read, Some((expected.into(), 11)), "{limit} from {offset}");
        }
    }
    assert_eq!(
        home.rows("SELECT part, kind, mime, attributes, body FROM spills WHERE kind = 'bytes'"),
        [r#"1|bytes|image/png|{"width":3}|[0, 255]"#]
    );
}

#[tokio::test]
async fn slices_are_cut_at_characters() {
    let home = Home::new();
    let store = home.open();
    let text = "aé世👩z";
    store.keep("s", "call", &[Part::text(text)]).await.unwrap();
    for offset in 0..=text.len() {
        for limit in 0..=text.len() {
            let start = text.ceil_char_boundary(offset);
            let end = text.floor_char_boundary((offset + limit).min(text.len())).max(start);
            let read = store.read("s", "call", offset as u64, limit).await.unwrap();
            assert_eq!(read, Some((text[start..end].into(), 11)), "{limit} from {offset}");
        }
    }
}

#[tokio::test]
async fn reading_on_where_a_slice_ended_gives_the_whole() {
    let home = Home::new();
    let store = home.open();
    let text = "línea 世界 👩\u{200d}💻\n".repeat(5000);
    store.keep("s", "call", &[Part::text(&text[..]), Part::text("end")]).await.unwrap();
    let mut whole = String::new();
    loop {
        let read = store.read("s", "call", whole.len() as u64, 4099).await.unwrap();
        let (slice, total) = read.unwrap();
        assert_eq!(total, text.len() as u64 + 4);
        if slice.is_empty() {
            break;
        }
        whole += &slice;
    }
    assert_eq!(whole, text + "\nend");
}

#[tokio::test]
async fn what_was_not_kept_is_absent() {
    let home = Home::new();
    let store = home.open();
    store.keep("s", "call", &[Part::text("x")]).await.unwrap();
    store.keep("s", "binary", &[bytes(&[1])]).await.unwrap();
    store.keep("s", "nothing", &[]).await.unwrap();
    assert_eq!(store.read("s", "other", 0, 10).await.unwrap(), None);
    assert_eq!(store.read("t", "call", 0, 10).await.unwrap(), None);
    assert_eq!(store.read("s", "nothing", 0, 10).await.unwrap(), None);
    assert_eq!(store.read("s", "binary", 0, 10).await.unwrap(), Some((String::new(), 0)));
    let far = store.read("s", "call", u64::MAX, usize::MAX).await.unwrap();
    assert_eq!(far, Some((String::new(), 1)));
}

#[tokio::test]
async fn keeping_again_replaces() {
    let home = Home::new();
    let store = home.open();
    store.keep("s", "call", &[Part::text("one"), Part::text("two")]).await.unwrap();
    store.keep("s", "call", &[Part::text("three")]).await.unwrap();
    let read = store.read("s", "call", 0, 100).await.unwrap();
    assert_eq!(read, Some(("three".into(), 5)));
}

#[tokio::test]
async fn a_result_of_many_megabytes_is_kept_and_read_anywhere() {
    let home = Home::new();
    let store = home.open();
    let text: String = (0..2_000_000).map(|n| format!("{n:07}\n")).collect();
    store.keep("s", "call", &[Part::text(&text[..])]).await.unwrap();
    let read = store.read("s", "call", 8 * 1_234_567, 15).await.unwrap();
    assert_eq!(read, Some(("1234567\n1234568".into(), 16_000_000)));
}
