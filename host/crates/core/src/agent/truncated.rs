//! Replies cut by the output limit. Text goes on where it ended. A reply whose tool calls were cut is
//! asked for again with more room, since half a call must never run; then the model is told, so that
//! it can ask for less at once; and then the turn ends.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::finish::Ending;
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

/// What has been cut in this turn.
#[derive(Debug, Default)]
pub(super) struct Truncation {
    continued: u32,
    repeated: u32,
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
    let message = turn.append_reply(reply).await?;
    turn.truncation.continued += 1;
    if turn.truncation.continued > MAX_TIMES {
        return Ok(ControlFlow::Break(gave_up("the answer")));
    }
    turn.truncation.pieces.push(message.content.text());
    turn.append(Message::user(GO_ON), false).await?;
    Ok(ControlFlow::Continue(None))
}

fn gave_up(what: &str) -> Ending {
    let message = format!(
        "the output limit cut {what} {} times; raise max_tokens under params, or ask for less at once",
        MAX_TIMES + 1
    );
    Ending::failed(TransportError::new(ErrorKind::Truncated, message))
}
