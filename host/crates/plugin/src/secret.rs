//! Credentials that plugins use and never see: where values come from, the placeholders that stand
//! for them inside a guest, the swap on the way out, and their removal on the way back.
//!
//! The doors that let something in or out call this; none of them is here.

mod placeholder;
mod redactor;
mod rule;
mod source;
mod swap;
mod value;
mod vault;

pub use placeholder::Placeholders;
pub use redactor::{BLOT, Redactor, Stream};
pub(crate) use rule::missing;
pub use rule::{Inject, SecretRule};
pub use source::{NoSecrets, SecretError, SecretSource};
pub use swap::{Outgoing, Refused, swap};
pub use value::Secret;
pub use vault::Vault;
