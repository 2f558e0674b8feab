//! Real plugin folders, real components and a real home: what is loaded, what is refused, and what
//! a grant is worth when something changed.
#![allow(clippy::unwrap_used)]

mod changes;
mod grants;
mod guards;
mod refused;
mod rig;
