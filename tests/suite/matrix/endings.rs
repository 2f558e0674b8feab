//! Replies that end before they are whole: at the limit of output tokens, or with the line.

use serde_json::{Value, json};

use super::{contents, host, in_each_mode};
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
fn what_was_seen_of_a_reply_that_broke_off_is_kept_and_gone_on_with() {
    in_each_mode(|mode| {
        // The first word has come whole when the second is cut.
        let cut = says("Zurich lies on a lake").carried(Delivery::CutAfter("lies "));
        let model = Model::new([cut, text("on"), text("on"), text("on")]);
        let host = host(mode, &model);
        host.ask("where?");
        let output = host.run(&["--continue", "-q", "go on"]);
        assert_eq!((output.code, &*output.stdout), (Some(0), "on\n"), "{}", mode.name);
        let last = model.requests().pop().unwrap().to_string();
        assert!(last.contains("Zurich"), "{last}");
    });
}
