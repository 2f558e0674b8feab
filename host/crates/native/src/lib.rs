//! Tools that change or read the host's own state, and so are not plugins. Each is a file here and
//! a line in [`tools`].

mod clarify;
mod memory;
mod read_result;
mod session_search;
mod todo;

use std::path::PathBuf;
use std::sync::Arc;

use hermes_core::keep::Spill;
use hermes_core::store::Store;
use hermes_core::tool::Tool;

pub use clarify::Clarify;
pub use memory::{Entries, Memory, MemoryFile};
pub use read_result::ReadResult;
pub use session_search::SessionSearch;
pub use todo::Todo;

/// Their names, which no plugin's tool may have.
pub const NAMES: [&str; 4] = [ReadResult::NAME, Memory::NAME, Todo::NAME, Clarify::NAME];

/// All native tools of an agent whose sessions are in `store`, in the order the model sees them.
/// `memory` is the folder of the memory files.
pub fn tools<S>(store: &Arc<S>, memory: PathBuf) -> Vec<Arc<dyn Tool>>
where
    S: Store + Spill + 'static,
{
    vec![
        Arc::new(ReadResult::new(store.clone())),
        Arc::new(Memory::new(memory)),
        Arc::new(Todo::new(store.clone())),
        Arc::new(Clarify::new()),
    ]
}

#[cfg(test)]
mod tests {
    use hermes_core::testing::MemoryStore;

    use super::*;

    #[test]
    fn the_names_are_those_of_the_tools() {
        let tools = tools(&Arc::new(MemoryStore::default()), "memories".into());
        let names: Vec<_> = tools.iter().map(|tool| tool.spec().name.clone()).collect();
        assert_eq!(names, NAMES);
    }
}
