//! The tests of the command line as one binary: the real program is started, and its answers are looked at.

mod analysis;
mod bad_input;
#[cfg(unix)]
mod browser;
mod commands;
mod derive;
mod documents;
mod explain;
mod fuzz;
mod geometry;
mod long_runs;
mod memory;
mod report;
mod studio;
mod support;
mod sweep;
mod tables;
mod trust;

// What the fuzz targets draw, for the real program.
#[allow(dead_code, unreachable_pub, reason = "the targets use all of it")]
#[path = "../../../fuzz/plain/src/choices.rs"]
mod choices;
#[allow(dead_code, unreachable_pub, reason = "the targets use all of it")]
#[path = "../../../fuzz/plain/src/writer.rs"]
mod writer;
