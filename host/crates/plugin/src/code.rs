//! The code of one component, made ready when it is first needed: read, verified and deserialised,
//! or compiled again if it is not kept.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;

use crate::digest::sha256;
use crate::inspect;
use crate::linked::Linked;
use crate::sandbox::Sandbox;

/// The code of one component.
pub(crate) struct Code {
    sandbox: Arc<Sandbox>,
    path: PathBuf,
    digest: String,
    linked: OnceCell<Arc<Linked>>,
}

impl Code {
    /// The code of the component at `path` with this digest; `linked` if it is ready already.
    pub(crate) fn new(
        sandbox: &Arc<Sandbox>,
        path: PathBuf,
        digest: String,
        linked: Option<Linked>,
    ) -> Self {
        let linked = OnceCell::new_with(linked.map(Arc::new));
        Self { sandbox: Arc::clone(sandbox), path, digest, linked }
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
                    let bytes = inspect::read(&path).map_err(|refusal| refusal.to_string())?;
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
