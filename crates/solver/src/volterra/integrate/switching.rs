//! Branches of the equations: where a run changes them, and how it goes on.
//!
//! With fixed branches the equations are smooth, beyond the zeros of their switching functions $u$ too. A step
//! in which one of them changes its sign is made anew so that it ends there; the mesh is then graded as from the
//! start, with the branches for which a first short step moves every $u$ to the side of its branch. If there are
//! none, the motion is pushed back to $u = 0$ from both sides, and the run ends.

use super::in_step::{InStep, Watched};
use super::{VolterraOptions, VolterraRun, VolterraTrial};
use crate::ode::events::EventFinder;
use crate::ode::system::{EvalError, EventKind};
use crate::volterra::event_watch::Kinds;
use crate::volterra::system::{VolterraPoint, VolterraSystem};

/// The first step after a break, as a part of the run.
const OPENING: f64 = 1e-12;
/// Segments in a row that are shorter than [`SHORT`] of the run: the motion switches without end.
const MOST_SHORT: usize = 100;
const SHORT: f64 = 1e-9;

/// What a run knows of its branches.
pub(super) struct Switching {
    /// Where the equations break, since the start, ascending.
    pub(super) breaks: Vec<f64>,
    /// The branches.
    signs: Vec<f64>,
    /// The largest values of the functions so far.
    reach: Vec<f64>,
    finder: EventFinder,
    /// Where the segment began.
    pub(super) since: f64,
    /// Short segments in a row.
    short: usize,
    /// The first step of a segment is still to be made.
    pub(super) opens: bool,
    /// Its length.
    opening: f64,
}

fn finder(count: usize) -> EventFinder {
    EventFinder::new(&Kinds(vec![EventKind::default(); count]))
}

impl Switching {
    pub(super) fn new(system: &dyn VolterraSystem, options: &VolterraOptions) -> Self {
        let (count, span) = (system.switches(), options.t1 - options.t0);
        let breaks = system.breaks().iter().map(|t| t - options.t0);
        let mut breaks: Vec<f64> = breaks.filter(|b| *b > 0.0 && *b < span).collect();
        breaks.sort_by(f64::total_cmp);
        breaks.dedup_by(|b, a| *b - *a <= 1e-13 * *a);
        Self {
            breaks,
            signs: vec![1.0; count],
            reach: vec![0.0; count],
            finder: finder(count),
            since: 0.0,
            short: 0,
            opens: false,
            opening: OPENING * span,
        }
    }

    /// The shortest step beside a first one of length `h`.
    pub(super) fn shortest(&self, h: f64) -> f64 {
        let smooth = self.breaks.is_empty() && self.signs.is_empty();
        if smooth { h } else { h.min(self.opening) }
    }

    /// What is shorter is no step.
    pub(super) fn shortest_segment(&self, elapsed: f64) -> f64 {
        (1e-3 * self.opening).max(8.0 * f64::EPSILON * elapsed)
    }

    pub(super) fn is_break(&self, elapsed: f64) -> bool {
        let at = self.breaks.partition_point(|b| *b < elapsed * (1.0 - 1e-14));
        self.breaks.get(at).is_some_and(|b| *b <= elapsed * (1.0 + 1e-14))
    }
}

