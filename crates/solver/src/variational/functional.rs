//! What a variational problem is made of.

use super::sinc_grid::IntervalPoint;
use super::unknown::{FractionalOperator, Side, Unknown};

/// The integrand of an action.
pub trait Functional {
    /// $\mathcal L$ at a place for the values of the operators, with its gradient and its Hessian (by rows) by them.
    fn evaluate(
        &mut self,
        place: IntervalPoint,
        values: &[f64],
        gradient: &mut [f64],
        hessian: &mut [f64],
    ) -> f64;
}

/// The unknown functions, the operators that the integrand sees, and what is given at the ends.
#[derive(Clone, Debug, PartialEq)]
pub struct VariationalProblem {
    /// $b - a$
    pub length: f64,
    /// The unknown functions.
    pub unknowns: Vec<Unknown>,
    /// For each function the power of the distance from its far end that its density is like there: $-0.4$
    /// for $z^{-0.4}$.
    pub tails: Vec<f64>,
    /// Function and operator for each value that the integrand sees.
    pub operators: Vec<(usize, FractionalOperator)>,
    /// What is given at the ends.
    pub conditions: Vec<EndCondition>,
    /// The density times $dt/du$ falls at least like this power of the distance from each end.
    pub decay: f64,
}

/// A linear condition at the ends: the sum of its terms has a value.
#[derive(Clone, Debug, PartialEq)]
pub struct EndCondition {
    /// The terms.
    pub terms: Vec<EndTerm>,
    /// Their sum.
    pub value: f64,
}

/// A derivative of a function at an end, times a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndTerm {
    /// Which function.
    pub unknown: usize,
    /// Which end.
    pub end: Side,
    /// The order $k$ of the derivative $d^k/dt^k$.
    pub order: usize,
    /// The factor.
    pub factor: f64,
}
