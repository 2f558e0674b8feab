//! A transport that answers from a script and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use crate::message::FinishReason;
use crate::transport::{Delta, DeltaStream, ErrorKind, ModelRequest, Transport, TransportError};

/// What the model answers to one request.
#[derive(Debug, Clone)]
pub enum Script {
    /// These deltas, then the end.
    Reply(Vec<Delta>),
    /// These deltas, then silence until the request is dropped.
    Hang(Vec<Delta>),
    /// These deltas, then this error. Without deltas the request itself fails.
    Fail(Vec<Delta>, TransportError),
}

/// A reply of plain text.
pub fn text(text: &str) -> Script {
    Script::Reply(vec![Delta::Text(text.into()), Delta::Finish(FinishReason::Stop)])
}

/// A reply that calls tools: id, name and arguments of each.
pub fn call(calls: &[(&str, &str, &str)]) -> Script {
    let delta = |(slot, (id, name, arguments)): (usize, &(&str, &str, &str))| Delta::ToolCall {
        slot,
        id: Some((*id).into()),
        name: Some((*name).into()),
        arguments: (*arguments).into(),
    };
    let mut deltas: Vec<Delta> = calls.iter().enumerate().map(delta).collect();
    deltas.push(Delta::Finish(FinishReason::ToolCalls));
    Script::Reply(deltas)
}

/// Answers each request with the next entry of its script.
pub struct ScriptedTransport {
    script: Mutex<VecDeque<Script>>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl ScriptedTransport {
    /// A model with this script.
    pub fn new(script: impl IntoIterator<Item = Script>) -> Self {
        Self { script: Mutex::new(script.into_iter().collect()), requests: Mutex::default() }
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Transport for ScriptedTransport {
    fn api_mode(&self) -> &str {
        "scripted"
    }

    async fn send(&self, request: &ModelRequest) -> Result<DeltaStream, TransportError> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let next = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let (deltas, last) = match next {
            Some(Script::Reply(deltas)) => (deltas, stream::empty().boxed()),
            Some(Script::Hang(deltas)) => (deltas, stream::pending().boxed()),
            Some(Script::Fail(deltas, error)) if deltas.is_empty() => return Err(error),
            Some(Script::Fail(deltas, error)) => (deltas, stream::iter([Err(error)]).boxed()),
            None => {
                let message = "the script has no answer to this request";
                return Err(TransportError::new(ErrorKind::Internal, message));
            }
        };
        Ok(stream::iter(deltas.into_iter().map(Ok)).chain(last).boxed())
    }
}
