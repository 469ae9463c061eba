//! The tests of the solver as one binary: a folder for each room of the crate.
//!
//! `cargo test -p pfaff-solver --test main ode::events` runs one file. `allocation.rs` has a process of its own,
//! since it counts what the whole process allocates.

mod bvp;
mod linalg;
mod ode;
mod variational;
mod volterra;

/// How property tests choose their cases: always the same ones.
fn cases(count: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config {
        cases: count,
        rng_seed: proptest::test_runner::RngSeed::Fixed(17),
        failure_persistence: None,
        ..proptest::test_runner::Config::default()
    }
}
