//! The reduced equations over $(t, q, u)$, with all that is read off a state.

use pfaff_expr::{Expr, Graph, Relation, Role, Unary, number};
use pfaff_mechanics::Reduction;
use pfaff_model::{Constraint, Dynamics, Workspace};

use crate::ensemble::lanes::layout::StepLayout;
use crate::motion::sample::sample_symbols;
use crate::system::event_phases::event_phases;
use crate::system::features::narrow_phases;

/// Steps are not limited.
pub(super) const ANY_LENGTH: f64 = 1e300;

/// The equations over $(t, q, u)$, with all that is read off a state.
pub(super) struct Field<'a> {
    pub(super) g: &'a Graph,
    pub(super) reduction: &'a Reduction,
    pub(super) time: Expr,
    pub(super) state: Vec<Expr>,
    /// $\dot q$, $\dot u$
    pub(super) rates: Vec<Expr>,
    pub(super) power: Expr,
    pub(super) events: Vec<Expr>,
    pub(super) event_rates: Vec<Expr>,
    /// What may vary over half a step by no more than its limit.
    pub(super) phases: Vec<Expr>,
    pub(super) quiet: Vec<f64>,
    pub(super) observed: Vec<Expr>,
    pub(super) energy: Expr,
    pub(super) energy_size: Expr,
    /// The residual of each constraint, in parts of its terms.
    pub(super) residuals: Vec<Expr>,
    /// The largest residual of the equations of motion as written, and of the differentiated constraints, in parts of
    /// their terms.
    pub(super) equations: Expr,
    pub(super) differentiated: Expr,
    /// Each pivot that may vanish, with what could stand in its place.
    pub(super) pivots: Vec<(Expr, Vec<Expr>)>,
}

impl<'a> Field<'a> {
    pub(super) fn new(model: &Workspace, reduction: &'a Reduction) -> Option<Self> {
        let g = &reduction.graph;
        let solved = reduction.rates.as_ref()?;
        let mut state = reduction.positions.clone();
        state.extend(&reduction.independent);
        let rates = [reduction.velocities.as_slice(), solved].concat();
        let power = g.merging(|| {
            let driven = g.dot(&reduction.power[1..], solved);
            g.add(reduction.power[0], driven)
        });
        // What follows from a state: velocities, accelerations, reactions and the energy.
        let results = reduction.multipliers();
        let velocities: Vec<(Expr, Expr)> = reduction
            .velocity_symbols
            .iter()
            .copied()
            .zip(reduction.velocities.iter().copied())
            .chain(reduction.independent_rates.iter().copied().zip(solved.iter().copied()))
            .collect();
        let inserted = |list: &[Expr]| g.substitute(list, &velocities);
        let mut known = velocities.clone();
        let accelerations = inserted(&results.accelerations);
        known.extend(model.accelerations().into_iter().zip(accelerations));
        if let Some(multipliers) = &results.multipliers {
            known.extend(model.results.lambda.iter().copied().zip(inserted(multipliers)));
        }
        known.extend(model.results.reaction.iter().copied().zip(inserted(&results.reaction)));
        let energy = inserted(&[results.energy])[0];
        known.push((model.results.energy, energy));
        let at_state = |list: &[Expr]| -> Option<Vec<Expr>> {
            let list = g.substitute(list, &known);
            let allowed: Vec<Expr> = sample_symbols(model, false)
                .into_iter()
                .filter(|s| *s != model.time && !state.contains(s))
                .collect();
            let is_known = list.iter().all(|&e| !g.contains(e, &allowed) && !g.has_memory(e));
            is_known.then_some(list)
        };
        let events: Vec<Expr> = model.events.iter().map(|e| e.expr).collect();
        let events = at_state(&events)?;
        let observed: Vec<Expr> = model.observed.iter().map(|o| o.expr).collect();
        let observed = at_state(&observed)?;
        let mut along: Vec<(Expr, Expr)> =
            state.iter().copied().zip(rates.iter().copied()).collect();
        along.push((model.time, g.one()));
        let event_rates = g.merging(|| g.directional(&events, &along));
        let mut phases = at_state(&narrow_phases(g, model))?;
        let mut quiet = vec![0.5; phases.len()];
        let of_events = event_phases(g, &events);
        phases.extend(of_events.iter().map(|&(_, phase)| phase));
        // A sine within one radian has no zeros that a cubic does not see.
        quiet.resize(phases.len(), 1.0);
        let pivots = reduction.charts.iter().map(|chart| {
            let sized = chart.candidates.iter().zip(&chart.scale);
            let all: Vec<Expr> =
                sized.map(|(&c, &s)| g.mul(real(g, s), magnitude(g, c))).collect();
            (all[chart.pivot], all)
        });
        let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
        let momenta = g.gradient(lagrangian, &model.velocities());
        let terms =
            momenta.iter().zip(model.velocities()).map(|(&p, v)| magnitude(g, g.mul(p, v)));
        let size = g.add(g.sum(terms), magnitude(g, lagrangian));
        let size = at_state(&[size])?[0];
        let residuals = at_state(&residuals(g, model))?;
        let [equations, differentiated] =
            at_state(&lagrange_residuals(g, model, lagrangian))?[..]
        else {
            return None;
        };
        Some(Self {
            g,
            reduction,
            residuals,
            equations,
            differentiated,
            time: reduction.time,
            pivots: pivots.collect(),
            state,
            rates,
            power,
            events,
            event_rates,
            phases,
            quiet,
            observed,
            energy,
            energy_size: size,
        })
    }

    /// $\dot q$, $\dot u$ and the power, where work is carried along.
    pub(super) fn rates_with_power(&self, layout: StepLayout) -> Vec<Expr> {
        self.rates.iter().copied().chain((layout.work > 0).then_some(self.power)).collect()
    }

