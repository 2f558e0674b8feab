//! What a component file is: its digest, what it exports, which tools it offers. Everything that
//! cannot be a plugin is refused here, with the reason.

mod attributes;
mod reason;
mod spec;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cache::{FileStamp, Known};
use crate::code::Code;
use crate::digest::sha256;
use crate::linked::Linked;
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
        let meta = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        // Reading a pipe or a device could wait for good.
        if !meta.is_file() {
            return Err(Refusal(format!("{} is not a file", path.display())));
        }
        let stamp = FileStamp::of(&meta);
        let (known, linked) = match self.catalogue.get(path, &stamp) {
            Some(known) => (known, None),
            None => {
                let (known, linked) = self.examine(path)?;
                self.catalogue.put(path, stamp, known.clone());
                (known, Some(linked))
            }
        };
        let code = Arc::new(Code::new(self, path.to_owned(), known.digest.clone(), linked));
        Ok(Inspected { digest: known.digest, exports: known.exports, specs: known.specs, code })
    }

    /// Reads, compiles and asks a component nobody knows yet.
    fn examine(self: &Arc<Self>, path: &Path) -> Result<(Known, Linked), Refusal> {
        let bytes = read(path)?;
        let digest = sha256(&bytes);
        let component = self.compile(path, &bytes, &digest)?;
        let linked = self.link(path, &component)?;
        let exports = linked.exports();
        if let Some(refusal) =
            reason::foreign_export(path, &component, exports, &self.runtime.engine)
        {
            return Err(refusal);
        }
        if exports == Exports::default() {
            return Err(reason::no_export(path, &component, &self.runtime.engine));
        }
        // Which tools it offers depends on its bytes alone: a copy need not be asked again.
        let specs = match (self.catalogue.specs(&digest), &linked.tool) {
            (Some(specs), _) => specs,
            (None, Some(tool)) => spec::list(self, path, tool)?,
            (None, None) => Vec::new(),
        };
        Ok((Known { digest, exports, specs }, linked))
    }
}

/// The bytes of a component, if there are not too many.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    let size = file.metadata().map_err(|error| unreadable(path, &error))?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_COMPONENT_BYTES)).unwrap_or(0));
    let most = MAX_COMPONENT_BYTES + 1;
    file.take(most).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if size > MAX_COMPONENT_BYTES || bytes.len() as u64 == most {
        let (path, most) = (path.display(), MAX_COMPONENT_BYTES >> 20);
        return Err(Refusal(format!("{path} has {size} bytes; a component may have {most} MiB")));
    }
    Ok(bytes)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Refusal {
    Refusal(format!("cannot read {}: {error}", path.display()))
}

pub(crate) use reason::{not_a_component, unlinkable};
