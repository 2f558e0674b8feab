//! Manifests and what is said of them: every field once right and at least once wrong.
#![allow(clippy::unwrap_used)]

mod requests;
mod set_up;

use std::path::Path;
use std::time::Duration;

use super::*;
use crate::policy::{HookPowers, Limits};
use crate::secret::Inject;

const WHOLE: &str = r#"
[plugin]
name = "github"
title = "GitHub"
version = "0.2.0"
description = "Issues and pull requests"
license = "MIT"
wit = "0.1"
component = "github.wasm"

[[hooks]]
point = "pre_tool_call"
tools = ["write_*", "terminal"]
priority = 10
timeout_ms = 100

[[hooks]]
point = "post_tool_call"
tools = ["*"]

[[hooks]]
point = "observer"
points = ["turn_end"]

[[request.http]]
hosts = ["api.github.com", "*.githubusercontent.com"]
methods = ["GET", "POST"]
paths = ["/repos/**"]
max_request_bytes = 1000
max_response_bytes = 2000
per_minute = 60

[[request.http]]
hosts = ["localhost"]
schemes = ["http"]
ports = [8080]
allow_private = true

[[request.fs]]
path = "*"
mode = "rw"

[[request.fs]]
path = "~/.config/gh"
guest = "/config"

[[request.secret]]
name = "GITHUB_TOKEN"
audience = "https://api.github.com"
inject = { header = "Authorization", prefix = "Bearer " }
hint = "Settings, Developer settings, Tokens"

[[request.secret]]
name = "KEY"
audience = "https://example.com"
inject = { query = "key" }

[[request.process]]
argv = ["git", "status|diff", "*"]

[[request.env]]
variables = ["LANG", "TZ"]

[[request.hook]]
powers = ["full", "rewrite"]

[request.state]
max_bytes = 2048
max_keys = 10

[limits]
memory_mib = 64
wall_ms = 1000
result_bytes = 4096
http_calls = 3

[config]
type = "object"
required = ["owner"]
[config.properties.owner]
type = "string"
title = "Owner"
[config.properties.limit]
type = "integer"
default = 10
"#;

fn parse(text: &str) -> Result<Manifest, String> {
    Manifest::parse(Path::new("p/plugin.toml"), text).map_err(|error| error.to_string())
}

#[test]
fn a_whole_manifest_is_read() {
    let manifest = parse(WHOLE).unwrap();
    assert_eq!(
        (&*manifest.name, manifest.title.as_deref(), &*manifest.version, &*manifest.description),
        ("github", Some("GitHub"), "0.2.0", "Issues and pull requests")
    );
    assert_eq!((manifest.license.as_deref(), &*manifest.component), (Some("MIT"), "github.wasm"));
    let hook = |point, globs: &[&str], priority, timeout: Option<u64>| HookEntry {
        point,
        globs: globs.iter().map(ToString::to_string).collect(),
        priority,
        timeout: timeout.map(Duration::from_millis),
    };
    assert_eq!(
        manifest.hooks,
        [
            hook(HookPoint::PreToolCall, &["write_*", "terminal"], 10, Some(100)),
            hook(HookPoint::PostToolCall, &["*"], 50, None),
            hook(HookPoint::Observer, &["turn_end"], 50, None),
        ]
    );
    assert_eq!(manifest.gates(), ["write_*", "terminal"]);
    assert_eq!(
        manifest.request.lines(),
        [
            "http:GET,POST:https://api.github.com/repos/**",
            "http:GET,POST:https://*.githubusercontent.com/repos/**",
            "http-private:GET:http://localhost:8080",
            "fs:*:rw",
            "fs:~/.config/gh:ro",
            "secret:GITHUB_TOKEN",
            "secret:KEY",
            "process:git diff|status *",
            "env:LANG",
            "env:TZ",
            "hook:full,rewrite",
        ]
    );
    let http = &manifest.request.http[0];
    assert_eq!(
        (http.max_request_bytes, http.max_response_bytes, http.per_minute),
        (Some(1000), Some(2000), Some(60))
    );
    assert_eq!(manifest.request.fs[1].guest.as_deref(), Some("/config"));
    assert_eq!(
        manifest.request.secrets.iter().map(|secret| secret.inject.clone()).collect::<Vec<_>>(),
        [
            Inject::Header { header: "Authorization".into(), prefix: "Bearer ".into() },
            Inject::Query { query: "key".into() },
        ]
    );
    assert_eq!(manifest.request.hook, HookPowers { full: true, rewrite: true, replace: false });
    assert_eq!((manifest.request.state.max_bytes, manifest.request.state.max_keys), (2048, 10));
    assert_eq!(
        LimitSettings::resolve(manifest.limits, LimitSettings::default()),
        Limits {
            memory_bytes: 64 << 20,
            wall: Duration::from_secs(1),
            result_bytes: 4096,
            http_calls: 3
        }
    );
    assert_eq!(manifest.digest, crate::digest::sha256(WHOLE.as_bytes()));
}

#[test]
fn a_short_manifest_asks_for_nothing() {
    let manifest = parse("[plugin]\nname = \"a\"\ncomponent = \"a.wasm\"\n").unwrap();
    assert_eq!(manifest.request, Request::default());
    assert_eq!(manifest.request.lines(), Vec::<String>::new());
    assert_eq!(
        (manifest.request.state.max_bytes, manifest.request.state.max_keys),
        (1_048_576, 1000)
    );
    assert_eq!(manifest.limits, LimitSettings::default());
    assert_eq!(LimitSettings::resolve(manifest.limits, manifest.limits), Limits::default());
    assert_eq!(manifest.hooks, []);
}

