//! From states of the variational flow to the derivatives that a motion shows.

use std::collections::VecDeque;

use pfaff_expr::Expr;
use pfaff_model::{Principle, Workspace};
use pfaff_program::Backend;

use crate::error::Failure;
use crate::motion::sensitivity::{EventSensitivity, Sensitivity};
use crate::motion::{Motion, Series};
use crate::run::sensitivity::direction::Direction;
use crate::system::compiled::Dynamics;
use crate::system::linearisation::{Slopes, Variables, output_slopes};
use crate::system::variational::VariationalFlow;

/// The derivatives so far.
pub(crate) struct Outputs {
    found: Vec<Sensitivity>,
    times: VecDeque<f64>,
    /// Events that are still to come: when, and their position in the model.
    events: VecDeque<(f64, Option<usize>)>,
    reached: usize,
}

/// A state of the flow with all that belongs to it.
struct At<'a> {
    t: f64,
    whole: &'a [f64],
    rates: Vec<f64>,
}

impl Outputs {
    /// Nothing yet, for the outputs and events of a motion.
    pub(crate) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        directions: &[Direction],
        motion: &Motion,
    ) -> Self {
        let named = |names: Vec<&String>| -> Vec<Series> {
            let series = |name: &&String| Series { name: (*name).clone(), values: Vec::new() };
            names.iter().map(series).collect()
        };
        let coordinates = || named(model.coordinates.iter().map(|c| &c.name).collect());
        let constraints = match dynamics {
            Dynamics::Saddle(_) => model.constraints.iter().map(|c| &c.name).collect(),
            Dynamics::Ordinary(_) => Vec::new(),
        };
        let empty = |direction: &Direction| Sensitivity {
            name: direction.name.clone(),
            q: coordinates(),
            v: coordinates(),
            multipliers: named(constraints.clone()),
            observed: named(model.observed.iter().map(|o| &o.name).collect()),
            events: Vec::new(),
            end: None,
            second: Vec::new(),
        };
        let index = |name: &str| model.events.iter().position(|e| e.name == name);
        Self {
            found: directions.iter().map(empty).collect(),
            times: motion.t.iter().copied().collect(),
            events: motion.events.iter().map(|e| (e.t, index(&e.name))).collect(),
            reached: 0,
        }
    }

    /// How many output times were reached.
    pub(crate) fn reached(&self) -> usize {
        self.reached
    }

    /// The next output time.
    pub(crate) fn next_time(&self) -> Option<f64> {
        self.times.front().copied()
    }

    /// Gives no derivatives of multipliers.
    pub(crate) fn leave_out_multipliers(&mut self) {
        self.found.iter_mut().for_each(|found| found.multipliers.clear());
    }

    /// Takes the states of a segment, in the order of time.
    pub(crate) fn take(
        &mut self,
        model: &Workspace,
        dynamics: &Dynamics,
        flow: &mut VariationalFlow,
        rows: Vec<(f64, Vec<f64>)>,
        backend: Backend,
    ) -> Result<(), Failure> {
        let observed: Vec<Expr> = model.observed.iter().map(|o| o.expr).collect();
        let mut observed = Functions::new(model, dynamics, flow, &observed, backend)?;
        let events: Vec<Expr> = model.events.iter().map(|e| e.expr).collect();
        let mut events = Functions::new(model, dynamics, flow, &events, backend)?;
        for (t, whole) in rows {
            let mut at = At { t, whole: &whole, rates: vec![f64::NAN; flow.size()] };
            let is_solved = flow.solve(t, &whole).is_ok();
            if is_solved {
                flow.state_rates(&whole, &mut at.rates);
            }
            if self.times.front() == Some(&t) {
                self.times.pop_front();
                self.reached += 1;
                self.output(dynamics, flow, &at, &mut observed);
            }
            while self.events.front().is_some_and(|event| event.0 == t) {
                let index = self.events.pop_front().and_then(|event| event.1);
                self.event(model, flow, &at, &mut events, index);
            }
        }
        Ok(())
    }

    fn output(
        &mut self,
        dynamics: &Dynamics,
        flow: &mut VariationalFlow,
        at: &At<'_>,
        observed: &mut Functions,
    ) {
        observed.evaluate(flow, at);
        let mut rates = vec![f64::NAN; flow.size()];
        for (k, found) in self.found.iter_mut().enumerate() {
            let δy = flow.part(at.whole, k);
            let δp = flow.tangent(k).to_vec();
            if flow.respond(0.0, δy, &δp).is_err() {
                flow.response.fill(f64::NAN);
            }
            flow.rates_along(δy, &mut rates);
            let n = found.q.len();
            let multipliers = match dynamics {
                Dynamics::Saddle(e) if e.principle == Principle::Vakonomic => &δy[2 * n..],
                Dynamics::Saddle(_) => &flow.response[n..],
                Dynamics::Ordinary(_) => &[],
            };
            let seen = observed.along(0.0, δy, &δp, &flow.response);
            let lists = [
                (&mut found.q, &δy[..n]),
                (&mut found.v, &rates[..n]),
                (&mut found.multipliers, multipliers),
                (&mut found.observed, &seen),
            ];
            for (series, values) in lists {
                series.iter_mut().zip(values).for_each(|(s, x)| s.values.push(*x));
            }
            if !flow.has_unique_multipliers() {
                found.multipliers.clear();
            }
        }
    }

    fn event(
        &mut self,
        model: &Workspace,
        flow: &mut VariationalFlow,
        at: &At<'_>,
        events: &mut Functions,
        index: Option<usize>,
    ) {
        let Some(index) = index else { return };
        let shifts = events.shifts(flow, at, index);
        // The rates of velocities, which may be unknowns themselves.
        let zero = vec![0.0; flow.variables.parameters.len()];
        let mut accelerations = vec![f64::NAN; flow.size()];
        if flow.respond(1.0, &at.rates, &zero).is_ok() {
            flow.rates_along(&at.rates, &mut accelerations);
        }
        let mut rates = vec![f64::NAN; flow.size()];
        for (k, (found, δt)) in self.found.iter_mut().zip(shifts).enumerate() {
            let δy = flow.part(at.whole, k);
            let δp = flow.tangent(k).to_vec();
            if flow.respond(0.0, δy, &δp).is_err() {
                flow.response.fill(f64::NAN);
            }
            flow.rates_along(δy, &mut rates);
            let n = found.q.len();
            let total = |parts: &[f64], rates: &[f64]| -> Vec<f64> {
                parts[..n].iter().zip(rates).map(|(x, rate)| x + rate * δt).collect()
            };
            found.events.push(EventSensitivity {
                name: model.events[index].name.clone(),
                t: δt,
                q: total(δy, &at.rates),
                v: total(&rates, &accelerations),
            });
        }
    }

    /// The derivatives; what was not reached is not a number.
    pub(crate) fn finished(mut self, motion: &Motion) -> Vec<Sensitivity> {
        for found in &mut self.found {
            let lists =
                [&mut found.q, &mut found.v, &mut found.multipliers, &mut found.observed];
            for series in lists.into_iter().flatten() {
                series.values.resize(motion.t.len(), f64::NAN);
            }
        }
        self.found
    }
}

