//! Whole turns against a scripted model: input, script, and everything that came out.
#![allow(clippy::unwrap_used)]

mod budgets;
mod calls;
mod compressing;
mod ends;
mod flushing;
mod gates;
mod noticing;
mod recovery;
mod rig;
mod side_tasks;
mod titles;
mod truncation;
