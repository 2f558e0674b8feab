//! One bad plugin never stops the host.

use serde_json::json;

use crate::rig::{User, component};

#[test]
fn bad_plugins_are_refused_beside_a_good_one() {
    let user = User::new();
    user.plugin("files", &component("files"), "");
    user.plugin("empty", b"", "").plugin("junk", b"junk", "").plugin("unknown", b"", "[grant]\n");
    user.plugin("unbuilt", b"", "");
    std::fs::remove_file(user.root().join("plugins/unbuilt/p.wasm")).unwrap();
    user.file("plugins/fast.cwasm", "");
    let at = "ME/plugins";
    assert_eq!(
        user.states(),
        [
            format!("empty refused []: {at}/empty/p.wasm is empty; build the plugin again"),
            format!(
                "fast refused []: {at}/fast.cwasm is precompiled code, which is not loaded from a plugin folder; put the .wasm it was compiled from there"
            ),
            "files loaded []".into(),
            format!(
                "junk refused []: {at}/junk/p.wasm is no WebAssembly; place a component, as `hermes-host plugins build` makes it"
            ),
            format!(
                "unbuilt refused []: {at}/unbuilt/p.wasm does not exist; build it: hermes-host plugins build {at}/unbuilt"
            ),
            format!(
                "unknown refused []: {at}/unknown/plugin.toml:5: unknown key `grant`; known here: plugin, hooks, request, limits, config"
            ),
        ]
    );
    let tools = user.load().tools.len();
    assert_eq!(tools, 6, "the tools of the good one");
}

#[test]
fn a_tool_in_two_plugins_is_refused_in_both_with_both_paths() {
    let user = User::new();
    user.plugin("one", &component("files"), "").plugin("two", &component("files"), "");
    user.plugin("other", &component("hostile"), "");
    let tool = user.load().plugins[0].reason.clone().unwrap();
    let tool = tool.split('"').nth(1).unwrap().to_owned();
    let both = format!(
        "the tool \"{tool}\" is in ME/plugins/one and ME/plugins/two; rename it in one, or disable \
         one: [plugins.NAME] enabled = false in config.toml"
    );
    assert_eq!(
        user.states(),
        [
            format!("one refused []: {both}"),
            "other loaded []".into(),
            format!("two refused []: {both}"),
        ]
    );
}

#[test]
fn disabling_one_of_two_settles_a_collision() {
    let mut user = User::new();
    user.plugin("one", &component("files"), "").plugin("two", &component("files"), "");
    user.configure("two", json!({"enabled": false}));
    assert_eq!(user.states()[0], "one loaded []");
}

#[test]
fn no_plugin_shadows_a_tool_of_the_host() {
    let mut user = User::new();
    user.plugin("files", &component("files"), "");
    user.reserved = vec!["read_file".into()];
    assert_eq!(
        user.states(),
        ["files refused []: its tool \"read_file\" (ME/plugins/files) has the name of a tool of \
          the host; rename it"]
    );
}

#[test]
fn a_hook_that_only_one_side_knows_of_is_refused() {
    let user = User::new();
    let hook = "[[hooks]]\npoint = \"pre_tool_call\"\ntools = [\"*\"]\n";
    user.plugin("a", &component("files"), hook);
    user.plugin("b", &component("gate"), "").file("plugins/c.wasm", component("gate"));
    assert_eq!(
        user.states(),
        [
            "a refused []: plugin.toml has a hook at pre_tool_call, but ME/plugins/a/p.wasm does \
             not export pre-tool-call; build the component with it, or remove the hook",
            "b refused []: ME/plugins/b/p.wasm exports only hooks, and plugin.toml has no \
             [[hooks]] to say for which tools; write [[hooks]] with point and tools",
            "c refused []: ME/plugins/c.wasm exports only hooks, and there is no plugin.toml \
             beside it to say for which tools; write [[hooks]] with point and tools",
        ]
    );
}

#[test]
fn settings_and_limits_that_do_not_fit_refuse_the_plugin() {
    let mut user = User::new();
    let schema = "[config]\ntype = \"object\"\n[config.properties.depth]\ntype = \"integer\"\n";
    user.plugin("files", &component("files"), schema);
    for (settings, expected) in [
        (
            json!({"config": {"dept": 1}}),
            "in config.toml, [plugins.files]: unknown key `config.dept`; did you mean `depth`?",
        ),
        (
            json!({"limits": {"memory_mib": 0}}),
            "in config.toml, [plugins.files]: limits.memory_mib = 0: must be a whole number from 1 \
             to 1024",
        ),
    ] {
        user.configure("files", settings);
        assert_eq!(user.states(), [format!("files refused []: {expected}")]);
    }
    user.configure("files", json!({"config": {"depth": 1}, "limits": {"memory_mib": 16}}));
    assert_eq!(user.states(), ["files loaded []"]);
}

#[test]
fn the_result_limit_of_the_user_holds_for_every_tool() {
    let mut user = User::new();
    user.plugin("files", &component("files"), "[limits]\nresult_bytes = 1000\n");
    let caps = |user: &User| -> Vec<Option<usize>> {
        user.load().tools.iter().map(|tool| tool.spec().traits.max_result_bytes).collect()
    };
    assert_eq!(caps(&user), [Some(1000); 6]);
    user.configure("files", json!({"limits": {"result_bytes": 2000}}));
    assert_eq!(caps(&user), [Some(2000); 6]);
}
