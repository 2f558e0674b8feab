//! History as it must be: every tool call followed by exactly one result, in the model's order.
//! Pure functions over messages; nothing here reads or writes the store.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::failure::code;
use crate::message::{Effect, Message, Replay, Role, ToolCall};
use crate::router::Route;

/// What a result without any content says.
pub(super) const NO_OUTPUT: &str = "(no output)";

/// The results a history lacks: one for every call nobody answered, because the process died or
/// was stopped in between.
///
/// `read_only` says whether a tool changes nothing; its call can simply be made again, while the
/// effect of any other is unknown.
pub(super) fn missing_results(
    history: &[Arc<Message>],
    read_only: impl Fn(&str) -> bool,
) -> Vec<Arc<Message>> {
    let answered: HashSet<&str> =
        history.iter().filter_map(|m| m.tool_call_id.as_deref()).collect();
    let calls = history.iter().flat_map(|message| &message.tool_calls);
    calls
        .filter(|call| !answered.contains(call.id.as_str()))
        .map(|call| Arc::new(interrupted(call, read_only(&call.name))))
        .collect()
}

/// The result of a call that was under way when the process ended.
fn interrupted(call: &ToolCall, read_only: bool) -> Message {
    let (text, effect) = if read_only {
        (
            "error [cancelled]: interrupted before it answered; it changes nothing, so it can be called again",
            Effect::None,
        )
    } else {
        (
            "error [cancelled]: interrupted, effect unknown; look at what it left behind before calling it again",
            Effect::Unknown,
        )
    };
    let mut message = Message::tool(call, text);
    message.effect = Some(effect);
    message.failure = Some(code::CANCELLED.into());
    message
}

/// The history as any provider accepts it. Shares every message that needs no change.
///
/// - Results stand directly after the reply that asked for them, in call order, one each; a result
///   without its call is left out, a call without its result gets one.
/// - Results without content say that they have none.
/// - Replies with neither text nor calls are left out.
/// - Neighbours of one role are merged (two user messages after a failed turn, say).
pub(super) fn outgoing(history: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let mut results: HashMap<&str, &Arc<Message>> = HashMap::new();
    for message in history.iter().filter(|m| m.role == Role::Tool) {
        if let Some(id) = message.tool_call_id.as_deref() {
            results.entry(id).or_insert(message);
        }
    }
    let mut out: Vec<Arc<Message>> = Vec::with_capacity(history.len());
    for message in history {
        match message.role {
            // The system prompt is sent apart, and results follow their calls below.
            Role::System | Role::Tool => {}
            Role::User | Role::Assistant => push(&mut out, message, &mut results),
        }
    }
    out
}

fn push(
    out: &mut Vec<Arc<Message>>,
    message: &Arc<Message>,
    results: &mut HashMap<&str, &Arc<Message>>,
) {
    if message.content.is_blank() && message.tool_calls.is_empty() {
        return;
    }
    match out.last_mut() {
        Some(last) if last.role == message.role && last.tool_calls.is_empty() => {
            *last = Arc::new(merged(last, message));
        }
        _ => out.push(Arc::clone(message)),
    }
    for call in &message.tool_calls {
        let result = results.remove(call.id.as_str()).cloned();
        let result = result.unwrap_or_else(|| Arc::new(interrupted(call, false)));
        out.push(if result.content.is_blank() { Arc::new(silent(&result)) } else { result });
    }
}

/// A result that says nothing, which some providers refuse, as one that says so.
fn silent(result: &Message) -> Message {
    Message { content: NO_OUTPUT.into(), ..result.clone() }
}

/// The same messages for `route`: what another provider, model or wire format wants back is left
/// out, since only its author understands it. Shares every message that needs no change.
pub(super) fn replayable(mut messages: Vec<Arc<Message>>, route: &Route) -> Vec<Arc<Message>> {
    let ours = |replay: &Replay| {
        replay.api_mode == route.transport.api_mode()
            && replay.provider == route.provider
            && replay.model == route.model
    };
    for message in &mut messages {
        if message.replay.as_ref().is_some_and(|replay| !ours(replay)) {
            Arc::make_mut(message).replay = None;
        }
    }
    messages
}

/// Adds a word of ours at the end of a request, as part of what the user said last if that is where
/// it ends: two messages of one role in a row are refused by some providers.
pub(super) fn say_last(messages: &mut Vec<Arc<Message>>, text: &str) {
    let word = Message::user(text);
    match messages.last_mut() {
        Some(last) if last.role == Role::User => *last = Arc::new(merged(last, &word)),
        _ => messages.push(Arc::new(word)),
    }
}

/// Two neighbours of one role as one message: the later one's calls, both contents.
fn merged(first: &Message, second: &Message) -> Message {
    let mut both = second.clone();
    both.content = match (first.content.as_text(), second.content.as_text()) {
        (Some(a), Some(b)) => format!("{a}\n\n{b}").into(),
        _ => first.content.0.iter().chain(&second.content.0).cloned().collect::<Vec<_>>().into(),
    };
    both.id.clone_from(&first.id);
    both.replay = None;
    both
}

/// A stored history in reading order: results that landed out of order stand after their reply, in
/// call order. Unlike [`outgoing`] it leaves everything else as it is.
pub fn in_call_order(mut history: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
    let mut place: HashMap<String, usize> = HashMap::new();
    for call in history.iter().flat_map(|message| &message.tool_calls) {
        let next = place.len();
        place.entry(call.id.clone()).or_insert(next);
    }
    let key = |m: &Arc<Message>| m.tool_call_id.as_ref().and_then(|id| place.get(id)).copied();
    for run in history.chunk_by_mut(|a, b| a.role == Role::Tool && b.role == Role::Tool) {
        run.sort_by_key(key);
    }
    history
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
