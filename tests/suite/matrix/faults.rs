//! Providers and lines that fail, and what the host makes of it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{contents, host, in_each_mode};
use crate::host::Host;
use crate::model::{Delivery, Ending, Mode, Model, Refusal, Reply, says, text};

/// Asks once and expects the answer `fine` after so many requests, without a word to the person.
fn recovers(mode: &Mode, host: &Host, model: &Model, requests: usize) {
    let output = host.run(&["-q", "hi", "--output", "json"]);
    assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{}: {output:?}", mode.name);
    let result: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(result["final_response"], "fine", "{}", mode.name);
    assert_eq!(contents(&result, "assistant"), ["fine"], "nothing half received is kept");
    let sent = model.requests();
    assert_eq!(sent.len(), requests, "{}", mode.name);
    assert!(sent.iter().all(|request| *request == sent[0]), "the same is asked again");
}

fn fails(host: &Host, kind: &str) -> Value {
    let output = host.run(&["-q", "hi", "--output", "json"]);
    let result: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((output.code, &result["error"]["kind"]), (Some(1), &json!(kind)), "{result:#}");
    result
}

#[test]
fn a_429_is_waited_out_as_long_as_it_says() {
    in_each_mode(|mode| {
        let busy = Refusal::new(429, "rate_limit_error", "Slow down.").header("retry-after", "1");
        let model = Model::new([Reply::Refuses(busy), text("fine")]);
        recovers(mode, &host(mode, &model), &model, 2);
        let seen = model.seen();
        let pause = seen[1].at - seen[0].at;
        assert!((1000..1900).contains(&pause.as_millis()), "{pause:?}");
    });
}

#[test]
fn a_server_error_is_tried_again_twice() {
    in_each_mode(|mode| {
        let broken = Refusal::new(500, "api_error", "Internal server error.");
        let broken = || Reply::Refuses(broken.clone().header("retry-after", "0"));
        let model = Model::new([broken(), broken(), text("fine")]);
        recovers(mode, &host(mode, &model), &model, 3);

        let model = Model::new([broken(), broken(), broken()]);
        let result = fails(&host(mode, &model), "overloaded");
        assert_eq!((&result["error"]["status"], model.requests().len()), (&json!(500), 3));
        assert_eq!(contents(&result, "assistant"), [""; 0]);
    });
}

#[test]
fn a_reply_cut_off_before_or_inside_its_first_delta_is_asked_for_again() {
    in_each_mode(|mode| {
        for needle in ["", "Zur"] {
            let cut = says("Zurich lies on a lake").carried(Delivery::CutAfter(needle));
            let model = Model::new([cut, text("fine")]);
            recovers(mode, &host(mode, &model), &model, 2);
        }
    });
}

#[test]
fn a_line_gone_silent_is_given_up_and_asked_again() {
    in_each_mode(|mode| {
        let silent = says("Zurich lies on a lake").carried(Delivery::StallAfter(""));
        let model = Model::new([silent, text("fine")]);
        recovers(mode, &patient_for_a_second(mode, &model), &model, 2);
        let seen = model.seen();
        assert!(seen[1].at - seen[0].at >= Duration::from_secs(1));
    });
}

fn patient_for_a_second(mode: &Mode, model: &Model) -> Host {
    let host = Host::new();
    let provider = json!({"base_url": model.url(), "api_mode": mode.name, "model": "fake",
                          "stall_timeout_s": 1});
    host.configure(&json!({"providers": {"work": provider}}));
    host
}

#[test]
fn garbage_in_a_stream_is_no_reply() {
    in_each_mode(|mode| {
        let garbage = "data: {\"choices\": [{\"delta\": {\"cont\n\ndata: <html>\n\n";
        let garbage = Reply::Raw(200, "text/event-stream", garbage.into());
        let model = Model::new([garbage, text("fine")]);
        recovers(mode, &host(mode, &model), &model, 2);
    });
}

#[test]
fn b016_a_200_with_an_error_in_it_is_that_error() {
    in_each_mode(|mode| {
        for args in [&[][..], &["--no-stream"]] {
            let broken = Refusal::new(200, mode.overloaded, "upstream worker limit reached");
            let model = Model::new([Reply::Breaks(broken), text("fine")]);
            recovers(mode, &host(mode, &model).args(args.iter().copied()), &model, 2);
        }
    });
}

#[test]
fn a_page_in_place_of_a_reply_is_named_as_such() {
    in_each_mode(|mode| {
        let page = "<html><head><title>502</title></head><body>cloud edge error</body></html>";
        let model = Model::new([Reply::Raw(200, "text/html", page.into()), text("fine")]);
        recovers(mode, &host(mode, &model), &model, 2);
    });
}

#[test]
fn a_filtered_reply_fails_by_its_name_and_is_not_asked_for_again() {
    in_each_mode(|mode| {
        let model = Model::new([says("").ending(Ending::Filtered).reply()]);
        fails(&host(mode, &model), "content_filter");
        assert_eq!(model.requests().len(), 1);
    });
}
