//! What a plugin has, and what the model is told of it.

use serde_json::json;

use crate::rig::{User, component};

const ANY: &str = "[[request.fs]]\npath = \"*\"\nmode = \"rw\"\n";

#[test]
fn a_plugin_starts_with_no_grants() {
    let user = User::new();
    user.plugin("files", &component("files"), ANY);
    assert_eq!(user.states(), ["files loaded []"]);
    let description = user.load().tools[0].spec().description.clone();
    let line =
        "\n\nFolders: none. The user can give one: --grant files:fs:PATH:ro (or rw, to write).";
    assert!(description.ends_with(line), "{description}");
}

#[test]
fn a_summary_is_what_plugins_list_prints() {
    let mut user = User::new();
    let hook = "[[hooks]]\npoint = \"pre_tool_call\"\ntools = [\"write_*\"]\n";
    user.plugin(
        "gate",
        &component("gate"),
        &format!("{hook}[[request.hook]]\npowers = [\"full\"]\n"),
    );
    user.grant(&["gate:hook:full,rewrite"]);
    let plugins = serde_json::to_value(&user.load().plugins).unwrap();
    let digest = plugins[0]["digest"].as_str().unwrap().to_owned();
    assert_eq!(digest.len(), 64);
    assert_eq!(
        plugins,
        json!([{
            "name": "gate",
            "version": "1.0.0",
            "description": "",
            "state": "loaded",
            "reason": null,
            "tools": [],
            "hooks": [{"point": "pre_tool_call", "tools": ["write_*"], "priority": 50}],
            "requests": ["hook:full"],
            "grants": ["hook:full"],
            "path": user.root().join("plugins/gate"),
            "digest": digest,
            "warnings": [],
        }])
    );
}

#[test]
fn grants_of_this_process_come_first_and_the_model_is_told_the_folders() {
    let mut user = User::new();
    user.plugin("files", &component("files"), ANY);
    user.registry().grant("files:fs:../other:ro").unwrap();
    user.grant(&["files:fs:.:rw"]);
    assert_eq!(user.states(), ["files loaded [fs:ME/work:rw fs:ME/other:ro]"]);
    let loaded = user.load();
    let read = loaded.tools.iter().find(|tool| tool.spec().name == "read_file").unwrap();
    let description = user.short(&read.spec().description);
    let line = "\n\nFolders: ME/work (read-write), ME/other (read-only). Relative paths start at \
                ME/work.";
    assert!(description.ends_with(line), "{description}");
    // The fingerprint is of the component's own words.
    assert_eq!(user.states(), ["files loaded [fs:ME/work:rw fs:ME/other:ro]"]);
}

#[test]
fn a_grant_that_cannot_be_given_stops_the_run() {
    let mut user = User::new();
    user.plugin("files", &component("files"), ANY).file("plugins/bare.wasm", component("gate"));
    user.file("plugins/tool.wasm", component("hostile"));
    for (grant, expected) in [
        (
            "fiels:fs:.:ro",
            "--grant fiels:fs:.:ro: there is no plugin \"fiels\"; did you mean \"files\"?",
        ),
        ("x:fs:.:ro", "--grant x:fs:.:ro: there is no plugin \"x\"; there are bare, files, tool"),
        (
            "files:fs:.",
            "grant \"files:fs:.\": a folder needs its mode after the last colon: fs:PATH:ro or fs:PATH:rw",
        ),
        (
            "files:fs:gone:ro",
            "--grant files:fs:gone:ro: cannot use the folder ME/work/gone: No such file or directory (os error 2)",
        ),
        (
            "files:fs:../home:rw",
            "--grant files:fs:../home:rw: ME/home overlaps the home folder of hermes-host, ME/home; grant a folder beside it",
        ),
        (
            "files:fs:..:ro",
            "--grant files:fs:..:ro: ME overlaps the home folder of hermes-host, ME/home; grant a folder beside it",
        ),
        (
            "files:env:TZ",
            "grant files:env:TZ: the plugin does not ask for it in its manifest, and only what it asks for can be granted; it asks for fs:*:rw",
        ),
        (
            "tool:fs:.:ro",
            "grant tool:fs:ME/work:ro: the plugin asks for nothing in its manifest, and only what it asks for can be granted",
        ),
    ] {
        user.file("home/config.toml", "");
        user.grant(&[grant]);
        assert_eq!(user.load_error(), expected);
        assert!(!user.root().join("home/grants.toml").exists(), "nothing is recorded: {grant}");
    }
    // A grant for what is refused anyway is no mistake of this run.
    user.grant(&["bare:fs:.:ro"]);
    assert!(user.states()[0].starts_with("bare refused []: "));
}

