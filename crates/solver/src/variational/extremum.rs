//! Newton's iteration for the stationary points of a functional.
//!
//! The unknowns are the densities at the nodes, the constants, and a multiplier $C_r$ for each end condition:
//!
//! $$ \sum_i A_i^*\,W\,\partial_i\mathcal L - \sum_r C_r\kappa_r = 0, \qquad \int\sum_i \partial_i\mathcal
//! L\;O_i\frac{x^j}{j!}\,dt - \sum_r C_r B_{rj} = 0, \qquad B_r(Y, c) = b_r . $$
//!
//! Rows and columns are scaled by the roots of the weights. Steps are halved until the residual falls.

use super::fractional_integral::Abel;
use super::functional::{Functional, VariationalProblem};
use super::initial_guess::InitialGuess;
use super::operators::{Action, End, OperatorTerm};
use super::sinc_grid::{IntervalPoint, SincGrid};
use super::unknown::{FractionalOperator, Side};
use crate::linalg::dot::dot_in_order as dot;
use crate::linalg::lu::Lu;
use crate::newton::{Advance, Damping, FirstPart, NewtonProblem, NewtonRule, Stall, newton};

/// Newton steps before it is given up; fewer from a start that is one of many.
const STEPS: usize = 60;
const FEW: usize = 25;

/// A stationary point.
#[derive(Clone, Debug)]
pub struct Extremum {
    /// The nodes.
    pub grid: SincGrid,
    /// $Y$ of each function at the nodes.
    pub density: Vec<Vec<f64>>,
    /// The constants of each function.
    pub constants: Vec<Vec<f64>>,
    /// $C_r$: by how much the action changes with the value of each end condition.
    pub forces: Vec<f64>,
    /// $\int\mathcal L\,dt$
    pub action: f64,
    /// The largest scaled residual.
    pub residual: f64,
    /// Newton steps.
    pub steps: usize,
    /// Negative eigenvalues of the second variation with the conditions as its border: one for each
    /// condition, and one more for each
    /// direction in which the action has a maximum. None where it was not decided.
    pub negative: Option<usize>,
    pub(crate) problem: VariationalProblem,
    pub(crate) abel: Abel,
}

/// Why there is no stationary point.
#[derive(Clone, Debug, PartialEq)]
pub enum NoExtremum {
    /// The equations do not determine the unknown of this function (or, after the last one, the multiplier of
    /// an end condition).
    Singular(usize),
    /// The integrand is infinite or not a number at this place.
    NotFinite(IntervalPoint),
    /// Newton's iteration does not converge; the residual that is left.
    Unconverged(f64),
}

/// Looks for a stationary point on `2 half + 1` nodes, from another one or from the shortest densities that
/// meet the end conditions.
///
/// # Errors
///
/// [`NoExtremum`] says why there is none.
pub fn extremum(
    problem: &VariationalProblem,
    functional: &mut dyn Functional,
    half: usize,
    near: Option<&Extremum>,
) -> Result<Extremum, NoExtremum> {
    let start = near.map_or(InitialGuess::Shortest, InitialGuess::Near);
    let mut found = extrema(problem, functional, half, &[start]);
    found.pop().expect("one for each start")
}

