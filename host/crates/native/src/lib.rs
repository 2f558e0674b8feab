//! Tools that change or read the host's own state, and so are not plugins. Each is a file here and
//! a line in [`tools`].

mod memory;
mod read_result;
mod session_search;

use std::path::PathBuf;
use std::sync::Arc;

use hermes_core::keep::Spill;
use hermes_core::tool::Tool;

pub use memory::{Entries, Memory, MemoryFile};
pub use read_result::ReadResult;
pub use session_search::SessionSearch;

/// Their names, which no plugin's tool may have.
pub const NAMES: [&str; 2] = [ReadResult::NAME, Memory::NAME];

/// All native tools of an agent, in the order the model sees them. `memory` is the folder of the
/// memory files.
pub fn tools(spill: Arc<dyn Spill>, memory: PathBuf) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(ReadResult::new(spill)), Arc::new(Memory::new(memory))]
}

#[cfg(test)]
mod tests {
    use hermes_core::testing::MemoryStore;

    use super::*;

    #[test]
    fn the_names_are_those_of_the_tools() {
        let tools = tools(Arc::new(MemoryStore::default()), "memories".into());
        let names: Vec<_> = tools.iter().map(|tool| tool.spec().name.clone()).collect();
        assert_eq!(names, NAMES);
    }
}
