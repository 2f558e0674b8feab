//! What the host tries when asking again is not enough: another key, another provider, another
//! form of the request.

use serde_json::{Value, json};

use super::{contents, host, in_each_mode};
use crate::host::Host;
use crate::model::{Delivery, Mode, Model, Refusal, Reply, asks, says, text};

/// A configured provider of its own name and key.
fn provider(mode: &Mode, model: &Model, key: &str) -> Value {
    json!({"base_url": model.url(), "api_mode": mode.name, "model": "fake", "key_env": key})
}

/// The key a request came with.
fn key(mode: &Mode, model: &Model, request: usize) -> String {
    let request = &model.seen()[request];
    match mode.name {
        "anthropic_messages" => request.header("x-api-key").unwrap().to_owned(),
        _ => request.header("authorization").unwrap().trim_start_matches("Bearer ").to_owned(),
    }
}

fn unauthorised() -> Reply {
    Reply::Refuses(Refusal::new(401, "authentication_error", "The key has expired."))
}

#[test]
fn a_refused_key_is_asked_for_afresh_before_anything_else() {
    in_each_mode(|mode| {
        let model = Model::new([unauthorised(), text("fine")]);
        let host = Host::new();
        let mut provider = provider(mode, &model, "");
        provider.as_object_mut().unwrap().remove("key_env");
        let counter = host.home().join("count").display().to_string();
        let command = format!("echo x >> '{counter}'; echo sk-$(wc -l < '{counter}' | tr -d ' ')");
        provider["key_command"] = command.into();
        host.configure(&json!({"providers": {"work": provider}}));
        let result = host.ask("hi");
        assert_eq!(result["final_response"], "fine", "{}: {result:#}", mode.name);
        assert_eq!([0, 1].map(|at| key(mode, &model, at)), ["sk-1", "sk-2"]);
    });
}

#[test]
fn b059_the_chain_goes_on_whatever_a_fallback_answers() {
    in_each_mode(|mode| {
        let broken = Refusal::new(500, "api_error", "Broken.").header("retry-after", "0");
        let broken = || Reply::Refuses(broken.clone());
        let forbidden = Refusal::new(403, "permission_error", "Not for this account.");
        let first = Model::new([broken(), broken(), broken()]);
        let second = Model::new([Reply::Refuses(forbidden)]);
        let third = Model::new([text("fine")]);
        let host = Host::new().env("KEY_A", "sk-a").env("KEY_B", "sk-b").env("KEY_C", "sk-c");
        host.configure(&json!({
            "provider": "first", "fallback_providers": ["second", "third"],
            "providers": {"first": provider(mode, &first, "KEY_A"),
                          "second": provider(mode, &second, "KEY_B"),
                          "third": provider(mode, &third, "KEY_C")},
        }));
        let result = host.ask("hi");
        assert_eq!(
            (&result["final_response"], &result["provider"]),
            (&json!("fine"), &json!("third"))
        );
        let asked = [&first, &second, &third].map(|model| model.requests().len());
        assert_eq!(asked, [3, 1, 1], "{}", mode.name);
        let keys = [&first, &second, &third].map(|model| key(mode, model, 0));
        assert_eq!(keys, ["sk-a", "sk-b", "sk-c"]);
    });
}

