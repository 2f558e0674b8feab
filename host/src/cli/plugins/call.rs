//! `plugins call`: one tool call through the same loop as the model's, asked for by a model that
//! says exactly that. So hooks, approvals, limits and receipts are those of any other call.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use futures_util::StreamExt;
use hermes_core::agent::TurnInput;
use hermes_core::event::{Event, EventKind};
use hermes_core::message::{FinishReason, Message};
use hermes_core::router::Route;
use hermes_core::transport::{
    Delta, DeltaStream, ModelRequest, Sampling, Transport, TransportError,
};
use serde_json::{Value, json};

use super::super::{Output, RunArgs, exit, run};
use super::list::unknown;
use crate::UsageError;
use crate::approve::TerminalApprover;
use crate::home::Home;
use crate::render::{Out, printable};

/// A model that makes one call and then is done.
struct Caller {
    tool: String,
    arguments: String,
}

#[async_trait]
impl Transport for Caller {
    fn api_mode(&self) -> &str {
        "none"
    }

    async fn send(&self, request: &ModelRequest) -> Result<DeltaStream, TransportError> {
        let answered = request.messages.iter().any(|message| message.tool_call_id.is_some());
        let deltas = if answered {
            vec![Delta::Text("done".into()), Delta::Finish(FinishReason::Stop)]
        } else {
            let (name, arguments) = (Some(self.tool.clone()), self.arguments.clone());
            vec![
                Delta::ToolCall { slot: 0, id: None, name, arguments },
                Delta::Finish(FinishReason::ToolCalls),
            ]
        };
        Ok(futures_util::stream::iter(deltas.into_iter().map(Ok)).boxed())
    }
}

/// Makes the call and prints its result.
pub(super) async fn call(
    args: &RunArgs,
    home: &Home,
    plugin: &str,
    tool: &str,
    arguments: &str,
    out: &Out,
) -> Result<ExitCode, UsageError> {
    let caller = Caller { tool: tool.to_owned(), arguments: arguments.to_owned() };
    let route = Route {
        provider: "none".into(),
        model: "none".into(),
        context_window: None,
        prices: None,
        sampling: Sampling::default(),
        stream: true,
        transport: Arc::new(caller),
    };
    let host = run::builder(args, home)?.route(route).source("plugins call").open()?;
    let found = host.loaded().plugins.iter().find(|summary| summary.name == plugin);
    let found = found.ok_or_else(|| unknown(host.loaded(), plugin))?;
    if let Some(reason) = &found.reason {
        return Err(UsageError::new(format!("plugin {plugin:?} is not loaded: {reason}")));
    }
    if !found.tools.iter().any(|name| name == tool) {
        let tools = found.tools.join(", ");
        return Err(UsageError::new(format!(
            "plugin {plugin:?} has no tool {tool:?} (its tools: {tools})"
        )));
    }
    let verdicts = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&verdicts);
    let approver = Arc::new(TerminalApprover::new(args.yes, args.output == Output::Text));
    let agent = host.agent(None, approver, move |event: Event| {
        if let EventKind::HookVerdict { hook, verdict, reason, .. } = event.kind {
            let line = format!(
                "{hook}: {verdict}{}",
                reason.map(|why| format!(" ({why})")).unwrap_or_default()
            );
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    })?;
    let started = Instant::now();
    let result = agent.run_turn(TurnInput::user(format!("call {tool}"))).await;
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let answer = result.messages.iter().find(|message| message.tool_call_id.is_some());
    let Some(answer) = answer else {
        let why = result.error.map_or(result.end.detail, |error| error.message);
        return Err(UsageError::new(format!("the call was not made: {why}")));
    };
    for line in verdicts.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        out.note(&printable(line));
    }
    let receipts = host.store().receipts(&result.session_id).await.unwrap_or_default();
    print(answer, args, json!(receipts.first()), duration_ms, out);
    let code = if answer.failure.is_some() { exit::FAILED } else { exit::FINISHED };
    Ok(ExitCode::from(if out.is_broken() { exit::BROKEN_PIPE } else { code }))
}

fn print(answer: &Message, args: &RunArgs, receipt: Value, duration_ms: u64, out: &Out) {
    let text = answer.content.text();
    if args.output == Output::Text {
        return out.line(printable(&text).trim_end_matches('\n'));
    }
    let parts: Vec<Value> = answer.content.0.iter().map(|part| json!(part)).collect();
    out.json(&match &answer.failure {
        None => json!({"ok": true, "parts": parts, "duration_ms": duration_ms, "receipt": receipt}),
        Some(code) => {
            let message = text.strip_prefix(&format!("error [{code}]: ")).unwrap_or(&text);
            let failure = json!({"code": code, "message": message});
            json!({"ok": false, "failure": failure, "duration_ms": duration_ms, "receipt": receipt})
        }
    });
}
