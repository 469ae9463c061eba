//! The flow in phase space against closed forms and published numbers.

mod collocation;
mod continuation;
mod discover;
mod equilibria;
mod gait;
mod linearize;
mod lyapunov;
mod measure;
mod orbit;
mod orbit_search;
mod proof;
mod section;
mod steady_branches;
