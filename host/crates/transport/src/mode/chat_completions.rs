//! OpenAI's Chat Completions, and what the many servers that imitate it really send.
//!
//! Left out on purpose: `n > 1`, audio, log probabilities, the legacy `function_call`, and
//! anything only one provider has. A provider's own parameters pass through as extra sampling
//! parameters.

mod calls;
mod decode;
mod encode;
mod usage;
mod wire;

pub use decode::Decoder;
pub use encode::encode;

use crate::endpoint::{Endpoint, Version};
use crate::mode::Mode;
use crate::secret::Secret;

/// The row of the table.
pub static MODE: Mode = Mode {
    name: "chat_completions",
    aliases: &[],
    endpoint: Endpoint { leaf: "chat/completions", version: Version::WithoutPath },
    headers: &[],
    authorise: |key| vec![("authorization", Secret::new(&format!("Bearer {}", key.expose())))],
    encode,
    decoder: |request| Box::new(Decoder::new(&request.model)),
};
