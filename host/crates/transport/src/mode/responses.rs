//! OpenAI's Responses API, and the servers that speak it too: Codex back ends, Azure, xAI, vLLM,
//! LM Studio.
//!
//! Always without the server's memory (`store: false`): a request carries the whole history, and
//! reasoning comes back encrypted to be sent again with it. Left out on purpose: built-in tools,
//! background replies, conversations kept by the server, files and audio.

mod decode;
mod encode;
mod items;
mod replay;
mod usage;
mod wire;

pub use decode::Decoder;
pub use encode::encode;

use crate::endpoint::{Endpoint, Version};
use crate::mode::Mode;
use crate::secret::Secret;

/// The row of the table.
pub static MODE: Mode = Mode {
    name: "responses",
    aliases: &["codex_responses"],
    endpoint: Endpoint { leaf: "responses", version: Version::WithoutPath },
    headers: &[],
    authorise: |key| vec![("authorization", Secret::new(&format!("Bearer {}", key.expose())))],
    encode: |request, _| encode(request),
    decoder: |request, _| Box::new(Decoder::new(&request.model)),
};
