#![allow(clippy::unwrap_used)]

use std::time::Duration;

use hermes_plugin_sdk::Tool;
use proptest::prelude::*;

use super::*;

/// The parts of the answer, or the failure.
fn call(arguments: &Value) -> Result<Vec<String>, String> {
    match <query_json as Tool>::call(&arguments.to_string(), &CallInfo::default()) {
        Ok(parts) => Ok(parts.iter().filter_map(Part::as_text).map(str::to_owned).collect()),
        Err(failure) => Err(failure.to_string()),
    }
}

/// The results of a filter on a JSON text, or the failure.
fn run(json: &str, filter: &str) -> String {
    match call(&serde_json::json!({"json": json, "filter": filter})) {
        Ok(parts) => parts.join("\n"),
        Err(failure) => failure,
    }
}

fn check(cases: &[(&str, &str, &str)]) {
    for (json, filter, results) in cases {
        assert_eq!(run(json, filter), *results, "{filter}");
    }
}

#[test]
fn answers_one_result_a_line() {
    check(&[
        (r#"[{"a":1},{"a":null}]"#, ".[] | .a", "1\nnull"),
        (
            r#"[{"t":"a","p":1},{"t":"b","p":2},{"t":"a","p":3}]"#,
            "group_by(.t) | map({t: .[0].t, p: map(.p) | add})",
            r#"[{"t":"a","p":4},{"t":"b","p":2}]"#,
        ),
        ("[]", ".[]", "[no results]"),
        ("1 2 3", ". * 2", "2\n4\n6"),
        ("{\"n\":1}\n{\"n\":2}\n", ".n", "1\n2"),
        ("1 2 3", "[., inputs]", "[1,2,3]"),
        ("1 2 3", "., halt", "1"),
    ]);
}

#[test]
fn takes_values_texts_slurp_raw_and_variables() {
    let answers = [
        (serde_json::json!({"json": {"a": [1, "x"]}, "filter": ".a"}), "[1,\"x\"]"),
        (serde_json::json!({"json": "1 2", "filter": "add", "slurp": true}), "3"),
        (serde_json::json!({"json": "[\"a\\tb\",1]", "filter": ".[]", "raw": true}), "a\tb\n1"),
        (
            serde_json::json!({
                "json": null, "filter": "[$name, $limit, $ENV]",
                "variables": {"name": "1", "$limit": {"a": 2}}
            }),
            "[\"1\",{\"a\":2},{}]",
        ),
    ];
    for (arguments, answer) in answers {
        assert_eq!(call(&arguments), Ok(vec![answer.to_owned()]), "{arguments}");
    }
}

#[test]
fn numbers_keep_their_digits() {
    check(&[
        (
            "123456789012345678901234567890 1.10 1e1000",
            ".",
            "123456789012345678901234567890\n1.10\n1e1000",
        ),
        ("[9007199254740993]", ".[0] + 1", "9007199254740994"),
        ("6", ". / 2, \"\\(. / 4)\", (. / 2 | tostring)", "3\n\"1.5\"\n\"3\""),
        ("null", "nan, infinite, 1e3", "null\n1.7976931348623157e+308\n1e3"),
    ]);
    let arguments = r#"{"json": {"id": 123456789012345678901234567890}, "filter": ".id"}"#;
    let parts = <query_json as Tool>::call(arguments, &CallInfo::default()).unwrap();
    assert_eq!(parts, vec![Part::text("123456789012345678901234567890")]);
}

#[test]
fn updates_make_what_is_missing_as_jq_does() {
    check(&[
        ("{}", ".a.b = 1", r#"{"a":{"b":1}}"#),
        ("{}", ".a[1].b += 2", r#"{"a":[null,{"b":2}]}"#),
        ("[0]", ".[2] = 1", "[0,null,1]"),
        ("{}", "del(.a.b), (.a.b |= empty)", "{}\n{}"),
        ("[0]", "del(.[3])", "[0]"),
        ("null", r#"setpath(["a", 0]; 1)"#, r#"{"a":[1]}"#),
        (
            r#"[{"k":"x","l":"y"},{"k":"x","l":"y"}]"#,
            "reduce .[] as $r ({}; .[$r.k][$r.l] += 1)",
            r#"{"x":{"y":2}}"#,
        ),
        (r#"{"n":1,"a":[1,2]}"#, ".a[(.n)] *= 5", r#"{"n":1,"a":[1,10]}"#),
        (r#"{"a":[1,{"b":2}]}"#, "fromstream(tostream)", r#"{"a":[1,{"b":2}]}"#),
        (r#"{"a":{}}"#, "path(.a.b), [paths]", "[\"a\",\"b\"]\n[[\"a\"]]"),
        (
            "[]",
            ".[1000000000] = 1",
            "invalid-arguments: the filter failed: index 1000000000 out of bounds",
        ),
    ]);
}

#[test]
fn regular_expressions_give_groups_in_any_order() {
    check(&[
        (
            r#""xba""#,
            r#"match("(?:(a)|(?<b>b))+")"#,
            concat!(
                r#"{"offset":1,"length":2,"string":"ba","captures":[{"offset":2,"length":1,"#,
                r#""string":"a"},{"offset":1,"length":1,"string":"b","name":"b"}]}"#
            ),
        ),
        (r#""äaä""#, r#"[match("ä"; "g").offset]"#, "[0,2]"),
        (r#""a1b22""#, r#"gsub("(?<d>[0-9]+)"; "<\(.d)>")"#, r#""a<1>b<22>""#),
        (r#""a, b,c""#, r#"[splits(", *")]"#, r#"["a","b","c"]"#),
        (r#""Ab""#, r#"test("aB"; "i"), test("aB"; null)"#, "true\nfalse"),
        (
            r#""a""#,
            r#"test("("), 1"#,
            "invalid-arguments: the filter failed: `(` is not a regular expression understood \
             here: found open group without closing ')'",
        ),
        (
            r#""a""#,
            r#"test("a"; "q")"#,
            "invalid-arguments: the filter failed: `q` is none of the flags g, n, i, x, s, p, l",
        ),
    ]);
}

#[test]
fn knows_what_jq_knows_beyond_the_library() {
    check(&[
        (r#"[1.50,"a\"b",null,true]"#, "@csv", r#""1.50,\"a\"\"b\",,true""#),
        (r#"["a\tb","c"]"#, "@tsv", r#""a\\tb\tc""#),
        (r#"[{"id":1},{"id":2}]"#, "INDEX(.id) | keys", r#"["1","2"]"#),
        ("2", "IN(1, 2), toarray, (65 | ascii)", "true\n[2]\n\"A\""),
        (r#""aba""#, r#"trimstr("a")"#, "\"b\""),
        (r#"[3,1,2]"#, "sort, sort_by(-.), (map(. % 2) | unique)", "[1,2,3]\n[3,2,1]\n[0,1]"),
        (r#"[{"a":2,"b":1},{"a":1,"b":2}]"#, "sort_by(.a) | map(.b)", "[2,1]"),
        ("null", "env, input_filename", "{}\nnull"),
        (r#""[1] {\"a\":2}""#, "[fromjson]", r#"[[1],{"a":2}]"#),
        (r#""x""#, "halt_error", "invalid-arguments: the filter failed: x"),
    ]);
}

#[test]
fn faults_of_the_filter_name_the_place() {
    let fault = |place: &str| format!("invalid-arguments: `filter`, {place}");
    check(&[
        ("1", "{a: 1", &fault("line 1, column 1, at `{a: 1`: `{` is not closed")),
        ("1", "1 +", &fault("line 1, column 4, at the end: expected a filter, such as `.name`")),
        ("1", ".a &", &fault("line 1, column 4, at `&`: this means nothing in a filter")),
        (
            "1",
            ".a\n| foo(1)",
            &fault("line 2, column 3, at `foo(1)`: there is no function `foo` with 1 argument"),
        ),
        ("1", "nofun", &fault("line 1, column 1, at `nofun`: there is no function `nofun`")),
        (
            "1",
            ". as $x | $y",
            &fault("line 1, column 11, at `$y`: there is no variable `$y`; give it in `variables`"),
        ),
        (
            "1",
            "import \"a\" as b; 1",
            &fault(
                "line 1, column 8, at `\"a\" as b; 1`: modules cannot be loaded here; define functions with `def`",
            ),
        ),
        ("1", "", &fault("line 1, column 1, at the end: expected a filter, such as `.name`")),
    ]);
}

#[test]
fn faults_of_the_input_and_of_the_run_say_what_was_wrong() {
    check(&[
        (
            "[1,",
            ".",
            "invalid-arguments: `json` is not JSON: EOF while parsing a value at line 1 column 3",
        ),
        (
            "{\"a\":1}\n{b}",
            ".",
            "invalid-arguments: `json` is not JSON: key must be a string at line 2 column 2",
        ),
        ("[1]", ".a", "invalid-arguments: the filter failed: cannot index [1] with \"a\""),
        (
            "1",
            "1, error({a: 1})",
            "invalid-arguments: the filter failed after the first result: {\"a\":1}",
        ),
        ("1", "try error(\"x\") catch .", "\"x\""),
    ]);
    let deep = "[".repeat(600) + &"]".repeat(600);
    assert_eq!(run(&deep, "."), "too-large: `json` has more than 512 levels");
    assert_eq!(
        run(&Value::from(deep).to_string(), "fromjson"),
        "invalid-arguments: the filter failed: the text has more than 512 levels"
    );
    let long = format!("\"{}\"", "a".repeat(5 << 20));
    assert_eq!(
        run(&long, "."),
        "too-large: `json` has 5242882 bytes, more than 4194304; pass a part of it"
    );
}

#[test]
fn results_are_cut_with_a_note() {
    let limited = serde_json::json!({"json": null, "filter": "range(10)", "limit": 2});
    let note = "[stopped after 2 results; there are more]".to_owned();
    assert_eq!(call(&limited), Ok(vec!["0\n1".to_owned(), note]));
    let endless = serde_json::json!({"json": null, "filter": "repeat(\"x\" * 100000)"});
    let parts = call(&endless).unwrap();
    assert_eq!(parts[1], "[stopped after 2 results and 200005 bytes; select less]");
    assert_eq!(
        run("null", "[range(100000)]"),
        "too-large: the first result has more than 262144 bytes; select less of it"
    );
}

#[test]
fn no_filter_runs_away() {
    let too_deep = "too-large: the filter nests or calls itself too deeply; make a call the last \
        thing its function does, or use reduce, foreach, until or limit";
    check(&[
        ("null", "def f: 1 + f; f", too_deep),
        ("null", "def f: [f]; f", too_deep),
        ("null", "try (def f: 1 + f; f) catch 1", too_deep),
        ("null", "def f: if . >= 100000 then . else . + 1 | f end; 0 | f", "100000"),
        (
            "null",
            "reduce range(1000000) as $i (null; [.])",
            "too-large: the filter builds a value of more than 1000 levels",
        ),
        (
            "null",
            "\"ab\" * 9223372036854775807",
            "invalid-arguments: the filter failed: repeating a string gives more than 4194304 bytes",
        ),
        (
            "null",
            "reduce range(70) as $i (10; . * .)",
            "invalid-arguments: the filter failed: the product is too large a number",
        ),
        (
            "null",
            "reduce range(60) as $i (1; [., .]) | tojson",
            "invalid-arguments: the filter failed: the value has more than 4194304 bytes of JSON",
        ),
        ("null", "[limit(100; repeat(nan, [nan, 1]))] | sort | length", "100"),
    ]);
    let code = format!("{}1", "-".repeat(1_200));
    assert!(run("null", &code).ends_with("the filter has more than 1000 words and signs"));
    let code = "(".repeat(5_000);
    assert!(run("null", &code).ends_with("more than 64 levels of brackets"));
}

#[test]
fn an_endless_filter_is_stopped() {
    for code in ["def f: f; f", "last(range(infinite))", "repeat(.) | empty", "[recurse] | f"] {
        let code = format!("def f: until(false; .); {code}");
        let program = Program::compile(&code, &[]).unwrap();
        let end = program.run(vec![Val::Null], Vec::new(), Duration::from_millis(50), |_| true);
        assert_eq!(end, End::Exceeded(Excess::Time), "{code}");
    }
}

#[test]
fn variables_need_names() {
    let arguments = serde_json::json!({"json": 1, "filter": ".", "variables": {"a-b": 1}});
    let failure = "invalid-arguments: `a-b` in `variables` is no name; use letters, digits and `_`";
    assert_eq!(call(&arguments), Err(failure.to_owned()));
}

proptest! {
    #[test]
    fn any_texts_are_answered(json in ".{0,40}", filter in ".{0,40}") {
        run(&json, &filter);
    }

    /// Filters made of what filters are made of get further than random characters.
    #[test]
    fn any_mix_of_words_is_answered(words in prop::collection::vec(word(), 0..14)) {
        run(r#"{"a":[1,2.5,"x",null,{"b":[]}],"b":"ab","n":-1}"#, &words.concat());
    }

    #[test]
    fn any_pipeline_is_answered(stages in prop::collection::vec(stage(), 1..6)) {
        run(r#"{"a":[1,2.5,"x",null,{"b":[]}],"b":"ab","n":-1}"#, &stages.join(" | "));
    }
}

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        ".",
        ".a",
        ".b",
        ".n",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "|",
        ",",
        ":",
        ";",
        "+",
        "-",
        "*",
        "/",
        "%",
        "//",
        "|=",
        "=",
        "+=",
        "*=",
        "..",
        "?",
        "1",
        "\"x\"",
        "$x",
        " as $x ",
        " if ",
        " then ",
        " else ",
        " end ",
        " reduce ",
        " foreach ",
        " try ",
        " catch ",
        " def f: ",
        "map(",
        "select(",
        "limit(3;",
        "first(",
        "sort_by(",
        "del(",
        "path(",
        "test(",
        "@csv",
        "\"\\(",
        "length",
        "keys",
        "add",
        "tojson",
        "fromjson",
        "not",
        "empty",
        "error",
        "nan",
    ])
}

fn stage() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        ".a",
        ".[]?",
        ".[0]?",
        ".b",
        "..",
        "[.]",
        "[.[]?]",
        "{a: .}",
        "{(.b? // \"k\" | tostring): 1}",
        "keys?",
        "length?",
        "add?",
        "sort?",
        "sort_by(.)?",
        "group_by(.)?",
        "unique?",
        "min?",
        "max_by(.)?",
        "reverse?",
        "flatten?",
        "to_entries?",
        "with_entries(.)?",
        "tostring",
        "tojson",
        "fromjson?",
        "tonumber?",
        "ascii_downcase?",
        "explode?",
        "implode?",
        "@csv?",
        "@base64?",
        "@base64d?",
        "@uri?",
        "@html?",
        "@sh?",
        "@json",
        "split(\"\")?",
        "join(\",\")?",
        "test(\"a\")?",
        "match(\"(a)|(b)\"; \"g\")?",
        "gsub(\"a*\"; \"-\")?",
        "splits(\"b\")?",
        "ltrimstr(\"a\")?",
        "indices(1)?",
        "index(\"b\")?",
        "has(\"a\")?",
        "contains(\"a\")?",
        "del(.a)?",
        "del(.[0, 2])?",
        ".a.b = 1",
        ".[3] = 1",
        ".[-1]?",
        ".[1:]?",
        ".[1:] = [9]",
        ".[-2:1]?",
        "paths",
        "leaf_paths",
        "tostream",
        "getpath([\"a\", 0])?",
        "walk(.)",
        "map(.)?",
        "map_values(. + 1)?",
        ". * 2",
        ". / 0",
        ". % 3",
        "- .",
        ". + .",
        ". - .",
        ". * -1",
        "floor?",
        "sqrt?",
        "pow(.; 2)?",
        "log?",
        "round?",
        "frexp?",
        "todate?",
        "fromdate?",
        "strftime(\"%A\")?",
        "strptime(\"%Y\")?",
        "mktime?",
        "gmtime?",
        "now | type",
        "limit(2; .[]?)",
        "first(.[]?)",
        "until(true; .)",
        "range(3)",
        "combinations?",
        "transpose?",
        "any",
        "all",
        "isempty(.[]?)",
        "input?",
        "inputs",
        "env",
        "splits(\"(\")?",
        "ascii?",
        "bsearch(1)?",
        "tobytes?",
        "nan",
        "infinite",
        "ldexp(.; 100000)?",
        "significand?",
        "limit(-1; .)",
        "nth(5)?",
        "nth(-1; .)?",
        "error?",
        "halt",
        "truncate_stream(1)?",
        "(. as [$x] | $x)?",
        "(. as {a: $x} | $x)?",
        "INDEX(.)?",
        "IN(1)",
        "pick(.a)?",
        "abs?",
    ])
}
