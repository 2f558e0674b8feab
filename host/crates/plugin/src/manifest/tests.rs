//! Manifests and what is said of them: every field once right and at least once wrong.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::*;
use crate::policy::{HookPowers, Limits};

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

#[test]
fn what_is_wrong_with_a_request_is_said() {
    for (table, lines, expected) in [
        ("http", "", "4: request.http[0]: `hosts` is missing; write hosts = [\"api.example.com\"]"),
        (
            "http",
            "hosts = [\"a\"]\nschemes = [\"ftp\"]",
            "6: request.http[0].schemes[0] = \"ftp\": must be \"https\" or \"http\"",
        ),
        (
            "http",
            "hosts = [\"a\"]\nports = [0]",
            "6: request.http[0].ports[0] = 0: must be a whole number from 1 to 65535",
        ),
        (
            "http",
            "hosts = [\"a\"]\nports = 443",
            "6: request.http[0].ports = 443: must be a list of whole numbers, as [443]",
        ),
        (
            "http",
            "hosts = [\"a\"]\nmethods = [\"get\"]",
            "6: request.http[0].methods[0] = \"get\": must be a method in capitals, as \"GET\"",
        ),
        (
            "http",
            "hosts = [\"a\"]\npaths = [\"x\"]",
            "6: request.http[0].paths[0] = \"x\": must start with /",
        ),
        (
            "http",
            "hosts = [\"a\"]\nallow_private = 1",
            "6: request.http[0].allow_private = 1: must be true or false",
        ),
        (
            "http",
            "hosts = [\"a\"]\nmax_request_bytes = -1",
            "6: request.http[0].max_request_bytes = -1: must be a whole number from 0 to 67108864",
        ),
        (
            "http",
            "hosts = [\"a\"]\nmax_response_bytes = 0",
            "6: request.http[0].max_response_bytes = 0: must be a whole number from 1 to 67108864",
        ),
        (
            "http",
            "hosts = [\"a\"]\nper_minute = 1.5",
            "6: request.http[0].per_minute = 1.5: must be a whole number from 1 to 6000",
        ),
        (
            "http",
            "hosts = [\"a\"]\nallow_privat = true",
            "6: unknown key `request.http[0].allow_privat`; did you mean `allow_private`?",
        ),
        (
            "fs",
            "",
            "4: request.fs[0]: `path` is missing; write path = \"*\" for a folder the user chooses",
        ),
        (
            "fs",
            "path = \"data\"",
            "5: request.fs[0].path = \"data\": must be \"*\" (the user chooses) or a path that starts with / or ~/, without . and ..",
        ),
        (
            "fs",
            "path = \"/a/../b\"",
            "5: request.fs[0].path = \"/a/../b\": must be \"*\" (the user chooses) or a path that starts with / or ~/, without . and ..",
        ),
        (
            "fs",
            "path = \"*\"\nmode = \"wr\"",
            "6: request.fs[0].mode = \"wr\": must be \"ro\" or \"rw\"",
        ),
        (
            "fs",
            "path = \"*\"\nguest = \"data\"",
            "6: request.fs[0].guest = \"data\": must be an absolute path in the guest, as \"/data\"",
        ),
        (
            "fs",
            "path = \"*\"\nreadonly = true",
            "6: unknown key `request.fs[0].readonly`; known here: path, guest, mode",
        ),
        ("secret", "", "4: request.secret[0]: `name` is missing; write name = \"SERVICE_TOKEN\""),
        (
            "secret",
            "name = \"token\"",
            "5: request.secret[0].name = \"token\": must be 1 to 64 of the characters A-Z, 0-9 and _, as SERVICE_TOKEN",
        ),
        (
            "secret",
            "name = \"A\"",
            "4: request.secret[0]: `audience` is missing; write audience = \"https://api.example.com\"",
        ),
        (
            "secret",
            "name = \"A\"\naudience = \"https://*.x.y\"",
            "6: request.secret[0].audience = \"https://*.x.y\": must be the origin that receives it, as \"https://api.example.com\"",
        ),
        (
            "secret",
            "name = \"A\"\naudience = \"https://x/y\"",
            "6: request.secret[0].audience = \"https://x/y\": must be the origin that receives it, as \"https://api.example.com\"",
        ),
        (
            "secret",
            "name = \"A\"\naudience = \"https://x\"\ninject = \"body\"",
            "7: request.secret[0].inject = \"body\": must be { header = \"…\", prefix = \"…\" }, { query = \"…\" } or \"placeholder\"",
        ),
        (
            "secret",
            "name = \"A\"\naudience = \"https://x\"\ninject = {}",
            "7: request.secret[0].inject = {}: must be { header = \"…\", prefix = \"…\" }, { query = \"…\" } or \"placeholder\"",
        ),
        (
            "secret",
            "name = \"A\"\naudience = \"https://x\"\ninject = { query = \"k\", prefix = \"a\" }",
            "7: request.secret[0].inject = { query = \"k\", prefix = \"a\" }: must be { header = \"…\", prefix = \"…\" }, { query = \"…\" } or \"placeholder\"",
        ),
        (
            "secret",
            "name = \"A\"\naudience = \"https://x\"\ninject = { header = \"a b\" }",
            "7: request.secret[0].inject.header = \"a b\": must be a name without spaces, as \"Authorization\"",
        ),
        (
            "secret",
            "name = \"A\"\naudience = \"https://x\"\ninject = { heder = \"a\" }",
            "7: unknown key `request.secret[0].inject.heder`; did you mean `header`?",
        ),
        (
            "secret",
            "name = \"A\"\naudience = \"https://x\"\nhint = \"a\\nb\"",
            "7: request.secret[0].hint = \"a\\nb\": must be one line of at most 1000 bytes",
        ),
        (
            "process",
            "",
            "4: request.process[0]: `argv` is missing; write argv = [\"git\", \"status|diff\", \"*\"]",
        ),
        (
            "process",
            "argv = [\"*\"]",
            "5: request.process[0].argv = [\"*\"]: must name its program; `*` may only follow it",
        ),
        (
            "process",
            "argv = [\"sh\", \"-c\"]\nshell = true",
            "6: unknown key `request.process[0].shell`; known here: argv",
        ),
        ("env", "", "4: request.env[0]: `variables` is missing; write variables = [\"LANG\"]"),
        (
            "env",
            "variables = [\"A=B\"]",
            "5: request.env[0].variables[0] = \"A=B\": must be the name of an environment variable, as LANG",
        ),
        (
            "env",
            "variable = \"A\"",
            "4: request.env[0]: `variables` is missing; write variables = [\"LANG\"]",
        ),
        ("hook", "", "4: request.hook[0]: `powers` is missing; write powers = [\"rewrite\"]"),
        (
            "hook",
            "powers = [\"deny\"]",
            "5: request.hook[0].powers[0] = \"deny\": must be \"full\", \"rewrite\" or \"replace\"",
        ),
        (
            "hook",
            "powers = [\"full\"]\nx = 1",
            "6: unknown key `request.hook[0].x`; known here: powers",
        ),
    ] {
        assert_eq!(
            complaint(&format!("[[request.{table}]]\n{lines}")),
            format!("p/plugin.toml:{expected}"),
            "{table}: {lines}"
        );
    }
}

