//! Periodic motions with jumps: fixed points of the return map to an event.
//!
//! Newton's iteration takes the derivative of the map (`return_map.rs`) from runs that begin beside the orbit; the
//! multipliers come from the variational equations and the saltation at every jump (`run/jump_sensitivity.rs`). One of
//! them is zero, because all states after the event lie on one surface.

use std::f64::consts::TAU;

use pfaff_solver::{eigenvalues, least_squares};

use crate::analysis::phase::branch::set_parameter;
use crate::analysis::phase::linearize::{LinearizeRequest, Phase};
use crate::analysis::phase::periodic::{Orbit, OrbitRequest};
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::return_map::{
    ReturnMap, Returned, event_of, is_angle, jumping_parts, refuse, seen,
};
use crate::analysis::phase::shooting::{largest, size};
use crate::analysis::phase::stability::Stability;
use crate::error::Failure;
use crate::model::Model;

/// Steps of differences in Newton's iteration.
const STEP: f64 = 1e-5;
const ITERATIONS: usize = 25;
/// A return to this part of the size of the state is one.
const CLOSED: f64 = 1e-8;
/// Multipliers this near to the unit circle are on it.
const NEUTRAL: f64 = 1e-5;
/// How long after an event on its own surface the map begins, in parts of the period; the later ones where a search
/// from the first fails, because another contact is closed there.
const LEADS: [f64; 5] = [0.02, 0.1, 0.25, 0.45, 0.7];
/// What a motion may not begin with: a contact that is violated.
const VIOLATED: &str = "E0641";

/// Finds a periodic motion of a model that jumps.
pub(crate) fn returning(
    model: &Model,
    request: &OrbitRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Orbit, Failure> {
    let (mut map, start) = Returning::new(model, request, watch)?;
    let found = map.first_closed(start)?;
    let Multipliers { of: multipliers, stability, .. } = map.multipliers(&found)?;
    let trivial = multipliers.len().checked_sub(1);
    let names = map.names();
    let open = map.drifting.iter().chain(&map.angles);
    let drift = open
        .map(|&c| (names[c].clone(), map.moved(&found, c)))
        .filter(|(name, moved)| moved.abs() > 1e-9 || !map.is_turned(name));
    Ok(Orbit {
        title: model.name().to_owned(),
        period: found.period(),
        drift: drift.collect(),
        state: names.iter().cloned().zip(map.struck(&found)).collect(),
        multipliers,
        trivial: trivial.into_iter().map(|k| (k, "across the section".to_owned())).collect(),
        residual: largest(&map.miss(&found)),
        stability,
        turns: Vec::new(),
        check: None,
    })
}

/// The return map in the variables that are free on its surface.
pub(super) struct Returning<'a> {
    map: ReturnMap<'a>,
    phase: Phase,
    quotient: Quotient,
    /// What is varied: places in the state.
    pub(super) variables: Vec<usize>,
    /// Positions that come back up to whole turns, and those that are left out.
    angles: Vec<usize>,
    pub(super) drifting: Vec<usize>,
    /// The state after an event from which the search begins, and about how long a return takes.
    begins: (Returned, f64),
}

/// A state with its return.
#[derive(Clone)]
pub(super) struct Shot {
    pub(super) y: Vec<f64>,
    here: Returned,
}

impl Shot {
    /// The time that the return took.
    pub(super) fn period(&self) -> f64 {
        self.here.time
    }
}

fn failed() -> Failure {
    Failure::usage(
        "no periodic motion was found from here: try another start, or another event",
    )
}

fn singular() -> Failure {
    Failure::usage("the constraints are singular after the event")
}

