//! What else is asked of a model: its class, its geometry, its motions side by side, its equations at a state.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod discover;
pub(crate) mod equivalence;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod forms;
pub(crate) mod gait;
pub(crate) mod geometry;
mod nested_operator;
pub(crate) mod operator;
pub(crate) mod phase;
pub(crate) mod right_side;
pub(crate) mod state;
pub(crate) mod thermal;
pub(crate) mod variations;
pub(crate) mod views;
