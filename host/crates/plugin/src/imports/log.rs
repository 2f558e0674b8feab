//! `log`: what a plugin says goes to the host's log, capped, and never to the model.

use serde_json::Value;

use crate::bindings::log::{Host, Level};
use crate::bindings::plugin_types::Attribute;
use crate::guest::Guest;

/// Most a call may log; what is over it is dropped.
const LOG_BYTES: usize = 1 << 20;

/// Longest line; a log is no place for data.
const LINE_BYTES: usize = 8 << 10;

impl Host for Guest {
    fn write(
        &mut self,
        level: Level,
        message: String,
        fields: Vec<Attribute>,
    ) -> wasmtime::Result<()> {
        let bytes =
            message.len() + fields.iter().map(|f| f.name.len() + f.value.len()).sum::<usize>();
        self.logged = self.logged.saturating_add(bytes);
        if self.logged > LOG_BYTES {
            return Ok(());
        }
        if let Some(panic) = fields.iter().find(|field| field.name == "panic") {
            self.panic = Some(match serde_json::from_str(&panic.value) {
                Ok(Value::String(text)) => text,
                _ => panic.value.clone(),
            });
        }
        let plugin = &self.scope.identity.name;
        // Before the cut, which may leave a piece of a value that is not recognised.
        let message = self.scope.identity.vault.redacted(message);
        let message = hermes_core::text::ellipsis(&message, LINE_BYTES);
        match level {
            Level::Trace => tracing::trace!(%plugin, "{message}"),
            Level::Debug => tracing::debug!(%plugin, "{message}"),
            Level::Info => tracing::info!(%plugin, "{message}"),
            Level::Warn => tracing::warn!(%plugin, "{message}"),
            Level::Error => tracing::error!(%plugin, "{message}"),
        }
        Ok(())
    }
}
