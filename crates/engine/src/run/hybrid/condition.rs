//! Which conditions of `when` hold at a state.
//!
//! A function of a condition (`condition_function.rs`) that is at zero is followed for a short time, as those of
//! branches are (`ahead.rs`). If it stays there, `<` does not hold and `<=` does. Where it is zero but for rounding,
//! this cannot be known, and the audit says so.

use pfaff_expr::{Expr, Node, Relation};
use pfaff_model::Workspace;

use crate::error::Failure;
use crate::motion::note::brief;
use crate::motion::sample::{Sample, sample_symbols};
use crate::motion::side::Side;
use crate::motion::verdict::Check;
use crate::problem::start::Start;
use crate::run::hybrid::HybridRun;
use crate::run::hybrid::ahead::{CLEAR, LATE, LONGER, SOON, runge_kutta};
use crate::run::hybrid::condition_function::function;
use crate::run::hybrid::phase::{Discrete, own_multiplier};
use crate::run::hybrid::settle::{compiled, resolved};

/// The rounding of a state, as in `switching.rs`: events are located to about that part of the run.
const NOISE: f64 = 1e-12;

/// A state, and how far away its rounding is to be looked for.
struct Stand<'a> {
    model: &'a Workspace,
    symbols: Vec<Expr>,
    values: Vec<f64>,
    /// What the rounding of each symbol is measured by.
    sizes: Vec<f64>,
}

impl<'a> Stand<'a> {
    fn new(model: &'a Workspace, sample: &Sample, span: f64) -> Self {
        let symbols = sample_symbols(model, false);
        let mut values = vec![0.0; symbols.len()];
        sample.inputs(&mut values);
        let size = |(&symbol, value): (&Expr, &f64)| {
            let place = model.coordinates.iter().position(|c| c.position == symbol);
            match place {
                _ if symbol == model.time => span.abs(),
                Some(k) => value.abs() + sample.v[k].abs() * span.abs(),
                None => value.abs(),
            }
        };
        let sizes = symbols.iter().zip(&values).map(size).collect();
        Self { model, symbols, values, sizes }
    }

    fn value(&self, e: Expr) -> f64 {
        let at = |s: Expr| {
            let known = self.symbols.iter().position(|&x| x == s).map(|k| self.values[k]);
            let parameter =
                || self.model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
            // NOTE: multipliers of what does not hold are zero.
            known.or_else(parameter).unwrap_or(0.0)
        };
        self.model.graph.evaluate(&[e], &at)[0]
    }

    /// The rounding of a function.
    fn noise(&self, e: Expr) -> f64 {
        let g = &self.model.graph;
        let moves = |symbol: &Expr| {
            matches!(g.node(*symbol), Node::Symbol(_)) && g.contains(e, &[*symbol])
        };
        let all = self.symbols.iter().zip(&self.sizes);
        let parts = all.filter(|(symbol, size)| **size > 0.0 && moves(symbol));
        NOISE
            * parts.map(|(&s, size)| (self.value(g.derivative(e, s)) * size).abs()).sum::<f64>()
    }

    /// Where a function is, if that is more than so many roundings away from zero.
    fn side(&self, e: Expr, roundings: f64) -> Option<Side> {
        let value = self.value(e);
        (value.abs() > roundings * self.noise(e)).then(|| Side::of(value))
    }

    fn answer(&self, condition: Expr) -> Answer {
        let g = &self.model.graph;
        match g.node(condition) {
            Node::And(a, b) => self.answer(a).both(self.answer(b), false),
            Node::Or(a, b) => self.answer(a).both(self.answer(b), true),
            Node::Compare(relation, a, b) => {
                let difference = g.sub(b, a);
                match self.side(difference, 1.0) {
                    Some(side) => Answer::Clear(side == Side::Above),
                    None => Answer::Equal {
                        holds: relation != Relation::Less,
                        is_exact: self.value(difference) == 0.0,
                    },
                }
            }
            _ => Answer::Clear(self.value(condition) != 0.0),
        }
    }
}

/// What a condition is at a state.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Clear(bool),
    /// Both sides of a comparison that decides are equal, exactly or but for rounding.
    Equal {
        holds: bool,
        is_exact: bool,
    },
}

impl Answer {
    /// Both of two (if `either`, one of them); a clear one may decide by itself.
    fn both(self, other: Self, either: bool) -> Self {
        match (self, other) {
            (Self::Clear(a), b) | (b, Self::Clear(a)) => {
                if a == either {
                    Self::Clear(either)
                } else {
                    b
                }
            }
            (Self::Equal { holds: a, is_exact: x }, Self::Equal { holds: b, is_exact: y }) => {
                Self::Equal { holds: if either { a || b } else { a && b }, is_exact: x && y }
            }
        }
    }
}

