//! Extrema with memory between given ends.

mod forms;
mod independent;
mod motions;
mod sweep;