#[test]
fn what_is_wrong_in_the_other_tables_is_said() {
    for (lines, expected) in [
        ("[request]\nhtpp = 1", "5: unknown key `request.htpp`; did you mean `http`?"),
        (
            "[request]\nsockets = 1",
            "5: unknown key `request.sockets`; known here: http, fs, secret, process, env, hook, state",
        ),
        (
            "[request.fs]\npath = \"*\"",
            "4: request.fs = [request.fs]: must be a list of tables; write [[request.fs]]",
        ),
        (
            "[[request.state]]",
            "4: request.state = [[request.state]]: must be a table; write [request.state]",
        ),
        (
            "[request.state]\nmax_bytes = 67108865",
            "5: request.state.max_bytes = 67108865: must be a whole number from 0 to 67108864",
        ),
        (
            "[request.state]\nmax_keys = -1",
            "5: request.state.max_keys = -1: must be a whole number from 0 to 100000",
        ),
        (
            "[request.state]\nttl = 1",
            "5: unknown key `request.state.ttl`; known here: max_bytes, max_keys",
        ),
        (
            "[limits]\nmemory_mib = 2048",
            "5: limits.memory_mib = 2048: must be a whole number from 1 to 1024",
        ),
        ("[limits]\nwall_ms = 0", "5: limits.wall_ms = 0: must be a whole number from 1 to 600000"),
        (
            "[limits]\nresult_bytes = 16777217",
            "5: limits.result_bytes = 16777217: must be a whole number from 1 to 16777216",
        ),
        (
            "[limits]\nhttp_calls = true",
            "5: limits.http_calls = true: must be a whole number from 0 to 10000",
        ),
        (
            "[limits]\nmemory_mb = 1",
            "5: unknown key `limits.memory_mb`; did you mean `memory_mib`?",
        ),
        (
            "[config]\ntype = \"string\"",
            "4: config = [config]: must be the JSON Schema of an object",
        ),
        ("[hook]\npoint = 1", "4: unknown key `hook`; did you mean `hooks`?"),
        ("naem = \"b\"", "4: unknown key `plugin.naem`; did you mean `name`?"),
    ] {
        assert_eq!(complaint(lines), format!("p/plugin.toml:{expected}"), "{lines}");
    }
    let schema = complaint("[config]\ntype = \"object\"\n[config.properties.a]\ntype = \"strin\"");
    assert!(
        schema.starts_with("p/plugin.toml:4: config = [config]: not a usable JSON Schema: "),
        "{schema}"
    );
}

