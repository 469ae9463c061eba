//! Every gallery model: its motion, its principle, its drawing.

mod drawing;
mod jumps;
mod motions;
mod principles;
