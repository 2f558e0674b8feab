//! Plugins as a user meets them: loaded, refused, granted, called; and whatever a guest does, the
//! host and the other calls go on.

use serde_json::{Value, json};

use crate::host::{Host, guests};
use crate::model::{Model, calls, text};

fn list(host: &Host) -> Vec<Value> {
    let output = host.run(&["plugins", "list", "--output", "json"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn every_misbehaviour_is_a_tool_result_and_the_turn_goes_on() {
    let ways = ["panic", "loop", "memory_bomb", "recurse", "huge_result", "sleep"];
    let asked: Vec<_> = ways.iter().map(|way| (*way, "misbehave", json!({"how": way}))).collect();
    let mut asked: Vec<_> =
        asked.iter().map(|(id, tool, arguments)| (*id, *tool, arguments.clone())).collect();
    asked.push(("healthy", "echo", json!({"text": "still here"})));
    let model = Model::new([calls(&asked), text("survived")]);
    let result = Host::asking(model.url()).with_guests("").ask("go");
    assert_eq!(result["final_response"], "survived");
    let results: Vec<&str> = result["messages"].as_array().unwrap()[2..9]
        .iter()
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert_eq!(
        results,
        [
            "error [internal]: plugin \"hostile\" panicked: the canary died",
            "error [timeout]: plugin \"hostile\" gave no answer within 2000 ms",
            "error [internal]: plugin \"hostile\" ran out of memory: it may use 64 MiB",
            "error [internal]: plugin \"hostile\" trapped: wasm trap: out of bounds memory access",
            "error [too-large]: the result has 50000000 bytes; at most 16 MiB are allowed. Ask for less",
            "error [timeout]: plugin \"hostile\" gave no answer within 2000 ms",
            "still here",
        ]
    );
}

#[test]
fn b134_a_gate_that_fails_denies_visibly() {
    for how in ["trap", "loop", "error", "memory"] {
        let model = Model::new([calls(&[("c1", "echo", json!({"text": "ran"}))]), text("ok")]);
        let settings = format!("[plugins.gate.config]\ncheck = \"{how}\"\n");
        let host = Host::asking(model.url()).with_guests(&settings);
        let output = host.run(&["-v", "-q", "go", "--output", "json"]);
        let result: Value = serde_json::from_str(&output.stdout).unwrap();
        let answer = result["messages"][2]["content"].as_str().unwrap();
        assert!(
            answer.starts_with("error [denied]: denied by policy gate: the hook "),
            "{how}: {answer}"
        );
        assert!(!answer.contains("words of the guest's own"), "an instruction channel: {answer}");
    }
}

#[test]
fn hooks_act_with_the_powers_they_were_granted() {
    let settings = "[plugins.gate.config]\ncheck = \"rewrite\"\nreview = \"replace\"\n";
    let model = || Model::new([calls(&[("c1", "echo", json!({"text": "own"}))]), text("ok")]);
    let asked = model();
    let host = Host::asking(asked.url()).with_guests(settings);
    let denied = host.ask("go");
    assert_eq!(
        denied["messages"][2]["content"],
        "error [denied]: denied by policy gate: the hook rewrote the arguments without the power to"
    );
    let asked = model();
    let host = Host::asking(asked.url()).with_guests(settings);
    let host = host.args(["--grant", "gate:hook:full,rewrite,replace"]);
    let replaced = host.ask("go");
    assert_eq!(replaced["messages"][2]["content"], "replaced");
    assert_eq!(
        replaced["messages"][1]["tool_calls"][0]["function"]["arguments"],
        "{\"text\":\"own\"}"
    );
}

#[test]
fn an_asking_gate_needs_a_person_or_yes() {
    let settings = "[plugins.gate.config]\ncheck = \"ask\"\n";
    for (args, wanted) in [
        (vec![], "error [denied]: policy gate asks for the user's approval, and it was not given"),
        (vec!["--yes"], "ran"),
    ] {
        let model = Model::new([calls(&[("c1", "echo", json!({"text": "ran"}))]), text("ok")]);
        let result = Host::asking(model.url()).with_guests(settings).args(args).ask("go");
        assert_eq!(result["messages"][2]["content"], wanted);
    }
}

#[test]
fn b127_the_hosts_environment_stays_outside() {
    let host = Host::new()
        .env("CANARY_ENV", "leak")
        .env("HERMES_HOST_API_KEY", "sk-canary")
        .env("HOSTILE_GRANTED", "yes")
        .with_guests("");
    let bare = host.run(&["plugins", "call", "hostile", "look_around"]);
    assert_eq!(bare.stdout, "env [] args [] stdin \"\"\n", "{bare:?}");
    let granted = host.run(&[
        "plugins",
        "call",
        "hostile",
        "look_around",
        "--grant",
        "hostile:env:HOSTILE_GRANTED",
    ]);
    assert_eq!(granted.stdout, "env [\"HOSTILE_GRANTED=yes\"] args [] stdin \"\"\n", "{granted:?}");
    let refused = host.run(&[
        "plugins",
        "call",
        "hostile",
        "look_around",
        "--grant",
        "hostile:env:HERMES_HOST_API_KEY",
    ]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[test]
fn b121_folders_are_seen_where_they_were_granted_and_nowhere_else() {
    let host = Host::new().with_guests("");
    host.write("open.txt", "open");
    let read = |path: &str, grant: &str| {
        let arguments = json!({"path": path}).to_string();
        host.run(&["plugins", "call", "hostile", "read_any", &arguments, "--grant", grant])
    };
    let absolute = host.work.path().canonicalize().unwrap().join("open.txt");
    assert_eq!(read("open.txt", "hostile:fs:.:ro").stdout, "open\n");
    assert_eq!(read(absolute.to_str().unwrap(), "hostile:fs:.:ro").stdout, "open\n");
    let outside = read("../state.db", "hostile:fs:.:ro");
    assert_eq!(outside.code, Some(1), "{outside:?}");
    let home = read("x", &format!("hostile:fs:{}:ro", host.home().display()));
    assert_eq!(home.code, Some(2));
    assert!(home.stderr.contains("overlaps the home folder"), "{}", home.stderr);
    let missing = read("x", "hostile:fs:./nowhere:ro");
    assert_eq!(missing.code, Some(2), "{missing:?}");
}

#[test]
fn b130_files_that_are_no_plugins_are_refused_and_the_others_load() {
    let host = Host::new();
    let folder = host.work.path().join("plugins");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(guests().join("hostile/hostile.wasm"), folder.join("good.wasm")).unwrap();
    std::fs::write(folder.join("empty.wasm"), "").unwrap();
    std::fs::write(folder.join("text.wasm"), "hello").unwrap();
    std::fs::write(folder.join("module.wasm"), b"\0asm\x01\0\0\0").unwrap();
    std::fs::write(folder.join("native.wasm"), b"\x7fELF....").unwrap();
    std::fs::create_dir(folder.join("broken")).unwrap();
    std::fs::write(folder.join("broken/plugin.toml"), "[plugin]\nname = \"broken\"\ncomponent = ")
        .unwrap();
    std::fs::create_dir(folder.join("unbuilt")).unwrap();
    std::fs::write(
        folder.join("unbuilt/plugin.toml"),
        "[plugin]\nname = \"unbuilt\"\ncomponent = \"x.wasm\"\n",
    )
    .unwrap();
    let host = host.args(["--plugins", folder.to_str().unwrap()]);
    let plugins = list(&host);
    let state = |name: &str| {
        let plugin = plugins
            .iter()
            .find(|plugin| plugin["name"] == name)
            .unwrap_or_else(|| panic!("{name} in {plugins:?}"));
        (
            plugin["state"].as_str().unwrap().to_owned(),
            plugin["reason"].as_str().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(state("good"), ("loaded".to_owned(), String::new()));
    for (name, wanted) in [
        ("empty", "is empty; build the plugin again"),
        ("text", "is no WebAssembly"),
        ("module", "is a core module, not a component"),
        ("native", "is compiled code (a .cwasm or a native library)"),
        ("broken", "plugin.toml"),
        ("unbuilt", "build it"),
    ] {
        let (state, reason) = state(name);
        assert_eq!(state, "refused", "{name}");
        assert!(reason.contains(wanted), "{name}: {reason}");
    }
    let model = Model::new([text("ok")]);
    let asked = host.run(&["--base-url", model.url(), "--model", "fake", "-q", "hi"]);
    assert_eq!((asked.code, &*asked.stdout), (Some(0), "ok\n"));
    assert!(asked.stderr.contains("hermes-host: plugin empty: is refused: "), "{}", asked.stderr);
    let called = host.run(&["plugins", "call", "good", "echo", "{\"text\":\"works\"}"]);
    assert_eq!(called.stdout, "works\n", "{called:?}");
}

#[test]
fn two_plugins_of_one_name_are_both_refused() {
    let host = Host::new();
    for copy in ["one", "two"] {
        let folder = host.work.path().join(copy).join("hostile");
        std::fs::create_dir_all(&folder).unwrap();
        for file in ["plugin.toml", "hostile.wasm"] {
            std::fs::copy(guests().join("hostile").join(file), folder.join(file)).unwrap();
        }
    }
    let host = host.args(["--plugins", "one", "--plugins", "two"]);
    let plugins = list(&host);
    assert_eq!(plugins.len(), 2);
    for plugin in plugins {
        assert_eq!(plugin["state"], "refused");
        let reason = plugin["reason"].as_str().unwrap();
        assert!(reason.contains("one") && reason.contains("two"), "{reason}");
    }
}

#[test]
fn grants_are_bound_to_bytes_and_changed_bytes_wait_for_approval() {
    let host = Host::new();
    let folder = host.work.path().join("plugins/hostile");
    std::fs::create_dir_all(&folder).unwrap();
    for file in ["plugin.toml", "hostile.wasm"] {
        std::fs::copy(guests().join("hostile").join(file), folder.join(file)).unwrap();
    }
    host.write("open.txt", "open");
    let host = host.args(["--plugins", "plugins"]);
    let granted = host.run(&["plugins", "grant", "hostile", "fs:.:ro"]);
    assert_eq!(granted.code, Some(0), "{granted:?}");
    let read = || host.run(&["plugins", "call", "hostile", "read_any", "{\"path\":\"open.txt\"}"]);
    assert_eq!(read().stdout, "open\n");

    // A custom section changes the bytes and nothing else.
    let mut bytes = std::fs::read(folder.join("hostile.wasm")).unwrap();
    bytes.extend([0, 2, 1, b'x']);
    std::fs::write(folder.join("hostile.wasm"), bytes).unwrap();
    assert_eq!(read().code, Some(1), "a changed plugin has no grants");
    let refused = host.run(&[
        "plugins",
        "call",
        "hostile",
        "read_any",
        "{\"path\":\"open.txt\"}",
        "--grant",
        "hostile:fs:.:ro",
    ]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("plugins approve hostile"), "{}", refused.stderr);
    let approved = host.run(&["plugins", "approve", "hostile"]);
    assert!(approved.stdout.contains("component: sha256"), "{approved:?}");
    assert_eq!(read().stdout, "open\n");
    assert_eq!(host.run(&["plugins", "revoke", "hostile", "fs:.:ro"]).code, Some(0));
    assert_eq!(read().code, Some(1));
}

#[test]
fn a_required_plugin_that_is_not_there_is_exit_2() {
    let output = Host::asking("http://127.0.0.1:9/v1")
        .with_guests("[plugins.guard]\nrequired = true\n")
        .run(&["-q", "hi"]);
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.contains("plugin \"guard\" is required by config.toml"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_call_by_hand_prints_parts_or_the_failure() {
    let host = Host::new().with_guests("");
    let good =
        host.run(&["plugins", "call", "hostile", "echo", "{\"text\":\"hi\"}", "--output", "json"]);
    let good: Value = serde_json::from_str(&good.stdout).unwrap();
    assert_eq!(
        (&good["ok"], &good["parts"]),
        (&json!(true), &json!([{"type": "text", "text": "hi"}]))
    );
    assert_eq!(good["receipt"]["outcome"], "ok");
    let bad = host.run(&["plugins", "call", "hostile", "echo", "{}", "--output", "json"]);
    assert_eq!(bad.code, Some(1));
    let bad: Value = serde_json::from_str(&bad.stdout).unwrap();
    assert_eq!(
        bad["failure"],
        json!({"code": "invalid-arguments", "message": "\"text\" is a required property"})
    );
    let unknown = host.run(&["plugins", "call", "nobody", "echo"]);
    assert_eq!(
        (unknown.code, unknown.stderr.contains("no plugin is named \"nobody\"")),
        (Some(2), true)
    );
}
