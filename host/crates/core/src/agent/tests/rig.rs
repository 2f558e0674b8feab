//! What the tests of this folder share: tools and hooks of one line, and an agent around them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;

use crate::agent::{Agent, AgentBuilder};
use crate::event::{Event, EventKind};
use crate::failure::Failure;
use crate::hook::{
    FinishedCall, Hook, HookCall, HookFailure, PostToolCall, PostVerdict, PreToolCall, PreVerdict,
};
use crate::message::{Effect, Message};
use crate::router::{ModelRouter, Route};
use crate::testing::{MemoryStore, Script, ScriptedTransport};
use crate::tool::{Part, Tool, ToolInvocation, ToolResult, ToolSpec, ToolTraits};
use crate::transport::{Sampling, Transport};
use crate::usage::Prices;

/// A tool that logs its arguments and answers with them, after `delay`.
pub(super) struct Echo {
    pub(super) spec: ToolSpec,
    pub(super) log: Log,
    pub(super) delay: Duration,
    pub(super) panics: bool,
}

pub(super) type Log = Arc<Mutex<Vec<String>>>;

#[async_trait]
impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: ToolInvocation) -> ToolResult {
        let line = format!("{} {}", self.spec.name, invocation.arguments);
        self.log.lock().unwrap().push(line.clone());
        assert!(!self.panics, "a bug");
        tokio::time::sleep(self.delay).await;
        let effect = if self.spec.traits.read_only { Effect::None } else { Effect::Applied };
        let outcome = if line.contains("fail") {
            Err(Failure::new("not-found", "no such thing"))
        } else {
            Ok(vec![Part::text(line)])
        };
        ToolResult::new(outcome, effect)
    }
}

pub(super) fn spec(name: &str, traits: ToolTraits) -> ToolSpec {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    ToolSpec {
        name: name.into(),
        title: None,
        description: format!("{name}."),
        parameters: serde_json::value::RawValue::from_string(schema.into()).unwrap().into(),
        source: "test".into(),
        traits,
    }
}

pub(super) fn reads() -> ToolTraits {
    ToolTraits { read_only: true, parallel_safe: true, ..ToolTraits::default() }
}

/// What a hook says about these arguments.
type Verdict<V> = dyn Fn(&str) -> Result<V, HookFailure> + Send + Sync;

/// A hook that says one thing about every call.
pub(super) struct Says<V> {
    pub(super) name: &'static str,
    pub(super) verdict: Box<Verdict<V>>,
    pub(super) trusted: bool,
    pub(super) asked: AtomicU32,
}

impl<V: Send + Sync + 'static> Says<V> {
    pub(super) fn new(
        name: &'static str,
        trusted: bool,
        verdict: impl Fn(&str) -> Result<V, HookFailure> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { name, trusted, verdict: Box::new(verdict), asked: 0.into() })
    }
}

impl<V: Send + Sync + 'static> Hook for Says<V> {
    fn name(&self) -> &str {
        self.name
    }
    fn priority(&self) -> i32 {
        50
    }
    fn matches(&self, _tool: &str) -> bool {
        true
    }
    fn trusted(&self) -> bool {
        self.trusted
    }
}

#[async_trait]
impl PreToolCall for Says<PreVerdict> {
    async fn check(&self, call: &HookCall) -> Result<PreVerdict, HookFailure> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        (self.verdict)(&call.arguments)
    }
}

#[async_trait]
impl PostToolCall for Says<PostVerdict> {
    fn guards(&self) -> bool {
        self.trusted
    }
    async fn review(&self, call: &FinishedCall) -> Result<PostVerdict, HookFailure> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        (self.verdict)(&call.call.arguments)
    }
}

/// An agent with the tools `read`, `look` (both only read), `write` and `slow` (an hour, changes
/// things), and all that can be seen of it from outside.
pub(super) struct Rig {
    pub(super) agent: Agent,
    pub(super) model: Arc<ScriptedTransport>,
    pub(super) store: Arc<MemoryStore>,
    pub(super) log: Log,
    pub(super) events: Arc<Mutex<Vec<Event>>>,
}

pub(super) fn rig(script: impl IntoIterator<Item = Script>) -> Rig {
    rig_with(script, |builder| builder)
}

pub(super) fn rig_with(
    script: impl IntoIterator<Item = Script>,
    configure: impl FnOnce(AgentBuilder) -> AgentBuilder,
) -> Rig {
    let model = Arc::new(ScriptedTransport::new(script));
    Rig { model: model.clone(), ..rig_on(model, None, configure) }
}

/// A rig around another transport than the scripted one, for a model with this window.
pub(super) fn rig_on(
    transport: Arc<dyn Transport>,
    context_window: Option<u64>,
    configure: impl FnOnce(AgentBuilder) -> AgentBuilder,
) -> Rig {
    rig_of(ModelRouter::new(route("fake", transport, context_window)), configure)
}

/// A model `m1` of this provider.
pub(super) fn route(
    provider: &str,
    transport: Arc<dyn Transport>,
    context_window: Option<u64>,
) -> Route {
    Route {
        provider: provider.into(),
        model: "m1".into(),
        context_window,
        prices: Some(Prices { input: 1.0, output: 5.0, cached: None, cache_write: None }),
        sampling: Sampling::default(),
        stream: true,
        transport,
    }
}

/// A rig around these models.
pub(super) fn rig_of(
    router: ModelRouter,
    configure: impl FnOnce(AgentBuilder) -> AgentBuilder,
) -> Rig {
    let store = Arc::new(MemoryStore::default());
    let (log, events) = (Log::default(), Arc::new(Mutex::new(Vec::new())));
    let tool = |name, traits, delay, panics| -> Arc<dyn Tool> {
        Arc::new(Echo { spec: spec(name, traits), log: log.clone(), delay, panics })
    };
    let hour = Duration::from_secs(3600);
    let tools = [
        tool("read", reads(), Duration::from_millis(20), false),
        tool("look", reads(), Duration::from_millis(10), false),
        tool("write", ToolTraits::default(), Duration::ZERO, false),
        tool("slow", ToolTraits::default(), hour, false),
        tool("broken", ToolTraits::default(), Duration::ZERO, true),
    ];
    let sink = Arc::clone(&events);
    let builder = Agent::builder(router, store.clone())
        .tools(tools)
        .system("be brief")
        .events(move |event| sink.lock().unwrap().push(event));
    let agent = configure(builder).build().unwrap();
    let model = Arc::new(ScriptedTransport::new([]));
    Rig { agent, model, store, log, events }
}

impl Rig {
    /// The types of all events, in order.
    pub(super) fn event_types(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        let kind = |event: &Event| {
            serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned()
        };
        events.iter().map(kind).collect()
    }

    /// `hook: verdict (reason)` of all verdict events.
    pub(super) fn verdicts(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        let line = |event: &Event| match &event.kind {
            EventKind::HookVerdict { hook, verdict, reason, .. } => {
                Some(format!("{hook}: {verdict} ({})", reason.clone().unwrap_or_default()))
            }
            _ => None,
        };
        events.iter().filter_map(line).collect()
    }

    pub(super) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

/// `role: text` of each message; calls stand in brackets, results name their call.
pub(super) fn sketch(messages: &[Arc<Message>]) -> Vec<String> {
    let line = |m: &Arc<Message>| {
        let calls: Vec<_> =
            m.tool_calls.iter().map(|call| format!("[{} {}]", call.id, call.name)).collect();
        let about = m.tool_call_id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
        format!("{:?}{about}: {}{}", m.role, m.content.text(), calls.concat()).to_lowercase()
    };
    messages.iter().map(line).collect()
}