#[test]
fn settings_are_checked_against_the_schema_and_left_as_they_are() {
    let settings = parse(WHOLE).unwrap().settings;
    let check = |given: Value| match given {
        Value::Object(given) => settings.check(&given),
        _ => unreachable!("the tables below are objects"),
    };
    assert_eq!(check(json!({"owner": "me"})), Ok(()));
    for (given, expected) in [
        (json!({}), "config: \"owner\" is a required property"),
        (json!({"owner": "me", "limits": 1}), "unknown key `config.limits`; did you mean `limit`?"),
    ] {
        assert_eq!(check(given).unwrap_err(), expected);
    }
    assert!(
        check(json!({"owner": "me", "limit": "x"})).unwrap_err().starts_with("config: at /limit: ")
    );

    let none = Settings::default();
    assert_eq!(none.check(&Map::new()), Ok(()));
    let given = json!({"a": 1}).as_object().unwrap().clone();
    assert_eq!(
        none.check(&given).unwrap_err(),
        "config.a: the plugin takes no settings; remove the config table"
    );
}

#[test]
fn the_users_limits_go_over_the_manifests_and_stay_within_the_hosts() {
    let manifest = LimitSettings { memory_mib: Some(64), wall_ms: Some(5), ..Default::default() };
    let user = LimitSettings { memory_mib: Some(512), ..Default::default() };
    assert_eq!(user.check(), Ok(()));
    let limits = LimitSettings::resolve(manifest, user);
    assert_eq!((limits.memory_bytes, limits.wall), (512 << 20, Duration::from_millis(5)));
    let beyond = LimitSettings { memory_mib: Some(4096), ..Default::default() };
    assert_eq!(
        beyond.check().unwrap_err(),
        "limits.memory_mib = 4096: must be a whole number from 1 to 1024"
    );
}

#[test]
fn a_broken_manifest_still_tells_what_it_meant_to_guard() {
    let remains = |text: &str| {
        let Remains { name, gates } = Remains::of(text);
        (name.unwrap_or_default(), gates.join(" "))
    };
    let broken = "[plugin]\nname = \"g\"\nnaem = 1\n[[hooks]]\npoint = \"pre_tool_call\"\n";
    for (text, name, gates) in [
        (format!("{broken}tools = [\"a\", \"b_*\"]"), "g", "a b_*"),
        (format!("{broken}tools = \"a\""), "g", "*"),
        (format!("{broken}tools = [\"a b\"]"), "g", "*"),
        (broken.to_owned(), "g", "*"),
        ("[plugin]\nname = \"g\"\n[[hooks]]\npoint = \"pre\"".into(), "g", "*"),
        ("[plugin]\nname = \"g\"\n[[hooks]]\npoint = \"observer\"".into(), "g", ""),
        ("[plugin]\nname = \"G\"".into(), "", ""),
        (format!("{broken}tools = [\"a\"]\nx = = 1"), "g", "a"),
    ] {
        assert_eq!(remains(&text), (name.to_owned(), gates.to_owned()), "{text}");
    }
}