#[test]
fn grants_are_kept_and_taken_away() {
    let user = User::new();
    user.plugin("files", &component("files"), ANY);
    assert_eq!(
        user.registry().grant("files:fs:.:rw").unwrap()[0].to_string(),
        format!("fs:{}/work:rw", user.root().display())
    );
    user.registry().grant("files:fs:../other:ro").unwrap();
    assert_eq!(user.states(), ["files loaded [fs:ME/work:rw fs:ME/other:ro]"]);
    assert!(!user.registry().revoke("files:fs:.:ro").unwrap(), "another mode is another grant");
    assert!(user.registry().revoke("files:fs:.:rw").unwrap());
    assert_eq!(user.states(), ["files loaded [fs:ME/other:ro]"]);
    std::fs::remove_dir(user.root().join("other")).unwrap();
    assert_eq!(
        user.states(),
        ["files loaded []: grant fs:ME/other:ro is not in force: cannot use the folder ME/other: \
          No such file or directory (os error 2)"]
    );
    assert!(
        user.registry().revoke(&format!("files:fs:{}/other:ro", user.root().display())).unwrap()
    );
    assert_eq!(user.states(), ["files loaded []"]);
}

#[test]
fn a_granted_folder_that_became_a_link_is_not_followed() {
    let user = User::new();
    user.plugin("files", &component("files"), ANY);
    user.registry().grant("files:fs:../other:rw").unwrap();
    std::fs::remove_dir(user.root().join("other")).unwrap();
    std::os::unix::fs::symlink("work", user.root().join("other")).unwrap();
    assert_eq!(
        user.states(),
        ["files loaded []: grant fs:ME/other:rw is not in force: ME/other is a link now, to \
          ME/work; grant that folder if you mean it"]
    );
    std::fs::remove_file(user.root().join("other")).unwrap();
    std::os::unix::fs::symlink("home", user.root().join("other")).unwrap();
    assert_eq!(
        user.states(),
        [
            "files loaded []: grant fs:ME/other:rw is not in force: ME/home overlaps the home folder \
          of hermes-host, ME/home; grant a folder beside it"
        ]
    );
}

#[test]
fn a_grants_file_that_is_not_understood_stops_the_run() {
    let user = User::new();
    user.plugin("files", &component("files"), ANY).file("home/grants.toml", "grant = 1\n");
    assert_eq!(
        user.load_error(),
        "ME/home/grants.toml:1: grant = 1: must be a list of tables; write [[grant]]"
    );
}

#[test]
fn missing_hook_powers_are_said_at_load() {
    let user = User::new();
    let tables = "[[hooks]]\npoint = \"post_tool_call\"\ntools = [\"*\"]\n\
                  [[request.hook]]\npowers = [\"full\", \"replace\"]\n";
    user.plugin("gate", &component("gate"), tables);
    user.registry().grant("gate:hook:full").unwrap();
    assert_eq!(
        user.states(),
        [
            "gate loaded [hook:full]: its hooks ask for replace and cannot: allow it with hermes-host \
          plugins grant gate hook:replace"
        ]
    );
}
