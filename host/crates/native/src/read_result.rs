//! `read_result`: reads what was cut from a tool result that was too long for the model.

use std::sync::Arc;

use async_trait::async_trait;
use hermes_core::failure::{Failure, code};
use hermes_core::keep::Spill;
use hermes_core::message::Effect;
use hermes_core::tool::{Outcome, Part, Tool, ToolInvocation, ToolResult, ToolSpec, ToolTraits};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Bytes read where the model does not say how many.
const DEFAULT_LIMIT: usize = 20_000;

/// Most bytes of one reading; below the agent's own cap, so that a reading is never cut again.
const MAX_LIMIT: usize = 50_000;

const PARAMETERS: &str = r#"{"type":"object","additionalProperties":false,"required":["call_id"],"properties":{"call_id":{"type":"string","description":"The id of the call whose result was cut."},"offset":{"type":"integer","minimum":0,"description":"First byte to read. Default 0."},"limit":{"type":"integer","minimum":1,"maximum":50000,"description":"Most bytes to read. Default 20000."}}}"#;

/// The tool.
pub struct ReadResult {
    spec: ToolSpec,
    spill: Arc<dyn Spill>,
}

#[derive(Deserialize)]
struct Arguments {
    call_id: String,
    #[serde(default)]
    offset: u64,
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    DEFAULT_LIMIT
}

impl ReadResult {
    /// The tool's name.
    pub const NAME: &str = "read_result";

    /// A reader of what `spill` keeps.
    pub fn new(spill: Arc<dyn Spill>) -> Self {
        let parameters = RawValue::from_string(PARAMETERS.into());
        let spec = ToolSpec {
            name: Self::NAME.into(),
            title: Some("Read a long result".into()),
            description: "Reads the rest of a tool result of this session that was too long to be shown whole."
                .into(),
            parameters: parameters.expect("the schema above is JSON").into(),
            source: "native".into(),
            traits: ToolTraits {
                read_only: true,
                parallel_safe: true,
                idempotent: true,
                ..ToolTraits::default()
            },
        };
        Self { spec, spill }
    }

    async fn read(&self, invocation: &ToolInvocation) -> Outcome {
        let arguments: Arguments = serde_json::from_str(&invocation.arguments)
            .map_err(|error| Failure::new(code::INVALID_ARGUMENTS, error.to_string()))?;
        let Arguments { call_id, offset, limit } = arguments;
        let limit = limit.min(MAX_LIMIT);
        let found = self.spill.read(&invocation.session_id, &call_id, offset, limit).await;
        match found {
            Ok(Some((text, total))) => Ok(vec![Part::text(page(text, offset, total))]),
            Ok(None) => Err(Failure::new(
                code::NOT_FOUND,
                format!(
                    "no long result is kept for call {call_id:?}; the note of a cut result names its call"
                ),
            )),
            Err(error) => Err(Failure::new(code::UNAVAILABLE, error.to_string())),
        }
    }
}

/// One page and how to go on from it.
fn page(text: String, offset: u64, total: u64) -> String {
    let end = offset.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
    if text.is_empty() {
        return format!("[offset {offset} is at or past the end; the result has {total} bytes]");
    }
    if end >= total {
        return format!("{text}\n[end of the result]");
    }
    format!("{text}\n[bytes {offset} to {end} of {total}; go on with offset {end}]")
}

#[async_trait]
impl Tool for ReadResult {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: ToolInvocation) -> ToolResult {
        ToolResult::new(self.read(&invocation).await, Effect::None)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use hermes_core::approver::Unattended;
    use hermes_core::testing::MemoryStore;
    use hermes_core::tool::Body;

    use super::*;

    async fn read(arguments: &str) -> Result<String, String> {
        let store = MemoryStore::default();
        store.keep("s", "c1", &[Part::text("héllo world")]).await.unwrap();
        let invocation = ToolInvocation {
            call_id: "c2".into(),
            session_id: "s".into(),
            turn: 1,
            arguments: arguments.into(),
            cancel: Default::default(),
            deadline: None,
            progress: Arc::new(|_| {}),
            approver: Arc::new(Unattended),
        };
        let tool = ReadResult::new(Arc::new(store));
        let parts = tool.call(invocation).await.outcome.map_err(|failure| failure.to_string())?;
        let Body::Text(text) = &parts[0].body else { return Err("bytes".into()) };
        Ok(text.clone())
    }

    #[tokio::test]
    async fn pages_through_a_kept_result_at_character_boundaries() {
        let page = read(r#"{"call_id":"c1","limit":2}"#).await.unwrap();
        assert_eq!(page, "h\n[bytes 0 to 1 of 12; go on with offset 1]");
        let rest = read(r#"{"call_id":"c1","offset":1}"#).await.unwrap();
        assert_eq!(rest, "éllo world\n[end of the result]");
        let past = read(r#"{"call_id":"c1","offset":99}"#).await.unwrap();
        assert_eq!(past, "[offset 99 is at or past the end; the result has 12 bytes]");
    }

    #[tokio::test]
    async fn an_unknown_call_is_named() {
        assert_eq!(
            read(r#"{"call_id":"zz"}"#).await.unwrap_err(),
            "not-found: no long result is kept for call \"zz\"; the note of a cut result names its call"
        );
    }
}
