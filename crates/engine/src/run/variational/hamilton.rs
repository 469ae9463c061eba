//! Hamilton's form as a problem of its own: pairs $(q, p)$ in the place of $q$ and multipliers.
//!
//! The velocity $u_k$ of a coordinate is the operator of the highest order that acts on it, $\dot q_k$ or a
//! fractional derivative. With $p = \partial\mathcal L/\partial u$ and the constraints, Legendre's
//! transformation gives $u$, $\mu$ and $\mathcal H = p\cdot u - L$, and
//!
//! $$ \delta\int\bigl(p\cdot u[q] - \mathcal H(t, q, p, w[q])\bigr)\,dt = 0: \qquad u_k[q] =
//! \frac{\partial\mathcal H}{\partial p_k}, \qquad u_k^*[p] = \frac{\partial\mathcal H}{\partial q_k} +
//! w_k^*\Bigl[\frac{\partial\mathcal H}{\partial w_k}\Bigr], $$
//!
//! with the other operators $w$ and adjoints that exchange the sides: for $u = \dot q$ the left side is
//! $-\dot p$ \[TZ06, (84)–(94), where (86) lacks the minus and the sides are not exchanged\]. There are no
//! multipliers among the unknowns, and each equation differs from that of Lagrange's form.

use std::cell::RefCell;

use pfaff_expr::{Expr, Role};
use pfaff_mechanics::{Legendre, LegendreInput, legendre};
use pfaff_model::Workspace;
use pfaff_program::Backend;
use pfaff_solver::{
    Extremum, FractionalOperator, InitialGuess, IntervalPoint, Side, Unknown, extrema,
};

use super::formulate::Formulation;
use super::integrand::{Integrand, compiled, time};
use super::refine::{PARTS, difference};
use crate::problem::interval::TimeInterval;

/// On the same nodes both forms agree to rounding, for Legendre's transformation is made at each of them; on
/// so many more on each side no node but the middle is the same.
const MORE: usize = 5;

/// Hamilton's form of a formulation.
#[derive(Clone, Debug)]
pub(crate) struct Hamilton {
    /// The problem in $(q, p)$.
    pub(crate) formulation: Formulation,
    /// For each momentum its coordinate and the place of its velocity among the operators of Lagrange's form.
    pub(crate) pairs: Vec<(usize, usize)>,
    /// $p$
    pub(crate) momenta: Vec<Expr>,
    /// $\partial\mathcal L/\partial u$ in Lagrange's form, with its symbols.
    slopes: Vec<Expr>,
    given: Formulation,
    /// Which unknown of Lagrange's form each one is, the momenta behind them left aside.
    unknowns: Vec<usize>,
    /// $u$, $\mu$ and $\mathcal H$ by momenta.
    pub(crate) legendre: Legendre,
}

