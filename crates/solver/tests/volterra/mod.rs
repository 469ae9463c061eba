//! Systems with memory.

mod accuracy;
mod convolution;
mod kernels;
mod shift;
mod systems;
