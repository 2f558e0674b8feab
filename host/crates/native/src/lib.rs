//! Tools that change or read the host's own state, and so are not plugins. Each is a file here and
//! a line in [`tools`].

mod memory;
mod read_result;

use std::path::PathBuf;
use std::sync::Arc;

use hermes_core::keep::Spill;
use hermes_core::tool::Tool;

pub use memory::{Entries, Memory, MemoryFile};
pub use read_result::ReadResult;

/// All native tools of an agent, in the order the model sees them. `memory` is the folder of the
/// memory files.
pub fn tools(spill: Arc<dyn Spill>, memory: PathBuf) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(ReadResult::new(spill)), Arc::new(Memory::new(memory))]
}
