//! Initial value problems.

mod accuracy;
mod events;
mod explicit_steps;
mod radau;
mod stopping;
pub(crate) mod systems;
mod taylor;
