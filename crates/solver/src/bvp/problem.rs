//! What the methods know of a boundary value problem: rates, conditions at both ends, and the derivatives of both.

use crate::ode::system::EvalError;

/// A problem (B). Matrices are stored by rows.
pub trait BoundaryProblem {
    /// Number of components of $y$.
    fn dimension(&self) -> usize;

    /// Number of conditions $g$.
    fn conditions(&self) -> usize;

    /// Writes $f(s, y)$.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if it has no value there.
    fn rates(&mut self, s: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError>;

    /// Writes $f(s, y)$ and $\partial f/\partial y$.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if they have no value there.
    fn jacobian(
        &mut self,
        s: f64,
        y: &[f64],
        rates: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvalError>;

    /// Writes $g(y(0), y(1))$.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if it has no value there.
    fn ends(
        &mut self,
        first: &[f64],
        last: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError>;

    /// Writes $\partial g/\partial y(0)$ and $\partial g/\partial y(1)$, each with a row for each condition.
    ///
    /// # Errors
    ///
    /// [`EvalError`] if they have no value there.
    fn ends_jacobian(
        &mut self,
        first: &[f64],
        last: &[f64],
        at_first: &mut [f64],
        at_last: &mut [f64],
    ) -> Result<(), EvalError>;

    /// The next evaluations begin again at $s = 0$: for problems whose rates solve equations and remember the
    /// branch they are on.
    fn rewind(&mut self) {}
}
