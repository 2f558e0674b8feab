//! Every wire format through everything a provider can do: the same script, the same outcome. What
//! only one format has is said in its row of the table; all else is asked of all of them.
//!
//! Pauses between attempts are the loop's and are tested there in virtual time; here a pause is
//! real, so a script asks for short ones where it can.

mod endings;
mod faults;
mod ladders;
mod replies;

use serde_json::Value;

use crate::host::Host;
use crate::model::{MODES, Mode, Model};

/// Runs a scenario in each wire format at once.
fn in_each_mode(scenario: impl Fn(&'static Mode) + Sync) {
    let scenario = &scenario;
    let failed = std::thread::scope(|scope| {
        let runs = MODES.map(|mode| (mode.name, scope.spawn(move || scenario(mode))));
        let failed = runs.into_iter().filter_map(|(name, run)| run.join().err().map(|_| name));
        failed.collect::<Vec<_>>()
    });
    assert!(failed.is_empty(), "this fails in {failed:?}; the panics above say how");
}

/// The same, streamed and whole.
fn streamed_and_whole(scenario: impl Fn(&'static Mode, &[&str]) + Sync) {
    in_each_mode(|mode| {
        scenario(mode, &[]);
        scenario(mode, &["--no-stream"]);
    });
}

/// A host that asks `model` in a wire format.
fn host(mode: &Mode, model: &Model) -> Host {
    Host::asking(model.url()).args(["--api-mode", mode.name])
}

/// The contents of a result's messages, without those of the roles left out.
fn contents<'a>(result: &'a Value, role: &str) -> Vec<&'a str> {
    let messages = result["messages"].as_array().unwrap().iter();
    let of_role = messages.filter(|message| message["role"] == role);
    of_role.map(|message| message["content"].as_str().unwrap()).collect()
}
