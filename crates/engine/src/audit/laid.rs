//! Parts of a model laid out for dual numbers, with what their symbols mean.

use std::array::from_fn;
use std::collections::BTreeMap;

use pfaff_expr::Expr;
use pfaff_model::Workspace;

use crate::audit::autodiff::{Dual, Duals, Lanes, Sized};
use crate::motion::sample::{LANES, Sample};

/// Expressions with the meaning of their symbols.
pub(crate) struct Laid {
    pub(crate) duals: Duals,
    meaning: Vec<Meaning>,
}

#[derive(Clone, Copy, Debug)]
enum Meaning {
    Time,
    Position(usize),
    Velocity(usize),
}

/// Derivatives by positions, velocities and time, with their rates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gradient {
    pub(crate) q: Vec<Dual>,
    pub(crate) v: Vec<Dual>,
    t: Dual,
}

/// Derivatives by the positions and velocities that occur, in ascending order, and by time, with their rates.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseGradient {
    pub(crate) q: Vec<(usize, Dual)>,
    pub(crate) v: Vec<(usize, Dual)>,
    pub(crate) t: Dual,
}

impl Gradient {
    pub(crate) fn new(n: usize) -> Self {
        let none = vec![Dual::default(); n];
        Self { q: none.clone(), v: none, t: Dual::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.q.fill(Dual::default());
        self.v.fill(Dual::default());
        self.t = Dual::default();
    }
}

impl Laid {
    /// The first outputs will be differentiated.
    pub(crate) fn new(model: &Workspace, outputs: &[Expr], differentiated: usize) -> Self {
        Self::with_broad(model, outputs, differentiated, &[])
    }

    /// The first outputs will be differentiated; some of them may be broad (`autodiff/broad.rs`).
    pub(crate) fn with_broad(
        model: &Workspace,
        outputs: &[Expr],
        differentiated: usize,
        broad: &[usize],
    ) -> Self {
        let mut meanings = BTreeMap::from([(model.time, Meaning::Time)]);
        for (k, c) in model.coordinates.iter().enumerate() {
            meanings.insert(c.position, Meaning::Position(k));
            meanings.insert(c.velocity, Meaning::Velocity(k));
        }
        let meaning = |s: Expr| meanings.get(&s).copied();
        let value = |s: Expr| model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
        let fixed = |s: Expr| match meaning(s) {
            Some(_) => None,
            None => Some(value(s).unwrap_or(f64::NAN)),
        };
        let duals = Duals::new(&model.graph, outputs, differentiated, broad, &fixed);
        let meaning = duals.symbols.iter().filter_map(|&s| meaning(s)).collect();
        Self { duals, meaning }
    }

    /// Dual-number operations of values and derivatives at a sample.
    pub(crate) fn cost(&self) -> usize {
        self.duals.len() + self.duals.swept()
    }

    /// Values at some instants, at most [`LANES`], with their rates along the motion; the first output is
    /// told. What is left of the lanes repeats the last sample.
    pub(crate) fn evaluate(&mut self, instants: &[Sample]) -> Lanes {
        let Self { duals, meaning } = self;
        let at = |l: usize| &instants[l.min(instants.len() - 1)];
        duals.evaluate(&|s| match meaning[s] {
            Meaning::Time => Dual { x: from_fn(|l| at(l).t), d: [1.0; LANES] },
            Meaning::Position(k) => {
                Dual { x: from_fn(|l| at(l).q[k]), d: from_fn(|l| at(l).v[k]) }
            }
            Meaning::Velocity(k) => {
                Dual { x: from_fn(|l| at(l).v[k]), d: from_fn(|l| at(l).a[k]) }
            }
        });
        duals.output(0).x
    }

    /// The derivatives of an output at the instants last evaluated.
    pub(crate) fn sweep_into(&mut self, output: usize, into: &mut SparseGradient) {
        let Self { duals, meaning } = self;
        into.q.clear();
        into.v.clear();
        into.t = Dual::default();
        duals.sweep(output, [1.0; LANES], &mut |s, derivative| match meaning[s] {
            Meaning::Time => into.t = derivative,
            Meaning::Position(k) => into.q.push((k, derivative)),
            Meaning::Velocity(k) => into.v.push((k, derivative)),
        });
        into.q.sort_unstable_by_key(|entry| entry.0);
        into.v.sort_unstable_by_key(|entry| entry.0);
    }

    /// Adds the derivatives of an output, times a weight, at the instants last evaluated.
    pub(crate) fn sweep(&mut self, output: usize, weight: Lanes, into: &mut Gradient) {
        let Self { duals, meaning } = self;
        duals.sweep(output, weight, &mut |s, derivative| {
            let place = match meaning[s] {
                Meaning::Time => &mut into.t,
                Meaning::Position(k) => &mut into.q[k],
                Meaning::Velocity(k) => &mut into.v[k],
            };
            *place = place.add(&derivative);
        });
    }

    /// The sums of the derivatives of broad outputs by velocities, times numbers and sizes at the instants last
    /// evaluated; in `nodes`.
    pub(crate) fn spread(&self, velocity: &dyn Fn(usize) -> Sized, nodes: &mut Vec<Sized>) {
        let at = |s: usize| match self.meaning[s] {
            Meaning::Velocity(k) => velocity(k),
            Meaning::Time | Meaning::Position(_) => [[0.0; LANES]; 2],
        };
        self.duals.spread(&at, nodes);
    }

    /// The derivatives of broad outputs by velocities, times weights: their sums over the outputs, by coordinate.
    pub(crate) fn pull(
        &self,
        weight: &dyn Fn(usize) -> Lanes,
        nodes: &mut Vec<Sized>,
        sums: &mut [Sized],
    ) {
        sums.fill([[0.0; LANES]; 2]);
        self.duals.pull(weight, nodes, &mut |s, sum| {
            if let Meaning::Velocity(k) = self.meaning[s] {
                sums[k] = *sum;
            }
        });
    }
}
