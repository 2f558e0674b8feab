//! The session a turn begins with: a stored one, mended where a process died in it, or a new one.

use std::sync::Arc;

use super::{Agent, TurnInput, history};
use crate::message::Message;
use crate::store::{Durability, NewSession, StoreError, TurnLease};

/// A session as the turn begins.
pub(super) struct Opened {
    pub(super) lease: TurnLease,
    pub(super) id: String,
    pub(super) system: String,
    pub(super) turns: u32,
    pub(super) messages: Vec<Arc<Message>>,
}

pub(super) async fn open(
    agent: &Agent,
    session: &mut Option<String>,
    input: &TurnInput,
) -> Result<Opened, StoreError> {
    if let (Some(id), None) = (&*session, &input.history) {
        let lease = agent.store.begin_turn(id).await?;
        let stored = agent.store.load(id).await?;
        let mut messages = stored.messages;
        let missing = history::missing_results(&messages, |tool| {
            agent.tools.find(tool).is_some_and(|entry| entry.tool.spec().traits.read_only)
        });
        if !missing.is_empty() {
            agent.store.append(id, &missing, Durability::Power).await?;
            messages.extend(missing);
        }
        let messages = history::in_call_order(messages);
        let (id, system, turns) = (stored.id, stored.system, stored.turns);
        return Ok(Opened { lease, id, system, turns, messages });
    }
    let system = input.system.clone().unwrap_or_else(|| agent.system.clone());
    let new = NewSession {
        system: system.clone(),
        model: agent.router.primary().model.clone(),
        source: agent.source.clone(),
        parent: None,
    };
    let id = agent.store.create(new).await?;
    let lease = agent.store.begin_turn(&id).await?;
    let messages: Vec<_> = input.history.iter().flatten().cloned().map(Arc::new).collect();
    if !messages.is_empty() {
        agent.store.append(&id, &messages, Durability::Process).await?;
    }
    *session = Some(id.clone());
    Ok(Opened { lease, id, system, turns: 0, messages })
}
