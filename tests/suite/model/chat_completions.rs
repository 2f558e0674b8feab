//! The scripted model in the words of Chat Completions.

use serde_json::{Value, json};

use super::mode::{Event, Mode};
use super::script::{Call, Ending, Refusal, Speech};
use crate::strict;

pub(crate) const MODE: Mode = Mode {
    name: "chat_completions",
    path: "/chat/completions",
    events,
    whole,
    error,
    error_event: |refusal| Event::plain(error(refusal)),
    overloaded: "server_error",
    end_mark: true,
    problems: strict::chat_completions::problems,
    schema: &strict::schema::CHAT_COMPLETIONS,
};

/// A chunk of a stream.
pub(crate) fn delta(delta: Value, finish: Option<&str>) -> Value {
    chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}]))
}

fn chunk(choices: Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake",
           "choices": choices})
}

fn events(speech: &Speech) -> Vec<Event> {
    let mut chunks = vec![delta(json!({"role": "assistant", "content": ""}), None)];
    if !speech.reasoning.is_empty() {
        chunks.push(delta(json!({"reasoning_content": speech.reasoning}), None));
    }
    chunks.extend(speech.words().map(|word| delta(json!({"content": word}), None)));
    for (index, call) in speech.calls.iter().enumerate() {
        let [first, second] = call.pieces();
        let mut opened = tool_call(call, first);
        opened["index"] = index.into();
        let more = json!({"index": index, "function": {"arguments": second}});
        chunks.push(delta(json!({"tool_calls": [opened]}), None));
        chunks.push(delta(json!({"tool_calls": [more]}), None));
    }
    chunks.push(delta(json!({}), Some(finish_reason(speech))));
    let mut last = chunk(json!([]));
    last["usage"] = usage();
    chunks.push(last);
    chunks.into_iter().map(Event::plain).collect()
}

fn whole(speech: &Speech) -> Value {
    let mut message = json!({"role": "assistant", "content": speech.text, "refusal": null});
    if !speech.reasoning.is_empty() {
        message["reasoning_content"] = speech.reasoning.clone().into();
    }
    if !speech.calls.is_empty() {
        let calls = speech.calls.iter().map(|call| tool_call(call, &call.arguments));
        message["tool_calls"] = calls.collect();
    }
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "fake",
           "choices": [{"index": 0, "message": message, "logprobs": null,
                        "finish_reason": finish_reason(speech)}],
           "usage": usage()})
}

fn tool_call(call: &Call, arguments: &str) -> Value {
    json!({"id": call.id, "type": "function",
           "function": {"name": call.name, "arguments": arguments}})
}

fn finish_reason(speech: &Speech) -> &'static str {
    match speech.ending {
        Ending::Length => "length",
        Ending::Filtered => "content_filter",
        Ending::Complete if speech.calls.is_empty() => "stop",
        Ending::Complete => "tool_calls",
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": 30, "completion_tokens": 7, "total_tokens": 37,
           "prompt_tokens_details": {"cached_tokens": 20},
           "completion_tokens_details": {"reasoning_tokens": 2}})
}

fn error(refusal: &Refusal) -> Value {
    json!({"error": {"message": refusal.message, "type": refusal.code, "param": null,
                     "code": refusal.code}})
}
