//! Periodic motions with jumps: fixed points of the return map to an event.
//!
//! $P$ takes a state after the event along the whole motion, with its jumps, impacts and modes, to the state after the
//! next one. Newton's iteration takes its derivative from runs that begin beside the orbit; the multipliers come from
//! the variational equations and the saltation at every jump (`run/jump_sensitivity.rs`). One of them is zero, because
//! all states after the event lie on one surface. Where they lie on that of the event itself, as feet on the ground do,
//! a motion that begins beside the orbit may be below it and strike at once; there $P$ begins and ends a little later.

use pfaff_expr::{Expr, number};
use pfaff_model::{
    Datum, Direction, Event, ExpressionScope, Quantity, Span, Workspace, read_expression,
};
use pfaff_solver::{eigenvalues, least_squares};

use crate::analysis::phase::linearize::{LinearizeRequest, Phase};
use crate::analysis::phase::orbit::{Orbit, OrbitRequest};
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::shooting::{largest, size};
use crate::analysis::phase::stability::Stability;
use crate::derivation::derive_in;
use crate::error::Failure;
use crate::model::Model;
use crate::motion::Motion;
use crate::motion::sensitivity::Sensitivity;
use crate::problem::settings::Run;
use crate::run::hybrid;
use crate::run::initial_value::integrated;
use crate::run::jump_sensitivity::{EndTangents, end_tangents};
use crate::run::prepare::RunInput;

/// Events before the one from which the search starts.
const EVENTS: usize = 16;
/// Local error of a step: differences of states are differentiated.
const TOLERANCE: f64 = 1e-12;
/// Steps of differences in Newton's iteration.
const STEP: f64 = 1e-5;
const ITERATIONS: usize = 25;
/// A return to this part of the size of the state is one.
const CLOSED: f64 = 1e-8;
/// Multipliers this near to the unit circle are on it.
const NEUTRAL: f64 = 1e-5;
/// How long after an event on its own surface the map begins, in parts of the period.
const LEAD: f64 = 0.02;

/// Whether a model jumps or switches.
pub(crate) fn has_jumps(model: &Workspace) -> bool {
    !model.resets.is_empty() || model.hybrid.switches() || hybrid::is_hybrid(model)
}

struct ReturnMap<'a> {
    model: Workspace,
    /// The name of the event.
    on: String,
    request: &'a OrbitRequest,
    watch: &'a mut dyn FnMut() -> bool,
    t0: f64,
    /// How long after the event the map begins.
    lead: f64,
}

/// A state after the event, that which the map has some time later, and the time that a return took.
#[derive(Clone)]
struct Returned {
    after: (Vec<f64>, Vec<f64>),
    q: Vec<f64>,
    v: Vec<f64>,
    time: f64,
}

