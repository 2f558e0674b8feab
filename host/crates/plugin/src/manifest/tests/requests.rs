//! What is said of a request, of limits and of settings that are wrong.

use super::complaint;

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
            "name = \"A\"\naudience = \"https://x\"\ninject = { query = \"k\" }\nbody = true",
            "8: request.secret[0].body = true: only a secret with inject = \"placeholder\" can stand in a body",
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