impl<'a> Returning<'a> {
    /// The map of a model, and a state from which the search begins.
    pub(super) fn new(
        model: &Model,
        request: &'a OrbitRequest,
        watch: &'a mut dyn FnMut() -> bool,
    ) -> Result<(Self, Shot), Failure> {
        let mut workspace = model.workspace();
        let on = event_of(&mut workspace, request.on.as_deref())?;
        refuse(&workspace, &on)?;
        let at = LinearizeRequest {
            principle: request.principle,
            at: None,
            backend: request.backend,
        };
        let phase = Phase::new(model, &at)?;
        let is_timed = jumping_parts(&workspace)
            .iter()
            .any(|(_, e)| workspace.graph.contains(*e, &[workspace.time]));
        if phase.field.has_time || is_timed {
            return Err(Failure::usage(
                "the equations or the jumps contain t: periodic motions with jumps are found without; write the phase \
                 of what is driven as a state, `state th: w`, and sin(th) instead of sin(w*t)",
            ));
        }
        let t0 = phase.t;
        let mut map =
            ReturnMap { model: workspace, on, request, watch, t0, lead: 0.0, turns: 1 };
        let begins = map.guess()?;
        let mut phase = phase;
        phase.y = joined(&phase, &begins.0);
        let point = phase.point()?;
        let quotient = Quotient::at(&mut phase.field, &point).ok_or_else(singular)?;
        let (variables, angles, drifting) = (Vec::new(), Vec::new(), Vec::new());
        let mut returning = Self { map, phase, quotient, variables, angles, drifting, begins };
        let is_on_surface = returning.map.is_on_surface(&returning.begins.0);
        let first = returning.begin(if is_on_surface { LEADS[0] } else { 0.0 })?;
        Ok((returning, first))
    }

    /// A state from which the search begins, so many parts of the period after the event.
    fn begin(&mut self, lead: f64) -> Result<Shot, Failure> {
        let (start, period) = self.begins.clone();
        self.map.lead = lead * period;
        let start = self.map.later(start)?;
        let phase = &mut self.phase;
        phase.y = joined(phase, &start);
        let point = phase.point()?;
        self.quotient = Quotient::at(&mut phase.field, &point).ok_or_else(singular)?;
        let (model, quotient) = (&self.map.model, &self.quotient);
        let is_seen = seen(model);
        let cyclic = |c: &usize| quotient.cyclic.contains(c) && !is_seen[*c];
        let n = phase.field.n;
        self.variables = quotient.chart.free.iter().copied().filter(|c| !cyclic(c)).collect();
        self.drifting = quotient.cyclic.iter().copied().filter(|c| !is_seen[*c]).collect();
        let variables = self.variables.iter().copied();
        self.angles =
            variables.filter(|&c| c < n && is_angle(model, c, &phase.y[..n])).collect();
        let mut y = phase.y.clone();
        // What has turned many times is measured by less than a turn.
        self.angles.iter().for_each(|&c| y[c] -= TAU * (y[c] / TAU).round());
        self.shot(y, period)?.ok_or_else(failed)
    }

    /// The fixed point next to the state from which the search begins. Where none is found, and the map begins after
    /// its event, it begins later.
    pub(super) fn first_closed(&mut self, start: Shot) -> Result<Shot, Failure> {
        let found = self.closed(start);
        if found.is_ok() || self.map.lead == 0.0 {
            return found;
        }
        for lead in &LEADS[1..] {
            if !self.goes_on() {
                break;
            }
            if let Ok(start) = self.begin(*lead)
                && let Ok(later) = self.closed(start)
            {
                return Ok(later);
            }
        }
        found
    }

    /// Gives a parameter another value.
    pub(super) fn set(&mut self, index: usize, value: f64) {
        set_parameter(&mut self.map.model, index, value);
        set_parameter(&mut self.phase.model, index, value);
        let values = self.phase.model.parameter_values();
        self.phase.field.set_parameters(&values);
    }

    /// How often the event happens in one return.
    pub(super) fn turns(&self) -> usize {
        self.map.turns
    }

    /// Takes a return after so many events.
    pub(super) fn set_turns(&mut self, turns: usize) {
        self.map.turns = turns;
    }

    /// Whether the search goes on.
    pub(super) fn goes_on(&mut self) -> bool {
        (self.map.watch)()
    }

    /// The names of all components of a state.
    pub(super) fn names(&self) -> &[String] {
        &self.phase.field.names
    }

    /// The size of what is varied: cyclic coordinates may be anywhere.
    pub(super) fn scale(&self, y: &[f64]) -> f64 {
        self.variables.iter().fold(0.0_f64, |m, &c| m.max(y[c].abs()))
    }

    fn split(&self, y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let Phase { field, .. } = &self.phase;
        let velocities = field.velocity_at.iter().map(|p| p.map_or(0.0, |p| y[p])).collect();
        (y[..field.n].to_vec(), velocities)
    }