/// Looks for stationary points on `2 half + 1` nodes, one from each start.
pub fn extrema(
    problem: &VariationalProblem,
    functional: &mut dyn Functional,
    half: usize,
    starts: &[InitialGuess<'_>],
) -> Vec<Result<Extremum, NoExtremum>> {
    let grid = SincGrid::new(problem.length, half, problem.decay);
    let mut abel = Abel::new();
    let equations = EulerLagrange::new(problem, &grid, &mut abel);
    let mut found = Vec::new();
    for start in starts {
        let x = equations.start(*start, &mut abel);
        let steps = if matches!(start, InitialGuess::Values(_)) { FEW } else { STEPS };
        let solved = equations.solve(functional, x, steps);
        found.push(solved.map(|found| equations.extremum(&found, &abel)));
    }
    found
}

impl Extremum {
    /// The value of an operator on a function at any place.
    pub fn value(
        &mut self,
        unknown: usize,
        operator: FractionalOperator,
        place: IntervalPoint,
    ) -> f64 {
        let term = OperatorTerm {
            unknown: self.problem.unknowns[unknown],
            operator,
            tail: self.problem.tails[unknown],
        };
        let (row, constants) = Action::row(&mut self.abel, &self.grid, term, place);
        dot(&row, &self.density[unknown]) + dot(&constants, &self.constants[unknown])
    }

    /// The values of all operators of the problem at any place.
    pub fn values(&mut self, place: IntervalPoint) -> Vec<f64> {
        let operators = self.problem.operators.clone();
        operators.into_iter().map(|(k, o)| self.value(k, o, place)).collect()
    }

    /// Values at the nodes carried to any place by cardinal functions.
    pub fn interpolated(&self, values: &[f64], place: IntervalPoint) -> f64 {
        let mut row = vec![0.0; values.len()];
        self.grid.add_cardinals(place.coordinate(), 1.0, &mut row);
        dot(&row, values)
    }

    /// How many unknowns each function has.
    pub fn unknowns_per_function(&self) -> usize {
        let most = self.constants.iter().map(Vec::len).max().unwrap_or(0);
        self.grid.len() + most
    }
}

/// The last digits of a step are rounding, and then no step makes the residual smaller: the error is that of
/// the basis.
const RULE: NewtonRule = NewtonRule {
    converged: 1e-13,
    stall: Some(Stall { below: 1e-7, ratio: 0.5, after: 0 }),
    damping: Damping::Halving { smallest: 5e-7, first: FirstPart::Whole },
    ..NewtonRule::DEFAULT
};

/// A solution of the equations.
struct StationaryPoint {
    x: Vec<f64>,
    state: EulerLagrangeValues,
    steps: usize,
}

/// Newton's iteration from one start.
struct Search<'a> {
    equations: &'a EulerLagrange<'a>,
    functional: &'a mut dyn Functional,
    scale: Vec<f64>,
    lu: Lu,
    step: Vec<f64>,
    /// The largest scaled component of the step, relative to that of the unknowns.
    size: f64,
    x: Vec<f64>,
    state: EulerLagrangeValues,
    /// Why the last part of a step was refused.
    refusal: Option<NoExtremum>,
}

impl NewtonProblem for Search<'_> {
    type Error = NoExtremum;

    fn linearise(&mut self) -> Result<f64, NoExtremum> {
        let equations = self.equations;
        let factored = self.lu.factor(equations.total(), &equations.matrix(&self.state));
        factored.map_err(|singular| NoExtremum::Singular(equations.owner(singular.column)))?;
        self.step.clone_from(&self.state.residual);
        self.lu.solve(&mut self.step);
        let size = self.step.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
        let scaled = self.x.iter().zip(&self.scale).map(|(x, s)| (x / s).abs());
        self.size = size / scaled.fold(1.0_f64, f64::max);
        Ok(self.size)
    }

    fn advance(&mut self, part: f64) -> Result<Advance, NoExtremum> {
        let (x, step, scale) = (&self.x, &self.step, &self.scale);
        let moved: Vec<f64> = (0..x.len()).map(|i| x[i] - part * step[i] * scale[i]).collect();
        match self.equations.state(self.functional, &moved) {
            Ok(there) if there.norm < self.state.norm => {
                (self.x, self.state) = (moved, there);
                return Ok(Advance::Taken(self.size));
            }
            Ok(there) => self.refusal = Some(NoExtremum::Unconverged(there.norm)),
            Err(why) => self.refusal = Some(why),
        }
        Ok(Advance::Refused)
    }
}

/// Everything that does not change during the iteration.
pub(crate) struct EulerLagrange<'a> {
    pub(crate) problem: &'a VariationalProblem,
    pub(crate) grid: &'a SincGrid,
    pub(crate) actions: Vec<Action>,
    pub(crate) ends: Vec<End>,
    /// Where the unknowns of each function begin.
    pub(crate) first: Vec<usize>,
    /// Unknowns of all functions.
    pub(crate) size: usize,
}

/// The equations at one point.
pub(crate) struct EulerLagrangeValues {
    residual: Vec<f64>,
    norm: f64,
    action: f64,
    /// $W$ times the Hessian at the nodes, by pairs of operators.
    pub(crate) hessian: Vec<Vec<f64>>,
}

impl<'a> EulerLagrange<'a> {
    fn new(problem: &'a VariationalProblem, grid: &'a SincGrid, abel: &mut Abel) -> Self {
        let actions = problem
            .operators
            .iter()
            .map(|&(k, operator)| Action::new(abel, grid, problem.unknowns[k], operator))
            .collect();
        let ends =
            problem.conditions.iter().map(|c| End::new(problem, grid, &c.terms)).collect();
        let mut first = Vec::new();
        let mut size = 0;
        for unknown in &problem.unknowns {
            first.push(size);
            size += grid.len() + unknown.constants();
        }
        Self { problem, grid, actions, ends, first, size }
    }

