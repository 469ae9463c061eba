//! The tests of this crate as one binary, with a module for each subject.
//!
//! `allocation.rs` has a process of its own: it counts what the whole process allocates.

mod backends;
mod families;
mod interpreter;
mod programs;
mod runge_kutta;
mod sincos;
mod support;
mod taylor;
