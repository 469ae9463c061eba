//! The variational flow as one straight line: motion and derivatives with the elimination of (K) written out.
//!
//! $$ x = x(t, y; p), \qquad
//!    \delta x_k = \frac{\partial x}{\partial y}\,s_k + \frac{\partial x}{\partial p}\,\delta p_k $$
//!
//! are expressions of one graph, so that what the motion computes serves its derivatives too, and a whole step can be
//! machine code. The order of elimination is fixed: its pivots are watched after every step, and the factorisation with
//! pivoting takes over where one falls far below its value at the start.

use pfaff_expr::{Expr, Role, number};
use pfaff_mechanics::{Equations, solve_saddle};
use pfaff_model::Workspace;
use pfaff_program::{Backend, Executor, NativeExecutor, Program};

use crate::system::linearisation::{Rate, Variables};

/// A pivot below this fraction of its value at the start is not trusted.
const GROWTH: f64 = 1e-6;
/// Steps of elimination that are written out at most: each makes some operations for every direction.
const MOST: usize = 1_500;
/// Operations of the whole program at most.
const LONGEST: usize = 40_000;
/// Agreement with the solve by pivoting: rounding, amplified by the condition.
const AGREEMENT: f64 = 1e-8;

/// The compiled flow.
#[derive(Clone, Debug)]
pub(super) struct ExplicitFlow {
    /// $(t, y, s_1, s_2, \dots)$ to the rates of $(y, s_1, s_2, \dots)$.
    run: Executor,
    /// $(t, y)$ to the pivots.
    watch: Executor,
    inputs: Vec<f64>,
    pivots: Vec<f64>,
    floor: Vec<f64>,
    size: usize,
}

impl ExplicitFlow {
    /// `None` where elimination in a fixed order does not apply, or would be long.
    pub(super) fn new(
        model: &Workspace,
        equations: &Equations,
        variables: &Variables,
        tangents: &[Vec<f64>],
        backend: Backend,
    ) -> Option<Self> {
        let g = &model.graph;
        let has_mass_of_multipliers =
            equations.multiplier_terms.mass.iter().flatten().any(|&e| e != g.zero());
        if has_mass_of_multipliers || equations.auxiliary.is_some() || tangents.is_empty() {
            return None;
        }
        let solved = solve_saddle(g, equations, MOST)?;
        let unknowns = [solved.accelerations, solved.multipliers].concat();
        let rate = |rate: &Rate| match *rate {
            Rate::State(i) => variables.state[i],
            Rate::Unknown(i) => unknowns[i],
        };
        let plain: Vec<Expr> = variables.rates.iter().map(rate).collect();
        let mut inputs = vec![variables.time];
        inputs.extend(&variables.state);
        let place = inputs.clone();
        let mut outputs = plain.clone();
        for (k, tangent) in tangents.iter().enumerate() {
            let name = |i: usize| format!("tangent {k} of state {i}");
            let size = variables.state.len();
            let s: Vec<Expr> = (0..size).map(|i| g.symbol(&name(i), Role::Free)).collect();
            let mut along: Vec<(Expr, Expr)> =
                variables.state.iter().copied().zip(s.iter().copied()).collect();
            let varied = variables.parameters.iter().zip(tangent).filter(|(_, δ)| **δ != 0.0);
            let real = |x: f64| number::from_f64(x).map_or(g.zero(), |x| g.number(x));
            along.extend(varied.map(|(&p, &δ)| (p, real(δ))));
            outputs.extend(g.merging(|| g.directional(&plain, &along)));
            inputs.extend(s);
            if g.live(&outputs).len() > LONGEST {
                return None;
            }
        }
        let (symbols, values) = (model.parameter_symbols(), model.parameter_values());
        let program = Program::compile(g, &inputs, &symbols, &outputs).ok()?.fused();
        let watch = Program::compile(g, &place, &symbols, &solved.pivots).ok()?;
        Some(Self {
            run: program.executor(&values, backend),
            watch: watch.executor(&values, backend),
            inputs: vec![0.0; inputs.len()],
            pivots: vec![0.0; solved.pivots.len()],
            floor: vec![0.0; solved.pivots.len()],
            size: variables.state.len(),
        })
    }

    /// The rates of motion and derivatives; whether all are finite.
    pub(super) fn rates(&mut self, t: f64, whole: &[f64], rates: &mut [f64]) -> bool {
        self.inputs[0] = t;
        self.inputs[1..].copy_from_slice(whole);
        self.run.evaluate(&self.inputs, rates);
        rates.iter().all(|x| x.is_finite())
    }

    /// Takes the pivots at this state as the measure for others; `false` if the rates are not the expected ones.
    pub(super) fn calibrate(&mut self, t: f64, whole: &[f64], expected: &[f64]) -> bool {
        let mut found = vec![0.0; expected.len()];
        if !self.rates(t, whole, &mut found) {
            return false;
        }
        for (found, expected) in found.chunks(self.size).zip(expected.chunks(self.size)) {
            let scale = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            let same = |(x, y): (&f64, &f64)| (x - y).abs() <= AGREEMENT * scale;
            if !found.iter().zip(expected).all(same) {
                return false;
            }
        }
        self.floor.fill(0.0);
        if !self.is_trusted(t, whole) {
            return false;
        }
        self.floor.iter_mut().zip(&self.pivots).for_each(|(f, d)| *f = GROWTH * d);
        true
    }

    /// Whether the pivots at a state are what they were.
    pub(super) fn is_trusted(&mut self, t: f64, whole: &[f64]) -> bool {
        self.inputs[0] = t;
        self.inputs[1..=self.size].copy_from_slice(&whole[..self.size]);
        self.watch.evaluate(&self.inputs[..=self.size], &mut self.pivots);
        // NOTE: what is not a number is above no floor.
        let pivots = self.pivots.iter().zip(&self.floor);
        pivots
            .into_iter()
            .all(|(d, f)| d.abs() > f.abs() && (*f == 0.0 || (*d > 0.0) == (*f > 0.0)))
    }

    /// Machine code of the rates, if there is any.
    pub(super) fn machine_code(&mut self) -> Option<&mut NativeExecutor> {
        match &mut self.run {
            Executor::Native(run) => Some(run),
            Executor::Interpreted(_) | Executor::Tiered(_) => None,
        }
    }
}