    /// A state and its return; `guess` is about how long that takes.
    fn shot(&mut self, y: Vec<f64>, guess: f64) -> Result<Option<Shot>, Failure> {
        let (q, v) = self.split(&y);
        match self.map.next(&q, &v, guess) {
            Ok(here) => Ok(here.map(|here| Shot { y, here })),
            // No motion begins where a contact is violated.
            Err(Failure::Model(list)) if list.iter().any(|d| d.code == VIOLATED) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The return of the state with other values of what is varied, on the constraints.
    pub(super) fn shifted(
        &mut self,
        from: &Shot,
        change: &[f64],
    ) -> Result<Option<Shot>, Failure> {
        let mut y = from.y.clone();
        self.variables.iter().zip(change).for_each(|(&c, δ)| y[c] += δ);
        let t0 = self.map.t0;
        if self.quotient.chart.complete(&mut self.phase.field, t0, &mut y).is_err() {
            return Ok(None);
        }
        self.shot(y, from.here.time)
    }

    /// By how much a state is missed.
    pub(super) fn miss(&self, shot: &Shot) -> Vec<f64> {
        let end = joined(&self.phase, &shot.here);
        let off = |&c: &usize| {
            let moved = end[c] - shot.y[c];
            let is_angle = self.angles.contains(&c);
            if is_angle { moved - TAU * (moved / TAU).round() } else { moved }
        };
        self.variables.iter().map(off).collect()
    }

    /// The derivative of what is missed by what is varied, by rows; `None` where it has no value beside the state.
    pub(super) fn slopes(&mut self, at: &Shot) -> Result<Option<Vec<f64>>, Failure> {
        let w = self.variables.len();
        // The derivatives of the motion and of its jumps, where the map begins after its event: beside the state may
        // be none that a motion can begin with.
        if self.map.lead > 0.0
            && let Ok(Multipliers { mut matrix, .. }) = self.multipliers(at)
            && matrix.iter().all(|x| x.is_finite())
        {
            (0..w).for_each(|i| matrix[i * w + i] -= 1.0);
            return Ok(Some(matrix));
        }
        let mut matrix = vec![0.0; w * w];
        let h = STEP * (1.0 + self.scale(&at.y).min(10.0));
        for j in 0..w {
            let mut ends = Vec::new();
            for sign in [1.0, -1.0] {
                let mut change = vec![0.0; w];
                change[j] = sign * h;
                let Some(there) = self.shifted(at, &change)? else { return Ok(None) };
                ends.push(joined(&self.phase, &there.here));
            }
            for (i, &c) in self.variables.iter().enumerate() {
                let moved = ends[0][c] - ends[1][c];
                let is_angle = self.angles.contains(&c);
                let turns = if is_angle { (moved / TAU).round() } else { 0.0 };
                let own = f64::from(u8::from(i == j));
                matrix[i * w + j] = (moved - TAU * turns) / (2.0 * h) - own;
            }
        }
        Ok(Some(matrix))
    }

    /// The fixed point next to a state, by Newton's iteration.
    pub(super) fn closed(&mut self, mut at: Shot) -> Result<Shot, Failure> {
        let w = self.variables.len();
        for _ in 0..ITERATIONS {
            if !self.goes_on() {
                return Err(Failure::usage("the search for a periodic motion was interrupted"));
            }
            let off = self.miss(&at);
            if largest(&off) < 1e-13 * (1.0 + largest(&at.y)) {
                break;
            }
            let Some(rows) = self.slopes(&at)? else { return Err(failed()) };
            let right: Vec<f64> = off.iter().map(|x| -x).collect();
            let step = least_squares(&rows, w, w, &right, 1e-9).x;
            let mut part = 1.0;
            let next = loop {
                if part < 1e-3 {
                    break None;
                }
                let change: Vec<f64> = step.iter().map(|x| part * x).collect();
                if let Some(there) = self.shifted(&at, &change)?
                    && largest(&self.miss(&there)) < (1.0 - 0.1 * part) * largest(&off)
                {
                    break Some(there);
                }
                part *= 0.5;
            };
            let Some(there) = next else { break };
            at = there;
        }
        if self.is_closed(&at) { Ok(at) } else { Err(failed()) }
    }

    /// Whether a state returns.
    pub(super) fn is_closed(&self, at: &Shot) -> bool {
        largest(&self.miss(at)) <= CLOSED * (1.0 + largest(&at.y))
    }

    /// Floquet's multipliers of a fixed point, that across the section last, and what they say.
    pub(super) fn multipliers(&mut self, at: &Shot) -> Result<Multipliers, Failure> {
        let period = at.here.time;
        // The derivative is that of the map which begins a little later: its multipliers are the same.
        let later = if self.map.lead > 0.0 {
            at.y.clone()
        } else {
            self.map.lead = LEADS[0] * period;
            let (q, v) = self.split(&at.y);
            let start = Returned { after: (q.clone(), v.clone()), q, v, time: 0.0 };
            let start = self.map.later(start);
            self.map.lead = 0.0;
            joined(&self.phase, &start?)
        };
        self.phase.y.clone_from(&later);
        let point = self.phase.point()?;
        let chart = &self.quotient.chart;
        let tangent = chart.tangent(&point).ok_or_else(singular)?;
        let (r, w) = (chart.free.len(), self.variables.len());
        let column = |c: &usize| {
            let place = chart.free.iter().position(|x| x == c).unwrap_or_default();
            let column: Vec<f64> = (0..later.len()).map(|i| tangent[i * r + place]).collect();
            self.split(&column)
        };
        let (q, v) = self.split(&later);
        let tangents = self.variables.iter().map(column).collect();
        let columns = self.map.derivative((&q, &v), period, tangents)?;
        let columns = columns.ok_or_else(|| {
            Failure::usage(
                "the multipliers are not determined: a jump on the way has no derivative",
            )
        })?;
        let mut matrix = vec![0.0; w * w];
        for (j, (q, v)) in columns.into_iter().enumerate() {
            let end = Returned { after: (Vec::new(), Vec::new()), q, v, time: 0.0 };
            let column = joined(&self.phase, &end);
            self.variables.iter().enumerate().for_each(|(i, &c)| matrix[i * w + j] = column[c]);
        }
        let mut of = eigenvalues(w, &matrix)
            .ok_or_else(|| Failure::usage("the multipliers could not be computed"))?;
        of.sort_by(|a, b| size(b).total_cmp(&size(a)).then(b[1].total_cmp(&a[1])));
        // It is zero but for rounding.
        if let Some(last) = of.last_mut().filter(|v| size(v) < 1e-7) {
            *last = [0.0, 0.0];
        }
        let others = &of[..of.len().saturating_sub(1)];
        let stability = if others.iter().any(|v| size(v) > 1.0 + NEUTRAL) {
            Stability::Unstable
        } else if others.iter().all(|v| size(v) < 1.0 - NEUTRAL) {
            Stability::AsymptoticallyStable
        } else {
            Stability::Undecided
        };
        Ok(Multipliers { of, stability, matrix })
    }

    /// The state after the event of a fixed point.
    pub(super) fn struck(&self, at: &Shot) -> Vec<f64> {
        if self.map.lead == 0.0 {
            return at.y.clone();
        }
        let (q, v) = at.here.after.clone();
        joined(&self.phase, &Returned { q, v, ..at.here.clone() })
    }

    /// Whether a component comes back up to whole turns.
    fn is_turned(&self, name: &str) -> bool {
        self.angles.iter().any(|&c| self.names()[c] == name)
    }

    /// By how much something moves in a period.
    pub(super) fn moved(&self, at: &Shot, c: usize) -> f64 {
        joined(&self.phase, &at.here)[c] - at.y[c]
    }

    /// The least and the greatest value of each component along a fixed point, at some hundred times.
    pub(super) fn extent(&mut self, at: &Shot) -> Result<Vec<[f64; 2]>, Failure> {
        let (q, v) = self.split(&at.y);
        let motion = self.map.sampled(Some((&q, &v)), at.here.time, 101)?;
        let mut extent: Vec<[f64; 2]> = at.y.iter().map(|&x| [x, x]).collect();
        for row in 0..motion.t.len() {
            let of = |list: &[crate::motion::Series]| -> Vec<f64> {
                list.iter().map(|s| s.values[row]).collect()
            };
            let (q, v) = (of(&motion.q), of(&motion.v));
            let y = joined(
                &self.phase,
                &Returned { after: (Vec::new(), Vec::new()), q, v, time: 0.0 },
            );
            for ([low, high], x) in extent.iter_mut().zip(y) {
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        Ok(extent)
    }
}

/// Floquet's multipliers, and what they say.
#[derive(Clone)]
pub(super) struct Multipliers {
    pub(super) of: Vec<[f64; 2]>,
    pub(super) stability: Stability,
    /// The derivative of the map in what is varied, by rows.
    pub(super) matrix: Vec<f64>,
}

/// A state as its positions and those of its velocities that belong to it.
fn joined(phase: &Phase, at: &Returned) -> Vec<f64> {
    let places = &phase.field.velocity_at;
    let velocities = at.v.iter().zip(places).filter(|(_, p)| p.is_some()).map(|(v, _)| *v);
    at.q.iter().copied().chain(velocities).collect()
}
