//! Periodic motions with jumps: fixed points of the return map to an event.
//!
//! $P$ takes a state after the event along the whole motion, with its jumps, impacts and modes, to the state after the
//! next one. Newton's iteration takes its derivative from runs that begin beside the orbit; the multipliers come from
//! the variational equations and the saltation at every jump (`run/jump_sensitivity.rs`). One of them is zero, because
//! all states after the event lie on one surface. Where they lie on that of the event itself, as feet on the ground do,
//! a motion that begins beside the orbit may be below it and strike at once; there $P$ begins and ends a little later.

use std::f64::consts::TAU;

use pfaff_expr::{Expr, number};
use pfaff_model::{
    Datum, Direction, Event, ExpressionScope, Quantity, Span, Workspace, read_expression,
};

use crate::analysis::phase::periodic::OrbitRequest;
use crate::analysis::phase::shooting::largest;
use crate::derivation::derive_in;
use crate::error::Failure;
use crate::motion::Motion;
use crate::motion::sensitivity::Sensitivity;
use crate::problem::settings::Run;
use crate::run::hybrid;
use crate::run::initial_value::integrated;
use crate::run::jump_sensitivity::{EndTangents, end_tangents};
use crate::run::prepare::RunInput;
use crate::system::dynamical_parts::dynamical_parts;

/// Events before the one from which the search starts.
const EVENTS: usize = 16;
/// Local error of a step: differences of states are differentiated.
const TOLERANCE: f64 = 1e-12;

/// Whether a model jumps or switches.
pub(crate) fn has_jumps(model: &Workspace) -> bool {
    !model.resets.is_empty() || model.hybrid.switches() || hybrid::is_hybrid(model)
}

pub(super) struct ReturnMap<'a> {
    pub(super) model: Workspace,
    /// The name of the event.
    pub(super) on: String,
    pub(super) request: &'a OrbitRequest,
    pub(super) watch: &'a mut dyn FnMut() -> bool,
    pub(super) t0: f64,
    /// How long after the event the map begins.
    pub(super) lead: f64,
    /// How often the event happens in one return.
    pub(super) turns: usize,
}

/// A state after the event, that which the map has some time later, and the time that a return took.
#[derive(Clone)]
pub(super) struct Returned {
    pub(super) after: (Vec<f64>, Vec<f64>),
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) time: f64,
}

