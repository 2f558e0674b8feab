//! What the host offers guests: one file an interface, one line in [`link`].

mod config;
mod denial;
mod http;
mod log;
mod process;
mod progress;
mod secrets;
mod state;

use wasmtime::component::{HasSelf, Linker};

use crate::bindings::imports::Imports;
use crate::guest::Guest;

/// Links everything the contract and WASI offer. Nothing is left out for lack of a grant: a
/// component imports more than it uses, so a power is denied when it is used.
///
/// # Errors
/// Two interfaces of one name, which is a bug.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    Imports::add_to_linker::<_, HasSelf<Guest>>(linker, |guest| guest)
}

/// The shared types have no functions.
impl crate::bindings::plugin_types::Host for Guest {}
