//! The code of one component, made ready when it is first needed: read, verified and deserialised,
//! or compiled again if it is not kept.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;
use wasmtime::component::InstancePre;

use crate::bindings::gate::GatePluginPre;
use crate::bindings::observer::ObserverPluginPre;
use crate::bindings::review::ReviewPluginPre;
use crate::bindings::tool::ToolPluginPre;
use crate::digest::sha256;
use crate::guest::Guest;
use crate::inspect::Exports;
use crate::sandbox::Sandbox;

/// A component linked against everything the host offers, by what it exports.
pub(crate) struct Linked {
    pub(crate) tool: Option<ToolPluginPre<Guest>>,
    pub(crate) gate: Option<GatePluginPre<Guest>>,
    pub(crate) review: Option<ReviewPluginPre<Guest>>,
    pub(crate) observer: Option<ObserverPluginPre<Guest>>,
}

impl Linked {
    /// Looks for each interface; one that is not there, or not in our version, is absent.
    pub(crate) fn new(pre: &InstancePre<Guest>) -> Self {
        Self {
            tool: ToolPluginPre::new(pre.clone()).ok(),
            gate: GatePluginPre::new(pre.clone()).ok(),
            review: ReviewPluginPre::new(pre.clone()).ok(),
            observer: ObserverPluginPre::new(pre.clone()).ok(),
        }
    }

    pub(crate) fn exports(&self) -> Exports {
        Exports {
            tools: self.tool.is_some(),
            pre_tool_call: self.gate.is_some(),
            post_tool_call: self.review.is_some(),
            observer: self.observer.is_some(),
        }
    }
}

/// The code of one component.
pub(crate) struct Code {
    sandbox: Arc<Sandbox>,
    path: PathBuf,
    digest: String,
    linked: OnceCell<Arc<Linked>>,
}

impl Code {
    pub(crate) fn new(sandbox: &Arc<Sandbox>, path: PathBuf, digest: String) -> Self {
        Self { sandbox: Arc::clone(sandbox), path, digest, linked: OnceCell::new() }
    }

    pub(crate) fn sandbox(&self) -> &Arc<Sandbox> {
        &self.sandbox
    }

    /// The code, and how long it took to make it ready now.
    ///
    /// # Errors
    /// The file is not the one that was inspected, or cannot be compiled any more.
    pub(crate) async fn ready(&self) -> Result<(Arc<Linked>, Duration), String> {
        if let Some(linked) = self.linked.get() {
            return Ok((Arc::clone(linked), Duration::ZERO));
        }
        let started = Instant::now();
        let linked = self.linked.get_or_try_init(|| self.make()).await?;
        Ok((Arc::clone(linked), started.elapsed()))
    }

    async fn make(&self) -> Result<Arc<Linked>, String> {
        let (sandbox, path, digest) =
            (Arc::clone(&self.sandbox), self.path.clone(), self.digest.clone());
        let making = self.sandbox.runtime.handle.spawn_blocking(move || {
            let component = match sandbox.code.load(&sandbox.runtime.engine, &digest) {
                Some(component) => component,
                None => {
                    let bytes = std::fs::read(&path)
                        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                    // Grants are bound to bytes: other bytes are another plugin.
                    if sha256(&bytes) != digest {
                        return Err(format!(
                            "{} changed while the host was running; start again to load it",
                            path.display()
                        ));
                    }
                    sandbox
                        .compile(&path, &bytes, &digest)
                        .map_err(|refusal| refusal.to_string())?
                }
            };
            let linked = sandbox.link(&path, &component).map_err(|refusal| refusal.to_string())?;
            Ok(Arc::new(linked))
        });
        making.await.unwrap_or_else(|error| Err(format!("preparing the plugin failed: {error}")))
    }
}
