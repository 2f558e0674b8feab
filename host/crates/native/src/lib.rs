//! Tools that change or read the host's own state, and so are not plugins. Each is a file here and
//! a line in [`tools`].

mod read_result;

use std::sync::Arc;

use hermes_core::keep::Spill;
use hermes_core::tool::Tool;

pub use read_result::ReadResult;

/// All native tools of an agent, in the order the model sees them.
pub fn tools(spill: Arc<dyn Spill>) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(ReadResult::new(spill))]
}
