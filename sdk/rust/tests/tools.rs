//! Tools as the model sees them and as a call reaches them, through the macros. What the host makes of
//! it is tested there.

#![allow(clippy::unwrap_used)]

use hermes_plugin_sdk::prelude::*;
use hermes_plugin_sdk::{Tool, serde_json};

/// How to answer.
#[arguments]
#[derive(Debug, Clone, Copy, Default)]
enum Mode {
    /// The lines themselves.
    #[default]
    Content,
    /// Only their number.
    #[serde(rename = "count")]
    Count,
}

/// A range of lines.
#[arguments]
#[derive(Debug)]
struct Range {
    /// The first line, from 1.
    from: u32,
    to: Option<u64>,
}

/// Arguments of `find`.
#[arguments]
#[derive(Debug)]
struct Find {
    /// What to look for.
    pattern: String,
    /// Where; the first folder if absent.
    path: Option<String>,
    #[serde(default)]
    mode: Mode,
    /// Which lines.
    #[serde(default)]
    ranges: Vec<Range>,
    /// How many at most.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    limit: u8,
    weight: Option<f32>,
}

fn ten() -> u8 {
    10
}

/// Finds lines.
///
/// Give a `pattern`; the rest is optional.
#[tool(
    read_only,
    destructive,
    idempotent,
    interactive,
    parallel_safe,
    path_arguments = ["path"],
    timeout_ms = 5000,
    max_result_bytes = 65_536,
    name = "find-lines",
    title = "Find lines",
    examples = r#"[ {"pattern": "x"} ]"#
)]
fn find(arguments: Find, info: &CallInfo) -> Json<String> {
    let Find { pattern, path, mode, ranges, limit, weight } = arguments;
    let ranges: Vec<_> = ranges.iter().map(|range| (range.from, range.to)).collect();
    let turn = info.turn;
    Json(format!("{pattern} {path:?} {mode:?} {ranges:?} {limit} {weight:?} turn {turn}"))
}