/// Functions of a motion with their slopes.
struct Functions {
    slopes: Slopes,
    /// Whether each is a function of state, unknowns and parameters alone.
    is_known: Vec<bool>,
    direction: Vec<f64>,
}

impl Functions {
    fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        flow: &VariationalFlow,
        functions: &[Expr],
        backend: Backend,
    ) -> Result<Self, Failure> {
        let g = &model.graph;
        let variables = &flow.variables;
        let mut known = vec![variables.time];
        known.extend(variables.state.iter().chain(&variables.unknowns));
        known.extend(model.parameter_symbols());
        let written = g.substitute(functions, &results(model, dynamics, variables));
        let is_known: Vec<bool> = written
            .iter()
            .map(|&e| g.symbols(&[e]).iter().all(|s| known.contains(s)) && !g.has_memory(e))
            .collect();
        let functions: Vec<Expr> = written
            .iter()
            .zip(&is_known)
            .map(|(&e, is_known)| if *is_known { e } else { g.zero() })
            .collect();
        Ok(Self {
            slopes: output_slopes(model, &functions, variables, backend)?,
            is_known,
            direction: Vec::new(),
        })
    }

    fn evaluate(&mut self, flow: &VariationalFlow, at: &At<'_>) {
        self.slopes.evaluate(at.t, &at.whole[..flow.size()], &flow.unknowns);
    }

    /// The derivatives along a direction $(\delta t, \delta y, \delta p)$ with its response $\delta x$.
    fn along(&mut self, δt: f64, δy: &[f64], δp: &[f64], δx: &[f64]) -> Vec<f64> {
        self.direction.clear();
        self.direction.push(δt);
        [δy, δp, δx].into_iter().for_each(|part| self.direction.extend_from_slice(part));
        let rows = self.slopes.rows().rows().zip(&self.is_known);
        rows.map(|(row, known)| if *known { row.dot(&self.direction) } else { f64::NAN })
            .collect()
    }

    /// $\delta t = -\delta u/\dot u$ of a function along each direction.
    fn shifts(&mut self, flow: &mut VariationalFlow, at: &At<'_>, index: usize) -> Vec<f64> {
        self.evaluate(flow, at);
        let directions = at.whole.len() / flow.size() - 1;
        let zero = vec![0.0; flow.variables.parameters.len()];
        if flow.respond(1.0, &at.rates, &zero).is_err() {
            return vec![f64::NAN; directions];
        }
        let rate = self.along(1.0, &at.rates, &zero, &flow.response)[index];
        let mut shift = |k: usize| {
            let (δy, δp) = (flow.part(at.whole, k), flow.tangent(k).to_vec());
            if flow.respond(0.0, δy, &δp).is_err() {
                return f64::NAN;
            }
            -self.along(0.0, δy, &δp, &flow.response)[index] / rate
        };
        (0..directions).map(&mut shift).collect()
    }
}

