//! Constraints by themselves: their class, the distribution of admissible velocities, and their solved forms.

pub(crate) mod class;
pub(crate) mod distribution;
pub(crate) mod normal_form;
pub(crate) mod split;

pub use class::{Class, classify};
pub use distribution::{Ranks, integrable, ranks};
pub use normal_form::{NormalForm, normal_form};
pub use split::{Split, split};
