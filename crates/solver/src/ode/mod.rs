//! Initial value problems: a system and its initial state into a run.
//!
//! $$ \dot y = f(t, y), \qquad y(t_0) = y_0 $$
//!
//! [`System`] says what is solved, [`integrate`] runs one of the methods ([`Method`]) with step size control,
//! dense output and events, and an [`Observer`] sees every accepted step.

mod capability;
mod certainty;
pub(crate) mod dense_output;
mod dop853;
mod dop853_tableau;
pub(crate) mod event_list;
pub(crate) mod events;
mod features;
pub(crate) mod integrate;
mod jacobian;
mod knots;
mod lanes;
mod logarithm;
pub(crate) mod observer;
pub(crate) mod options;
mod own_steps;
mod radau;
mod radau_tableau;
mod refinement;
mod rk4;
pub(crate) mod root_finding;
mod rosenbrock;
mod runge_kutta;
mod scale;
mod step_control;
mod stepper;
mod stiffness;
pub(crate) mod system;
mod taylor;
pub(crate) mod trajectory;

pub use capability::{
    ExplicitSteps, Jacobian, OwnSteps, RungeKuttaStep, SparseJacobian, TaylorSeries,
};
pub use dense_output::{DenseStep, StoredStep};
pub use dop853_tableau::Dop853Tableau;
pub use integrate::integrate;
pub use lanes::{BLOCK, Block};
pub use observer::{Control, Crossing, LocatedEvent, Observer};
pub use options::{Method, OdeOptions, Outcome, Statistics, StopReason};
pub use system::{Direction, EvalError, EventKind, System};
pub use taylor::taylor_order;
pub use trajectory::Trajectory;
