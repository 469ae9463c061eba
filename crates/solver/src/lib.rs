//! Numerical methods for the equations of mechanics.
//!
//! | room | solves |
//! |---|---|
//! | `ode` | initial value problems $\dot y = f(t, y)$: [`System`], [`integrate`], [`Observer`], [`Trajectory`] |
//! | `bvp` | boundary value problems: [`BoundaryProblem`], [`solve_boundary`], [`shoot`], [`continuation`] |
//! | `volterra` | systems with memory: [`VolterraSystem`], [`integrate_volterra`] |
//! | `variational` | stationary values of functionals with fractional operators: [`extremum`] |
//! | `newton` | nonlinear equations: [`newton()`] with a [`NewtonRule`] |
//! | `linalg` | [`Lu`], [`SparseLu`], [`RankRevealing`], [`LeastSquares`], [`cholesky`], [`singular_values`] |
//! | `quadrature` | Gauss rules and polynomials: [`gauss_jacobi`] |
//!
//! **Conventions.** `f64` only; matrices by rows; tolerance $E$ means local error
//! $\le E\,s_i$ a step in every component, in parts of its value and of the largest one so far.
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
    BoundaryOptions, BoundaryPath, BoundaryProblem, BoundaryReport, DiscreteAction, FlowMap,
    LagrangianDerivatives, Scheme, Shot, collocated_state, collocation_residuals,
    collocation_transitions, continuation, flow_map, relaxed, shoot, shooting_residual,
    solve_boundary,
};
pub use linalg::{
    ContactProblem, ContactSolution, ContactState, Eigenvector, LeastSquares, LeastSquaresFit,
    LeastSquaresSolution, Lu, Pad, RankRevealing, Rubbing, Singular, SingularValues, SparseLu,
    cholesky, cholesky_solve, eigenvalues, eigenvector, least_squares, singular_values,
    symmetric_eigenvalues,
};
pub use newton::{
    Advance, Damping, FirstPart, NewtonProblem, NewtonReport, NewtonRule, SizeTest, Stall,
    newton,
};
pub use ode::{
    BLOCK, Block, Control, Crossing, DenseStep, Direction, Dop853Tableau, EvalError, EventKind,
    ExplicitSteps, Jacobian, LocatedEvent, Method, Observer, OdeOptions, Outcome, OwnSteps,
    RungeKuttaStep, SparseJacobian, Statistics, StopReason, StoredStep, System, TaylorSeries,
    Trajectory, integrate, taylor_order,
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
    VolterraSystem, integrate_volterra, narrow_places, natural_units, ordinary_unit,
    units_serve,
};
