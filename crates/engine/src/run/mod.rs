//! From equations to a motion, for each kind of problem: given starts, given ends, memory, and both.

pub(crate) mod bvp;
pub(crate) mod columns;
pub(crate) mod consistent_start;
pub(crate) mod double_double;
pub(crate) mod effective_mass;
pub(crate) mod global_error;
pub(crate) mod hybrid;
pub(crate) mod initial_value;
pub(crate) mod jump;
pub(crate) mod jump_sensitivity;
pub(crate) mod kept;
pub(crate) mod memory_operator;
pub(crate) mod noise;
pub(crate) mod prepare;
pub(crate) mod progress;
pub(crate) mod rank_watch;
pub(crate) mod record;
pub(crate) mod recorder;
pub(crate) mod sensitivity;
pub(crate) mod singular;
pub(crate) mod stop;
pub(crate) mod tables;
pub(crate) mod template;
pub(crate) mod variational;
pub(crate) mod volterra;
mod work_within;
