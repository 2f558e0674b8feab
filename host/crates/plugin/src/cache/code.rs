//! Compiled components on disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use wasmtime::Engine;
use wasmtime::component::Component;

use super::{Place, key};

/// Most bytes of compiled code kept; the least recently used goes first.
const BUDGET_BYTES: u64 = 1 << 30;

const EXTENSION: &str = "cwasm";

/// How old a half-written file is before nobody can be writing it any more.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Compiled code by the digest of the component it came from.
pub(crate) struct CodeCache {
    place: Option<Arc<Place>>,
    /// Tells engine versions and configurations apart.
    compatibility: u64,
}

impl CodeCache {
    pub(super) fn new(place: Option<Arc<Place>>, compatibility: u64) -> Self {
        Self { place, compatibility }
    }

    fn name(&self, digest: &str) -> String {
        format!("{digest}-{:016x}.{EXTENSION}", self.compatibility)
    }

    /// The compiled component of this digest, if it is kept and genuine.
    pub(crate) fn load(&self, engine: &Engine, digest: &str) -> Option<Component> {
        let place = self.place.as_ref()?;
        let name = self.name(digest);
        let code = place.read(&name)?;
        touch(place.dir.join(&name));
        #[expect(
            unsafe_code,
            reason = "wasmtime cannot check compiled code; we check that this installation wrote it"
        )]
        // SAFETY: `Place::read` has verified with the installation's own key that these very bytes
        // were produced by `store` below, from `Component::serialize`, under this name, which holds
        // the component's digest and the engine's compatibility hash.
        let component = unsafe { Component::deserialize(engine, code) };
        component.inspect_err(|error| tracing::debug!("kept code is unusable: {error:#}")).ok()
    }

    /// Keeps a compiled component.
    pub(crate) fn store(&self, component: &Component, digest: &str) {
        let Some(place) = &self.place else { return };
        let kept = component
            .serialize()
            .map_err(std::io::Error::other)
            .and_then(|code| place.write(&self.name(digest), &code));
        if let Err(error) = kept {
            tracing::warn!("compiled code of a plugin could not be kept: {error}");
        }
        self.shrink();
    }

    /// Removes what is over the budget, the least recently used first, and what a crash left half
    /// written.
    fn shrink(&self) {
        let now = SystemTime::now();
        for (written, _, path) in self.files(key::TEMPORARY) {
            if now.duration_since(written).is_ok_and(|age| age > ABANDONED) {
                let _ = std::fs::remove_file(path);
            }
        }
        let mut files = self.files(EXTENSION);
        files.sort_by_key(|(used, _, _)| *used);
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if total <= BUDGET_BYTES {
                break;
            }
            if std::fs::remove_file(path).is_ok() {
                total -= size;
            }
        }
    }

    fn files(&self, extension: &str) -> Vec<(SystemTime, u64, PathBuf)> {
        let Some(place) = &self.place else { return Vec::new() };
        let entries = std::fs::read_dir(&place.dir).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.path().extension().is_some_and(|end| end == extension))
            .filter_map(|entry| {
                let meta = entry.metadata().ok()?;
                Some((meta.modified().ok()?, meta.len(), entry.path()))
            })
            .collect()
    }
}

/// Marks a file as used now; only its place in the order of removal depends on it.
fn touch(path: PathBuf) {
    if let Ok(file) = std::fs::File::options().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}