#[test]
fn b057_a_wait_is_honoured_on_every_status_and_one_of_a_day_is_not_waited_for() {
    in_each_mode(|mode| {
        for (status, name, value) in [(503, "retry-after", "1"), (529, "retry-after-ms", "1000")] {
            let busy = Refusal::new(status, mode.overloaded, "Busy.").header(name, value);
            let model = Model::new([Reply::Refuses(busy), text("fine")]);
            assert_eq!(host(mode, &model).ask("hi")["final_response"], "fine");
            let seen = model.seen();
            let pause = (seen[1].at - seen[0].at).as_millis();
            assert!((1000..1900).contains(&pause), "{status} {name}: {pause} ms");
        }
        // A date has whole seconds, so one two seconds ahead is waited for more than one.
        let date = chrono::Utc::now() + std::time::Duration::from_secs(2);
        let date = date.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        for (value, least) in [(&*date, 900), ("-1", 2000), ("soon", 2000)] {
            let busy = Refusal::new(429, "rate_limit_error", "Busy.").header("retry-after", value);
            let model = Model::new([Reply::Refuses(busy), text("fine")]);
            assert_eq!(host(mode, &model).ask("hi")["final_response"], "fine");
            let seen = model.seen();
            let pause = (seen[1].at - seen[0].at).as_millis();
            assert!((least..least + 1900).contains(&pause), "{value}: {pause} ms");
        }
        let tomorrow = Refusal::new(429, "rate_limit_error", "Tomorrow.");
        let busy = Model::new([Reply::Refuses(tomorrow.header("retry-after", "86400"))]);
        let free = Model::new([text("fine")]);
        let host = Host::new().env("KEY_A", "sk-a").env("KEY_B", "sk-b");
        host.configure(&json!({
            "provider": "busy", "fallback_providers": ["free"],
            "providers": {"busy": provider(mode, &busy, "KEY_A"),
                          "free": provider(mode, &free, "KEY_B")},
        }));
        assert_eq!(host.ask("hi")["final_response"], "fine");
        assert_eq!((busy.requests().len(), free.requests().len()), (1, 1));
    });
}

#[test]
fn b057_an_interrupt_ends_the_wait_at_once() {
    in_each_mode(|mode| {
        let busy = Refusal::new(503, mode.overloaded, "Busy.").header("retry-after", "300");
        let model = Model::new([Reply::Refuses(busy)]);
        let host = host(mode, &model);
        let child = host.spawn(&["-q", "hi", "--output", "json"]);
        let mut patience = 600;
        while model.seen().is_empty() && patience > 0 {
            std::thread::sleep(std::time::Duration::from_millis(50));
            patience -= 1;
        }
        let interrupted = std::time::Instant::now();
        let kill =
            std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let output = crate::host::finish(child);
        assert_eq!(output.code, Some(130), "{output:?}");
        // A tenth of the wait would be 30 s; a busy machine takes some of this.
        assert!(interrupted.elapsed().as_secs() < 10);
    });
}

#[test]
fn b038_an_image_over_the_limit_blocks_no_later_turn() {
    in_each_mode(|mode| {
        let look =
            |id: &str, bytes: usize| asks(&[(id, "picture", json!({"bytes": bytes}))]).reply();
        let model = Model::new([look("a", 4 << 20), look("b", 1000), text("seen"), text("hello")]);
        let host = host(mode, &model).with_guests("");
        let result = host.ask("look");
        assert_eq!(result["final_response"], "seen", "{}", mode.name);
        assert_eq!(host.run(&["--continue", "-q", "hello"]).stdout, "hello\n");
        for request in &model.requests()[2..] {
            let request = request.to_string();
            assert_eq!(
                request.matches("iVBORw0KGgo").count(),
                1,
                "the small one, and not the large"
            );
            assert!(request.len() < 1 << 20 && request.contains("left out"), "{}", request.len());
        }
    });
}

#[test]
fn b064_one_broken_stream_does_not_end_streaming() {
    in_each_mode(|mode| {
        let cut = says("Zurich lies on a lake").carried(Delivery::CutAfter(""));
        let model = Model::new([cut, text("one"), text("two")]);
        let host = host(mode, &model);
        assert_eq!(host.ask("hi")["final_response"], "one");
        assert_eq!(host.run(&["--continue", "-q", "on"]).stdout, "two\n");
        let streamed: Vec<_> =
            model.requests().iter().map(|request| request["stream"].clone()).collect();
        assert_eq!(streamed, [true, true, true]);
    });
}

