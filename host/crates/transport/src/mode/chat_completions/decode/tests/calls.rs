//! Tool calls, told apart and put together.

use super::*;

#[test]
fn b005_a_new_id_on_an_occupied_index_opens_a_new_slot() {
    let reply = calls(&[
        r#"[{"index":0,"id":"cA","type":"function","function":{"name":"read_note","arguments":"{\"path\":\"a\"}"}}]"#,
        r#"[{"index":0,"id":"cB","type":"function","function":{"name":"read_note","arguments":"{\"path\":\"b\"}"}}]"#,
    ]);
    let expected = vec![
        call("cA", "read_note", r#"{"path":"a"}"#),
        call("cB", "read_note", r#"{"path":"b"}"#),
    ];
    assert_eq!(reply, called(expected.clone()));
    // The rest of a call follows its latest head.
    let reply = calls(&[
        r#"[{"index":0,"id":"cA","function":{"name":"read_note","arguments":"{\"path\":"}}]"#,
        r#"[{"index":0,"function":{"arguments":"\"a\"}"}}]"#,
        r#"[{"index":0,"id":"cB","function":{"name":"read_note","arguments":""}}]"#,
        r#"[{"index":0,"function":{"arguments":"{\"path\":\"b\"}"}}]"#,
    ]);
    assert_eq!(reply, called(expected));
}

#[test]
fn b042_absent_and_blank_arguments_are_a_call_all_the_same() {
    for (function, arguments) in [
        (r#"{"name":"list_notes","arguments":""}"#, ""),
        (r#"{"name":"list_notes","arguments":"  \n"}"#, "  \n"),
        (r#"{"name":"list_notes","arguments":null}"#, ""),
        (r#"{"name":"list_notes"}"#, ""),
    ] {
        let expected = called(vec![call("c", "list_notes", arguments)]);
        let fragment = format!(r#"[{{"index":0,"id":"c","function":{function}}}]"#);
        assert_eq!(calls(&[&fragment]), expected, "{function}");
        let body = format!(
            r#"{{"choices":[{{"message":{{"content":null,"tool_calls":{fragment}}},"finish_reason":"tool_calls"}}]}}"#
        );
        assert_eq!(whole(&body), expected, "{function}");
    }
}

#[test]
fn b045_arguments_as_an_object_become_its_text() {
    let list = r#"[{"index":0,"id":"c","function":{"name":"read_note","arguments":{"path":"a", "n":1.50}}}]"#;
    assert_eq!(calls(&[list]), called(vec![call("c", "read_note", r#"{"path":"a", "n":1.50}"#)]));
}

#[test]
fn pieces_find_their_call() {
    let read = |id, path: &str| call(id, "read", &format!(r#"{{"path":"{path}"}}"#));
    let cases: &[(&str, &[&str], Vec<_>)] = &[
        (
            "several calls in one delta, and their rests interleaved",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}},{"index":1,"id":"b","function":{"name":"read","arguments":""}}]"#,
                r#"[{"index":1,"function":{"arguments":"{\"path\":"}},{"index":0,"function":{"arguments":"{\"path\":"}}]"#,
                r#"[{"index":0,"function":{"arguments":"\"1\"}"}},{"index":1,"function":{"arguments":"\"2\"}"}}]"#,
            ],
            vec![read("a", "1"), read("b", "2")],
        ),
        (
            "no index at all",
            &[
                r#"[{"id":"a","function":{"name":"read","arguments":"{\"path\":"}}]"#,
                r#"[{"function":{"arguments":"\"1\"}"}}]"#,
                r#"[{"id":"b","function":{"name":"read","arguments":"{\"path\":\"2\"}"}}]"#,
            ],
            vec![read("a", "1"), read("b", "2")],
        ),
        (
            "neither index nor id",
            &[
                r#"[{"function":{"name":"read","arguments":"{\"path\":\"1\"}"}},{"function":{"name":"read","arguments":"{\"path\":\"2\"}"}}]"#,
            ],
            vec![read("", "1"), read("", "2")],
        ),
        (
            "one index for all and no ids",
            &[
                r#"[{"index":0,"id":"","function":{"name":"read","arguments":"{\"path\":\"1\"}"}}]"#,
                r#"[{"index":0,"id":null,"function":{"name":"read","arguments":"{\"path\":\"2\"}"}}]"#,
            ],
            vec![read("", "1"), read("", "2")],
        ),
        (
            "id and name repeated in every piece",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"\"1\""}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"}"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "name split over pieces",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"re"}}]"#,
                r#"[{"index":0,"function":{"name":"ad","arguments":""}}]"#,
                r#"[{"index":0,"function":{"arguments":"{\"path\":\"1\"}"}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "name growing over pieces",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"re"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"1\"}"}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "id and name after the arguments",
            &[
                r#"[{"index":0,"function":{"arguments":"{\"path\":\"1\"}"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read"}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "numbers for strings and strings for numbers",
            &[
                r#"[{"index":"0","id":7,"function":{"name":"read","arguments":"{\"path\":"}}]"#,
                r#"[{"index":0.0,"function":{"arguments":"\"1\"}"}}]"#,
            ],
            vec![read("7", "1")],
        ),
        (
            "indices with gaps and out of order",
            &[
                r#"[{"index":5,"id":"a","function":{"name":"read","arguments":"{\"path\":\"1\"}"}}]"#,
                r#"[{"index":2,"id":"b","function":{"name":"read","arguments":"{\"path\":\"2\"}"}}]"#,
            ],
            vec![read("a", "1"), read("b", "2")],
        ),
        (
            "pieces that carry nothing",
            &[
                r#"[null,{},{"index":0},{"index":3,"id":"","function":{"name":"","arguments":""}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"1\"}"}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "an index that sets in late",
            &[
                r#"[{"id":"a","function":{"name":"read","arguments":"{\"path\":"}}]"#,
                r#"[{"index":0,"function":{"arguments":"\"1\"}"}}]"#,
            ],
            vec![read("a", "1")],
        ),
        (
            "braces inside strings do not end arguments",
            &[
                r#"[{"index":0,"function":{"name":"read","arguments":"{\"path\":\"}\\\"}"}}]"#,
                r#"[{"index":0,"function":{"name":"read","arguments":"x\"}"}}]"#,
            ],
            vec![call("", "read", r#"{"path":"}\"}x"}"#)],
        ),
        (
            "a call without a name",
            &[r#"[{"index":0,"id":"a","function":{"arguments":"{}"}}]"#],
            vec![(Some("a".into()), None, "{}".into())],
        ),
    ];
    for (what, lists, expected) in cases {
        assert_eq!(calls(lists), called(expected.clone()), "{what}");
    }
}

#[test]
fn a_name_is_sent_with_the_first_arguments() {
    let mut decoder = Decoder::new("m", &Quirks::default());
    let mut out = Deltas::new();
    let mut feed = |list: &str| {
        let data = format!(r#"{{"choices":[{{"delta":{{"tool_calls":{list}}}}}]}}"#);
        let event = Event { name: "", data: &data, complete: true };
        decoder.event(&event, &mut out).unwrap();
        out.drain(..).collect::<Vec<_>>()
    };
    let delta = |id: Option<&str>, name: Option<&str>, arguments: &str| Delta::ToolCall {
        slot: 0,
        id: id.map(str::to_owned),
        name: name.map(str::to_owned),
        arguments: arguments.into(),
    };
    assert_eq!(feed(r#"[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]"#), []);
    let first = feed(r#"[{"index":0,"function":{"arguments":"{\"a"}}]"#);
    assert_eq!(first, [delta(Some("a"), Some("read"), "{\"a")]);
    assert_eq!(
        feed(r#"[{"index":0,"function":{"arguments":"\":1}"}}]"#),
        [delta(None, None, "\":1}")]
    );
}
