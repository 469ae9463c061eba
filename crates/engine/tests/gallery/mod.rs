//! Every gallery model: its motion, its principle, its drawing.

mod drawing;
mod motions;
mod principles;
