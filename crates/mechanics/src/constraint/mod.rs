//! Constraints solved for some of the velocities: linearly, or by the implicit function theorem.

pub(crate) mod normal_form;
pub(crate) mod split;

pub use normal_form::{NormalForm, normal_form};
pub use split::{Split, split};
