//! Plugin state: revisions, quotas and lifetimes.

use hermes_core::keep::{PluginState, StateEntry, StateError, StateQuota};
use proptest::prelude::*;

use super::*;

const ROOMY: StateQuota = StateQuota { max_bytes: 1 << 20, max_keys: 1000 };

async fn put(store: &SqliteStore, key: &str, value: &str, expected: Option<u64>) -> Option<u64> {
    store.put("p", key, value.as_bytes(), expected, None, ROOMY).await.unwrap()
}

async fn get(store: &SqliteStore, key: &str) -> Option<(String, u64)> {
    let entry = store.get("p", key).await.unwrap()?;
    Some((String::from_utf8(entry.value).unwrap(), entry.revision))
}

#[tokio::test]
async fn a_value_is_written_only_at_the_expected_revision() {
    let home = Home::new();
    let store = home.open();
    assert_eq!(get(&store, "k").await, None);
    assert_eq!(put(&store, "k", "none yet", Some(1)).await, None);
    assert_eq!(put(&store, "k", "made", Some(0)).await, Some(1));
    assert_eq!(put(&store, "k", "made again", Some(0)).await, None);
    assert_eq!(put(&store, "k", "at one", Some(1)).await, Some(2));
    assert_eq!(put(&store, "k", "at one again", Some(1)).await, None);
    assert_eq!(get(&store, "k").await, Some(("at one".into(), 2)));
    assert_eq!(put(&store, "k", "whatever", None).await, Some(3));
    assert_eq!(get(&store, "k").await, Some(("whatever".into(), 3)));
    drop(store);
    assert_eq!(get(&home.open(), "k").await, Some(("whatever".into(), 3)));
}

#[tokio::test]
async fn a_revision_is_never_given_twice() {
    let home = Home::new();
    let store = home.open();
    let first = put(&store, "k", "x", None).await.unwrap();
    assert!(store.delete("p", "k").await.unwrap());
    assert!(!store.delete("p", "k").await.unwrap());
    drop(store);
    let store = home.open();
    let second = put(&store, "k", "x", Some(0)).await.unwrap();
    assert!(second > first);
    assert_eq!(put(&store, "k", "y", Some(first)).await, None);
}

#[tokio::test]
async fn namespaces_do_not_see_each_other() {
    let home = Home::new();
    let store = home.open();
    put(&store, "k", "mine", None).await;
    assert_eq!(store.get("q", "k").await.unwrap(), None);
    assert!(!store.delete("q", "k").await.unwrap());
    assert_eq!(store.list_keys("q", "", None, 10).await.unwrap(), [""; 0]);
    let one_key = StateQuota { max_bytes: 3, max_keys: 1 };
    assert_eq!(store.put("q", "k", b"v", Some(0), None, one_key).await.unwrap(), Some(1));
    assert_eq!(get(&store, "k").await, Some(("mine".into(), 1)));
}

#[tokio::test]
async fn expired_values_are_absent_and_free_their_quota() {
    let home = Home::new();
    let store = home.open();
    let quota = StateQuota { max_bytes: 10, max_keys: 1 };
    let put =
        |key: &'static str, ttl, expected| store.put("p", key, b"value", expected, ttl, quota);
    assert_eq!(put("k", Some(2), None).await.unwrap(), Some(1));
    home.pass(1999);
    assert!(store.get("p", "k").await.unwrap().is_some());
    assert!(put("other", None, None).await.is_err());
    home.pass(1);
    assert_eq!(store.get("p", "k").await.unwrap(), None);
    assert_eq!(store.list_keys("p", "", None, 10).await.unwrap(), [""; 0]);
    assert!(!store.delete("p", "k").await.unwrap());
    assert_eq!(put("k", Some(2), Some(0)).await.unwrap(), Some(2));
    // Written again without a lifetime, it stays.
    assert_eq!(put("k", None, Some(2)).await.unwrap(), Some(3));
    home.pass(u64::from(u32::MAX) * 1000);
    let entry = StateEntry { value: b"value".into(), revision: 3 };
    assert_eq!(store.get("p", "k").await.unwrap(), Some(entry));
    assert_eq!(put("k", Some(0), None).await.unwrap(), Some(4));
    assert_eq!(store.get("p", "k").await.unwrap(), None);
}

