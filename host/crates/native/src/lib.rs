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
use hermes_core::search;
use hermes_core::store::Store;
use hermes_core::tool::Tool;

pub use clarify::Clarify;
pub use memory::{Entries, Memory, MemoryFile};
pub use read_result::ReadResult;
pub use session_search::SessionSearch;
pub use todo::Todo;

/// All native tools of an agent whose sessions are in `store`, in the order the model sees them.
/// `memory` is the folder of the memory files.
pub fn tools<S>(store: &Arc<S>, memory: PathBuf) -> Vec<Arc<dyn Tool>>
where
    S: Store + Spill + search::SessionSearch + 'static,
{
    vec![
        Arc::new(ReadResult::new(store.clone())),
        Arc::new(Memory::new(memory)),
        Arc::new(SessionSearch::new(store.clone())),
        Arc::new(Todo::new(store.clone())),
        Arc::new(Clarify::new()),
    ]
}
