//! What a system may offer to single methods beyond its rates.
//!
//! Every method can run on [`System::rates`](crate::System::rates) alone, except the Taylor method, which needs
//! series coefficients. A system that can do more says so: `System::explicit_steps`, `System::taylor_series` and
//! `System::jacobian` return one of the traits below, or nothing. A method asks for the one that it can
//! use and ignores the others.

use crate::ode::lanes::Block;
use crate::ode::system::EvalError;

/// Systems that carry out explicit Runge–Kutta steps themselves, for example in machine code.
///
/// The coefficients are those of [`Dop853Tableau`](crate::Dop853Tableau), and sums are added in the order of
/// the stages, so that the bits are those of the same step taken stage by stage.
pub trait ExplicitSteps {
    /// Carries out a whole step: fills $k_1, \dots, k_{12}$, the end and both errors. Returns `false` if it
    /// cannot, or if a number is not finite; the solver then takes the step stage by stage.
    fn step(&mut self, step: &mut RungeKuttaStep<'_>) -> bool;

    /// Adds dense output to the step that [`ExplicitSteps::step`] carried out last: fills the stages 13 to 15
    /// and the four rows of `dense`. Returns `false` as there.
    fn dense_output(&mut self, step: &mut RungeKuttaStep<'_>, dense: &mut [Block]) -> bool;
}

/// A step of DOP853: its start, and where the results go. Rows consist of whole blocks; unused components are
/// zero.
#[derive(Debug)]
pub struct RungeKuttaStep<'a> {
    /// $t$
    pub t: f64,
    /// $h$
    pub h: f64,
    /// $y$
    pub y: &'a [Block],
    /// $k_0, \dots, k_{11}$, the rates at the end, and the stages 13 to 15 for dense output, row after row;
    /// $k_0 = f(t, y)$ is given.
    pub k: &'a mut [Block],
    /// Room for a state with its time: one block more than a row.
    pub stage: &'a mut [Block],
    /// The state at the end.
    pub end: &'a mut [Block],
    /// $e_5$ and $e_3$, without $h$.
    pub errors: [&'a mut [Block]; 2],
}

/// Systems that give the Taylor coefficients of their solutions, as
/// [`Method::Taylor`](crate::Method::Taylor) needs them.
pub trait TaylorSeries {
    /// Writes the coefficients of the solution through `at` $= (t, y, e)$ into `rows`: $y^{\[1\]}$, then
    /// $y^{\[2\]}$, …, of which there are [`taylor_order`](crate::taylor_order). The state is $y + e$, where
    /// $e$ is below the rounding of $y$ and may be ignored.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if there are none.
    fn coefficients(&mut self, at: &[f64], rows: &mut [f64]) -> Result<(), EvalError>;

    /// Whether the rates are made of sums, products, quotients and whole powers of the state, and of sines and cosines
    /// of those without quotients, by linear systems. What lies ahead then shows in the coefficients: there are no
    /// kinks, and no features that fall off exponentially.
    fn is_algebraic(&self) -> bool {
        false
    }
}

/// Systems with a one-step method of their own, which [`Method::Own`](crate::Method::Own) takes with a fixed step.
pub trait OwnSteps {
    /// Writes the state at the end of a step of length `h` into `end`, which holds the state at the start.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if the step cannot be taken.
    fn step(&mut self, t: f64, h: f64, y: &[f64], end: &mut [f64]) -> Result<(), EvalError>;
}

/// Systems that give $\partial f/\partial y$; [`Method::Radau`](crate::Method::Radau) and
/// [`Method::Rosenbrock`](crate::Method::Rosenbrock) take differences of the rates of others.
pub trait Jacobian {
    /// Writes $\partial f/\partial y$ at a state into `matrix`, by rows.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if it has no value there.
    fn jacobian(&mut self, t: f64, y: &[f64], matrix: &mut [f64]) -> Result<(), EvalError>;

    /// Writes $\partial f/\partial t$ at a state into `slope`; says whether it is known.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if it has no value there.
    fn time_slope(&mut self, t: f64, y: &[f64], slope: &mut [f64]) -> Result<bool, EvalError> {
        let _ = (t, y, slope);
        Ok(false)
    }

    /// The same matrix by its entries, where that is shorter: with further unknowns $x$ that follow from the state.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if it has no value there.
    fn sparse(&mut self, t: f64, y: &[f64]) -> Result<Option<SparseJacobian<'_>>, EvalError> {
        let _ = (t, y);
        Ok(None)
    }
}

/// The entries of $N$ in
///
/// $$ \begin{pmatrix} \partial f/\partial y\;\delta y \\\\ 0 \end{pmatrix}
///    = N \begin{pmatrix} \delta y \\\\ \delta x \end{pmatrix}, $$
///
/// by columns: where each column begins, the numbers of the rows in ascending order, and the values.
#[derive(Clone, Copy, Debug)]
pub struct SparseJacobian<'a> {
    /// Where each column begins, and where the last one ends.
    pub begins: &'a [usize],
    /// Rows.
    pub rows: &'a [usize],
    /// Values.
    pub values: &'a [f64],
}
