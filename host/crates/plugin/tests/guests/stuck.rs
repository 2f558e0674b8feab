//! Calls that hang where nothing can interrupt them: they cost their plugin, and nobody else.
#![cfg(unix)]

use std::process::Command;
use std::time::Duration;

use hermes_core::failure::code;
use hermes_core::message::Effect;
use hermes_plugin::Plugin;
use hermes_plugin::policy::{Effective, Folder, Limits};
use serde_json::{Map, json};

use super::rig::{failure, guest, invocation, sandbox, text, tool};

/// A plugin whose folder has a pipe nobody writes to.
fn piped(folder: &std::path::Path, wall: Duration) -> std::sync::Arc<Plugin> {
    assert!(Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    let host_path = folder.canonicalize().unwrap();
    let fs = vec![Folder { host_path, guest_path: None, writable: true }];
    let inspected = sandbox().inspect(&guest("hostile")).unwrap();
    let effective = Effective { fs, ..Effective::default() };
    let limits = Limits { wall, ..Limits::default() };
    Plugin::new(&sandbox(), "piped", inspected, effective, limits, Map::new())
}

/// Lets go of what hangs in the pipe.
fn release(folder: &std::path::Path) {
    let both = std::fs::File::options().read(true).write(true).open(folder.join("pipe")).unwrap();
    drop(both);
}

#[tokio::test]
async fn calls_that_hang_take_the_turns_of_their_own_plugin_only() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = piped(folder.path(), Duration::from_millis(300));
    let read = tool(&plugin, "write_any");
    let hanging: Vec<_> = (0..16)
        .map(|_| {
            let read = read.clone();
            tokio::spawn(async move { read.call(invocation(json!({"path": "pipe"}))).await })
        })
        .collect();
    for call in hanging {
        let result = call.await.unwrap();
        assert_eq!(result.effect, Effect::Unknown);
        assert_eq!(failure(result).code, code::TIMEOUT);
    }
    let next = tool(&plugin, "echo").call(invocation(json!({"text": "x"}))).await;
    assert_eq!(next.effect, Effect::None);
    let next = failure(next);
    assert_eq!(
        (&*next.code, &*next.message),
        (
            code::UNAVAILABLE,
            "plugin \"piped\" cannot run: its other calls are still under way, and none has ended"
        )
    );
    let other = super::rig::hostile(Effective::default());
    let echoed = tool(&other, "echo").call(invocation(json!({"text": "alive"}))).await;
    assert_eq!(text(echoed).unwrap(), "alive");
    release(folder.path());
    let echoed = tool(&plugin, "echo").call(invocation(json!({"text": "free"}))).await;
    assert_eq!(text(echoed).unwrap(), "free");
}

#[tokio::test]
async fn an_interrupt_does_not_wait_for_a_call_that_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = piped(folder.path(), Duration::from_secs(60));
    let invocation = invocation(json!({"path": "pipe"}));
    invocation.cancel.cancel();
    let result = tool(&plugin, "write_any").call(invocation).await;
    assert_eq!(result.effect, Effect::Unknown);
    assert_eq!(failure(result).code, code::CANCELLED);
    release(folder.path());
}
