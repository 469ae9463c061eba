//! Motions that jump.

mod resets;
