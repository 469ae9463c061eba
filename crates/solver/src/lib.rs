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

mod bvp;
mod linalg;
mod ode;
mod quadrature;
mod variational;
mod volterra;

pub use bvp::{
    Aim, BoundaryOptions, BoundaryProblem, BoundaryReport, Flow, Path, Scheme, aim, flow, miss,
    pursue, residual_on_the_way, solve_boundary,
};
pub use linalg::{
    Fit, LeastSquares, Lu, RankRevealing, Singular, SingularValues, Solution, cholesky,
    cholesky_solve, least_squares, singular_values, symmetric_eigenvalues,
};
pub use ode::{
    BLOCK, Block, Coefficients, Control, Crossing, Direction, Event, EventKind, Halt, Method,
    Observer, Options, Outcome, Statistics, Step, StopReason, StoredStep, System, Term,
    Trajectory, WholeStep, integrate, taylor_order,
};
pub use quadrature::gauss_jacobi;
pub use variational::{
    Condition, Course, EndTerm, Explained, Extremum, Forces, Functional, Grid, NoExtremum,
    Operator, Place, Side, Start, VariationalProblem, explained, extrema, extremum,
};
pub use volterra::{
    Exponentials, Kernel, KernelValues, MemoryObserver, MemoryOptions, MemoryOutcome,
    MemorySystem, Operand, Piece, Recount, Resolved, SampleOperator, Wave, integrate_memory,
    operate_on_samples,
};
