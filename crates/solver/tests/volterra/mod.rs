//! Systems with memory.

mod accuracy;
mod convolution;
mod kernels;
mod systems;