    /// Everything at another state.
    pub(super) fn at(&self, list: &[Expr], t: Expr, y: &[Expr]) -> Vec<Expr> {
        let mut inserted: Vec<(Expr, Expr)> =
            self.state.iter().copied().zip(y.iter().copied()).collect();
        inserted.push((self.time, t));
        self.g.substitute(list, &inserted)
    }

    /// Whether all pivots are good at a state.
    pub(super) fn charted(&self, t: Expr, y: &[Expr], part: f64) -> Expr {
        let g = self.g;
        let mut good = g.one();
        for (pivot, all) in &self.pivots {
            let list = [&[*pivot], all.as_slice()].concat();
            let list = self.at(&list, t, y);
            let most = list[1..].iter().copied().reduce(|a, b| larger(g, a, b));
            let most = most.unwrap_or_else(|| g.zero());
            let fine = g.compare(Relation::LessEqual, g.mul(real(g, part), most), list[0]);
            good = g.logic_and(good, fine);
        }
        good
    }
}

/// The residual of each constraint over positions and velocities, in parts of its terms.
fn residuals(g: &Graph, model: &Workspace) -> Vec<Expr> {
    let velocities = model.velocities();
    let still: Vec<(Expr, Expr)> = velocities.iter().map(|&v| (v, g.zero())).collect();
    let residual = |constraint: &Constraint| {
        let slopes = g.gradient(constraint.expr, &velocities);
        let drift = g.substitute(&[constraint.expr], &still)[0];
        let terms = slopes.iter().zip(&velocities).map(|(&slope, &v)| g.mul(slope, v));
        in_parts(g, constraint.expr, terms.chain([drift]))
    };
    model.constraints.iter().map(residual).collect()
}

/// $\frac{d}{dt}L_{\dot q} - L_q - Q - A^\top\lambda$ and $\dot\varphi$ over positions, velocities, accelerations and
/// multipliers: the largest component of each, in parts of its terms.
fn lagrange_residuals(g: &Graph, model: &Workspace, lagrangian: Expr) -> [Expr; 2] {
    let (q, v, a) = (model.positions(), model.velocities(), model.accelerations());
    let mut along: Vec<(Expr, Expr)> = q.iter().copied().zip(v.iter().copied()).collect();
    along.push((model.time, g.one()));
    let momenta = g.gradient(lagrangian, &v);
    let slopes = g.gradient(lagrangian, &q);
    let turned = g.directional(&momenta, &along);
    let rows: Vec<Expr> = model.constraints.iter().map(|c| c.expr).collect();
    let jacobian: Vec<Vec<Expr>> = rows.iter().map(|&φ| g.gradient(φ, &v)).collect();
    let worst = |parts: &mut dyn Iterator<Item = Expr>| {
        parts.reduce(|x, y| larger(g, x, y)).unwrap_or_else(|| g.zero())
    };
    let mut equations = (0..v.len()).map(|i| {
        let inertia = g.gradient(momenta[i], &v);
        let mut terms: Vec<Expr> = inertia.iter().zip(&a).map(|(&m, &a)| g.mul(m, a)).collect();
        terms.extend([turned[i], g.neg(slopes[i])]);
        terms.extend(model.forces.iter().map(|force| g.neg(force.components[i])));
        let reactions = model.results.lambda.iter().zip(&jacobian);
        terms.extend(reactions.map(|(&λ, row)| g.neg(g.mul(λ, row[i]))));
        in_parts(g, g.sum(terms.iter().copied()), terms.into_iter())
    });
    let equations = worst(&mut equations);
    let drifts = g.directional(&rows, &along);
    let mut differentiated = jacobian.iter().zip(&drifts).map(|(row, &drift)| {
        let terms: Vec<Expr> =
            row.iter().zip(&a).map(|(&c, &a)| g.mul(c, a)).chain([drift]).collect();
        in_parts(g, g.sum(terms.iter().copied()), terms.into_iter())
    });
    let differentiated = worst(&mut differentiated);
    [equations, differentiated]
}

/// What the error of a component is measured in: its size at a state, and that of its motion as far as it is known.
pub(super) fn scale(
    g: &Graph,
    rows: &[Expr],
    layout: StepLayout,
    i: usize,
    size: Expr,
) -> Expr {
    let known = larger(g, rows[layout.largest(i)], rows[layout.scale(i)]);
    g.add(g.add(size, larger(g, size, known)), real(g, 1e-50))
}

/// The magnitude of a sum in parts of those of its terms.
fn in_parts(g: &Graph, sum: Expr, terms: impl Iterator<Item = Expr>) -> Expr {
    let size = g.sum(terms.map(|term| magnitude(g, term)));
    g.div(magnitude(g, sum), g.add(size, real(g, 1e-300)))
}

/// A double as an exact number.
pub(super) fn real(g: &Graph, x: f64) -> Expr {
    number::from_f64(x).map_or_else(|| g.zero(), |x| g.number(x))
}

pub(super) fn magnitude(g: &Graph, e: Expr) -> Expr {
    g.unary(Unary::Abs, e)
}

pub(super) fn larger(g: &Graph, a: Expr, b: Expr) -> Expr {
    if a == b { a } else { g.choose(g.compare(Relation::Less, a, b), b, a) }
}

pub(super) fn smaller(g: &Graph, a: Expr, b: Expr) -> Expr {
    if a == b { a } else { g.choose(g.compare(Relation::Less, a, b), a, b) }
}

pub(super) fn symbols(g: &Graph, count: usize, name: &str) -> Vec<Expr> {
    (0..count).map(|i| g.symbol(&format!("lane {name} {i}"), Role::Free)).collect()
}
