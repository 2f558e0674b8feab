//! Which messages a summary takes the place of. Pure: sizes in, positions out.

use std::ops::Range;
use std::sync::Arc;

use super::CompressionSettings;
use crate::message::{Message, Role};

/// What decides how much must go.
#[derive(Debug, Clone, Copy)]
pub struct Sizes<'a> {
    /// Tokens of each message.
    pub messages: &'a [u64],
    /// Tokens the whole history may have.
    pub room: u64,
    /// Tokens the summary will have at most.
    pub summary: u64,
}

/// What to sum up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The messages a summary takes the place of; whole tool groups.
    pub middle: Range<usize>,
    /// One of them that is said again behind the summary: the newest request of the user.
    pub repeated: Option<usize>,
}

/// Fewest messages of the end that stay, while they fit.
const LEAST_TAIL: usize = 3;

/// Of the protected end, as many stay even if they are more than the end's share.
const FIRM_TAIL: usize = 8;

/// A summary is at most this part of what it sums up.
const SUMMARY_PART: u64 = 3;

/// A summary must save this part of the room, or it is not worth a model call.
const LEAST_GAIN: u64 = 20;

/// The plan for a history, or `None` where summing up would save too little.
pub fn plan(
    messages: &[Arc<Message>],
    sizes: Sizes<'_>,
    settings: &CompressionSettings,
) -> Option<Plan> {
    let groups = groups(messages);
    let size = |range: &Range<usize>| sizes.messages[range.clone()].iter().sum::<u64>();
    let head = head(messages, &groups, sizes, settings);
    let tail = tail(&groups, size, sizes.room, settings);
    let middle = groups.get(head)?.start..groups.get(tail).map_or(messages.len(), |g| g.start);
    if head >= tail {
        return None;
    }
    let newest = newest_request(messages).filter(|at| middle.contains(at));
    let kept = newest.map_or(0, |at| sizes.messages[at]);
    let size = size(&middle);
    let summary = sizes.summary.min(size / SUMMARY_PART);
    let gain = size.saturating_sub(summary).saturating_sub(kept);
    (gain >= sizes.room / LEAST_GAIN).then_some(Plan { middle, repeated: newest })
}

/// Each message that is no tool result, with the results that follow it.
fn groups(messages: &[Arc<Message>]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if message.role == Role::Tool => group.end = at + 1,
            _ => groups.push(at..at + 1),
        }
    }
    groups
}

/// The first group to sum up: the last summary, which the new one takes in, or what follows the
/// protected beginning.
fn head(
    messages: &[Arc<Message>],
    groups: &[Range<usize>],
    sizes: Sizes<'_>,
    settings: &CompressionSettings,
) -> usize {
    if let Some(at) = messages.iter().position(|message| message.is_summary()) {
        return groups.iter().position(|group| group.contains(&at)).unwrap_or(0);
    }
    // A beginning that takes a quarter of all room is no mere beginning.
    let mut tokens = 0;
    groups
        .iter()
        .take_while(|group| {
            tokens += sizes.messages[(*group).clone()].iter().sum::<u64>();
            group.end <= settings.protect_first_n && tokens <= sizes.room / 4
        })
        .count()
}

/// The first group that stays at the end.
fn tail(
    groups: &[Range<usize>],
    size: impl Fn(&Range<usize>) -> u64,
    room: u64,
    settings: &CompressionSettings,
) -> usize {
    let share = settings.tail_tokens(room);
    let firm = settings.protect_last_n.clamp(LEAST_TAIL, FIRM_TAIL);
    let (mut tokens, mut count) = (0, 0);
    let mut first = groups.len();
    for (at, group) in groups.iter().enumerate().rev() {
        tokens += size(group);
        count += group.len();
        // The last group always stays; firm ones while they leave half of the room.
        let fits = tokens <= share + share / 2 || (count <= firm && tokens <= room / 2);
        if !fits && first < groups.len() {
            break;
        }
        first = at;
    }
    first
}

/// The newest message of the user's own, a repeated one included.
pub(super) fn newest_request(messages: &[Arc<Message>]) -> Option<usize> {
    messages.iter().rposition(|message| message.role == Role::User && !message.is_summary())
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