impl ReturnMap<'_> {
    /// A motion from a state, or from the initial one.
    fn run(&mut self, start: Option<(&[f64], &[f64])>, length: f64) -> Result<Motion, Failure> {
        let model = self.from(start)?;
        let run = self.request(length);
        let watch = &mut *self.watch;
        let tell = &mut |_: &crate::run::progress::Progress<'_>| watch();
        if hybrid::is_hybrid(&model) {
            return hybrid::run(&model, &run, tell);
        }
        let dynamics = derive_in(&model, run.principle)?;
        integrated(&model, &dynamics, RunInput::default(), &run, tell)
    }

    /// What is asked of a run.
    fn request(&self, length: f64) -> Run {
        Run {
            principle: self.request.principle,
            t1: Some(self.t0 + length),
            tolerance: Some(self.request.tolerance.unwrap_or(TOLERANCE)),
            samples: Some(2),
            backend: self.request.backend,
            ..Run::default()
        }
    }

    /// The model with a state as its initial one, if one is given.
    fn from(&self, start: Option<(&[f64], &[f64])>) -> Result<Workspace, Failure> {
        let mut model = self.model.clone();
        let Some((q, v)) = start else { return Ok(model) };
        let datum = |quantity: Quantity, x: f64| {
            let value = number::from_f64(x).map(|x| model.graph.number(x));
            value.map(|value| Datum { quantity, value, written: value, span: Span::default() })
        };
        let positions =
            q.iter().enumerate().map(|(k, &x)| datum(Quantity::Coordinate(k, 0), x));
        let velocities = v
            .iter()
            .enumerate()
            .filter(|(k, _)| !model.coordinates[*k].is_state)
            .map(|(k, &x)| datum(Quantity::Coordinate(k, 1), x));
        let data: Option<Vec<Datum>> = positions.chain(velocities).collect();
        model.initial =
            data.ok_or_else(|| Failure::usage("the motion leaves all finite numbers"))?;
        Ok(model)
    }

    /// The derivative of the map along directions (δq, δq') of a state that is later than the event, by columns:
    /// $\delta y(T) + \dot y(T)\,\delta T$ with the return time $T$. `None` where a jump has none.
    #[allow(clippy::type_complexity, reason = "positions and velocities of each direction")]
    fn derivative(
        &mut self,
        (q, v): (&[f64], &[f64]),
        period: f64,
        tangents: Vec<(Vec<f64>, Vec<f64>)>,
    ) -> Result<Option<Vec<(Vec<f64>, Vec<f64>)>>, Failure> {
        let model = self.from(Some((q, v)))?;
        let run = self.request(period);
        let watch = &mut *self.watch;
        let tell = &mut |_: &crate::run::progress::Progress<'_>| watch();
        let EndTangents { motion, along, rates } = end_tangents(&model, &run, tangents, tell)?;
        let event = motion.events.iter().rposition(|event| event.name == self.on);
        let (Some((q_rates, v_rates)), Some(event)) = (rates, event) else { return Ok(None) };
        let last = |list: &[crate::motion::Series], rates: &[f64], δt: f64| -> Vec<f64> {
            let values = list.iter().map(|s| s.values.last().copied().unwrap_or(f64::NAN));
            values.zip(rates).map(|(x, rate)| x + rate * δt).collect()
        };
        let column = |s: &Sensitivity| {
            let δt = s.events.get(event)?.t;
            Some((last(&s.q, &q_rates, δt), last(&s.v, &v_rates, δt)))
        };
        Ok(along.iter().map(column).collect())
    }

    /// The state after an event of a motion.
    fn after(&self, motion: &Motion, event: usize) -> Returned {
        let record = &motion.events[event];
        let row = motion.t.iter().rposition(|&t| t == record.t);
        let column = |list: &[crate::motion::Series], row: usize| -> Vec<f64> {
            list.iter().map(|s| s.values[row]).collect()
        };
        let time = record.t - self.t0;
        let (q, v) = match row {
            Some(row) => (column(&motion.q, row), column(&motion.v, row)),
            None => (record.q.clone(), record.v.clone()),
        };
        Returned { after: (q.clone(), v.clone()), q, v, time }
    }

    /// The same, with the state of the map.
    fn later(&mut self, at: Returned) -> Result<Returned, Failure> {
        if self.lead == 0.0 {
            return Ok(at);
        }
        let motion = self.run(Some((&at.q, &at.v)), self.lead)?;
        let last = |list: &[crate::motion::Series]| -> Vec<f64> {
            list.iter().map(|s| s.values.last().copied().unwrap_or(f64::NAN)).collect()
        };
        let (q, v) = (last(&motion.q), last(&motion.v));
        Ok(Returned { q, v, time: at.time + self.lead, ..at })
    }

    /// Whether a state lies on the surface of the event.
    fn is_on_surface(&self, at: &Returned) -> bool {
        let Some(event) = self.model.events.iter().find(|event| event.name == self.on) else {
            return false;
        };
        let model = &self.model;
        let value = |symbol: Expr| {
            let place = |k: usize| {
                let c = &model.coordinates[k];
                match symbol {
                    s if s == c.position => Some(at.q[k]),
                    s if s == c.velocity => Some(at.v[k]),
                    _ => None,
                }
            };
            let own = (0..model.coordinates.len()).find_map(place);
            let parameter = || model.parameters.iter().find(|p| p.symbol == symbol);
            own.or_else(|| parameter().map(|p| p.value)).unwrap_or(f64::NAN)
        };
        let g = model.graph.evaluate(&[event.expr], &value)[0];
        g.abs() <= 1e-6 * (1.0 + largest(&at.q))
    }

    /// The next return from a state; `guess` is about how long it takes.
    fn next(&mut self, q: &[f64], v: &[f64], guess: f64) -> Result<Option<Returned>, Failure> {
        let mut length = 1.2 * guess;
        for _ in 0..4 {
            let motion = self.run(Some((q, v)), length)?;
            let own = |e: &crate::motion::EventRecord| {
                e.name == self.on && e.t - self.t0 > 1e-6 * guess && e.t < motion.stop.t
            };
            if let Some(event) = motion.events.iter().position(own) {
                let after = self.after(&motion, event);
                return self.later(after).map(Some);
            }
            if motion.stop.reason.is_early() {
                return Ok(None);
            }
            length *= 2.0;
        }
        Ok(None)
    }

    /// A state near the orbit: where the motion of the model is after some events.
    fn guess(&mut self) -> Result<(Returned, f64), Failure> {
        let range = self.model.solve.range;
        let mut length = range.map_or(10.0, |(a, b)| (b - a).abs().max(1e-3));
        let mut best: Option<(Returned, f64)> = None;
        for _ in 0..6 {
            let motion = self.run(None, length)?;
            let own = motion.events.iter().enumerate().filter(|(_, e)| e.name == self.on);
            let places: Vec<usize> = own.map(|(k, _)| k).take(EVENTS).collect();
            if let Some(&last) = places.last() {
                let before = places.len().checked_sub(2).map(|k| motion.events[places[k]].t);
                let since = motion.events[last].t - before.unwrap_or(self.t0);
                best = Some((self.after(&motion, last), since));
            }
            if places.len() == EVENTS || motion.stop.reason.is_early() {
                break;
            }
            length *= 2.0;
        }
        let message = format!("the event `{}` never happens from the initial state", self.on);
        best.ok_or(Failure::Usage(message))
    }
}

