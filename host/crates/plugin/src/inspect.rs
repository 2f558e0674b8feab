//! What a component file is: its digest, what it exports, which tools it offers. Everything that
//! cannot be a plugin is refused here, with the reason.

mod reason;
mod spec;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cache::{FileStamp, Known};
use crate::code::Code;
use crate::digest::sha256;
use crate::sandbox::Sandbox;

pub use spec::RawSpec;

/// Largest component that is read: the largest real ones, Python's, have 20 MB.
const MAX_COMPONENT_BYTES: u64 = 64 << 20;

/// A file that cannot be a plugin. The text says why and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub(crate) String);

/// Which of the contract's interfaces a component exports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exports {
    /// It offers tools.
    pub tools: bool,
    /// It speaks before tool calls.
    pub pre_tool_call: bool,
    /// It speaks after tool calls.
    pub post_tool_call: bool,
    /// It listens.
    pub observer: bool,
}

/// A component that can be a plugin.
#[derive(Clone)]
pub struct Inspected {
    /// SHA-256 of its bytes, in hex.
    pub digest: String,
    /// What it exports.
    pub exports: Exports,
    /// The tools it offers.
    pub specs: Vec<RawSpec>,
    pub(crate) code: Arc<Code>,
}

impl Sandbox {
    /// Finds out what the file at `path` is. A file the catalogue knows is not read.
    ///
    /// # Errors
    /// It cannot be a plugin.
    pub fn inspect(self: &Arc<Self>, path: &Path) -> Result<Inspected, Refusal> {
        let unreadable =
            |error: std::io::Error| Refusal(format!("cannot read {}: {error}", path.display()));
        let meta = std::fs::metadata(path).map_err(unreadable)?;
        let stamp = FileStamp::of(&meta);
        let known = match self.catalogue.get(path, &stamp) {
            Some(known) => known,
            None => {
                let known = self.examine(path, meta.len())?;
                self.catalogue.put(path, stamp, known.clone());
                known
            }
        };
        let code = Arc::new(Code::new(self, path.to_owned(), known.digest.clone()));
        Ok(Inspected { digest: known.digest, exports: known.exports, specs: known.specs, code })
    }

    /// Reads, compiles and asks a component nobody knows yet.
    fn examine(self: &Arc<Self>, path: &Path, size: u64) -> Result<Known, Refusal> {
        if size > MAX_COMPONENT_BYTES {
            let most = MAX_COMPONENT_BYTES >> 20;
            let path = path.display();
            return Err(Refusal(format!(
                "{path} has {size} bytes; a component may have {most} MiB"
            )));
        }
        let bytes = std::fs::read(path)
            .map_err(|error| Refusal(format!("cannot read {}: {error}", path.display())))?;
        let digest = sha256(&bytes);
        let component = self.compile(path, &bytes, &digest)?;
        let linked = self.link(path, &component)?;
        let exports = linked.exports();
        if exports == Exports::default() {
            return Err(reason::no_export(path, &component, &self.runtime.engine));
        }
        let specs = match &linked.tool {
            Some(tool) => spec::list(self, path, tool)?,
            None => Vec::new(),
        };
        Ok(Known { digest, exports, specs })
    }
}

pub(crate) use reason::{not_a_component, unlinkable};
