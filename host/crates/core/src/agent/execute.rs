//! Running the calls of one reply: segment by segment, side by side within one, and always one
//! result a call in the model's order.

use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::time::Instant;

use super::call::call;
use super::prepare::{Action, Prepared};
use super::schedule::{Segment, segments};
use super::turn::Turn;
use crate::failure::{Failure, code};
use crate::message::Message;
use crate::store::StoreError;

/// Runs everything that is to run and returns all results in call order, stored.
pub(super) async fn execute(
    turn: &Turn<'_>,
    prepared: Vec<Prepared>,
) -> Result<Vec<Arc<Message>>, StoreError> {
    let plan = segments(prepared.iter().map(Prepared::traits));
    let mut waiting: Vec<Option<Prepared>> = prepared.into_iter().map(Some).collect();
    let mut results: Vec<(usize, Arc<Message>)> = Vec::with_capacity(waiting.len());
    for segment in plan {
        let indices = match segment {
            Segment::Together(indices) => indices,
            Segment::Alone(index) => vec![index],
        };
        for prepared in indices.iter().filter_map(|&at| waiting[at].as_ref()) {
            turn.keep_folders(prepared).await;
        }
        let ends = Instant::now() + turn.agent.limits.segment_timeout;
        let calls = indices.into_iter().filter_map(|at| Some((at, waiting[at].take()?)));
        let running = calls.map(|(at, mut prepared)| async move {
            if turn.cancel.is_cancelled() {
                prepared.cancel();
            }
            call(turn, prepared, ends).await.map(|message| (at, message))
        });
        let landed = stream::iter(running).buffer_unordered(turn.agent.limits.parallel_calls);
        results.extend(landed.try_collect::<Vec<_>>().await?);
    }
    results.sort_by_key(|(at, _)| *at);
    Ok(results.into_iter().map(|(_, message)| message).collect())
}

impl Prepared {
    /// The call does not start any more.
    fn cancel(&mut self) {
        if matches!(self.action, Action::Run { .. }) {
            let message = "interrupted before it started; nothing was changed";
            self.action = Action::Answer(Failure::new(code::CANCELLED, message));
        }
    }
}
