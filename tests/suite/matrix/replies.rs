//! Replies that are all right, however they are made up and however they come.

use serde_json::{Value, json};

use super::{contents, host, in_each_mode, streamed_and_whole};
use crate::model::{Delivery, Mode, Model, asks, says, sealed, signature, text};

#[test]
fn text_is_the_answer_and_its_tokens_are_counted() {
    streamed_and_whole(|mode, args| {
        let model = Model::new([text("Zürich lies on the Limmat.")]);
        let result = host(mode, &model).args(args.iter().copied()).ask("where?");
        assert_eq!(result["final_response"], "Zürich lies on the Limmat.");
        assert_eq!((&result["api_mode"], &result["api_calls"]), (&json!(mode.name), &json!(1)));
        assert_eq!(result["iterations"][0]["finish_reason"], "stop");
        // Anthropic does not say how much of the output was reasoning.
        let reasoning = if mode.name == "anthropic_messages" { 0 } else { 2 };
        let usage = json!({"input": 10, "output": 7, "cached": 20, "cache_write": 0,
                           "reasoning": reasoning, "estimated": false});
        assert_eq!(result["usage"], usage);
        let streamed = model.requests()[0]["stream"] == true;
        assert_eq!(streamed, args.is_empty());
    });
}

#[test]
fn a_call_is_made_and_its_result_goes_back() {
    streamed_and_whole(|mode, args| {
        let first = asks(&[("call_1", "echo", json!({"text": "a \"quoted\" ü"}))]);
        let model = Model::new([first.reply(), text("It says a.")]);
        let host = host(mode, &model).args(args.iter().copied()).with_guests("");
        let result = host.ask("go");
        assert_eq!(contents(&result, "tool"), ["a \"quoted\" ü"]);
        assert_eq!(result["final_response"], "It says a.");
        assert_eq!(result["iterations"][0]["finish_reason"], "tool_calls");
        let second = model.requests()[1].to_string();
        assert_eq!(second.matches("call_1").count(), 2, "the call and its result: {second}");
    });
}

#[test]
fn eight_calls_of_one_reply_are_answered_in_order() {
    streamed_and_whole(|mode, args| {
        let ids: Vec<String> = (0..8).map(|n| format!("call_{n}")).collect();
        let eight: Vec<_> = ids
            .iter()
            .map(|id| (id.as_str(), "echo", json!({"text": format!("text of {id}")})))
            .collect();
        let mut first = asks(&eight);
        first.text = "All eight.".into();
        let model = Model::new([first.reply(), text("done")]);
        let host = host(mode, &model).args(args.iter().copied()).with_guests("");
        let result = host.ask("go");
        let expected: Vec<String> = ids.iter().map(|id| format!("text of {id}")).collect();
        assert_eq!(contents(&result, "tool"), expected);
        assert_eq!(contents(&result, "assistant"), ["All eight.", "done"]);
        assert_eq!(model.requests().len(), 2);
    });
}

#[test]
fn reasoning_is_shown_and_goes_back_as_it_was_signed() {
    streamed_and_whole(|mode, args| {
        let call = asks(&[("call_1", "echo", json!({"text": "a"}))]).thinking("First, I echo.");
        let answer = says("It is a.").thinking("Now I know.");
        let model = Model::new([call.reply(), answer.reply(), text("You are welcome.")]);
        let host = host(mode, &model).args(args.iter().copied()).with_guests("");
        let result = host.ask("go");
        assert_eq!(result["iterations"][0]["reasoning"], "First, I echo.");
        assert_eq!(result["iterations"][1]["reasoning"], "Now I know.");
        let continued = host.run(&["--continue", "-q", "thanks"]);
        assert_eq!(continued.stdout, "You are welcome.\n");
        // The server has checked that each stands before what it was signed with.
        let requests = model.requests();
        let sent: Vec<_> = requests.iter().map(|request| thoughts(mode, request)).collect();
        let both = [("First, I echo.", "call_1"), ("Now I know.", "It is a.")];
        let proofs = both.map(|(thought, partner)| proof(mode, thought, partner));
        let proofs: Vec<_> = proofs.into_iter().flatten().collect();
        let first = proofs.len().min(1);
        assert_eq!(sent, [vec![], proofs[..first].to_vec(), proofs]);
    });
}

/// What proves that a thought is the provider's own. Chat Completions has nothing of the kind, and
/// a server that is not known to want thoughts back is sent none.
fn proof(mode: &Mode, thought: &str, partner: &str) -> Option<String> {
    match mode.name {
        "anthropic_messages" => Some(signature(thought)),
        "responses" => Some(sealed(partner)),
        _ => None,
    }
}

/// All proofs in a request.
fn thoughts(mode: &Mode, request: &Value) -> Vec<String> {
    assert!(!request.to_string().contains("reasoning_content"), "{request:#}");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match mode.name {
        "anthropic_messages" => {
            let messages = request["messages"].as_array().unwrap().iter();
            let blocks = messages.filter_map(|message| message["content"].as_array()).flatten();
            blocks.filter_map(|block| text(&block["signature"])).collect()
        }
        "responses" => {
            let items = request["input"].as_array().unwrap().iter();
            items.filter_map(|item| text(&item["encrypted_content"])).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn a_reply_may_come_byte_by_byte() {
    in_each_mode(|mode| {
        let calls =
            [("call_1", "echo", json!({"text": "ä"})), ("call_2", "echo", json!({"text": "😀"}))];
        let mut first = asks(&calls).thinking("Zwei Töne.");
        first.text = "Grüße an 世界.".into();
        let model = Model::new([
            first.carried(Delivery::EveryByte),
            says("Größe: 2").carried(Delivery::EveryByte),
        ]);
        let result = host(mode, &model).with_guests("").ask("go");
        assert_eq!(contents(&result, "assistant"), ["Grüße an 世界.", "Größe: 2"]);
        assert_eq!(contents(&result, "tool"), ["ä", "😀"]);
        assert_eq!(result["iterations"][0]["reasoning"], "Zwei Töne.");
        model.requests();
    });
}

#[test]
fn the_key_travels_in_the_header_of_the_format_and_nowhere_else() {
    in_each_mode(|mode| {
        let model = Model::new([text("hello")]);
        host(mode, &model).env("HERMES_HOST_API_KEY", "sk-canary").ask("hi");
        let request = &model.seen()[0];
        let (header, value) = match mode.name {
            "anthropic_messages" => ("x-api-key", "sk-canary"),
            _ => ("authorization", "Bearer sk-canary"),
        };
        assert_eq!(request.header(header), Some(value));
        let others = request.headers.iter().filter(|(name, _)| name != header);
        let rest = format!("{:?}{}", others.collect::<Vec<_>>(), request.body);
        assert!(!rest.contains("canary"), "{rest}");
    });
}