impl ReturnMap<'_> {
    /// A motion from a state, or from the initial one.
    fn run(&mut self, start: Option<(&[f64], &[f64])>, length: f64) -> Result<Motion, Failure> {
        self.sampled(start, length, 2)
    }

    /// The same with so many output times.
    pub(super) fn sampled(
        &mut self,
        start: Option<(&[f64], &[f64])>,
        length: f64,
        samples: usize,
    ) -> Result<Motion, Failure> {
        let model = self.from(start)?;
        let run = Run { samples: Some(samples), ..self.request(length) };
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
        match start {
            Some((q, v)) => starting_at(&self.model, q, v),
            None => Ok(self.model.clone()),
        }
    }

    /// The derivative of the map along directions (δq, δq') of a state that is later than the event, by columns:
    /// $\delta y(T) + \dot y(T)\,\delta T$ with the return time $T$. `None` where a jump has none.
    #[allow(clippy::type_complexity, reason = "positions and velocities of each direction")]
    pub(super) fn derivative(
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
    pub(super) fn later(&mut self, at: Returned) -> Result<Returned, Failure> {
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
    pub(super) fn is_on_surface(&self, at: &Returned) -> bool {
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
    pub(super) fn next(
        &mut self,
        q: &[f64],
        v: &[f64],
        guess: f64,
    ) -> Result<Option<Returned>, Failure> {
        let mut length = 1.2 * guess;
        for _ in 0..5 {
            let motion = self.run(Some((q, v)), length)?;
            let own = |e: &crate::motion::EventRecord| {
                e.name == self.on && e.t - self.t0 > 1e-6 * guess && e.t < motion.stop.t
            };
            let mut places = (0..motion.events.len()).filter(|&k| own(&motion.events[k]));
            if let Some(event) = places.nth(self.turns - 1) {
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
    pub(super) fn guess(&mut self) -> Result<(Returned, f64), Failure> {
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

/// A model with a state as its initial one.
pub(super) fn starting_at(
    model: &Workspace,
    q: &[f64],
    v: &[f64],
) -> Result<Workspace, Failure> {
    let mut model = model.clone();
    let datum = |quantity: Quantity, x: f64| {
        let value = number::from_f64(x).map(|x| model.graph.number(x));
        value.map(|value| Datum { quantity, value, written: value, span: Span::default() })
    };
    let positions = q.iter().enumerate().map(|(k, &x)| datum(Quantity::Coordinate(k, 0), x));
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

/// The event of a request, added to the model if it is an expression.
pub(super) fn event_of(model: &mut Workspace, text: Option<&str>) -> Result<String, Failure> {
    let Some(text) = text.map(str::trim) else {
        // An event after which the first mode holds, if there is one: there the motion can begin.
        let stays = |event: usize| {
            let own = model.resets.iter().filter(|reset| reset.event == event);
            own.filter_map(|reset| reset.mode).all(|mode| mode == 0)
        };
        let events = || model.resets.iter().map(|reset| reset.event);
        let first = events().find(|&event| stays(event)).or_else(|| events().next());
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
pub(super) fn refuse(model: &Workspace, on: &str) -> Result<(), Failure> {
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

/// What events and jumps are made of; new values with what they are of.
pub(super) fn jumping_parts(model: &Workspace) -> Vec<(Option<Quantity>, Expr)> {
    let events = model.events.iter().map(|event| (None, event.expr));
    let values =
        model.resets.iter().flat_map(|reset| &reset.values).map(|&(q, e)| (Some(q), e));
    let contacts = model.hybrid.contacts.iter().flat_map(|contact| {
        let rates = contact.frictions.iter().flat_map(|f| f.rates.iter().copied());
        rates.chain([contact.gap, contact.restitution]).map(|e| (None, e))
    });
    events.chain(values).chain(contacts).collect()
}

/// Which coordinates events or jumps look at: these are not left out.
pub(super) fn seen(model: &Workspace) -> Vec<bool> {
    let g = &model.graph;
    let parts = jumping_parts(model);
    let looks = |k: usize, c: &pfaff_model::Coordinate| {
        parts.iter().any(|&(of, e)| {
            // What only counts on, as `x = x + step`, is looked at by nothing.
            let counts = of == Some(Quantity::Coordinate(k, 0))
                && g.derivative(e, c.position) == g.one();
            !counts && g.contains(e, &[c.position])
        })
    };
    model.coordinates.iter().enumerate().map(|(k, c)| looks(k, c)).collect()
}

/// Whether nothing changes where a position is turned by 2π: equations, events and jumps at three states beside one.
pub(super) fn is_angle(model: &Workspace, turned: usize, q: &[f64]) -> bool {
    let g = &model.graph;
    let own = Some(Quantity::Coordinate(turned, 0));
    let symbol = model.coordinates[turned].position;
    let jumps = jumping_parts(model);
    let shift = |(of, e): &(Option<Quantity>, Expr)| {
        if *of == own { g.sub(*e, symbol) } else { *e }
    };
    let parts: Vec<Expr> =
        dynamical_parts(model).into_iter().chain(jumps.iter().map(shift)).collect();
    let at = |k: usize, turn: f64| {
        let value = |symbol: Expr| {
            let place = |i: usize| {
                let c = &model.coordinates[i];
                let beside = 0.1 * libm::sin((1 + i) as f64 * (1 + k) as f64);
                match symbol {
                    s if s == c.position => {
                        Some(q[i] + beside + if i == turned { turn } else { 0.0 })
                    }
                    s if s == c.velocity => Some(1.0 + beside),
                    s if s == c.acceleration => Some(beside),
                    _ => None,
                }
            };
            let parameter = || model.parameters.iter().find(|p| p.symbol == symbol);
            (0..q.len()).find_map(place).or_else(|| parameter().map(|p| p.value)).unwrap_or(0.5)
        };
        g.evaluate(&parts, &value)
    };
    (0..3).all(|k| {
        let pairs: Vec<(f64, f64)> = at(k, 0.0).into_iter().zip(at(k, TAU)).collect();
        pairs.iter().all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs()))
    })
}
