//! Replies cut by the output limit or by a connection that broke. Text goes on where it ended. A
//! reply whose tool calls were cut is asked for again with more room, since half a call must never
//! run; then the model is told, so that it can ask for less at once; and then the turn ends.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::ask::pause_before_retry;
use super::finish::Ending;
use super::recover::recover;
use super::reply::Reply;
use super::turn::Turn;
use crate::message::{FinishReason, Message};
use crate::store::StoreError;
use crate::transport::{ErrorKind, TransportError};

/// Times a text is continued, and replies with cut calls the turn outlives.
const MAX_TIMES: u32 = 3;

/// Most output tokens asked for, unless more was configured.
const MAX_TOKENS: u64 = 32_768;

/// What the model is told after its text was cut. It is stored, so that the history stays a
/// conversation any provider accepts.
const GO_ON: &str = "[Your reply was cut by the output limit. Go on exactly where it ended, without repeating anything and \
without a word about it.]";

/// What the model is told after the connection broke in the middle of its text. A tool call that was
/// on its way with it is lost.
const RECONNECTED: &str = "[The connection broke while you were answering; a tool call you had begun has not run. Go on \
exactly where your text ended, without repeating anything and without a word about it.]";

/// What has been cut in this turn.
#[derive(Debug, Default)]
pub(super) struct Truncation {
    continued: u32,
    repeated: u32,
    broken: u32,
    /// The text so far, in the pieces it came in.
    pieces: Vec<String>,
}

impl Truncation {
    /// The output tokens the next request asks for, where that is more than configured. Where nothing
    /// is configured the most the provider gives is asked for already.
    pub(super) fn room(&self, configured: Option<u64>) -> Option<u64> {
        let (times, base) = (self.repeated.max(self.continued), configured?);
        (times > 0).then(|| base.saturating_mul(1 << times).min(MAX_TOKENS.max(base)))
    }

    /// The whole text whose last piece is `last`.
    pub(super) fn whole(&self, last: &str) -> String {
        self.pieces.concat() + last
    }
}

/// Stores a reply. Gives it if it is whole, nothing if the model is to be asked again, or the end of
/// the turn if it was cut too often.
pub(super) async fn take_in(
    turn: &mut Turn<'_>,
    reply: Reply,
) -> Result<ControlFlow<Ending, Option<Arc<Message>>>, StoreError> {
    if reply.message.finish_reason != Some(FinishReason::Length) {
        let message = turn.append_reply(reply).await?;
        if !message.tool_calls.is_empty() {
            turn.truncation = Truncation::default();
        }
        return Ok(ControlFlow::Continue(Some(message)));
    }
    if !reply.message.tool_calls.is_empty() {
        turn.truncation.repeated += 1;
        // Text the person has seen would be said twice.
        let seen = !reply.message.content.is_blank();
        let told =
            turn.truncation.repeated == MAX_TIMES || (seen && turn.truncation.repeated < MAX_TIMES);
        if told {
            let told = turn.append_reply(reply).await?;
            return Ok(ControlFlow::Continue(Some(told)));
        }
        let usage = turn.account(&reply.message);
        turn.book(usage);
        return Ok(if turn.truncation.repeated > MAX_TIMES {
            ControlFlow::Break(gave_up("a tool call"))
        } else {
            ControlFlow::Continue(None)
        });
    }
    turn.truncation.continued += 1;
    if turn.truncation.continued > MAX_TIMES {
        turn.append_reply(reply).await?;
        return Ok(ControlFlow::Break(gave_up("the answer")));
    }
    go_on(turn, reply, GO_ON).await?;
    Ok(ControlFlow::Continue(None))
}

/// Stores a piece of text and has the model go on from it.
async fn go_on(turn: &mut Turn<'_>, piece: Reply, word: &str) -> Result<(), StoreError> {
    let message = turn.append_reply(piece).await?;
    turn.truncation.pieces.push(message.content.text());
    turn.append(Message::user(word), false).await?;
    Ok(())
}

/// After a connection broke in the middle of text the person has seen: stores the text and waits a
/// moment. Gives it back if the turn is to end with it, because `error` does not pass, or it broke too
/// often and no other model is left to go on.
pub(super) async fn reconnect(
    turn: &mut Turn<'_>,
    error: &TransportError,
    seen: Reply,
) -> Result<Option<Reply>, StoreError> {
    if !error.kind.passes() {
        return Ok(Some(seen));
    }
    if turn.truncation.broken == MAX_TIMES {
        if !turn.recovery.has_alternative() || !recover(turn, error).await? {
            return Ok(Some(seen));
        }
        turn.truncation.broken = 0;
    }
    turn.truncation.broken += 1;
    let times = turn.truncation.broken;
    turn.emitter
        .hold(format!("{} (in the middle of the answer, {times} of {MAX_TIMES})", error.message));
    // The first time at once: a line may break for any reason, and most are there again.
    let pause = match times {
        1 => error.retry_after.unwrap_or_default(),
        _ => pause_before_retry(error, times - 1, &turn.session_id),
    };
    go_on(turn, seen, RECONNECTED).await?;
    tokio::select! {
        () = tokio::time::sleep(pause) => {}
        () = turn.cancel.cancelled() => {} // the next request notices it
    }
    Ok(None)
}

fn gave_up(what: &str) -> Ending {
    let message = format!(
        "the output limit cut {what} {} times; raise max_tokens under params, or ask for less at once",
        MAX_TIMES + 1
    );
    Ending::failed(TransportError::new(ErrorKind::Truncated, message))
}