impl Hamilton {
    /// The form of a formulation.
    ///
    /// # Errors
    ///
    /// Which hypothesis fails, in words.
    pub(crate) fn new(model: &Workspace, given: &Formulation) -> Result<Self, &'static str> {
        let (g, n) = (&model.graph, model.coordinates.len());
        let mut pairs = Vec::new();
        for k in 0..n {
            let mine = given.problem.operators.iter().enumerate().filter(|(_, o)| o.0 == k);
            let highest = mine.max_by(|a, b| order(a.1.1).total_cmp(&order(b.1.1)));
            if let Some((at, o)) = highest
                && order(o.1) > 0.0
            {
                pairs.push((k, at));
            }
        }
        if pairs.is_empty() {
            return Err("no coordinate is differentiated");
        }
        let u: Vec<Expr> = pairs.iter().map(|&(_, at)| given.symbols[at]).collect();
        let name = |&(k, _): &(usize, usize)| format!("p[{}]", model.coordinates[k].name);
        let momenta: Vec<Expr> =
            pairs.iter().map(|pair| g.symbol(&name(pair), Role::Free)).collect();
        // NOTE: what defines the functions of operands stays beside L: its rows may vanish with a coordinate.
        let own = given.operands.iter().map(|o| g.mul(o.multiplier, o.residual));
        let whole = LegendreInput {
            lagrangian: g.sub(given.action, g.sum(own)),
            residuals: &given.residuals,
            velocities: &u,
            momenta: &momenta,
        };
        let legendre = legendre(g, whole)?;
        let mut formulation = given.clone();
        let kept = |unknown: usize| !(n..n + model.constraints.len()).contains(&unknown);
        // Courses without multipliers, in their old order, and the momenta behind them.
        let old: Vec<usize> = (0..given.problem.unknowns.len()).filter(|&k| kept(k)).collect();
        let problem = &mut formulation.problem;
        problem.unknowns = old.iter().map(|&k| given.problem.unknowns[k]).collect();
        problem.tails = old.iter().map(|&k| given.problem.tails[k]).collect();
        (problem.operators, formulation.symbols, formulation.written) = Default::default();
        for (at, &(unknown, operator)) in given.problem.operators.iter().enumerate() {
            let Some(unknown) = old.iter().position(|&k| k == unknown) else { continue };
            problem.operators.push((unknown, operator));
            formulation.symbols.push(given.symbols[at]);
            formulation.written.push(given.written[at]);
        }
        for &p in &momenta {
            problem.operators.push((problem.unknowns.len(), FractionalOperator::Derivative(0)));
            problem.unknowns.push(Unknown { side: Side::Left, order: 0.0 });
            problem.tails.push(0.0);
            formulation.symbols.push(p);
            formulation.written.push(None);
        }
        let lagrangian = g.sub(g.dot(&momenta, &u), legendre.hamiltonian);
        (formulation.lagrangian, formulation.action) = (lagrangian, lagrangian);
        formulation.residuals.clear();
        formulation.operands.clear();
        let slopes = g.gradient(given.lagrangian, &u);
        let given = given.clone();
        Ok(Self { formulation, pairs, momenta, slopes, given, unknowns: old, legendre })
    }

    /// How far the solution of this form is from that of Lagrange's, in positions and multipliers, in units
    /// of 1 + |x|; `None` where it is not found.
    pub(crate) fn off(
        &self,
        model: &Workspace,
        found: &mut Extremum,
        interval: TimeInterval,
    ) -> Option<f64> {
        let mut integrand =
            Integrand::new(model, &self.formulation, interval, Backend::Interpreter).ok()?;
        let problem = &self.formulation.problem;
        let half = found.grid.half + MORE;
        let n = model.coordinates.len();
        // It begins at the other solution, where there may be several.
        let slopes = compiled(model, &self.given.symbols, &self.slopes).ok()?;
        let mut slopes = slopes.interpreter(&model.parameter_values());
        let begin = {
            let state = RefCell::new((&mut *found, &mut slopes));
            let at = |k: usize, place: IntervalPoint| {
                let (found, slopes) = &mut *state.borrow_mut();
                let Some(i) = k.checked_sub(self.unknowns.len()) else {
                    return Some(found.value(
                        self.unknowns[k],
                        FractionalOperator::Derivative(0),
                        place,
                    ));
                };
                let mut inputs = vec![time(place, interval)];
                inputs.extend(found.values(place));
                let mut values = vec![0.0; self.slopes.len()];
                slopes.evaluate(&inputs, &mut values);
                Some(values[i])
            };
            extrema(problem, &mut integrand, half, &[InitialGuess::Values(&at)])
        };
        let mut own = begin.into_iter().next()?.ok()?;
        let multipliers = &self.legendre.multipliers[..model.constraints.len()];
        let program = compiled(model, &self.formulation.symbols, multipliers).ok()?;
        let mut program = program.interpreter(&model.parameter_values());
        let position = FractionalOperator::Derivative(0);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for i in 1..PARTS {
            let left = problem.length * f64::from(i) / f64::from(PARTS);
            let place = IntervalPoint { left, right: problem.length - left };
            first.extend((0..n + multipliers.len()).map(|k| found.value(k, position, place)));
            second.extend((0..n).map(|k| own.value(k, position, place)));
            let mut inputs = vec![time(place, interval)];
            inputs.extend(own.values(place));
            let mut values = vec![0.0; multipliers.len()];
            program.evaluate(&inputs, &mut values);
            second.extend(values);
        }
        Some(difference(&first, &second))
    }
}

/// How often an operator differentiates.
fn order(operator: FractionalOperator) -> f64 {
    match operator {
        FractionalOperator::Derivative(k) => f64::from(k),
        FractionalOperator::Caputo(_, β) | FractionalOperator::RiemannLiouville(_, β) => β,
        FractionalOperator::Integral(_, ν) => -ν,
    }
}