#[test]
fn a_tool_is_described_by_its_code() {
    let parameters = r#"{"type":"object","additionalProperties":false,"properties":{"pattern":{"type":"string","description":"What to look for."},"path":{"type":["string","null"],"description":"Where; the first folder if absent."},"mode":{"description":"How to answer.","oneOf":[{"type":"string","const":"Content","description":"The lines themselves."},{"type":"string","const":"count","description":"Only their number."}]},"ranges":{"type":"array","items":{"type":"object","additionalProperties":false,"description":"A range of lines.","properties":{"from":{"type":"integer","minimum":0,"description":"The first line, from 1."},"to":{"type":["integer","null"],"minimum":0}},"required":["from"]},"description":"Which lines."},"limit":{"type":"integer","default":10,"minimum":1,"maximum":100,"description":"How many at most."},"weight":{"type":["number","null"]}},"required":["pattern"]}"#;
    let spec = <find as Tool>::spec().unwrap();
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(json(&spec.parameters), json(parameters));
    assert_eq!(spec.name, "find-lines");
    assert_eq!(spec.title.as_deref(), Some("Find lines"));
    assert_eq!(spec.description, "Finds lines.\n\nGive a `pattern`; the rest is optional.");
    let attributes: Vec<_> =
        spec.attributes.iter().map(|a| (a.name.as_str(), a.value.as_str())).collect();
    assert_eq!(
        attributes,
        [
            ("read-only", "true"),
            ("destructive", "true"),
            ("idempotent", "true"),
            ("interactive", "true"),
            ("parallel-safe", "true"),
            ("path-arguments", r#"["path"]"#),
            ("timeout-ms", "5000"),
            ("max-result-bytes", "65536"),
            ("examples", r#"[{"pattern":"x"}]"#),
        ]
    );
}

/// Fields stand in the order they were written, and no byte is spent on layout.
#[test]
fn a_schema_is_compact_and_in_order() {
    /// Arguments of `small`.
    #[arguments]
    struct Small {
        zeta: bool,
        alpha: bool,
    }
    /// Small.
    #[tool]
    fn small(arguments: Small) -> String {
        format!("{}{}", arguments.zeta, arguments.alpha)
    }
    assert_eq!(
        <small as Tool>::spec().unwrap().parameters,
        r#"{"type":"object","additionalProperties":false,"properties":{"zeta":{"type":"boolean"},"alpha":{"type":"boolean"}},"required":["zeta","alpha"]}"#
    );
}

#[test]
fn a_call_decodes_its_arguments() {
    let arguments =
        r#"{"pattern": "x", "mode": "count", "path": null, "ranges": [{"from": 2}], "weight": 1}"#;
    let info = CallInfo { turn: 7, ..CallInfo::default() };
    let parts = <find as Tool>::call(arguments, &info).unwrap();
    assert_eq!(
        parts,
        [Part {
            mime: "application/json".to_owned(),
            body: Body::Text(r#""x None Count [(2, None)] 10 Some(1.0) turn 7""#.to_owned()),
            attributes: Vec::new(),
        }]
    );
}

#[test]
fn wrong_arguments_name_the_field_and_what_it_takes() {
    let cases = [
        ("", "the arguments do not fit: missing field `pattern`", None),
        ("{", "the arguments are not JSON: EOF while parsing an object at line 1 column 1", None),
        (
            r#"{"pattern": "a"} x"#,
            "the arguments are not JSON: trailing characters at line 1 column 18",
            None,
        ),
        ("null", "the arguments do not fit: invalid type: null, expected an object", None),
        (
            r#"{"pattern": 1}"#,
            "argument `pattern`: invalid type: integer `1`, expected a string",
            Some("pattern"),
        ),
        (
            r#"{"pattern": "a", "limit": 300}"#,
            "argument `limit`: invalid value: integer `300`, expected a whole number from 0 to 255",
            Some("limit"),
        ),
        (
            r#"{"pattern": "a", "weight": "b at line x, expected y"}"#,
            "argument `weight`: invalid type: string \"b at line x, expected y\", expected a number",
            Some("weight"),
        ),
        (
            r#"{"pattern": "a", "nope": {}}"#,
            "argument `nope`: unknown field `nope`, expected one of `pattern`, `path`, `mode`, \
             `ranges`, `limit`, `weight`",
            Some("nope"),
        ),
        (
            r#"{"pattern": "a", "mode": "files"}"#,
            "argument `mode`: unknown variant `files`, expected `Content` or `count`",
            Some("mode"),
        ),
        (
            r#"{"pattern": "a", "ranges": [{"from": 1}, {"from": -1}]}"#,
            "argument `ranges[1].from`: invalid value: integer `-1`, expected a whole number from \
             0 to 4294967295",
            Some("ranges[1].from"),
        ),
        (
            r#"{"pattern": "a", "ranges": [7]}"#,
            "argument `ranges[0]`: invalid type: integer `7`, expected an object",
            Some("ranges[0]"),
        ),
    ];
    for (arguments, message, argument) in cases {
        let mut failure = Failure::invalid_arguments(message);
        if let Some(argument) = argument {
            failure = failure.with("argument", argument);
        }
        let answer = <find as Tool>::call(arguments, &CallInfo::default());
        assert_eq!(answer, Err(failure), "{arguments}");
    }
}

/// Nothing to say.
#[tool]
fn nothing() -> &'static str {
    "nothing"
}

/// Reads a file that is not there.
#[tool]
fn missing(_: &CallInfo) -> Result<Vec<Part>, std::io::Error> {
    Err(std::io::Error::from(std::io::ErrorKind::NotFound))
}

/// Draws.
#[tool]
fn draw() -> Part {
    Part::bytes("image/png", [1, 2]).with("width", 3)
}

#[test]
fn a_tool_may_take_nothing_and_return_what_it_has() {
    let info = CallInfo::default();
    assert_eq!(
        <nothing as Tool>::spec().unwrap().parameters,
        r#"{"type":"object","additionalProperties":false,"properties":{}}"#
    );
    assert_eq!(<nothing as Tool>::call(" ", &info), Ok(vec![Part::text("nothing")]));
    assert_eq!(<missing as Tool>::call("{}", &info), Err(Failure::not_found("entity not found")));
    let picture = Part {
        mime: "image/png".to_owned(),
        body: Body::Bytes(vec![1, 2]),
        attributes: vec![Attribute { name: "width".to_owned(), value: "3".to_owned() }],
    };
    assert_eq!(<draw as Tool>::call("{}", &info), Ok(vec![picture]));
}

/// A tool whose example lacks what it needs.
#[tool(examples = r#"[{"path": "a"}]"#)]
fn bad_example(arguments: Find, info: &CallInfo) -> Json<String> {
    find(arguments, info)
}

/// A tool whose path argument is misspelt.
#[tool(path_arguments = ["pth"])]
fn bad_path(arguments: Find, info: &CallInfo) -> Json<String> {
    find(arguments, info)
}

/// A tool that takes what no model can send.
#[tool]
fn bad_arguments(arguments: Mode) -> String {
    format!("{arguments:?}")
}

#[test]
fn a_bad_description_is_found_before_the_model_sees_it() {
    let faults = [
        (
            <bad_example as Tool>::spec(),
            "the tool `bad_example` is badly described: its example {\"path\":\"a\"}: the \
             arguments do not fit: missing field `pattern`",
        ),
        (
            <bad_path as Tool>::spec(),
            "the tool `bad_path` is badly described: its path argument `pth` is none of its \
             arguments",
        ),
        (
            <bad_arguments as Tool>::spec(),
            "the tool `bad_arguments` is badly described: its arguments must be a struct with \
             named fields",
        ),
    ];
    for (spec, message) in faults {
        assert_eq!(spec, Err(Failure::internal(message)));
    }
    // They are called like any other; only their descriptions are wrong.
    assert_eq!(
        <bad_arguments as Tool>::call(r#""count""#, &CallInfo::default()),
        Ok(vec![Part::text("Count")])
    );
    for call in [<bad_example as Tool>::call, <bad_path as Tool>::call] {
        assert!(call(r#"{"pattern": "x"}"#, &CallInfo::default()).is_ok());
    }
}