#[test]
fn b066_a_key_a_provider_repeats_is_kept_nowhere() {
    in_each_mode(|mode| {
        let said = "Incorrect API key provided: sk-CANARY-1234567890";
        let model = Model::new([Reply::Refuses(Refusal::new(401, "authentication_error", said))]);
        let host = host(mode, &model).env("HERMES_HOST_API_KEY", "sk-CANARY-1234567890");
        let output = host.run(&["-q", "hi", "--output", "json", "-vvv"]);
        assert_eq!(output.code, Some(1), "{output:?}");
        let mut folders = vec![host.home().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).unwrap();
                let found = bytes.windows(6).any(|window| window == b"CANARY");
                assert!(!found, "the key is in {}", path.display());
            }
        }
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(!said.contains("CANARY"), "{said}");
        assert!(said.contains("Incorrect API key provided: [masked]"), "{said}");
    });
}

#[test]
fn b072_a_limit_of_output_tokens_lowers_them_and_leaves_the_history_alone() {
    in_each_mode(|mode| {
        let said = "max_tokens exceeds server limit (32768)";
        let model = Model::new([
            Reply::Refuses(Refusal::new(400, "invalid_request_error", said)),
            text("fine"),
        ]);
        let host = Host::new();
        let mut work = provider(mode, &model, "KEY_A");
        work["params"] = json!({"max_tokens": 65536});
        host.configure(&json!({"providers": {"work": work}}));
        let result = host.env("KEY_A", "sk-a").ask("hi");
        assert_eq!(result["final_response"], "fine", "{}: {result:#}", mode.name);
        let [mut first, mut second] = model.requests().try_into().unwrap();
        let limit = |request: &mut Value| {
            let fields = request.as_object_mut().unwrap();
            let names = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
            names.iter().find_map(|name| fields.remove(*name)).and_then(|limit| limit.as_u64())
        };
        assert_eq!((limit(&mut first), limit(&mut second)), (Some(65536), Some(32768)));
        assert_eq!(first, second, "nothing else has changed");
    });
}

#[test]
fn b032_blank_text_is_never_sent() {
    in_each_mode(|mode| {
        let mut first = asks(&[("call_1", "echo", json!({"text": "  \n"}))]);
        first.text = "  \n".into();
        let model = Model::new([first.reply(), text("fine"), text("on")]);
        let host = host(mode, &model).with_guests("");
        let result = host.ask("go");
        assert_eq!(result["final_response"], "fine");
        assert_eq!(contents(&result, "tool").len(), 1);
        // The server has walked all parts of all requests.
        assert_eq!(host.run(&["--continue", "-q", "on"]).stdout, "on\n");
        assert_eq!(model.requests().len(), 3);
    });
}

#[test]
fn b036_a_thought_cut_from_what_followed_it_is_not_sent() {
    in_each_mode(|mode| {
        let cut = asks(&[("call_1", "echo", json!({"text": "a"}))]).thinking("Deep thought.");
        let cut = cut.carried(Delivery::CutAfter("Deep thought."));
        let model = Model::new([cut, text("fine"), text("on")]);
        let host = host(mode, &model).with_guests("");
        host.ask("go");
        // Whether it asked again or gave up, what is stored can be gone on with.
        let output = host.run(&["--continue", "-q", "on"]);
        assert_eq!(output.code, Some(0), "{}: {output:?}", mode.name);
        for request in model.requests() {
            assert!(!request.to_string().contains("Deep thought."), "{request:#}");
        }
    });
}

#[test]
fn b105_tokens_nobody_counted_are_estimated_and_spend_the_budget() {
    let endless = (0..40).map(|n| {
        let call = json!({"index": 0, "id": format!("c{n}"), "type": "function",
                          "function": {"name": "echo", "arguments": json!({"text": n.to_string()}).to_string()}});
        let calls = crate::model::delta(json!({"tool_calls": [call]}), None);
        Reply::Events(vec![calls, crate::model::delta(json!({}), Some("tool_calls"))], true)
    });
    let model = Model::new(endless);
    let host = Host::asking(model.url()).with_guests("[budget]\ntokens = 10000\n");
    let output = host.run(&["-q", "go", "--output", "json"]);
    let result: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((output.code, &result["end"]["kind"]), (Some(3), &json!("budget_spent")));
    assert_eq!(result["usage"]["estimated"], true);
    let requests = model.requests();
    assert!(requests.len() < 40, "{} requests", requests.len());
    assert_eq!(requests[0]["stream_options"], json!({"include_usage": true}));
}
