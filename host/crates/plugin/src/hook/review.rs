//! The hook after tool calls: it may put other parts in place of a result, add a note, or keep the
//! result from the model.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use hermes_core::hook::{FinishedCall, Hook, HookFailure, PostToolCall, PostVerdict};
use wasmtime::Store;

use super::{Asked, CUT_BYTES, HookOptions, capped, hook, shortened, unready};
use crate::bindings::plugin_types as wit;
use crate::bindings::review::ReviewPluginPre;
use crate::bindings::review::exports::hermes::plugin::post_tool_call as review;
use crate::call::AsyncGuest;
use crate::convert;
use crate::guest::Guest;
use crate::plugin::Plugin;

/// Speaks after tool calls.
pub(crate) struct WasmReview(Asked);

impl WasmReview {
    pub(crate) fn new(plugin: Arc<Plugin>, options: HookOptions) -> Self {
        Self(Asked::new(plugin, options))
    }
}

/// What a review guest answers.
type Reviewed = Result<review::Verdict, String>;

struct Review {
    pre: ReviewPluginPre<Guest>,
    finished: review::FinishedCall,
}

impl AsyncGuest<Reviewed> for Review {
    async fn enter(
        self,
        store: &mut Store<Guest>,
        instantiated: &mut Option<Instant>,
    ) -> wasmtime::Result<Reviewed> {
        let plugin = self.pre.instantiate_async(&mut *store).await?;
        *instantiated = Some(Instant::now());
        plugin.hermes_plugin_post_tool_call().call_review(store, &self.finished).await
    }
}

#[async_trait]
impl PostToolCall for WasmReview {
    fn guards(&self) -> bool {
        self.0.plugin.identity.effective.hook_powers.replace
    }

    async fn review(&self, call: &FinishedCall) -> Result<PostVerdict, HookFailure> {
        let asked = &self.0;
        let (linked, _) = asked.plugin.code.ready().await.map_err(unready)?;
        let pre =
            linked.review.clone().ok_or_else(|| unready("no post-tool-call export".into()))?;
        let mut outcome = convert::outcome_out(&call.outcome);
        if !asked.plugin.identity.effective.hook_powers.full {
            shorten_outcome(&mut outcome);
        }
        let finished = review::FinishedCall {
            tool: call.call.tool.clone(),
            source: call.call.source.clone(),
            arguments: asked.sees(&call.call.arguments),
            outcome,
            duration_ms: u64::try_from(call.duration.as_millis()).unwrap_or(u64::MAX),
            info: asked.info(&call.call),
        };
        match asked.ask(&call.call.cancel, Review { pre, finished }).await? {
            review::Verdict::Keep => Ok(PostVerdict::Keep),
            review::Verdict::Note(text) => Ok(PostVerdict::Note { text: capped(text) }),
            review::Verdict::Withhold(reason) => {
                Ok(PostVerdict::Withhold { reason: capped(reason) })
            }
            review::Verdict::Replace(parts) if self.guards() => {
                let parts = convert::parts(parts).map_err(|problem| HookFailure {
                    reason: "replaced the result with too much".into(),
                    detail: problem,
                })?;
                Ok(PostVerdict::Replace { parts })
            }
            review::Verdict::Replace(_) => {
                let plugin = asked.plugin.name();
                tracing::warn!(%plugin, "replacement dropped: no power `replace`; allow it: hermes-host plugins grant {plugin} hook:replace");
                Ok(PostVerdict::Keep)
            }
        }
    }
}

/// What a hook without the power `full` sees of a result.
fn shorten_outcome(outcome: &mut Result<Vec<wit::Part>, wit::Failure>) {
    let cut = |text: &mut String| {
        if text.len() > CUT_BYTES {
            *text = hermes_core::text::ellipsis(text, CUT_BYTES).into_owned();
        }
    };
    let cut_attributes = |attributes: &mut Vec<wit::Attribute>| {
        for attribute in attributes {
            attribute.value = shortened(&attribute.value);
        }
    };
    match outcome {
        Ok(parts) => {
            for part in parts {
                match &mut part.body {
                    wit::Body::Text(text) => cut(text),
                    wit::Body::Bytes(bytes) => bytes.truncate(CUT_BYTES),
                }
                cut_attributes(&mut part.attributes);
            }
        }
        Err(failure) => {
            cut(&mut failure.message);
            cut_attributes(&mut failure.attributes);
        }
    }
}

hook!(WasmReview);
