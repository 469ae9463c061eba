//! Printed formulas that fail and the right ones that hold: one test for each entry of docs/errata.md.

mod affine;
mod forms;
mod geometry;
mod memory;
mod principles;