    fn extremum(&self, found: &StationaryPoint, abel: &Abel) -> Extremum {
        let StationaryPoint { x, state, steps } = found;
        let n = self.grid.len();
        let part = |k: usize, from: usize, count: usize| {
            let at = self.first[k] + from;
            x[at..at + count].to_vec()
        };
        let unknowns = self.problem.unknowns.iter().enumerate();
        Extremum {
            density: unknowns.clone().map(|(k, _)| part(k, 0, n)).collect(),
            constants: unknowns.map(|(k, c)| part(k, n, c.constants())).collect(),
            forces: x[self.size..].to_vec(),
            action: state.action,
            residual: state.norm,
            steps: *steps,
            negative: self.negative(state),
            problem: self.problem.clone(),
            abel: abel.clone(),
            grid: self.grid.clone(),
        }
    }

    pub(crate) fn total(&self) -> usize {
        self.size + self.ends.len()
    }

    /// The values of operator `o` at the nodes.
    fn values(&self, o: usize, x: &[f64]) -> Vec<f64> {
        let n = self.grid.len();
        let at = self.first[self.problem.operators[o].0];
        let action = &self.actions[o];
        (0..n)
            .map(|i| {
                let mut sum = dot(&action.density[i * n..(i + 1) * n], &x[at..at + n]);
                for (j, column) in action.constants.iter().enumerate() {
                    sum += column[i] * x[at + n + j];
                }
                sum
            })
            .collect()
    }

    fn state(
        &self,
        functional: &mut dyn Functional,
        x: &[f64],
    ) -> Result<EulerLagrangeValues, NoExtremum> {
        let (n, count) = (self.grid.len(), self.actions.len());
        let values: Vec<Vec<f64>> = (0..count).map(|o| self.values(o, x)).collect();
        let mut slopes = vec![vec![0.0; n]; count];
        let mut hessian = vec![vec![0.0; n]; count * count];
        let (mut action, mut integrand) = (0.0, Vec::new());
        let (mut g, mut h) = (vec![0.0; count], vec![0.0; count * count]);
        for i in 0..n {
            let here: Vec<f64> = values.iter().map(|v| v[i]).collect();
            let value = functional.evaluate(self.grid.places[i], &here, &mut g, &mut h);
            let w = self.grid.weights[i];
            action += self.grid.step * w * value;
            integrand.push(value);
            for (o, slope) in slopes.iter_mut().enumerate() {
                slope[i] = w * g[o];
            }
            for (pair, entry) in hessian.iter_mut().enumerate() {
                entry[i] = w * h[pair];
            }
            let finite = g.iter().chain(&h).all(|x| x.is_finite());
            if !finite {
                return Err(NoExtremum::NotFinite(self.grid.places[i]));
            }
        }
        action += self.beyond(&integrand);
        let mut residual = vec![0.0; self.total()];
        for (o, &(k, _)) in self.problem.operators.iter().enumerate() {
            let (at, a) = (self.first[k], &self.actions[o]);
            for i in 0..n {
                residual[at + i] += dot(&a.adjoint[i * n..(i + 1) * n], &slopes[o]);
            }
            for (j, column) in a.constants.iter().enumerate() {
                residual[at + n + j] += self.grid.step * dot(column, &slopes[o]);
            }
        }
        for (r, end) in self.ends.iter().enumerate() {
            let force = x[self.size + r];
            let mut sum = -self.problem.conditions[r].value;
            for (k, &at) in self.first.iter().enumerate() {
                for i in 0..n {
                    residual[at + i] -= force * end.kernel[k][i];
                    sum += end.density[k][i] * x[at + i];
                }
                for (j, b) in end.constants[k].iter().enumerate() {
                    residual[at + n + j] -= force * b;
                    sum += b * x[at + n + j];
                }
            }
            residual[self.size + r] = sum;
        }
        for (r, s) in residual.iter_mut().zip(self.scale()) {
            *r *= s;
        }
        let norm = residual.iter().fold(0.0_f64, |m, r| m.max(r.abs()));
        Ok(EulerLagrangeValues { residual, norm, action, hessian })
    }

    /// What the nodes leave out of the action: a square of the most singular density.
    fn beyond(&self, integrand: &[f64]) -> f64 {
        let mut sum = 0.0;
        for end in [Side::Left, Side::Right] {
            let far = (self.problem.unknowns.iter().zip(&self.problem.tails))
                .filter(|(unknown, _)| unknown.side != end);
            let tail = far.map(|(_, tail)| *tail).fold(0.0, f64::min);
            let last = self.grid.last(end);
            if tail < 0.0 {
                let part = self.grid.beyond(end, 0.0, 2.0 * tail);
                sum += part * integrand[last] * self.grid.weights[last];
            }
        }
        sum
    }

