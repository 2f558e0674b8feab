//! Anthropic's Messages, and what the servers that imitate it really send.
//!
//! Left out on purpose: tools the provider runs itself, documents, and citations. Blocks of those
//! kinds in a reply are skipped; a provider's own parameters (`thinking`, `top_k`, `metadata`, …)
//! pass through as extra sampling parameters.

mod blocks;
mod decode;
mod encode;
mod ids;
mod image;
mod input_schema;
mod max_tokens;
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
    name: "anthropic_messages",
    aliases: &[],
    endpoint: Endpoint { leaf: "messages", version: Version::UnlessThere },
    // The only version there is since June 2023; what is new comes as fields, not as a version.
    headers: &[("anthropic-version", "2023-06-01")],
    authorise: |key| vec![("x-api-key", Secret::new(key.expose()))],
    encode: |request, _| encode(request),
    decoder: |request, _| Box::new(Decoder::new(&request.model)),
};