/// The complaint about a manifest that is right but for these lines, added after line 3 where
/// they are not of `[plugin]`.
fn complaint(lines: &str) -> String {
    let text = format!("[plugin]\nname = \"a\"\ncomponent = \"a.wasm\"\n{lines}\n");
    parse(&text).unwrap_err()
}

#[test]
fn what_is_wrong_under_plugin_is_said_with_file_line_key_and_value() {
    for (text, expected) in [
        ("", "1: `plugin` is missing; write [plugin] with name and component"),
        ("plugin = 3", "1: plugin = 3: must be a table; write [plugin]"),
        ("[plugin]\nname = ", "2: not TOML: string values must be quoted, expected literal string"),
        (
            "[plugin]\ncomponent = \"a.wasm\"",
            "1: plugin: `name` is missing; write name = \"my-plugin\"",
        ),
        ("[plugin]\nname = 1", "2: plugin.name = 1: must be a string"),
        (
            "[plugin]\nname = \"My Plugin\"",
            "2: plugin.name = \"My Plugin\": must be 1 to 40 of the characters a-z, 0-9 and -",
        ),
        (
            "[plugin]\nname = \"a\"",
            "1: plugin: `component` is missing; write component = \"my-plugin.wasm\"",
        ),
        (
            "[plugin]\nname = \"a\"\ncomponent = \"../a.wasm\"",
            "3: plugin.component = \"../a.wasm\": must be the name of a .wasm file beside \
             plugin.toml, without a folder",
        ),
        (
            "[plugin]\nname = \"a\"\ncomponent = \"a.cwasm\"",
            "3: plugin.component = \"a.cwasm\": precompiled code is not loaded; name the .wasm it \
             was compiled from",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err(), format!("p/plugin.toml:{expected}"), "{text}");
    }
    for (line, expected) in [
        (
            "wit = \"0.2\"",
            "wit = \"0.2\": this host speaks hermes:plugin 0.1; build the plugin \
          for that version and write wit = \"0.1\", or use a host that speaks the other",
        ),
        (
            "wit = \"0.10\"",
            "wit = \"0.10\": this host speaks hermes:plugin 0.1; build the plugin \
          for that version and write wit = \"0.1\", or use a host that speaks the other",
        ),
        ("version = \"a b\"", "version = \"a b\": must be a version, as \"0.1.0\""),
        ("title = \"a\\nb\"", "title = \"a\\nb\": must be one line of at most 1000 bytes"),
        (
            "description = \"\\u001b[2J\"",
            "description = \"\\u001b[2J\": must be one line of at most 1000 bytes",
        ),
        ("license = []", "license = []: must be a string"),
    ] {
        assert_eq!(complaint(line), format!("p/plugin.toml:4: plugin.{expected}"));
    }
    assert!(parse("[plugin]\nname = \"a\"\ncomponent = \"a.wasm\"\nwit = \"0.1.7\"").is_ok());
}

#[test]
fn what_is_wrong_with_a_hook_is_said() {
    let hook = |lines: &str| complaint(&format!("[[hooks]]\n{lines}"));
    let glob = "must be a glob over names of a-z, A-Z, 0-9, _ and -, as \"write_*\"";
    for (lines, expected) in [
        ("", "4: hooks[0]: `point` is missing; write point = \"pre_tool_call\"".to_owned()),
        (
            "point = \"pre_tool\"",
            "5: hooks[0].point = \"pre_tool\": must be \"pre_tool_call\", \"post_tool_call\" or \
             \"observer\""
                .into(),
        ),
        (
            "point = \"pre_tool_call\"",
            "4: hooks[0]: `tools` is missing; write tools = [\"*\"] for every tool".into(),
        ),
        (
            "point = \"observer\"\ntools = [\"*\"]",
            "4: hooks[0]: `points` is missing; write points = [\"turn_start\", \"turn_end\"]"
                .into(),
        ),
        (
            "point = \"pre_tool_call\"\ntools = []",
            "6: hooks[0].tools = []: must not be empty; leave the key out instead".into(),
        ),
        (
            "point = \"pre_tool_call\"\ntools = \"*\"",
            "6: hooks[0].tools = \"*\": must be a list of strings, as [\"…\"]".into(),
        ),
        (
            "point = \"pre_tool_call\"\ntools = [\"a\", \"b c\"]",
            format!("6: hooks[0].tools[1] = \"b c\": {glob}"),
        ),
        (
            "point = \"pre_tool_call\"\ntools = [\"{a\"]",
            "6: hooks[0].tools[0] = \"{a\": is no glob (unclosed alternate group; missing '}' \
             (maybe escape '{' with '[{]'?)); write e.g. \"write_*\""
                .into(),
        ),
        (
            "point = \"pre_tool_call\"\ntools = [\"a\"]\npriority = 1001",
            "7: hooks[0].priority = 1001: must be a whole number from -1000 to 1000".into(),
        ),
        (
            "point = \"pre_tool_call\"\ntools = [\"a\"]\ntimeout_ms = 251",
            "7: hooks[0].timeout_ms = 251: must be a whole number from 1 to 250".into(),
        ),
        (
            "point = \"pre_tool_call\"\ntools = [\"a\"]\npoints = [\"turn_end\"]",
            "7: unknown key `hooks[0].points`; did you mean `point`?".into(),
        ),
    ] {
        assert_eq!(hook(lines), format!("p/plugin.toml:{expected}"), "{lines}");
    }
    assert_eq!(
        complaint("[hooks]\npoint = \"observer\""),
        "p/plugin.toml:4: hooks = [hooks]: must be a list of tables; write [[hooks]]"
    );
}