impl HybridRun<'_> {
    /// Which conditional constraints hold.
    pub(super) fn settle_conditions(&mut self) -> Result<(), Failure> {
        let hybrid = &self.model.hybrid;
        for (i, (constraint, activity)) in hybrid.constraints.iter().enumerate() {
            let Some(when) = activity.when else { continue };
            let g = &self.phases.branches.model.graph;
            if !activity.is_in(self.now.mode) {
                self.now.conditions[i] = false;
                continue;
            }
            let is_of_itself = g.contains(when, &[own_multiplier(g, constraint)]);
            let was = self.now.conditions[i];
            let holds = if is_of_itself {
                let may = was || self.cause.grip == Some(i) || self.is_met(constraint.expr);
                let mut trial = self.now.clone();
                trial.conditions[i] = true;
                self.cause.dropped != Some(i) && may && self.is_positive(&trial, when)?
            } else if self.cause.grip == Some(i) {
                true
            } else {
                let is_dropped = self.cause.dropped == Some(i);
                self.is_holding(when, &constraint.name, is_dropped)?
            };
            self.now.conditions[i] = holds;
        }
        Ok(())
    }

    /// Whether a condition on the state holds from here on.
    fn is_holding(
        &mut self,
        when: Expr,
        name: &str,
        is_dropped: bool,
    ) -> Result<bool, Failure> {
        let now = self.now.clone();
        let state = self.met(&now)?.unwrap_or_else(|| self.state.clone());
        let span = self.settings.options.t1 - self.settings.t0;
        let Some(sample) = resolved(&mut self.phases, &now, self.t, &state)? else {
            return Ok(false);
        };
        let phase = self.phases.phase(&now)?;
        let (holds, is_exact) = match Stand::new(&phase.model, &sample, span).answer(when) {
            Answer::Clear(holds) => return Ok(holds && !is_dropped),
            Answer::Equal { holds, is_exact } => (holds, is_exact),
        };
        let h = function(&phase.model.graph, &phase.model, when);
        let mut system = compiled(&self.phases, &phase)?;
        let Start { q, v, multipliers, .. } = &state;
        let y = system.state(self.t, q, v, multipliers);
        let left = self.settings.options.t1 - self.t;
        let mut there = Sample::new(q.len(), phase.model.constraints.len());
        let mut δ = SOON * left;
        while δ.abs() <= LATE * left.abs() {
            let (t, end) = (self.t + δ, runge_kutta(&mut system, self.t, &y, δ));
            if end.is_none_or(|y| system.resolve(t, &y, true, &mut there).is_err()) {
                break;
            }
            let soon = Stand::new(&phase.model, &there, span);
            if let Some(side) = soon.side(h, CLEAR) {
                return Ok(side == Side::Above && !is_dropped);
            }
            δ *= LONGER;
        }
        if !is_exact && left.abs() > SOON * span.abs() {
            let what = format!("the condition of `{name}`");
            self.blurred.get_or_insert((what, self.t));
        }
        Ok(holds)
    }

    /// Whether a condition holds if some things do.
    fn is_positive(&mut self, if_so: &Discrete, when: Expr) -> Result<bool, Failure> {
        let phase = self.phases.phase(if_so)?;
        let h = function(&phase.model.graph, &phase.model, when);
        Ok(self.condition(if_so, h)?.is_some_and(|h| h >= 0.0))
    }

    /// Whether a constraint is met by the state as it is.
    fn is_met(&self, constraint: Expr) -> bool {
        let model = &self.phases.branches.model;
        let (positions, velocities) = (model.positions(), model.velocities());
        let Start { q, v, .. } = &self.state;
        let at = |s: Expr| {
            let of = |list: &[Expr], values: &[f64]| {
                list.iter().position(|&x| x == s).map(|k| values[k])
            };
            let parameter = || model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
            let time = (s == model.time).then_some(self.t);
            time.or(of(&positions, q))
                .or(of(&velocities, v))
                .or_else(parameter)
                .unwrap_or(f64::NAN)
        };
        let g = &model.graph;
        let symbols = [positions.clone(), velocities.clone()].concat();
        let slopes = g.evaluate(&g.gradient(constraint, &symbols), &at);
        let sizes = slopes.iter().zip(q.iter().chain(v)).map(|(c, x)| (c * x).abs());
        g.evaluate(&[constraint], &at)[0].abs() <= 1e-10 * sizes.sum::<f64>()
    }

    /// The value of a function if some things hold.
    pub(super) fn condition(
        &mut self,
        if_so: &Discrete,
        function: Expr,
    ) -> Result<Option<f64>, Failure> {
        let state = self.met(if_so)?.unwrap_or_else(|| self.state.clone());
        let Some(sample) = resolved(&mut self.phases, if_so, self.t, &state)? else {
            return Ok(None);
        };
        let phase = self.phases.phase(if_so)?;
        Ok(Some(Stand::new(&phase.model, &sample, 0.0).value(function)))
    }

    /// The check that conditions were not decided by rounding.
    pub(super) fn blurred_check(&self) -> Option<(Check, String)> {
        let (what, t) = self.blurred.as_ref()?;
        let reason = "where both sides of a comparison are equal but for rounding, it is not known whether it holds";
        let check = Check::unchecked("conditions".into(), 0.0, reason);
        let note = format!(
            "from t = {} on, both sides of {what} are equal but for rounding: whether it holds is not known",
            brief(*t)
        );
        Some((Check { is_needed: true, ..check }, note))
    }
}