/// The event of a request, added to the model if it is an expression.
fn event_of(model: &mut Workspace, text: Option<&str>) -> Result<String, Failure> {
    let Some(text) = text.map(str::trim) else {
        let first = model.resets.first().map(|reset| reset.event);
        let contact = model.hybrid.contacts.first().map(|contact| contact.event);
        return first.or(contact).map(|k| model.events[k].name.clone()).ok_or_else(|| {
            Failure::usage("a periodic motion with jumps needs the event to which it returns")
        });
    };
    if model.events.iter().any(|event| event.name == text) {
        return Ok(text.to_owned());
    }
    let word = |word: &str| text.strip_prefix(word).filter(|rest| rest.starts_with(' '));
    let (direction, formula) = match (word("rising"), word("falling")) {
        (Some(rest), _) => (Direction::Rising, rest),
        (_, Some(rest)) => (Direction::Falling, rest),
        (None, None) => (Direction::Both, text),
    };
    let (_, entries) = read_expression(model, "<on>", formula, ExpressionScope::Motion)?;
    let [expr] = entries[..] else {
        return Err(Failure::usage("a surface is one expression that vanishes on it"));
    };
    let name = "section".to_owned();
    let event =
        Event { name: name.clone(), expr, direction, stop: false, span: Span::default() };
    model.events.push(event);
    model.hybrid.event_modes.push(Vec::new());
    Ok(name)
}

/// What the map leaves open or cannot carry.
fn refuse(model: &Workspace, on: &str) -> Result<(), Failure> {
    if model.resets.iter().any(|reset| !reset.parameters.is_empty()) {
        return Err(Failure::usage(
            "jumps of parameters make them part of the state: periodic motions are not found then",
        ));
    }
    let event = model.events.iter().position(|event| event.name == on);
    let other = model.resets.iter().filter(|reset| Some(reset.event) == event);
    if other.filter_map(|reset| reset.mode).any(|mode| mode != 0) {
        return Err(Failure::Usage(format!(
            "after `{on}` another mode than the first one holds; take an event after which the first mode `{}` holds",
            model.hybrid.modes.first().map_or("", String::as_str)
        )));
    }
    if !model.hybrid.samplers.is_empty() {
        return Err(Failure::usage(
            "a sampled control has its own clock: periodic motions are not found then",
        ));
    }
    Ok(())
}

