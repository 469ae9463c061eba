//! Initial value problems.

mod accuracy;
mod event_places;
mod events;
mod explicit_steps;
mod own_steps;
mod radau;
mod rosenbrock;
mod stopping;
pub(crate) mod systems;
mod taylor;
