//! Request ∩ grant ∩ policy.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::grant::{HostPolicy, Places, Power, effective, narrow};
use crate::manifest::{Manifest, Request};
use crate::policy::{Effective, Folder, HookPowers};

fn request(tables: &str) -> Request {
    let text = format!("[plugin]\nname = \"p\"\ncomponent = \"p.wasm\"\n{tables}");
    Manifest::parse(Path::new("plugin.toml"), &text).unwrap().request
}

fn places() -> Places {
    Places { cwd: "/usr".into(), home: "/nonexistent/home".into(), user_home: Some("/usr".into()) }
}

fn policy() -> HostPolicy {
    HostPolicy { reserved_env: vec!["OPENAI_API_KEY".into()] }
}

fn meet(tables: &str, power: &str) -> Result<String, String> {
    narrow(&request(tables), &Power::parse(power).unwrap(), &policy(), &places())
        .map(|met| met.iter().map(Power::to_string).collect::<Vec<_>>().join(" and "))
}

#[test]
fn a_grant_comes_to_no_more_than_was_asked_for() {
    let any = "[[request.fs]]\npath = \"*\"";
    let within = "[[request.fs]]\npath = \"/usr/lib\"\nmode = \"rw\"";
    let web = "[[request.http]]\nhosts = [\"a.b\", \"*.c\"]\npaths = [\"/v1/**\"]";
    let git = "[[request.process]]\nargv = [\"git\", \"status|diff\", \"*\"]";
    let hook = "[[request.hook]]\npowers = [\"rewrite\"]";
    for (tables, power, met) in [
        (any, "fs:/usr:ro", "fs:/usr:ro"),
        (any, "fs:/usr:rw", "fs:/usr:ro"),
        (within, "fs:/usr/lib:rw", "fs:/usr/lib:rw"),
        (within, "fs:/usr/lib:ro", "fs:/usr/lib:ro"),
        ("[[request.fs]]\npath = \"~/lib\"", "fs:/usr/lib:ro", "fs:/usr/lib:ro"),
        (web, "http:https://a.b", "http:GET:https://a.b/v1/**"),
        (web, "http:GET,POST:https://x.c/v1/y", "http:GET:https://x.c/v1/y"),
        (web, "http-private:https://a.b", "http:GET:https://a.b/v1/**"),
        (git, "process:git diff|log *", "process:git diff *"),
        ("[[request.env]]\nvariables = [\"TZ\"]", "env:TZ", "env:TZ"),
        (hook, "hook:full,rewrite", "hook:rewrite"),
        ("[[request.secret]]\nname = \"K\"\naudience = \"https://x\"", "secret:K", "secret:K"),
    ] {
        assert_eq!(meet(tables, power).as_deref(), Ok(met), "{power}");
    }
}

#[test]
fn a_grant_of_what_was_not_asked_for_says_so() {
    let asks_for = |lines: &str| {
        format!(
            "the plugin does not ask for it in its manifest, and only what it asks for can be \
             granted; it asks for {lines}"
        )
    };
    let env = "[[request.env]]\nvariables = [\"TZ\", \"OPENAI_API_KEY\", \"hermes_host_x\"]";
    let nothing = "the plugin asks for nothing in its manifest, and only what it asks for can be \
                   granted";
    let reserved = "holds a credential of the host, which no plugin can have";
    for (tables, power, expected) in [
        ("", "fs:/usr:ro", nothing.to_owned()),
        ("[[request.fs]]\npath = \"/usr/lib\"", "fs:/usr:ro", asks_for("fs:/usr/lib:ro")),
        ("[[request.fs]]\npath = \"/usr/gone\"", "fs:/usr:ro", asks_for("fs:/usr/gone:ro")),
        (
            "[[request.http]]\nhosts = [\"a.b\"]",
            "http:https://a.c",
            asks_for("http:GET:https://a.b"),
        ),
        ("[[request.process]]\nargv = [\"git\"]", "process:git push", asks_for("process:git")),
        ("[[request.hook]]\npowers = [\"rewrite\"]", "hook:replace", asks_for("hook:rewrite")),
        (
            "[[request.secret]]\nname = \"K\"\naudience = \"https://x\"",
            "secret:L",
            asks_for("secret:K"),
        ),
        ("[[request.env]]\nvariables = [\"TZ\"]", "env:LANG", asks_for("env:TZ")),
        (env, "env:OPENAI_API_KEY", reserved.into()),
        (env, "env:hermes_host_x", reserved.into()),
    ] {
        assert_eq!(meet(tables, power).unwrap_err(), expected, "{power}");
    }
}

#[test]
fn b127_only_granted_variables_are_in_the_environment() {
    let asked = request("[[request.env]]\nvariables = [\"TZ\", \"LANG\", \"UNSET\"]");
    let granted = ["env:TZ", "env:UNSET", "env:HOME"].map(|text| Power::parse(text).unwrap());
    let all = |name: &str| (name != "UNSET").then(|| format!("value of {name}"));
    let effective = effective(&asked, &granted, &policy(), &places(), all);
    assert_eq!(
        effective.env.into_iter().collect::<Vec<_>>(),
        [("TZ".to_owned(), "value of TZ".to_owned())]
    );
}

#[test]
fn folders_keep_the_order_of_their_grants_and_take_mount_points_once() {
    let asked = request(
        "[[request.fs]]\npath = \"*\"\nmode = \"rw\"\n\
         [[request.fs]]\npath = \"/usr/lib\"\nguest = \"/data\"",
    );
    let granted = ["fs:/usr/share:rw", "fs:/usr/lib:ro", "fs:/usr/share:ro", "fs:/usr/lib:rw"]
        .map(|text| Power::parse(text).unwrap());
    let folder = |path: &str, guest: Option<&str>| Folder {
        host_path: PathBuf::from(path),
        guest_path: guest.map(str::to_owned),
        writable: true,
    };
    assert_eq!(
        effective(&asked, &granted, &policy(), &places(), |_| None).fs,
        [folder("/usr/share", None), folder("/usr/lib", Some("/data"))]
    );
}

