//! Native code.
#![allow(unsafe_code, reason = "machine code is written and called here")]

mod fused;

pub(crate) use fused::{execute_fused, sincos_fused, sweep_fused};
