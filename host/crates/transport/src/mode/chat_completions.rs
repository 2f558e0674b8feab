//! OpenAI's Chat Completions, and what the many servers that imitate it really send.
//!
//! Left out on purpose: `n > 1`, audio, log probabilities and the legacy `function_call`. What
//! only some servers do is said by [`Quirks`](crate::Quirks); a provider's own parameters pass
//! through as extra sampling parameters.

mod cache;
mod calls;
mod decode;
mod encode;
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
    name: "chat_completions",
    aliases: &[],
    endpoint: Endpoint { leaf: "chat/completions", version: Version::WithoutPath },
    headers: &[],
    authorise: |key| vec![("authorization", Secret::new(&format!("Bearer {}", key.expose())))],
    encode,
    decoder: |request, quirks| Box::new(Decoder::new(&request.model, quirks)),
};
