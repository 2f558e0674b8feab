//! Replies that end before they are whole: at the limit of output tokens, or with the line.

use serde_json::{Value, json};

use super::{contents, host, in_each_mode};
use crate::host::Host;
use crate::model::{Delivery, Ending, Model, Reply, asks, says, text};

/// A call cut inside its arguments.
fn cut_call() -> Reply {
    let call = asks(&[("call_1", "echo", json!("{\"text\": \"half a sen"))]);
    call.ending(Ending::Length).reply()
}

#[test]
fn a_text_cut_by_the_limit_is_continued_and_joined() {
    in_each_mode(|mode| {
        let first = says("The first half, ").ending(Ending::Length).reply();
        let model = Model::new([first, text("and the second."), text("on")]);
        let host = host(mode, &model);
        let result = host.ask("hi");
        assert_eq!(result["final_response"], "The first half, and the second.", "{}", mode.name);
        assert_eq!(result["iterations"][0]["finish_reason"], "length");
        assert_eq!(host.run(&["--continue", "-q", "on"]).stdout, "on\n");
    });
}

#[test]
fn a_call_cut_again_and_again_is_never_made_and_ends_the_turn() {
    in_each_mode(|mode| {
        let model = Model::new((0..9).map(|_| cut_call()));
        let host = host(mode, &model).with_guests("");
        let output = host.run(&["-q", "go", "--output", "json"]);
        let result: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!((output.code, &result["error"]["kind"]), (Some(1), &json!("truncated")));
        let ran = contents(&result, "tool").iter().any(|text| text.starts_with("half"));
        assert!(!ran, "{result:#}");
        assert_eq!(model.requests().len(), 4, "{}", mode.name);
    });
}

#[test]
fn a_text_cut_with_the_line_is_continued_and_joined() {
    in_each_mode(|mode| {
        // The first words have come whole when the next is cut.
        let cut = says("Zurich lies on a lake").carried(Delivery::CutAfter("lies "));
        let model = Model::new([cut, text("by a lake."), text("on")]);
        let host = host(mode, &model);
        let output = host.run(&["-q", "where?", "--output", "json"]);
        assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{}: {output:?}", mode.name);
        let result: Value = serde_json::from_str(&output.stdout).unwrap();
        let whole = result["final_response"].as_str().unwrap();
        assert!(whole.starts_with("Zurich") && whole.ends_with("by a lake."), "{whole}");
        assert_eq!((&result["api_calls"], contents(&result, "assistant").len()), (&json!(2), 2));
        assert_eq!(host.run(&["--continue", "-q", "on"]).stdout, "on\n");
    });
}

#[test]
fn a_line_that_always_breaks_ends_the_turn_with_what_was_seen_and_says_what_was_tried() {
    in_each_mode(|mode| {
        let cut = || says("Zurich lies on a lake").carried(Delivery::CutAfter("lies "));
        let model = Model::new((0..4).map(|_| cut()).chain([text("on")]));
        let host = host(mode, &model);
        let events = host.events("where?");
        let result = &events.last().unwrap()["result"];
        assert_eq!(result["error"]["kind"], "connection", "{}", mode.name);
        assert_eq!(result["final_response"].as_str().unwrap().matches("Zurich").count(), 4);
        let told: Vec<_> = events.iter().filter(|event| event["type"] == "status").collect();
        let told = told.iter().map(|event| event["message"].as_str().unwrap());
        let told: Vec<_> = told.filter(|said| said.starts_with("tried before: ")).collect();
        assert!(
            told.len() == 1 && told[0].contains("(in the middle of the answer, 3 of 3)"),
            "{told:?}"
        );
        assert_eq!(host.run(&["--continue", "-q", "on"]).stdout, "on\n");
    });
}

#[test]
fn a_cut_call_is_asked_for_again_with_more_room() {
    in_each_mode(|mode| {
        let model = Model::new([cut_call(), text("fine")]);
        let host = Host::new().with_guests("");
        host.configure(&json!({"providers": {"work": {
            "base_url": model.url(), "api_mode": mode.name, "model": "fake",
            "params": {"max_tokens": 1000},
        }}}));
        let result = host.ask("go");
        assert_eq!(result["final_response"], "fine", "{}: {result:#}", mode.name);
        let room = |request: &Value| {
            let names = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
            names.iter().find_map(|name| request[*name].as_u64())
        };
        let asked: Vec<_> = model.requests().iter().map(room).collect();
        assert_eq!(asked, [Some(1000), Some(2000)], "{}", mode.name);
    });
}

#[test]
fn notices_reach_the_model_at_the_very_end_and_only_if_they_are_wanted() {
    in_each_mode(|mode| {
        for wanted in [true, false] {
            let call =
                |n: u32| asks(&[(&format!("call_{n}"), "echo", json!({"text": "a"}))]).reply();
            let model = Model::new([call(1), call(2), text("fine")]);
            let host = host(mode, &model);
            let notices = if wanted { "[\"budget\", \"context\"]" } else { "[]" };
            let host = host.with_guests(&format!("[agent]\nmax_turns = 4\nnotices = {notices}\n"));
            assert_eq!(host.ask("go")["final_response"], "fine", "{}", mode.name);
            let told: Vec<_> = model
                .requests()
                .iter()
                .map(|request| request.to_string().contains("A notice of the program"))
                .collect();
            assert_eq!(told, [false, false, wanted], "{}", mode.name);
        }
    });
}

#[test]
fn a_new_session_is_named_by_the_model_for_titles() {
    in_each_mode(|mode| {
        let (main, titles) =
            (Model::new([text("fine"), text("on")]), Model::new([text("Fixing it")]));
        let host = Host::new();
        let provider = |model: &Model| json!({"base_url": model.url(), "api_mode": mode.name, "model": "fake"});
        host.configure(&json!({
            "provider": "work", "providers": {"work": provider(&main), "small": provider(&titles)},
            "auxiliary": {"title": {"provider": "small"}},
        }));
        let result = host.ask("fix the parser");
        assert_eq!(result["api_calls"], 2, "{}: {result:#}", mode.name);
        assert_eq!(host.run(&["--resume", "fixing", "-q", "on"]).stdout, "on\n");
        assert_eq!((main.requests().len(), titles.requests().len()), (2, 1));
    });
}