    /// The roots of the weights for densities, 1 for the others.
    pub(crate) fn scale(&self) -> Vec<f64> {
        let mut scale = vec![1.0; self.total()];
        for &at in &self.first {
            for (s, w) in scale[at..].iter_mut().zip(&self.grid.weights) {
                *s = w.sqrt();
            }
        }
        scale
    }

    /// The scaled matrix of the derivatives.
    fn matrix(&self, state: &EulerLagrangeValues) -> Vec<f64> {
        let (count, total) = (self.actions.len(), self.total());
        let mut matrix = vec![0.0; total * total];
        for p in 0..count {
            for o in 0..count {
                let weights = &state.hessian[p * count + o];
                if weights.iter().any(|w| *w != 0.0) {
                    self.add_pair(p, o, weights, &mut matrix);
                }
            }
        }
        self.add_ends(&mut matrix);
        let scale = self.scale();
        for i in 0..total {
            for j in 0..total {
                matrix[i * total + j] *= scale[i] * scale[j];
            }
        }
        matrix
    }

    /// Adds $A_p^*\,W\,\partial_p\partial_o\mathcal L\,A_o$, with the constants of both functions.
    fn add_pair(&self, p: usize, o: usize, weights: &[f64], matrix: &mut [f64]) {
        let (n, total) = (self.grid.len(), self.total());
        let row = self.first[self.problem.operators[p].0];
        let column = self.first[self.problem.operators[o].0];
        let (left, right) = (&self.actions[p], &self.actions[o]);
        let mut image = vec![0.0; n];
        for i in 0..n {
            let adjoint = &left.adjoint[i * n..(i + 1) * n];
            image.fill(0.0);
            for m in 0..n {
                let x = adjoint[m] * weights[m];
                if x != 0.0 {
                    let source = &right.density[m * n..(m + 1) * n];
                    image.iter_mut().zip(source).for_each(|(y, r)| *y += x * r);
                }
            }
            let line = &mut matrix[(row + i) * total + column..][..n + right.constants.len()];
            line.iter_mut().zip(&image).for_each(|(y, x)| *y += x);
            for (y, constant) in line[n..].iter_mut().zip(&right.constants) {
                *y += (0..n).map(|m| adjoint[m] * weights[m] * constant[m]).sum::<f64>();
            }
        }
        for (i, constant) in left.constants.iter().enumerate() {
            let at = (row + n + i) * total + column;
            for m in 0..n {
                let x = self.grid.step * constant[m] * weights[m];
                for j in 0..n {
                    matrix[at + j] += x * right.density[m * n + j];
                }
                for (j, other) in right.constants.iter().enumerate() {
                    matrix[at + n + j] += x * other[m];
                }
            }
        }
    }

    /// Adds the end conditions and their multipliers.
    fn add_ends(&self, matrix: &mut [f64]) {
        let (n, total) = (self.grid.len(), self.total());
        for (r, end) in self.ends.iter().enumerate() {
            let force = self.size + r;
            for (k, &at) in self.first.iter().enumerate() {
                for i in 0..n {
                    matrix[(at + i) * total + force] -= end.kernel[k][i];
                    matrix[force * total + at + i] += end.density[k][i];
                }
                for (j, b) in end.constants[k].iter().enumerate() {
                    matrix[(at + n + j) * total + force] -= b;
                    matrix[force * total + at + n + j] += b;
                }
            }
        }
    }

    fn solve(
        &self,
        functional: &mut dyn Functional,
        x: Vec<f64>,
        most: usize,
    ) -> Result<StationaryPoint, NoExtremum> {
        let state = self.state(functional, &x)?;
        let mut search = Search {
            equations: self,
            functional,
            scale: self.scale(),
            lu: Lu::new(self.total()),
            step: Vec::new(),
            size: 0.0,
            x,
            state,
            refusal: None,
        };
        let report = newton(&mut search, &NewtonRule { steps: most, ..RULE })?;
        let Search { x, state, refusal, .. } = search;
        if report.converged {
            return Ok(StationaryPoint { x, state, steps: report.steps });
        }
        let refused = refusal.filter(|_| report.refused);
        Err(refused.unwrap_or(NoExtremum::Unconverged(state.norm)))
    }

    /// Which function an unknown belongs to.
    fn owner(&self, column: usize) -> usize {
        if column >= self.size {
            return self.first.len();
        }
        self.first.iter().rposition(|&at| at <= column).unwrap_or(0)
    }
}
