//! A tool of a plugin, as the loop calls it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use hermes_core::failure::{Failure, code};
use hermes_core::keep::Receipt;
use hermes_core::message::Effect;
use hermes_core::tool::{Tool, ToolInvocation, ToolResult, ToolSpec, ToolTraits};
use serde_json::{Map, Value};
use wasmtime::Store;

use crate::bindings::plugin_types as wit;
use crate::bindings::tool::ToolPluginPre;
use crate::call::{self, AsyncGuest, Bounds, Ended, Stopped};
use crate::convert;
use crate::guest::Guest;
use crate::inspect::RawSpec;
use crate::plugin::Plugin;

/// A tool inside a component.
pub(crate) struct WasmTool {
    plugin: Arc<Plugin>,
    spec: ToolSpec,
}

impl WasmTool {
    pub(crate) fn new(plugin: Arc<Plugin>, raw: &RawSpec, description: String) -> Self {
        let mut traits = traits(&raw.attributes);
        if !traits.read_only {
            let folders = plugin.identity.effective.fs.iter().filter(|folder| folder.writable);
            traits.writable_folders = folders.map(|folder| folder.host_path.clone()).collect();
        }
        let own = traits.max_result_bytes.unwrap_or(usize::MAX);
        traits.max_result_bytes = Some(own.min(plugin.identity.limits.result_bytes));
        let spec = ToolSpec {
            name: raw.name.clone(),
            title: raw.title.clone(),
            description,
            parameters: raw.parameters.clone().into(),
            source: plugin.name().to_owned(),
            traits,
        };
        Self { plugin, spec }
    }

    /// Time of one call: the plugin's limit, the tool's own and what the turn has left.
    fn wall(&self, deadline: Option<Duration>) -> Duration {
        let own = self.spec.traits.timeout.unwrap_or(Duration::MAX);
        self.plugin.identity.limits.wall.min(own).min(deadline.unwrap_or(Duration::MAX))
    }

    async fn enter(&self, invocation: &ToolInvocation, wall: Duration) -> (Answer, Receipt) {
        let mut receipt =
            Receipt { component: Some(self.plugin.digest.clone()), ..Receipt::default() };
        let pre = match self.plugin.code.ready().await {
            Ok((linked, took)) => {
                receipt.prepare_us = micros(took);
                linked.tool.clone()
            }
            Err(problem) => return (Answer::NeverRan(problem), receipt),
        };
        let Some(pre) = pre else {
            return (Answer::NeverRan("the component exports no tools any more".into()), receipt);
        };
        let mut scope = self.plugin.tool_scope(wall, invocation.cancel.clone());
        // What a tool says about itself holds: one that only reads cannot do anything else.
        scope.writes = !self.spec.traits.read_only;
        scope.progress = Some(Arc::clone(&invocation.progress));
        let guest = CallTool {
            pre,
            tool: self.spec.name.clone(),
            arguments: invocation.arguments.to_string(),
            info: self.info(invocation, wall),
        };
        let memory_bytes = self.plugin.identity.limits.memory_bytes;
        let bounds = Bounds { memory_bytes, wall, busy: None };
        let runtime = &self.plugin.code.sandbox().runtime;
        let Ended { value, measures } = call::run(runtime, scope, bounds, guest).await;
        receipt.instantiate_us = micros(measures.instantiate);
        receipt.guest_us = micros(measures.guest);
        receipt.peak_memory_bytes = u64::try_from(measures.peak_memory).unwrap_or(u64::MAX);
        (Answer::Ended(value), receipt)
    }

    fn info(&self, invocation: &ToolInvocation, wall: Duration) -> wit::CallInfo {
        let most = self.spec.traits.max_result_bytes.unwrap_or(convert::RESULT_BYTES);
        wit::CallInfo {
            call_id: invocation.call_id.clone(),
            session_id: invocation.session_id.to_string(),
            turn: invocation.turn,
            deadline_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
            max_result_bytes: u32::try_from(most).unwrap_or(u32::MAX),
            attributes: Vec::new(),
        }
    }

    /// What a call that broke off left behind.
    fn cut(&self) -> Effect {
        if self.spec.traits.read_only { Effect::None } else { Effect::Unknown }
    }

