//! The variational flow as one straight line: motion and derivatives with the elimination of (K) written out.
//!
//! $$ x = x(t, y; p), \qquad
//!    \delta x_k = \frac{\partial x}{\partial y}\,s_k + \frac{\partial x}{\partial p}\,\delta p_k $$
//!
//! are expressions of one graph, so that what the motion computes serves its derivatives too, and a whole step can be
//! machine code. The order of elimination is fixed: its pivots are watched after every step, and the factorisation with
//! pivoting takes over where one falls far below its value at the start.

use pfaff_expr::Expr;
use pfaff_mechanics::{Equations, solve_saddle};
use pfaff_model::Workspace;
use pfaff_program::{
    Backend, Executor, NativeExecutor, Program, TaylorError, TaylorRecurrences, VectorField,
};

use crate::system::dynamics::Dynamics;
use crate::system::linearisation::{Rate, Variables};
use crate::system::static_ldl::powers;
use crate::system::tangent_rates::tangent_rates;
use crate::system::taylor_system::fresh;

/// A pivot below this fraction of its value at the start is not trusted.
const GROWTH: f64 = 1e-6;
/// Steps of elimination that are written out at most: each makes some operations for every direction.
const MOST: usize = 1_500;
/// Agreement with the solve by pivoting: rounding, amplified by the condition.
const AGREEMENT: f64 = 1e-8;

/// The compiled flow.
#[derive(Clone, Debug)]
pub(super) struct ExplicitFlow {
    /// $(t, y, s_1, s_2, \dots)$ to the rates of $(y, s_1, s_2, \dots)$, and the powers where work is carried.
    run: Executor,
    /// $(t, y)$ to the pivots.
    watch: Executor,
    inputs: Vec<f64>,
    pivots: Vec<f64>,
    floor: Vec<f64>,
    size: usize,
    /// $(y, s_1, s_2, \dots)$ and its rates, the powers at their end.
    state: Vec<Expr>,
    rates: Vec<Expr>,
}

/// $x$, the pivots of its elimination, and the powers of a motion.
struct Solved {
    unknowns: Vec<Expr>,
    pivots: Vec<Expr>,
    powers: Vec<Expr>,
}

/// `None` where elimination in a fixed order does not apply, or would be long.
fn solved(model: &Workspace, dynamics: &Dynamics) -> Option<Solved> {
    let g = &model.graph;
    let equations: &Equations = match dynamics {
        Dynamics::Saddle(equations) => equations,
        Dynamics::Ordinary(ordinary) => {
            let unknowns = ordinary.explicit(g)?;
            return Some(Solved { unknowns, pivots: Vec::new(), powers: Vec::new() });
        }
    };
    let has_mass_of_multipliers =
        equations.multiplier_terms.mass.iter().flatten().any(|&e| e != g.zero());
    if has_mass_of_multipliers || equations.auxiliary.is_some() {
        return None;
    }
    let solved = solve_saddle(g, equations, MOST)?;
    let powers = powers(model, equations, &solved.multipliers).to_vec();
    let unknowns = [solved.accelerations, solved.multipliers].concat();
    Some(Solved { unknowns, pivots: solved.pivots, powers })
}

impl ExplicitFlow {
    /// `None` where elimination in a fixed order does not apply, or the program would be long.
    pub(super) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        variables: &Variables,
        tangents: &[Vec<f64>],
        (carries_work, backend): (bool, Backend),
    ) -> Option<Self> {
        let g = &model.graph;
        if tangents.is_empty() {
            return None;
        }
        let Solved { unknowns, pivots, powers } = solved(model, dynamics)?;
        let rate = |rate: &Rate| match *rate {
            Rate::State(i) => variables.state[i],
            Rate::Unknown(i) => unknowns[i],
        };
        let plain: Vec<Expr> = variables.rates.iter().map(rate).collect();
        let place = [&[variables.time], variables.state.as_slice()].concat();
        let pairs = |tangent: &Vec<f64>| -> Vec<(Expr, f64)> {
            let varied = variables.parameters.iter().copied().zip(tangent.iter().copied());
            varied.filter(|(_, δ)| *δ != 0.0).collect()
        };
        let changes: Vec<_> = tangents.iter().map(pairs).collect();
        let along = tangent_rates(g, &plain, &variables.state, &changes)?;
        let state = [variables.state.as_slice(), &along.symbols].concat();
        let mut rates = [plain, along.rates].concat();
        if carries_work {
            rates.extend(powers);
        }
        let inputs = [&[variables.time], state.as_slice()].concat();
        let (symbols, values) = (model.parameter_symbols(), model.parameter_values());
        let program = Program::compile(g, &inputs, &symbols, &rates).ok()?.fused();
        let watch = Program::compile(g, &place, &symbols, &pivots).ok()?;
        Some(Self {
            run: program.executor(&values, backend),
            watch: watch.executor(&values, backend),
            inputs: vec![0.0; inputs.len()],
            pivots: vec![0.0; pivots.len()],
            floor: vec![0.0; pivots.len()],
            size: variables.state.len(),
            state,
            rates,
        })
    }

    /// The Taylor recurrences of motion and derivatives.
    pub(super) fn recurrences(
        &self,
        model: &Workspace,
    ) -> Result<TaylorRecurrences, TaylorError> {
        let g = &model.graph;
        let work = fresh(g, "w", self.rates.len() - self.state.len());
        TaylorRecurrences::of(&VectorField {
            graph: g,
            time: model.time,
            state: &[self.state.as_slice(), &work].concat(),
            parameters: &model.parameter_symbols(),
            rates: &self.rates,
            unknowns: &[],
            matrix: &[],
            right: &[],
        })
    }

    /// The rates of motion and derivatives; whether all are finite.
    pub(super) fn rates(&mut self, t: f64, whole: &[f64], rates: &mut [f64]) -> bool {
        self.inputs[0] = t;
        let known = self.inputs.len() - 1;
        self.inputs[1..].copy_from_slice(&whole[..known]);
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
