//! First-order systems into trajectories.
//!
//! $$ \dot y = f(t, y), \qquad y(t_0) = y_0 $$
//!
//! A [`System`] gives the rates, invariants to project onto, and events to watch; [`integrate`]
//! makes a run of it, tells an [`Observer`] every [`Step`] with its dense output and every
//! [`Event`], and says where and why the run ended ([`Outcome`]). A [`Trajectory`] is the
//! observer that keeps everything.
//!
//! A [`BoundaryProblem`] has conditions at both ends instead of an initial state:
//! [`solve_boundary`] improves a [`Path`], [`aim`] and [`pursue`] look for one.
//!
//! Beside it stand the small dense factorisations that such systems need: [`Lu`],
//! [`RankRevealing`], [`LeastSquares`], [`cholesky`], [`symmetric_eigenvalues`].
//!
//! **Conventions.** `f64` only; matrices by rows; tolerance $E$ means local error
//! $\le E\,(1 + |y|)$ a step in every component.
//!
//! **Invariants.** Nothing here knows mechanics, files, clocks or threads. The same system and
//! options give the same bits. The loop over steps does not allocate.

mod boundary;
mod dip;
mod dop853;
mod dop853_table;
mod events;
mod integrate;
mod least_squares;
mod lu;
mod memory;
mod observer;
mod rank;
mod rk4;
#[cfg(test)]
mod sample;
mod size;
mod spectral;
mod step;
mod stepper;
mod symmetric;
mod system;
mod taylor;
mod trajectory;

pub use boundary::{
    Aim, BoundaryOptions, BoundaryProblem, BoundaryReport, Flow, Path, Scheme, SingularValues,
    aim, flow, miss, pursue, residual_on_the_way, singular_values, solve_boundary,
};
pub use dop853::{Coefficients, WholeStep};
pub use integrate::{Method, Options, Outcome, Statistics, StopReason, integrate};
pub use least_squares::{Fit, LeastSquares, Solution, least_squares};
pub use lu::{Lu, Singular};
pub use memory::{
    Exponentials, Kernel, KernelValues, MemoryObserver, MemoryOptions, MemoryOutcome,
    MemorySystem, Operand, Piece, Recount, Resolved, SampleOperator, Wave, gauss_jacobi,
    integrate_memory, operate_on_samples,
};
pub use observer::{Control, Crossing, Event, Observer};
pub use rank::RankRevealing;
pub use spectral::{
    Condition, Course, EndTerm, Explained, Extremum, Forces, Functional, Grid, NoExtremum,
    Operator, Place, Side, Start, VariationalProblem, explained, extrema, extremum,
};
pub use step::{Step, StoredStep};
pub use stepper::{BLOCK, Block, Term};
pub use symmetric::{cholesky, cholesky_solve, symmetric_eigenvalues};
pub use system::{Direction, EventKind, Halt, System};
pub use taylor::taylor_order;
pub use trajectory::Trajectory;
