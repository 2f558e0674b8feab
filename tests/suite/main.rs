//! The black-box suite: the built binary, a scripted model server on a loopback port, real plugins
//! on a real folder. Each file is one thing a user sees.
#![allow(clippy::unwrap_used)]

mod cli;
mod compression;
mod demo;
mod documents;
mod host;
mod kill;
mod matrix;
mod model;
mod plugins;
mod prompt;
mod rollback;
mod secrets;
mod shipped;
mod strict;
mod vendors;
mod wire;