/// How the zero of the first of some functions moves along each direction of the flow at a state.
pub(crate) fn shifts(
    model: &Workspace,
    flow: &mut VariationalFlow,
    functions: &[Expr],
    (t, whole): (f64, &[f64]),
    backend: Backend,
) -> Result<Vec<f64>, Failure> {
    let slopes = output_slopes(model, functions, &flow.variables, backend)?;
    let mut functions =
        Functions { slopes, is_known: vec![true; functions.len()], direction: Vec::new() };
    let mut at = At { t, whole, rates: vec![f64::NAN; flow.size()] };
    if flow.solve(t, whole).is_ok() {
        flow.state_rates(whole, &mut at.rates);
    }
    Ok(functions.shifts(flow, &at, 0))
}

/// Energy and reactions in terms of state and unknowns.
pub(crate) fn results(
    model: &Workspace,
    dynamics: &Dynamics,
    variables: &Variables,
) -> Vec<(Expr, Expr)> {
    let Dynamics::Saddle(equations) = dynamics else { return Vec::new() };
    let g = &model.graph;
    let n = model.coordinates.len();
    let (a, λ) = variables.unknowns.split_at(n);
    let terms = &equations.multiplier_terms;
    let mut list = vec![(model.results.energy, equations.energy)];
    for (i, &reaction) in model.results.reaction.iter().enumerate() {
        let pushed = || {
            let parts = λ.iter().zip(&equations.directions).map(|(&λ, w)| g.mul(λ, w[i]));
            g.sum(parts)
        };
        let added = || g.add(terms.force[i], g.dot(&terms.mass[i], a));
        let value = match equations.principle {
            Principle::Chetaev => pushed(),
            Principle::Vakonomic => g.add(pushed(), added()),
            Principle::Restricted => added(),
        };
        list.push((reaction, value));
    }
    list
}
