//! The host inside another program, with a tool of that program's own.
//!
//! `cargo run --example embed -- http://localhost:11434/v1 llama3.2 "What time is it?"`

use std::sync::Arc;

use async_trait::async_trait;
use hermes_host::core::message::Effect;
use hermes_host::core::tool::{Part, Tool, ToolInvocation, ToolResult, ToolSpec, ToolTraits};
use hermes_host::{Home, HostBuilder, ModelChoice};
use serde_json::value::RawValue;

/// Tells how long this program has been running.
struct Uptime {
    spec: ToolSpec,
    started: std::time::Instant,
}

impl Uptime {
    fn new() -> Result<Self, serde_json::Error> {
        let spec = ToolSpec {
            name: "uptime".into(),
            title: None,
            description: "Seconds this program has been running.".into(),
            parameters: RawValue::from_string("{\"type\":\"object\"}".into())?.into(),
            source: "embed".into(),
            traits: ToolTraits { read_only: true, parallel_safe: true, ..ToolTraits::default() },
        };
        Ok(Self { spec, started: std::time::Instant::now() })
    }
}

#[async_trait]
impl Tool for Uptime {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _invocation: ToolInvocation) -> ToolResult {
        let seconds = self.started.elapsed().as_secs().to_string();
        ToolResult::new(Ok(vec![Part::text(seconds)]), Effect::None)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (base_url, model) = (args.next(), args.next());
    let prompt = args.next().unwrap_or_else(|| "How long have you been running?".into());
    let host = HostBuilder::new(Home::from_env()?)
        .model(ModelChoice { base_url, model, ..ModelChoice::default() })
        .tool(Arc::new(Uptime::new()?))
        .open()?;
    let answer = host.agent_for(None)?.chat(prompt).await;
    #[expect(clippy::print_stdout, reason = "this is the program's answer")]
    {
        println!("{answer}");
    }
    Ok(())
}
