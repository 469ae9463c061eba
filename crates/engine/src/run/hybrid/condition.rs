//! Conditions of `when`: functions that are positive where they hold, and what they are where these are zero.
//!
//! | condition | function |
//! |---|---|
//! | $a < b$, $a \le b$ | $h = b - a$ |
//! | $A$ and $B$ | $\min(h_A, h_B)$ |
//! | $A$ or $B$ | $\max(h_A, h_B)$ |
//!
//! Where both sides of a comparison are equal for a while, $h$ stays at zero, and no zero of it says when that ends:
//! $\max(x, 0) \le 0$ has $h = 0$ for all $x < 0$. So where an operation with branches, of the switching function u,
//! leaves an $h^\pm$ on one side that nothing moves, h becomes
//!
//! $$ \max\bigl(\min(u, h^+),\, \min(-u, h^-)\bigr), $$
//!
//! with $\pm1$ in the place of what does not move: there the comparison holds or does not. For $\max(x, 0) \le 0$ that
//! is $-x$.
//!
//! A function at zero is followed for a short time, as those of branches are (`ahead.rs`). If it stays there, `<` does
//! not hold and `<=` does. Where it is zero but for rounding, this cannot be known, and the audit says so.

use pfaff_expr::{Binary, Expr, Graph, Node, Relation, Unary};
use pfaff_model::Workspace;

use crate::error::Failure;
use crate::motion::note::brief;
use crate::motion::sample::{Sample, sample_symbols};
use crate::motion::verdict::Check;
use crate::problem::branches::Side;
use crate::problem::start::Start;
use crate::run::hybrid::HybridRun;
use crate::run::hybrid::ahead::{CLEAR, LATE, LONGER, SOON, runge_kutta};
use crate::run::hybrid::phase::{Discrete, own_multiplier};
use crate::run::hybrid::settle::{compiled, resolved};

/// Operations with branches within each other that are told apart.
const MOST: usize = 6;
/// The rounding of a state, as in `switching.rs`: events are located to about that part of the run.
const NOISE: f64 = 1e-12;

/// A function that is positive where a condition holds.
pub(super) fn function(g: &Graph, model: &Workspace, condition: Expr) -> Expr {
    match g.node(condition) {
        Node::And(a, b) => g.binary(Binary::Min, function(g, model, a), function(g, model, b)),
        Node::Or(a, b) => g.binary(Binary::Max, function(g, model, a), function(g, model, b)),
        Node::Compare(relation, a, b) => {
            let difference = g.sub(b, a);
            let known = Known::new(g, model);
            known.told(difference, relation, MOST).unwrap_or(difference)
        }
        _ => sign_of(g, condition),
    }
}

/// 1 where a condition that nothing moves holds, else −1.
fn sign_of(g: &Graph, condition: Expr) -> Expr {
    g.choose(condition, g.one(), g.integer(-1))
}

/// What does not move.
struct Known<'a> {
    g: &'a Graph,
    parameters: Vec<Expr>,
    state: Vec<Expr>,
}

impl<'a> Known<'a> {
    fn new(g: &'a Graph, model: &Workspace) -> Self {
        let mut state = vec![model.time];
        state.extend(model.positions().into_iter().chain(model.velocities()));
        let parameters = model.parameters.iter().map(|p| p.symbol).collect();
        Self { g, parameters, state }
    }

    /// A function with the sign of `difference` that is not zero where that does not move; `None` if it moves
    /// everywhere.
    fn told(&self, difference: Expr, relation: Relation, most: usize) -> Option<Expr> {
        let g = self.g;
        if let Some(fixed) = self.fixed(difference) {
            return Some(sign_of(g, g.compare(relation, g.zero(), fixed)));
        }
        let (operation, u, sides) = self.innermost(difference).filter(|_| most > 0)?;
        let [above, below] =
            sides.map(|side| g.substitute(&[difference], &[(operation, side)])[0]);
        let told = [above, below].map(|side| self.told(side, relation, most - 1));
        if told == [None, None] {
            return None;
        }
        let [above, below] = [told[0].unwrap_or(above), told[1].unwrap_or(below)];
        let above = g.binary(Binary::Min, u, above);
        let below = g.binary(Binary::Min, g.neg(u), below);
        Some(g.binary(Binary::Max, above, below))
    }

    /// The first operation with branches that moves: itself, its switching function, what it is above and below zero.
    fn innermost(&self, e: Expr) -> Option<(Expr, Expr, [Expr; 2])> {
        let g = self.g;
        let mut all = g.live(&[e]).into_iter();
        all.find_map(|e| {
            let (u, sides) = match g.node(e) {
                Node::Unary(Unary::Abs, a) => (a, [a, g.neg(a)]),
                Node::Unary(Unary::Sign, a) => (a, [g.one(), g.integer(-1)]),
                Node::Unary(Unary::Sqrt, a) => match g.node(a) {
                    Node::Pow(base, two) if two == g.integer(2) => (base, [base, g.neg(base)]),
                    _ => return None,
                },
                Node::Binary(Binary::Max, a, b) => (g.sub(a, b), [a, b]),
                Node::Binary(Binary::Min, a, b) => (g.sub(a, b), [b, a]),
                Node::If(condition, a, b) => match g.node(condition) {
                    Node::Compare(Relation::Less | Relation::LessEqual, x, y) => {
                        (g.sub(y, x), [a, b])
                    }
                    _ => return None,
                },
                _ => return None,
            };
            g.contains(u, &self.state).then_some((e, u, sides))
        })
    }

    /// A function of parameters that has the same value, if nothing moves it.
    fn fixed(&self, e: Expr) -> Option<Expr> {
        let g = self.g;
        let is_fixed = |e: Expr| g.symbols(&[e]).iter().all(|s| self.parameters.contains(s));
        if is_fixed(e) {
            return Some(e);
        }
        let moves = || g.gradient(e, &self.state).iter().any(|&slope| slope != g.zero());
        if self.innermost(e).is_some() || moves() {
            return None;
        }
        let origin: Vec<(Expr, Expr)> = self.state.iter().map(|&x| (x, g.zero())).collect();
        let there = g.substitute(&[e], &origin)[0];
        is_fixed(there).then_some(there)
    }
}

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
        if !is_exact {
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
