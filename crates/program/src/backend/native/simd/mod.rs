//! Loops compiled for the vector registers of the processor at hand: interpreters with fused
//! multiply-adds, elementary functions of several lanes, sums of power series, and Runge–Kutta steps.
//!
//! Each loop is written once and compiled for several processors; which one runs is decided at every call by
//! `cpu_features`. The bits are the same on all of them.

mod convolution;
#[cfg(target_arch = "x86_64")]
mod cpu_features;
mod functions;
mod fused;
mod rows;
mod runge_kutta;

pub(crate) use convolution::{LANES, Records, Sums, convolve, pass_on};
#[cfg(target_arch = "x86_64")]
pub(super) use cpu_features::cpu_features;
pub(crate) use functions::{Rowed, function_row};
pub use fused::sincos_fused;
#[cfg(feature = "cranelift")]
pub(super) use fused::sincos_row_fused;
pub(crate) use fused::{execute_fused, sweep_fused};
pub(super) use rows::{RowCall, RowLoop};
pub(crate) use rows::{RowRoom, RowWork, sum_rows};
pub(crate) use runge_kutta::RightSide;
