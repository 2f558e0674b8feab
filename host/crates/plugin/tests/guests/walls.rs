//! What a guest can reach: granted folders and variables, its own state, and nothing else.

use std::collections::BTreeMap;

use hermes_core::failure::code;
use hermes_core::message::Effect;
use hermes_plugin::policy::{Effective, Folder};
use serde_json::json;

use super::rig::{call, failure, hostile, text};

fn folder(path: &std::path::Path, writable: bool) -> Effective {
    let host_path = path.canonicalize().unwrap();
    Effective { fs: vec![Folder { host_path, guest_path: None, writable }], ..Effective::default() }
}

#[tokio::test]
async fn b127_a_guest_sees_granted_variables_and_nothing_else() {
    // Cargo sets variables for every test, so this process's environment is not empty.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let seen = text(call(&hostile(Effective::default()), "look_around", json!({})).await);
    assert_eq!(seen.unwrap(), "env [] args [] stdin \"\"");
    let env = BTreeMap::from([("HOSTILE_GRANTED".to_owned(), "yes".to_owned())]);
    let granted = hostile(Effective { env, ..Effective::default() });
    let seen = text(call(&granted, "look_around", json!({})).await).unwrap();
    assert_eq!(seen, "env [\"HOSTILE_GRANTED=yes\"] args [] stdin \"\"");
}

#[tokio::test]
async fn without_a_grant_there_are_no_files() {
    let plugin = hostile(Effective::default());
    for path in ["/etc/hostname", "Cargo.toml", "./Cargo.toml", "/"] {
        let result = call(&plugin, "read_any", json!({"path": path})).await;
        assert_eq!(failure(result).code, code::DENIED, "{path}");
    }
}

#[tokio::test]
async fn b121_no_path_leads_out_of_a_granted_folder() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, "the canary").unwrap();
    let granted = outside.path().join("granted");
    std::fs::create_dir_all(granted.join("x")).unwrap();
    std::fs::write(granted.join("open.txt"), "open").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("../secret.txt", granted.join("a")).unwrap();
        symlink("..", granted.join("d")).unwrap();
        symlink(&secret, granted.join("absolute")).unwrap();
    }
    let plugin = hostile(folder(&granted, true));
    let inside = granted.canonicalize().unwrap().join("open.txt");
    for path in ["open.txt", "./x/../open.txt", inside.to_str().unwrap()] {
        let read = text(call(&plugin, "read_any", json!({"path": path})).await);
        assert_eq!(read.unwrap(), "open", "{path}");
    }
    let secret = secret.to_str().unwrap();
    for path in [
        "a",
        "a/",
        "d/secret.txt",
        "absolute",
        "../secret.txt",
        "x/../../secret.txt",
        "/etc/hostname",
        "./../secret.txt",
        secret,
    ] {
        for tool in ["read_any", "write_any"] {
            let result = call(&plugin, tool, json!({"path": path})).await;
            assert!(result.outcome.is_err(), "{tool} {path}: {:?}", result.outcome);
        }
    }
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "the canary");
}

#[tokio::test]
async fn a_folder_granted_for_reading_cannot_be_written() {
    let folder_path = tempfile::tempdir().unwrap();
    std::fs::write(folder_path.path().join("open.txt"), "open").unwrap();
    let plugin = hostile(folder(folder_path.path(), false));
    for path in ["open.txt", "new.txt"] {
        let result = call(&plugin, "write_any", json!({"path": path})).await;
        assert!(result.outcome.is_err(), "{path}");
    }
    assert_eq!(std::fs::read_to_string(folder_path.path().join("open.txt")).unwrap(), "open");
    assert!(!folder_path.path().join("new.txt").exists());
}

#[tokio::test]
async fn a_granted_folder_that_is_gone_is_a_failure_that_names_it() {
    let folder_path = tempfile::tempdir().unwrap();
    let effective = folder(folder_path.path(), true);
    let path = folder_path.path().canonicalize().unwrap();
    drop(folder_path);
    // The tool may write, but this call cannot have begun.
    let result = call(&hostile(effective), "write_any", json!({"path": "x"})).await;
    let failure = result.outcome.unwrap_err();
    let wanted =
        format!("plugin \"hostile\" cannot run: the granted folder {} cannot", path.display());
    assert!(failure.message.starts_with(&wanted), "{}", failure.message);
    assert_eq!((&*failure.code, result.effect), (code::UNAVAILABLE, Effect::None));
}

#[tokio::test]
async fn there_are_no_sockets_no_requests_and_no_processes() {
    let plugin = hostile(Effective::default());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    assert!(call(&plugin, "connect", json!({"path": address})).await.outcome.is_err());

    let url = format!("http://{address}/");
    let denied = failure(call(&plugin, "fetch", json!({"path": url})).await);
    assert_eq!(denied.code, code::DENIED);
    assert_eq!(
        denied.message,
        format!(
            "denied: GET {url} is not in the http grants of plugin \"hostile\". Not retryable. To allow it: \
             hermes-host plugins grant hostile http:{url}"
        )
    );
    let denied = failure(call(&plugin, "run", json!({"path": "ls"})).await);
    assert_eq!(denied.code, code::DENIED);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nobody ever connected");
}

#[tokio::test]
async fn state_is_a_plugins_own() {
    let plugin = hostile(Effective::default());
    assert_eq!(text(call(&plugin, "remember", json!({"key": "k"})).await).unwrap(), "nothing");
    text(call(&plugin, "remember", json!({"key": "k", "value": "v"})).await).unwrap();
    assert_eq!(text(call(&plugin, "remember", json!({"key": "k"})).await).unwrap(), "v");
    let long = "k".repeat(300);
    let refused = failure(call(&plugin, "remember", json!({"key": long, "value": "v"})).await);
    assert_eq!(refused.message, "a state key has 1 to 256 bytes, not 300");
}
