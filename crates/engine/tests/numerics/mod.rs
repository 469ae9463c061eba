//! Integration methods over long times, the Taylor method, and exported source code.

mod export;
mod long_runs;
mod taylor;