/// Finds a periodic motion of a model that jumps.
pub(crate) fn returning(
    model: &Model,
    request: &OrbitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Orbit, Failure> {
    let mut workspace = model.workspace();
    let on = event_of(&mut workspace, request.on.as_deref())?;
    refuse(&workspace, &on)?;
    let at =
        LinearizeRequest { principle: request.principle, at: None, backend: request.backend };
    let mut phase = Phase::new(model, &at)?;
    if phase.field.has_time {
        return Err(Failure::usage(
            "the equations contain t: periodic motions with jumps are found without",
        ));
    }
    let t0 = phase.t;
    let g = &workspace.graph;
    // Coordinates that events or jumps look at are not left out.
    let seen: Vec<Expr> = workspace.events.iter().map(|event| event.expr).collect();
    let is_seen: Vec<bool> =
        workspace
            .coordinates
            .iter()
            .enumerate()
            .map(|(k, c)| {
                let mut values = workspace.resets.iter().flat_map(|reset| &reset.values);
                let own = Quantity::Coordinate(k, 0);
                // What only counts on, as `x = x + step`, is looked at by nothing.
                let counts = |e: Expr| g.derivative(e, c.position) == g.one();
                let in_resets = values.any(|&(q, e)| {
                    if q == own { !counts(e) } else { g.contains(e, &[c.position]) }
                });
                in_resets || seen.iter().any(|&e| g.contains(e, &[c.position]))
            })
            .collect();
    let mut map = ReturnMap { model: workspace, on, request, watch, t0, lead: 0.0 };
    let (mut start, mut period) = map.guess()?;
    if map.is_on_surface(&start) {
        map.lead = LEAD * period;
        start = map.later(start)?;
    }
    let n = phase.field.n;
    let places = phase.field.velocity_at.clone();
    let joined = |at: &Returned| -> Vec<f64> {
        let velocities = at.v.iter().zip(&places).filter(|(_, p)| p.is_some()).map(|(v, _)| *v);
        at.q.iter().copied().chain(velocities).collect()
    };
    let split = |y: &[f64]| -> (Vec<f64>, Vec<f64>) {
        (y[..n].to_vec(), places.iter().map(|p| p.map_or(0.0, |p| y[p])).collect())
    };
    phase.y = joined(&start);
    let point = phase.point()?;
    let singular = || Failure::usage("the constraints are singular after the event");
    let quotient = Quotient::at(&mut phase.field, &point).ok_or_else(singular)?;
    let free = &quotient.chart.free;
    let cyclic = |c: &usize| quotient.cyclic.contains(c) && !is_seen[*c];
    let variables: Vec<usize> = free.iter().copied().filter(|c| !cyclic(c)).collect();
    let w = variables.len();
    // The size of what is varied: cyclic coordinates may be anywhere.
    let scale = |y: &[f64]| variables.iter().fold(0.0_f64, |m, &c| m.max(y[c].abs()));
    let failed = || {
        Failure::usage(
            "no periodic motion was found from here: try another start, or another event",
        )
    };
    let mut y = phase.y.clone();
    // The state with other values of w, on the constraints.
    let mut shifted = |y: &[f64], change: &[f64]| -> Option<Vec<f64>> {
        let mut y = y.to_vec();
        variables.iter().zip(change).for_each(|(&c, δ)| y[c] += δ);
        quotient.chart.complete(&mut phase.field, t0, &mut y).ok()?;
        Some(y)
    };
    let mut image = |map: &mut ReturnMap<'_>, y: &[f64], guess: f64| {
        let (q, v) = split(y);
        map.next(&q, &v, guess)
    };
    let mut here = image(&mut map, &y, period)?.ok_or_else(failed)?;
    let miss = |y: &[f64], at: &Returned| -> Vec<f64> {
        let end = joined(at);
        variables.iter().map(|&c| end[c] - y[c]).collect()
    };
    for _ in 0..ITERATIONS {
        if !(map.watch)() {
            return Err(Failure::usage("the search for a periodic motion was interrupted"));
        }
        period = here.time;
        let off = miss(&y, &here);
        if largest(&off) < 1e-13 * (1.0 + largest(&y)) {
            break;
        }
        let matrix = slopes(
            &mut map,
            &mut shifted,
            &mut image,
            &y,
            period,
            (w, scale(&y), STEP),
            &|a| variables.iter().map(|&c| joined(a)[c]).collect(),
        )?;
        let Some(matrix) = matrix else { return Err(failed()) };
        let rows: Vec<f64> =
            (0..w * w).map(|k| matrix[k] - f64::from(u8::from(k / w == k % w))).collect();
        let right: Vec<f64> = off.iter().map(|x| -x).collect();
        let step = least_squares(&rows, w, w, &right, 1e-9).x;
        let mut part = 1.0;
        let next = loop {
            if part < 1e-3 {
                break None;
            }
            let change: Vec<f64> = step.iter().map(|x| part * x).collect();
            if let Some(moved) = shifted(&y, &change)
                && let Some(there) = image(&mut map, &moved, period)?
                && largest(&miss(&moved, &there)) < (1.0 - 0.1 * part) * largest(&off)
            {
                break Some((moved, there));
            }
            part *= 0.5;
        };
        let Some((moved, there)) = next else { break };
        (y, here) = (moved, there);
    }
    let off = miss(&y, &here);
    if largest(&off) > CLOSED * (1.0 + largest(&y)) {
        return Err(failed());
    }
    // The derivative is that of the map which begins a little later: its multipliers are the same.
    let later = if map.lead > 0.0 {
        y.clone()
    } else {
        map.lead = LEAD * period;
        let (q, v) = split(&y);
        let at = Returned { after: (q.clone(), v.clone()), q, v, time: 0.0 };
        let at = map.later(at)?;
        map.lead = 0.0;
        joined(&at)
    };
    phase.y.clone_from(&later);
    let point = phase.point()?;
    let tangent = quotient.chart.tangent(&point).ok_or_else(singular)?;
    let r = quotient.chart.free.len();
    let column = |c: &usize| {
        let place = quotient.chart.free.iter().position(|x| x == c).unwrap_or_default();
        let column: Vec<f64> = (0..later.len()).map(|i| tangent[i * r + place]).collect();
        split(&column)
    };
    let (q, v) = split(&later);
    let tangents = variables.iter().map(column).collect();
    let columns = map.derivative((&q, &v), here.time, tangents)?;
    let columns = columns.ok_or_else(|| {
        Failure::usage(
            "the multipliers are not determined: a jump on the way has no derivative",
        )
    })?;
    let mut matrix = vec![0.0; w * w];
    for (j, (q, v)) in columns.into_iter().enumerate() {
        let column = joined(&Returned { after: (Vec::new(), Vec::new()), q, v, time: 0.0 });
        variables.iter().enumerate().for_each(|(i, &c)| matrix[i * w + j] = column[c]);
    }
    let mut multipliers = eigenvalues(w, &matrix)
        .ok_or_else(|| Failure::usage("the multipliers could not be computed"))?;
    multipliers.sort_by(|a, b| size(b).total_cmp(&size(a)).then(b[1].total_cmp(&a[1])));
    let trivial = multipliers.len().checked_sub(1);
    // It is zero but for rounding.
    if let Some(last) = multipliers.last_mut().filter(|v| size(v) < 1e-7) {
        *last = [0.0, 0.0];
    }
    let others = &multipliers[..trivial.unwrap_or(0)];
    let stability = if others.iter().any(|v| size(v) > 1.0 + NEUTRAL) {
        Stability::Unstable
    } else if others.iter().all(|v| size(v) < 1.0 - NEUTRAL) {
        Stability::AsymptoticallyStable
    } else {
        Stability::Undecided
    };
    let end = joined(&here);
    let (q, v) = here.after.clone();
    let struck =
        if map.lead > 0.0 { joined(&Returned { q, v, ..here.clone() }) } else { y.clone() };
    let names = &phase.field.names;
    let drift = quotient.cyclic.iter().filter(|c| !is_seen[**c]);
    Ok(Orbit {
        title: model.name().to_owned(),
        period: here.time,
        drift: drift.map(|&c| (names[c].clone(), end[c] - y[c])).collect(),
        state: names.iter().cloned().zip(struck).collect(),
        multipliers,
        trivial: trivial.into_iter().map(|k| (k, "across the section".to_owned())).collect(),
        residual: largest(&off),
        stability,
        turns: Vec::new(),
    })
}

