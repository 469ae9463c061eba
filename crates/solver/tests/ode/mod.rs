//! Initial value problems.

mod accuracy;
mod event_places;
mod events;
mod explicit_steps;
mod jumps;
mod knots;
mod narrow;
mod own_steps;
mod radau;
mod rosenbrock;
mod shifted;
mod stopping;
pub(crate) mod systems;
mod taylor;
