//! The one call after the budget is spent: without tools, the model says how far it got, so that the
//! person has more than a number and the next turn something to go on from.

use std::sync::Arc;

use super::ask::{Asked, ask};
use super::finish::Ending;
use super::history;
use super::turn::Turn;
use crate::budget::Reached;
use crate::store::StoreError;

/// What the model is told; never stored, since it is no word of the person's.
const NOTICE: &str = "[The budget of this turn is spent; no tool can be called any more. Answer now from what you have: \
what is done, what is not, and what would come next.]";

/// Asks for last words and ends the turn. Nothing is asked if nothing was done that could be told.
pub(super) async fn last_words(
    turn: &mut Turn<'_>,
    reached: Reached,
) -> Result<Ending, StoreError> {
    if turn.iterations.is_empty() {
        return Ok(Ending::budget_spent(reached));
    }
    let route = turn.route();
    let mut request = turn.request(route);
    request.tools = Arc::default();
    history::say_last(&mut request.messages, NOTICE);
    let (asked, spent) = ask(route, &request, &turn.emitter, &turn.cancel, false).await;
    turn.api_calls += spent.calls;
    turn.book(spent.wasted);
    let (reply, ending) = match asked {
        Asked::Reply(reply) => (Some(reply), Ending::budget_spent(reached)),
        Asked::Interrupted(seen) => (seen, Ending::interrupted()),
        Asked::Failed(error, seen) => {
            tracing::debug!("no last words: {error}");
            (seen, Ending::budget_spent(reached))
        }
    };
    if let Some(mut reply) = reply {
        // There were no tools on offer, so calls are noise.
        reply.message.tool_calls.clear();
        if reply.message.content.is_blank() {
            let usage = turn.account(&reply.message);
            turn.book(usage);
        } else {
            turn.append_reply(reply).await?;
        }
    }
    Ok(ending)
}