#[tokio::test]
async fn a_write_over_the_quota_is_refused_and_names_it() {
    let home = Home::new();
    let store = home.open();
    let quota = |max_bytes, max_keys| StateQuota { max_bytes, max_keys };
    let put = |key: &'static str, value: &'static str, quota| {
        store.put("p", key, value.as_bytes(), None, None, quota)
    };
    assert_eq!(put("ab", "1234", quota(6, 2)).await.unwrap(), Some(1));
    assert_eq!(
        put("c", "", quota(6, 2)).await.unwrap_err(),
        StateError::OverQuota(
            r#"writing "c" would bring the state of "p" to 7 bytes, and 6 are allowed; delete keys or store less"#.into()
        )
    );
    assert_eq!(
        put("c", "", quota(100, 1)).await.unwrap_err(),
        StateError::OverQuota(
            r#"writing "c" would bring the state of "p" to 2 keys, and 1 are allowed; delete keys first"#.into()
        )
    );
    assert!(put("ab", "12345", quota(6, 2)).await.is_err());
    assert_eq!(put("ab", "4321", quota(6, 2)).await.unwrap(), Some(2));
    // Under a lowered quota things may still get smaller.
    assert_eq!(put("ab", "1", quota(2, 0)).await.unwrap(), Some(3));
    assert!(store.delete("p", "ab").await.unwrap());
    assert_eq!(put("cd", "1234", quota(6, 1)).await.unwrap(), Some(4));
}

#[tokio::test]
async fn keys_are_listed_by_prefix_in_pages() {
    let home = Home::new();
    let store = home.open();
    for key in ["b", "a/2", "a/1", "a", "a/10", "a0", "ä", "A/1", "a/\u{10ffff}", "", "a/%"] {
        put(&store, key, "", None).await;
    }
    let list = async |prefix: &str, after: Option<&str>, limit| {
        store.list_keys("p", prefix, after, limit).await.unwrap()
    };
    assert_eq!(list("a/", None, 10).await, ["a/%", "a/1", "a/10", "a/2", "a/\u{10ffff}"]);
    assert_eq!(list("a/", None, 2).await, ["a/%", "a/1"]);
    assert_eq!(list("a/", Some("a/1"), 2).await, ["a/10", "a/2"]);
    assert_eq!(list("a/", Some("a/z"), 10).await, ["a/\u{10ffff}"]);
    assert_eq!(list("a/", Some("b"), 10).await, [""; 0]);
    assert_eq!(list("a/", None, 0).await, [""; 0]);
    assert_eq!(list("", None, 4).await, ["", "A/1", "a", "a/%"]);
    assert_eq!(list("", Some(""), 1).await, ["A/1"]);
    assert_eq!(list("zz", None, 10).await, [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// The counters behind the quota say what is really there, after any writes and deletions.
    #[test]
    fn counters_agree_with_the_rows(
        steps in prop::collection::vec((0..5_u8, 0..40_usize, prop::option::of(0..3_u32), any::<bool>()), 1..40)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let home = Home::new();
            let store = home.open();
            let quota = StateQuota { max_bytes: 100, max_keys: 4 };
            for (key, size, ttl, delete) in steps {
                let key = format!("k\0{key}");
                if delete {
                    store.delete("p", &key).await.unwrap();
                } else {
                    match store.put("p", &key, &vec![7; size], None, ttl, quota).await {
                        Ok(revision) => assert!(revision.is_some()),
                        Err(StateError::OverQuota(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                home.pass(500);
            }
            let counted = home.rows("SELECT bytes, keys FROM plugin_namespaces");
            let there = home.rows(
                "SELECT sum(octet_length(key) + length(value)), count(*) FROM plugin_state",
            );
            let there = there[0].replace("NULL", "0");
            assert_eq!(counted.first().map_or("0|0", String::as_str), there);
        });
    }
}