/// The derivative of the return map by rows; `None` where it has no value beside the state.
#[allow(clippy::type_complexity, reason = "two functions that only this one takes")]
fn slopes(
    map: &mut ReturnMap<'_>,
    shifted: &mut dyn FnMut(&[f64], &[f64]) -> Option<Vec<f64>>,
    image: &mut dyn FnMut(&mut ReturnMap<'_>, &[f64], f64) -> Result<Option<Returned>, Failure>,
    y: &[f64],
    period: f64,
    (w, size, step): (usize, f64, f64),
    values: &dyn Fn(&Returned) -> Vec<f64>,
) -> Result<Option<Vec<f64>>, Failure> {
    let mut matrix = vec![0.0; w * w];
    for j in 0..w {
        let h = step * (1.0 + size.min(10.0));
        let mut ends = Vec::new();
        for sign in [1.0, -1.0] {
            let mut change = vec![0.0; w];
            change[j] = sign * h;
            let Some(moved) = shifted(y, &change) else { return Ok(None) };
            let Some(there) = image(map, &moved, period)? else { return Ok(None) };
            ends.push(values(&there));
        }
        for i in 0..w {
            matrix[i * w + j] = (ends[0][i] - ends[1][i]) / (2.0 * h);
        }
    }
    Ok(Some(matrix))
}
