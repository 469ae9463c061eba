//! The workbench answers like the engine, whatever it is asked.

mod questions;
