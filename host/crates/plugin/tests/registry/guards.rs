//! A guard that is not there closes what it guarded.

use hermes_core::hook::{HookFailure, PreVerdict};
use serde_json::json;

use crate::rig::{User, ask, component};

const GATE: &str = "[[hooks]]\npoint = \"pre_tool_call\"\ntools = [\"write_*\"]\n";

fn not_loaded(detail: &str) -> Option<Result<PreVerdict, HookFailure>> {
    let reason = "is not loaded; `hermes-host plugins list` says why".to_owned();
    Some(Err(HookFailure { reason, detail: detail.to_owned() }))
}

#[test]
fn a_loaded_guard_is_asked_for_the_tools_it_names() {
    let user = User::new();
    user.plugin("gate", &component("gate"), GATE);
    let loaded = user.load();
    assert_eq!(ask(&loaded, "write_file"), Some(Ok(PreVerdict::Proceed)));
    assert_eq!(ask(&loaded, "read_file"), None);
}

#[test]
fn b134_a_guard_that_cannot_be_loaded_denies_what_it_would_have_guarded() {
    let user = User::new();
    user.plugin("gate", b"\0asm junk", GATE);
    let loaded = user.load();
    let reason = loaded.plugins[0].reason.clone().unwrap();
    assert_eq!(ask(&loaded, "write_file"), not_loaded(&reason));
    assert_eq!(ask(&loaded, "read_file"), None);
}

#[test]
fn a_typing_mistake_in_the_manifest_opens_nothing() {
    let user = User::new();
    user.plugin("gate", &component("gate"), &format!("{GATE}[request]\nhtpp = 1\n"));
    let loaded = user.load();
    let detail = loaded.plugins[0].reason.clone().unwrap();
    assert!(
        detail.ends_with("plugin.toml:9: unknown key `request.htpp`; did you mean `http`?"),
        "{detail}"
    );
    assert_eq!(ask(&loaded, "write_file"), not_loaded(&detail));
    assert_eq!(ask(&loaded, "read_file"), None);
}

#[test]
fn an_unreadable_manifest_is_known_by_what_was_approved_there() {
    let user = User::new();
    user.plugin("gate", &component("gate"), GATE);
    assert!(user.load().plugins[0].is_loaded());
    user.file("plugins/gate/plugin.toml", b"\xff");
    let loaded = user.load();
    assert_eq!(loaded.plugins[0].name, "gate");
    assert!(matches!(ask(&loaded, "write_file"), Some(Err(_))));
    assert_eq!(ask(&loaded, "read_file"), None);
}

#[test]
fn a_refused_plugin_still_guards_what_it_guarded_when_it_was_approved() {
    let user = User::new();
    user.plugin("gate", &component("gate"), GATE);
    user.load();
    // Its hooks are gone from the manifest, and so is its component.
    user.plugin("gate", b"", "");
    assert!(matches!(ask(&user.load(), "write_file"), Some(Err(_))));
}

#[test]
fn a_changed_plugin_that_guards_less_closes_the_rest_until_its_user_agrees() {
    let user = User::new();
    let two = "[[hooks]]\npoint = \"pre_tool_call\"\ntools = [\"write_*\", \"terminal\"]\n";
    user.plugin("gate", &component("gate"), two);
    assert_eq!(ask(&user.load(), "terminal"), Some(Ok(PreVerdict::Proceed)));
    user.plugin("gate", &component("gate"), GATE);
    let loaded = user.load();
    assert!(loaded.plugins[0].is_loaded());
    assert_eq!(ask(&loaded, "write_file"), Some(Ok(PreVerdict::Proceed)));
    let Some(Err(HookFailure { reason, detail })) = ask(&loaded, "terminal") else {
        panic!("open");
    };
    assert_eq!(
        reason,
        "changed and does not look at this tool any more; the user can agree to that"
    );
    assert!(
        detail.starts_with(
            "look at the changes and agree to them with hermes-host plugins approve gate: "
        ),
        "{detail}"
    );
    assert!(detail.ends_with("pre_tool_call for removed: terminal"), "{detail}");
    let registry = user.registry();
    registry.approve(&registry.review("gate").unwrap()).unwrap();
    assert_eq!(ask(&user.load(), "terminal"), None);
}

#[test]
fn what_its_user_disabled_guards_nothing() {
    let mut user = User::new();
    user.plugin("gate", b"junk", GATE);
    user.configure("gate", json!({"enabled": false}));
    assert_eq!(
        user.states(),
        ["gate disabled []: disabled in config.toml: [plugins.gate] enabled = false"]
    );
    assert_eq!(ask(&user.load(), "write_file"), None);
}

#[test]
fn the_host_does_not_run_without_a_required_plugin() {
    let mut user = User::new();
    user.configure("gate", json!({"required": true}));
    assert_eq!(
        user.load_error(),
        "plugin \"gate\" is required by config.toml: it is in none of the plugin folders"
    );
    user.plugin("gate", b"junk", GATE);
    assert_eq!(
        user.load_error(),
        "plugin \"gate\" is required by config.toml: it was refused: ME/plugins/gate/p.wasm is no \
         WebAssembly; place a component, as `hermes-host plugins build` makes it"
    );
    user.plugin("gate", &component("gate"), GATE);
    assert_eq!(user.states(), ["gate loaded []"]);
    user.configure("gate", json!({"required": true, "enabled": false}));
    assert_eq!(
        user.load_error(),
        "plugin \"gate\" is required by config.toml: it is also disabled there; remove one of the \
         two"
    );
}
