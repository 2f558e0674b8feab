//! The demonstration: a scripted model on a loopback port, and the folder it works on. To the loop
//! it is a provider like any other.

pub(crate) mod folder;
pub(crate) mod model;
pub(crate) mod script;
