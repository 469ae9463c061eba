//! Everything about one instant of a motion.

use std::ops::Range;

use pfaff_expr::Expr;
use pfaff_model::Workspace;

/// A state with what follows from it. Lists are in declared order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// $t$
    pub t: f64,
    /// $q$
    pub q: Vec<f64>,
    /// $\dot q$
    pub v: Vec<f64>,
    /// $\ddot q$; not a number for coordinates of order one.
    pub a: Vec<f64>,
    /// $\lambda$, with $M\ddot q = f + A^\top\lambda$; or $\mu$ under the vakonomic principle
    pub multipliers: Vec<f64>,
    /// $\dot\mu$ under the vakonomic principle, not a number otherwise
    pub multiplier_rates: Vec<f64>,
    /// $R$, with $M\ddot q = f + R$
    pub reaction: Vec<f64>,
    /// $E = \dot q\cdot\partial L/\partial\dot q - L$; not a number for `equation` models.
    pub energy: f64,
    /// $E\[M\]$, zero under Chetaev's principle.
    pub constraint_energy: f64,
    /// $\Omega$, the divergence of the flow on $(q, p)$, where the model asks for it; not a number elsewhere.
    pub divergence: f64,
}

impl Sample {
    /// Room for n coordinates and m constraints.
    pub(crate) fn new(n: usize, m: usize) -> Self {
        let numbers = |k: usize| vec![f64::NAN; k];
        Self {
            t: 0.0,
            q: numbers(n),
            v: numbers(n),
            a: numbers(n),
            multipliers: numbers(m),
            multiplier_rates: numbers(m),
            reaction: numbers(n),
            energy: f64::NAN,
            constraint_energy: 0.0,
            divergence: f64::NAN,
        }
    }

    /// All numbers one after another, each where `SampleLayout` has it.
    pub fn inputs(&self, inputs: &mut [f64]) {
        let layout = SampleLayout::new(self.q.len(), self.multipliers.len());
        inputs[layout.t] = self.t;
        inputs[layout.q].copy_from_slice(&self.q);
        inputs[layout.v].copy_from_slice(&self.v);
        inputs[layout.a].copy_from_slice(&self.a);
        inputs[layout.multipliers].copy_from_slice(&self.multipliers);
        inputs[layout.multiplier_rates].copy_from_slice(&self.multiplier_rates);
        inputs[layout.reaction].copy_from_slice(&self.reaction);
        inputs[layout.energy] = self.energy;
        inputs[layout.constraint_energy] = self.constraint_energy;
        inputs[layout.divergence] = self.divergence;
    }
}

/// Where the numbers of a sample stand in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SampleLayout {
    pub(crate) t: usize,
    pub(crate) q: Range<usize>,
    pub(crate) v: Range<usize>,
    pub(crate) a: Range<usize>,
    pub(crate) multipliers: Range<usize>,
    pub(crate) multiplier_rates: Range<usize>,
    pub(crate) reaction: Range<usize>,
    pub(crate) energy: usize,
    pub(crate) constraint_energy: usize,
    pub(crate) divergence: usize,
    /// How many numbers there are.
    pub(crate) width: usize,
}

impl SampleLayout {
    /// Of n coordinates and m constraints.
    pub(crate) fn new(n: usize, m: usize) -> Self {
        let mut width = 0;
        let mut part = |count: usize| {
            width += count;
            width - count..width
        };
        Self {
            t: part(1).start,
            q: part(n),
            v: part(n),
            a: part(n),
            multipliers: part(m),
            multiplier_rates: part(m),
            reaction: part(n),
            energy: part(1).start,
            constraint_energy: part(1).start,
            divergence: part(1).start,
            width,
        }
    }
}

/// Instants that are looked at together.
pub(crate) const LANES: usize = 8;

/// The symbols of [`Sample::inputs`]: the multipliers are called `lambda(c)`, or `mu(c)` under the vakonomic
/// principle.
pub fn sample_symbols(model: &Workspace, vakonomic: bool) -> Vec<Expr> {
    let results = &model.results;
    let mut symbols = vec![model.time];
    symbols.extend(model.positions());
    symbols.extend(model.velocities());
    symbols.extend(model.accelerations());
    symbols.extend(if vakonomic { &results.mu } else { &results.lambda });
    symbols.extend(&results.mu_rate);
    symbols.extend(&results.reaction);
    symbols.push(results.energy);
    // NOTE: E[M] has no word in the language; its place is taken by a number that no formula reads.
    symbols.push(model.graph.zero());
    symbols.push(results.divergence);
    // The multipliers of the other principles have no value here.
    symbols.extend(if vakonomic { &results.lambda } else { &results.mu });
    symbols
}
