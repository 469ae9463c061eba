//! Integration methods over long times, the Taylor method, backends, and exported source code.

mod backends;
mod branches;
mod double_double;
mod events;
mod export;
mod fit;
mod gradients;
mod interrupts;
mod long_runs;
mod long_time;
mod rank;
mod scale;
mod sensitivity;
mod sensitivity_ends;
mod statistics;
mod stiff;
mod taylor;
mod truth;
