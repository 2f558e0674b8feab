//! The host's services where there is no host, as the unit tests of a plugin meet them.

use hermes_plugin_sdk::prelude::*;

#[test]
fn state_lives_in_memory() {
    let entry = |value: &[u8], revision| Ok(Some(state::Entry { value: value.to_vec(), revision }));
    assert_eq!(state::get("a"), Ok(None));
    assert_eq!(state::compare_and_set("a", 0, b"one"), Ok(Some(1)));
    assert_eq!(state::compare_and_set("a", 0, b"other"), Ok(None));
    assert_eq!(state::get("a"), entry(b"one", 1));
    assert_eq!(state::set("a", b"two", Some(60)), Ok(2));
    assert_eq!(state::compare_and_set("a", 2, b"three"), Ok(Some(3)));
    assert_eq!(state::get("a"), entry(b"three", 3));
    assert_eq!(state::delete("a"), Ok(true));
    assert_eq!(state::delete("a"), Ok(false));
    // The key is new, but an old revision never fits it.
    assert_eq!(state::set("a", b"four", None), Ok(4));
}

#[test]
fn keys_come_in_order_and_in_pages() {
    for key in ["b/2", "a/1", "b/10", "b/3"] {
        assert!(state::set(key, b"", None).is_ok(), "{key}");
    }
    let keys = |after, limit| state::list_keys("b/", after, limit);
    assert_eq!(keys(None, 2), Ok(vec!["b/10".to_owned(), "b/2".to_owned()]));
    assert_eq!(keys(Some("b/2"), 2), Ok(vec!["b/3".to_owned()]));
    assert_eq!(keys(Some("b/3"), 2), Ok(Vec::new()));
}

#[test]
fn nothing_else_is_there() {
    log::warn("nobody reads this");
    progress::report("half", Some(1), Some(2));
    assert!(!progress::is_cancelled());
    assert_eq!(progress::remaining_ms(), u64::MAX);
    assert_eq!(config::get("limit"), None);
    assert_eq!(config::get_as::<u32>("limit"), Ok(None));
    assert!(!secrets::exists("TOKEN"));
    assert_eq!(
        secrets::placeholder("TOKEN"),
        Err(Failure::denied("the secret `TOKEN` needs a host"))
    );
    let request = http::Request::get("http://localhost/").header("Accept", "*/*");
    assert_eq!(
        http::fetch(&request),
        Err(Failure::unavailable("GET http://localhost/ needs a host"))
    );
    assert_eq!(
        process::run(&process::Command::new(["git", "status"])),
        Err(Failure::unavailable("running [\"git\", \"status\"] needs a host"))
    );
}
