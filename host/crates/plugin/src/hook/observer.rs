//! The hook that only listens. It is told and nobody waits for what it says; one that keeps failing
//! is told no more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use globset::GlobSet;
use hermes_core::failure::Attributes;
use hermes_core::hook::Observer;
use tokio_util::sync::CancellationToken;
use wasmtime::Store;

use super::slot::{FAILURES, Slot};
use super::{MAX_TIMEOUT, enter};
use crate::bindings::observer::ObserverPluginPre;
use crate::bindings::plugin_types as wit;
use crate::call::AsyncGuest;
use crate::guest::Guest;
use crate::plugin::Plugin;

/// When an observer is told.
#[derive(Debug, Clone)]
pub struct ObserverOptions {
    /// The points it wants.
    pub points: GlobSet,
    /// Time for one notice.
    pub timeout: Duration,
}

/// Listens.
pub(crate) struct WasmObserver {
    plugin: Arc<Plugin>,
    options: ObserverOptions,
    slot: Slot,
}

impl WasmObserver {
    pub(crate) fn new(plugin: Arc<Plugin>, mut options: ObserverOptions) -> Self {
        options.timeout = options.timeout.min(MAX_TIMEOUT);
        Self { plugin, options, slot: Slot::default() }
    }

    fn failed(&self, why: &str) {
        let failures = self.slot.count();
        let plugin = self.plugin.name();
        let rest = if failures >= FAILURES { "; it is told no more" } else { "" };
        tracing::warn!(%plugin, failures, "observer failed: {why}{rest}");
    }
}

struct Notify {
    pre: ObserverPluginPre<Guest>,
    point: String,
    fields: Vec<wit::Attribute>,
}

impl AsyncGuest<()> for Notify {
    async fn enter(
        self,
        store: &mut Store<Guest>,
        instantiated: &mut Option<Instant>,
    ) -> wasmtime::Result<()> {
        let plugin = self.pre.instantiate_async(&mut *store).await?;
        *instantiated = Some(Instant::now());
        plugin.hermes_plugin_observer().call_notify(store, &self.point, &self.fields).await
    }
}

#[async_trait]
impl Observer for WasmObserver {
    fn name(&self) -> &str {
        self.plugin.name()
    }

    fn matches(&self, point: &str) -> bool {
        self.options.points.is_match(point)
    }

    async fn notify(&self, point: &str, fields: &Attributes) {
        if self.slot.failures() >= FAILURES {
            return;
        }
        let pre = match self.plugin.code.ready().await {
            Ok((linked, _)) => linked.observer.clone(),
            Err(problem) => return self.failed(&problem),
        };
        let Some(pre) = pre else { return self.failed("no observer export") };
        let fields = fields
            .iter()
            .map(|(name, value)| wit::Attribute { name: name.clone(), value: value.to_string() });
        let guest = Notify { pre, point: point.to_owned(), fields: fields.collect() };
        let ended =
            enter(&self.plugin, self.options.timeout, &CancellationToken::new(), guest).await;
        if let Err(stopped) = ended.value {
            self.failed(&format!("{stopped:?}"));
        }
    }
}