impl VolterraRun<'_> {
    /// Begins a segment: finds the branches with which the run goes on; `false` if there are none. `fired` is the
    /// switching function that ended the segment before.
    pub(super) fn settle(&mut self, fired: Option<usize>) -> Result<bool, EvalError> {
        let (count, elapsed) = (self.switching.signs.len(), self.progress.elapsed);
        let span = self.options.t1 - self.options.t0;
        if elapsed > 0.0 {
            let is_short = fired.is_some() && elapsed - self.switching.since < SHORT * span;
            self.switching.short = if is_short { self.switching.short + 1 } else { 0 };
            if self.switching.short > MOST_SHORT {
                return Ok(false);
            }
            self.switching.since = elapsed;
            self.switching.opens = true;
            self.h = self.h.min(self.switching.opening);
            self.last.h = 0.0;
        }
        if count == 0 {
            return Ok(true);
        }
        self.switching.finder = finder(count);
        let mut start = vec![0.0; count];
        let at =
            VolterraPoint { t: self.options.t0 + elapsed, elapsed, x: &self.x, z: &self.z };
        if self.system.switch_values(at, &mut start).is_err() {
            start.fill(f64::NAN);
        }
        let mut signs = self.switching.signs.clone();
        for k in 0..count {
            if fired == Some(k) {
                signs[k] = -signs[k];
            } else if start[k].abs() > 1e-12 * self.switching.reach[k] {
                signs[k] = start[k].signum();
            }
        }
        for round in 0..2 * count + 4 {
            self.choose(&signs);
            // NOTE: where no step leads on, the run itself says why.
            let h = self.h * if round > count { 0.1 } else { 1.0 };
            self.guess(h);
            if self.solve(h).is_err() {
                continue;
            }
            let mut end = vec![0.0; count];
            let (x, z) = (self.main.x_end(&self.frame), self.main.z_end(&self.frame));
            let at =
                VolterraPoint { t: self.options.t0 + elapsed + h, elapsed: elapsed + h, x, z };
            self.system.switch_values(at, &mut end)?;
            let mut settled = true;
            for k in 0..count {
                // Where a function begins at zero, up to rounding, its change decides.
                let small =
                    end[k].abs() <= 1e-9 * self.switching.reach[k] && start[k].is_finite();
                let side = if small { end[k] - start[k] } else { end[k] };
                if side * signs[k] < 0.0 {
                    signs[k] = side.signum();
                    settled = false;
                }
            }
            if settled {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn choose(&mut self, signs: &[f64]) {
        self.system.choose(signs);
        self.switching.signs.copy_from_slice(signs);
        self.main.forget();
        self.inner.forget();
    }

    /// The first place within the trial where a switching function leaves the side of its branch, since the start.
    pub(super) fn first_switch(
        &mut self,
        trial: VolterraTrial,
    ) -> Result<Option<(usize, f64)>, EvalError> {
        let count = self.switching.signs.len();
        if count == 0 {
            return Ok(None);
        }
        let mut finder = std::mem::replace(&mut self.switching.finder, finder(0));
        let first = self.first_of(trial, &mut finder);
        if matches!(first, Ok(None)) {
            finder.accept();
        }
        self.switching.finder = finder;
        first
    }

    fn first_of(
        &mut self,
        trial: VolterraTrial,
        finder: &mut EventFinder,
    ) -> Result<Option<(usize, f64)>, EvalError> {
        let signs = self.switching.signs.clone();
        let mut step = InStep { run: self, trial, watched: Watched::Switches, index: 0 };
        let mut first: Option<(usize, f64)> = None;
        for event in step.find(finder)? {
            step.index = event.index;
            let at = step.polished(event)? - step.run.options.t0;
            // What changes to the side of its branch is rounding at the start.
            let leaves = step.side_after(at)? * signs[event.index] < 0.0;
            if leaves && first.is_none_or(|f| at < f.1) {
                first = Some((event.index, at));
            }
        }
        if first.is_none() {
            // A function that is on the other side all the way left its own at the start.
            let mut end = vec![0.0; signs.len()];
            step.values(trial.end, false, &mut end)?;
            let reach = &step.run.switching.reach;
            let left = |k: &usize| end[*k] * signs[*k] < -1e-9 * reach[*k];
            first = (0..signs.len()).find(left).map(|k| (k, step.run.progress.elapsed));
        }
        Ok(first)
    }

    /// How large the switching functions were.
    pub(in crate::volterra) fn reach(&self) -> &[f64] {
        &self.switching.reach
    }

    /// Remembers how large the switching functions were.
    pub(in crate::volterra) fn reached(&mut self, values: &[f64]) {
        for (reach, value) in self.switching.reach.iter_mut().zip(values) {
            *reach = reach.max(value.abs());
        }
    }
}
