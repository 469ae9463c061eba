//! The tests of the command line as one binary: the real program is started, and its answers are looked at.

mod analysis;
mod bad_input;
mod browser;
mod commands;
mod derive;
mod documents;
mod explain;
mod fuzz;
mod geometry;
mod long_runs;
mod report;
mod studio;
mod support;
mod sweep;
mod tables;
mod trust;
