//! Affinely-rigid bodies: metrics, forces, views, words of the language, long runs.

mod bodies;
mod forces;
mod long_runs;
mod metrics;
mod views;
mod words;
