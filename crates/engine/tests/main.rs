//! The tests of the engine as one binary: a folder for each subject, what they share in `support`.
//!
//! `cargo test -p pfaff --test main memory::kernels` runs one file. One test has a process of its own:
//! `allocation.rs` counts what the whole process allocates.

mod affine;
mod analysis;
mod differential;
mod ends;
mod ensemble;
mod errata;
mod forms;
mod fractional;
mod gallery;
mod geometry;
mod hybrid;
mod language;
mod memory;
mod numerics;
mod principles;
mod reduction;
mod support;
