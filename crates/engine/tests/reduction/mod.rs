//! Reduced forms against the saddle-point form.

mod forms;
mod motions;
