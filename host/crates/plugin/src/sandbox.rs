//! The sandbox of a process: one engine, one linker, one cache, shared by all plugins.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use hermes_core::keep::{PluginState, StateEntry, StateError, StateQuota};
use wasmtime::component::{Component, Linker};

use crate::cache::{self, Catalogue, CodeCache};
use crate::engine::Runtime;
use crate::guest::Guest;
use crate::imports;
use crate::inspect::{Refusal, not_a_component, unlinkable};
use crate::linked::Linked;
use crate::secret::SecretSource;

/// What a sandbox needs.
pub struct SandboxOptions {
    /// Where compiled code is kept; nothing is kept without it.
    pub cache_dir: Option<PathBuf>,
    /// Where plugins keep their state.
    pub state: Arc<dyn PluginState>,
    /// Where the values of secrets come from.
    pub secrets: Arc<dyn SecretSource>,
}

/// The engine cannot be started on this machine.
#[derive(Debug, thiserror::Error)]
#[error("the WebAssembly engine cannot be started: {0}")]
pub struct SandboxError(String);

/// Compiles, links and runs components.
pub struct Sandbox {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) state: Arc<dyn PluginState>,
    pub(crate) secrets: Arc<dyn SecretSource>,
    pub(crate) catalogue: Catalogue,
    pub(crate) code: CodeCache,
    linker: Linker<Guest>,
}

impl Sandbox {
    /// Starts the engine.
    ///
    /// # Errors
    /// It cannot be started on this machine.
    pub fn new(options: SandboxOptions) -> Result<Arc<Self>, SandboxError> {
        let broken = |error: wasmtime::Error| SandboxError(format!("{error:#}"));
        let runtime = Runtime::start().map_err(broken)?;
        let mut linker = Linker::new(&runtime.engine);
        imports::link(&mut linker).map_err(broken)?;
        let mut hasher = DefaultHasher::new();
        runtime.engine.precompile_compatibility_hash().hash(&mut hasher);
        let (catalogue, code) = cache::open(options.cache_dir.as_deref(), hasher.finish());
        let SandboxOptions { state, secrets, .. } = options;
        Ok(Arc::new(Self { runtime, state, secrets, catalogue, code, linker }))
    }

    /// Compiled code for these bytes: kept, or made now and kept.
    pub(crate) fn compile(
        &self,
        path: &Path,
        bytes: &[u8],
        digest: &str,
    ) -> Result<Component, Refusal> {
        if let Some(refusal) = not_a_component(path, bytes) {
            return Err(refusal);
        }
        if let Some(component) = self.code.load(&self.runtime.engine, digest) {
            return Ok(component);
        }
        tracing::info!("compiling {}", path.display());
        // A component can be made to break the compiler; that is its own refusal, not our end.
        let compiling = || Component::from_binary(&self.runtime.engine, bytes);
        let compiled = std::panic::catch_unwind(AssertUnwindSafe(compiling));
        let component = match compiled {
            Ok(Ok(component)) => component,
            Ok(Err(error)) => {
                return Err(Refusal(format!(
                    "{} is no valid component: {error:#}",
                    path.display()
                )));
            }
            Err(_) => return Err(Refusal(format!("{} breaks the compiler", path.display()))),
        };
        self.code.store(&component, digest);
        Ok(component)
    }

    /// Links a component against everything the host offers.
    pub(crate) fn link(&self, path: &Path, component: &Component) -> Result<Linked, Refusal> {
        let pre = self
            .linker
            .instantiate_pre(component)
            .map_err(|error| unlinkable(path, component, &self.runtime.engine, &error))?;
        Ok(Linked::new(&pre))
    }

    /// Waits for a guest where nobody else waits: at load, on the loading thread, which may belong
    /// to a runtime of the caller's.
    pub(crate) fn block_on<T: Send>(&self, future: impl Future<Output = T> + Send) -> T {
        let handle = &self.runtime.handle;
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| handle.block_on(future));
            match waiting.join() {
                Ok(value) => value,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

/// State for calls that have none.
pub(crate) struct NoState;

#[async_trait]
impl PluginState for NoState {
    async fn get(&self, _: &str, _: &str) -> Result<Option<StateEntry>, StateError> {
        Ok(None)
    }

    async fn put(
        &self,
        _: &str,
        _: &str,
        _: &[u8],
        _: Option<u64>,
        _: Option<u32>,
        _: StateQuota,
    ) -> Result<Option<u64>, StateError> {
        Err(StateError::OverQuota("there is no state while tools are listed".into()))
    }

    async fn delete(&self, _: &str, _: &str) -> Result<bool, StateError> {
        Ok(false)
    }

    async fn list_keys(
        &self,
        _: &str,
        _: &str,
        _: Option<&str>,
        _: u32,
    ) -> Result<Vec<String>, StateError> {
        Ok(Vec::new())
    }
}
