//! `files`: reads, writes, edits, patches, lists and searches files in the granted folders.
//!
//! What may be touched is the sandbox's business, not this plugin's: it opens the paths it is given
//! and says what came of it. One file a tool.

mod closest;
mod edit;
mod granted;
mod list;
mod path;
mod read;
mod replace;
mod search;
mod text_file;
mod told;
mod unified;
mod walk;
mod write;

use edit::edit_file;
use list::list_files;
use read::read_file;
use search::search_files;
use unified::patch;
use write::write_file;

hermes_plugin_sdk::plugin! {
    tools: [read_file, write_file, edit_file, patch, list_files, search_files],
}
