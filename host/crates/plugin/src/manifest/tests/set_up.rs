//! Settings and limits the user gives, and what a broken manifest still tells.

use serde_json::{Map, Value, json};

use super::*;

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