    fn result(&self, answer: Answer, receipt: &mut Receipt) -> ToolResult {
        let name = self.plugin.name();
        let failed = |code: &str, message: String, effect| {
            ToolResult::new(Err(Failure::new(code, message)), effect)
        };
        match answer {
            Answer::NeverRan(problem) => self.never_ran(&problem),
            Answer::Ended(Ok(Ok(parts))) => self.checked(parts, receipt),
            Answer::Ended(Ok(Err(failure))) => {
                ToolResult::new(Err(convert::failure(failure)), self.done())
            }
            Answer::Ended(Err(Stopped::NeverRan(problem))) => self.never_ran(&problem),
            Answer::Ended(Err(Stopped::TooLarge(most))) => {
                let message = format!(
                    "plugin {name:?} handed over more than {} MiB at once. Ask for less",
                    most >> 20
                );
                failed(code::TOO_LARGE, message, self.cut())
            }
            Answer::Ended(Err(Stopped::Trapped(how))) => {
                failed(code::INTERNAL, format!("plugin {name:?} {how}"), self.cut())
            }
            Answer::Ended(Err(Stopped::TimedOut(limit))) => {
                let message =
                    format!("plugin {name:?} gave no answer within {} ms", limit.as_millis());
                failed(code::TIMEOUT, message, self.cut())
            }
            Answer::Ended(Err(Stopped::Cancelled)) => {
                failed(code::CANCELLED, "interrupted before it answered".into(), self.cut())
            }
        }
    }

    fn never_ran(&self, problem: &str) -> ToolResult {
        let message = format!("plugin {:?} cannot run: {problem}", self.plugin.name());
        ToolResult::refused(Failure::new(code::UNAVAILABLE, message))
    }

    /// What a call that ran to its end did.
    fn done(&self) -> Effect {
        if self.spec.traits.read_only { Effect::None } else { Effect::Applied }
    }

    fn checked(&self, parts: Vec<wit::Part>, receipt: &mut Receipt) -> ToolResult {
        receipt.result_bytes = u64::try_from(convert::bytes(&parts)).unwrap_or(u64::MAX);
        let outcome = convert::parts(parts)
            .map_err(|problem| Failure::new(code::TOO_LARGE, format!("{problem}. Ask for less")));
        ToolResult::new(outcome, self.done())
    }
}

/// What became of a call.
enum Answer {
    NeverRan(String),
    Ended(Result<Called, Stopped>),
}

/// What a guest answers to a call.
type Called = Result<Vec<wit::Part>, wit::Failure>;

struct CallTool {
    pre: ToolPluginPre<Guest>,
    tool: String,
    arguments: String,
    info: wit::CallInfo,
}

impl AsyncGuest<Called> for CallTool {
    async fn enter(
        self,
        store: &mut Store<Guest>,
        instantiated: &mut Option<Instant>,
    ) -> wasmtime::Result<Called> {
        let plugin = self.pre.instantiate_async(&mut *store).await?;
        *instantiated = Some(Instant::now());
        plugin.hermes_plugin_tools().call_call(store, &self.tool, &self.arguments, &self.info).await
    }
}

#[async_trait]
impl Tool for WasmTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: ToolInvocation) -> ToolResult {
        let wall = self.wall(invocation.deadline);
        let (answer, mut receipt) = self.enter(&invocation, wall).await;
        let mut result = self.result(answer, &mut receipt);
        if let Some(redactor) = self.plugin.identity.vault.redactor() {
            convert::redact(&mut result.outcome, &redactor);
        }
        result.receipt = Some(receipt);
        result
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// How a tool may be run, from the hints its plugin gives; what it does not say is the careful
/// default.
fn traits(attributes: &Map<String, Value>) -> ToolTraits {
    let flag = |name: &str| attributes.get(name).and_then(Value::as_bool).unwrap_or_default();
    let number = |name: &str| attributes.get(name).and_then(Value::as_u64);
    let paths = attributes.get("path-arguments").and_then(Value::as_array);
    ToolTraits {
        read_only: flag("read-only"),
        parallel_safe: flag("parallel-safe"),
        interactive: flag("interactive"),
        destructive: flag("destructive"),
        idempotent: flag("idempotent"),
        path_arguments: paths
            .into_iter()
            .flatten()
            .filter_map(|path| path.as_str().map(str::to_owned))
            .collect(),
        writable_folders: Vec::new(),
        timeout: number("timeout-ms").map(Duration::from_millis),
        max_result_bytes: number("max-result-bytes").and_then(|bytes| usize::try_from(bytes).ok()),
    }
}
