//! Real guests in the real sandbox: each way to hurt the host is refused or contained, and the
//! host and the other calls go on.
#![allow(clippy::unwrap_used)]

mod contained;
mod gates;
mod refused;
mod rig;
mod secrets;
mod stuck;
mod walls;
mod written;