const TABLES: [&str; 12] = [
    "[[request.fs]]\npath = \"*\"",
    "[[request.fs]]\npath = \"/usr/lib\"\nmode = \"rw\"",
    "[[request.http]]\nhosts = [\"a.b\"]\nmethods = [\"GET\", \"PUT\"]\npaths = [\"/x/**\"]",
    "[[request.http]]\nhosts = [\"*.b\"]\nschemes = [\"http\"]\nallow_private = true",
    "[[request.secret]]\nname = \"K\"\naudience = \"https://a.b\"",
    "[[request.process]]\nargv = [\"git\", \"diff|log\", \"*\"]",
    "[[request.process]]\nargv = [\"git\", \"*\"]",
    "[[request.env]]\nvariables = [\"TZ\"]",
    "[[request.env]]\nvariables = [\"TZ\", \"LANG\", \"OPENAI_API_KEY\"]",
    "[[request.hook]]\npowers = [\"full\"]",
    "[[request.hook]]\npowers = [\"rewrite\", \"replace\"]",
    "[request.state]\nmax_keys = 7",
];

const POWERS: [&str; 18] = [
    "fs:/usr:rw",
    "fs:/usr/lib:rw",
    "fs:/usr/lib:ro",
    "fs:/usr/share:rw",
    "http:https://a.b",
    "http:POST,PUT:https://a.b/x/y",
    "http:https://*.b/**",
    "http-private:http://c.b",
    "http:http://c.b/z",
    "secret:K",
    "secret:L",
    "process:git diff *",
    "process:git push|log",
    "env:TZ",
    "env:LANG",
    "env:OPENAI_API_KEY",
    "hook:full,rewrite",
    "hook:replace",
];

/// Each power an [`Effective`] holds, as a grant would say it.
fn powers_of(effective: &Effective) -> Vec<Power> {
    let mut texts: Vec<String> = effective.http.clone();
    texts.extend(effective.secrets.iter().map(|rule| format!("secret:{}", rule.name)));
    texts.extend(effective.process.iter().map(|argv| format!("process:{argv}")));
    texts.extend(effective.env.keys().map(|name| format!("env:{name}")));
    let mut powers: Vec<Power> = texts.iter().map(|text| Power::parse(text).unwrap()).collect();
    powers.extend(
        effective
            .fs
            .iter()
            .map(|folder| Power::Fs { path: folder.host_path.clone(), writable: folder.writable }),
    );
    let HookPowers { full, rewrite, replace } = effective.hook_powers;
    let none = HookPowers::default();
    powers.extend(full.then_some(Power::Hook(HookPowers { full, ..none })));
    powers.extend(rewrite.then_some(Power::Hook(HookPowers { rewrite, ..none })));
    powers.extend(replace.then_some(Power::Hook(HookPowers { replace, ..none })));
    powers
}

/// Whether `small` is within `large`, judged apart from the code under test.
fn within(small: &Power, large: &Power) -> bool {
    match (small, large) {
        (Power::Fs { path, writable }, Power::Fs { path: of, writable: may_write }) => {
            path == of && (!writable || *may_write)
        }
        (Power::Http(small), Power::Http(large)) => small.intersect(large).as_ref() == Some(small),
        (Power::Process(small), Power::Process(large)) => {
            small.intersect(large).as_ref() == Some(small)
        }
        (Power::Hook(small), Power::Hook(large)) => {
            (!small.full || large.full)
                && (!small.rewrite || large.rewrite)
                && (!small.replace || large.replace)
        }
        (small, large) => small == large,
    }
}

/// The request as the most anybody could be granted of it.
fn asked_powers(request: &Request) -> Vec<Power> {
    let lines = request.lines();
    let plain = lines.iter().filter(|line| !line.starts_with("fs:"));
    plain.map(|line| Power::parse(line).unwrap()).collect()
}

fn asked_folder(request: &Request, path: &Path, writable: bool) -> bool {
    let lines = request.lines();
    let covered = |line: &&String| {
        line.starts_with("fs:*:")
            || (line.starts_with("fs:/usr/lib:") && path.starts_with("/usr/lib"))
    };
    lines.iter().filter(covered).any(|line| !writable || line.ends_with(":rw"))
}

proptest! {
    #[test]
    fn what_holds_exceeds_neither_the_request_nor_the_grants(
        tables in prop::sample::subsequence(TABLES.to_vec(), 0..=TABLES.len()),
        granted in prop::sample::subsequence(POWERS.to_vec(), 0..=POWERS.len()),
    ) {
        let request = request(&tables.join("\n"));
        let granted: Vec<Power> = granted.iter().map(|text| Power::parse(text).unwrap()).collect();
        let effective =
            effective(&request, &granted, &policy(), &places(), |name| Some(name.into()));
        prop_assert_eq!(effective.state, request.state);
        for power in powers_of(&effective) {
            prop_assert!(granted.iter().any(|grant| within(&power, grant)), "{} not granted", power);
            let asked = match &power {
                Power::Fs { path, writable } => asked_folder(&request, path, *writable),
                _ => asked_powers(&request).iter().any(|asked| within(&power, asked)),
            };
            prop_assert!(asked, "{} not asked for", power);
            prop_assert_ne!(power, Power::Env("OPENAI_API_KEY".into()));
        }
    }
}
