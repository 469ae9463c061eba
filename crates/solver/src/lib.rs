//! First-order systems into trajectories.
//!
//! $$ \dot y = f(t, y), \qquad y(t_0) = y_0 $$
//!
//! A [`System`] gives the rates, invariants to project onto, and events to watch; [`integrate`]
//! makes a run of it, tells an [`Observer`] every [`DenseStep`] with its dense output and every
//! [`LocatedEvent`], and says where and why the run ended ([`Outcome`]). A [`Trajectory`] is the
//! observer that keeps everything.
//!
//! A [`BoundaryProblem`] has conditions at both ends instead of an initial state:
//! [`solve_boundary`] improves a [`BoundaryPath`], [`shoot`] and [`continuation`] look for one.
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
mod newton;
mod ode;
mod quadrature;
mod variational;
mod volterra;

pub use bvp::{
    BoundaryOptions, BoundaryPath, BoundaryProblem, BoundaryReport, FlowMap, Scheme, Shot,
    collocation_residuals, continuation, flow_map, shoot, shooting_residual, solve_boundary,
};
pub use linalg::{
    LeastSquares, LeastSquaresFit, LeastSquaresSolution, Lu, RankRevealing, Singular,
    SingularValues, cholesky, cholesky_solve, least_squares, singular_values,
    symmetric_eigenvalues,
};
pub use newton::{
    Advance, Damping, FirstPart, NewtonProblem, NewtonReport, NewtonRule, SizeTest, Stall,
    newton,
};
pub use ode::{
    BLOCK, Block, Control, Crossing, DenseStep, Direction, Dop853Tableau, EvalError, EventKind,
    ExplicitSteps, LocatedEvent, Method, Observer, OdeOptions, Outcome, RungeKuttaStep,
    Statistics, StopReason, StoredStep, System, TaylorSeries, Trajectory, integrate,
    taylor_order,
};
pub use quadrature::{QuadratureRule, gauss_jacobi};
pub use variational::{
    EndCondition, EndTerm, Extremum, ForceSamples, FractionalOperator, Functional,
    InitialGuess, IntervalPoint, NoExtremum, ReactionFit, Side, SincGrid, Unknown,
    VariationalProblem, extrema, extremum, reaction_fit,
};
pub use volterra::{
    DampedWave, DirectQuadrature, ExponentialSum, Kernel, KernelResolution, KernelValues,
    Operand, VolterraObserver, VolterraOptions, VolterraOutcome, VolterraPoint, VolterraStep,
    VolterraSystem, integrate_volterra,
};
