//! Events of a run with memory: where functions of the motion are zero within a step.
//!
//! They are looked at at the nodes, and near both ends of a step to see which way they go there. A change of
//! sign is a zero; between three points of one sign the middle of which is
//! nearest to zero lies an extremum, which is a touch or a pair of zeros. What is zero at the end of a step
//! is left to the next, which sees both sides of it.

use super::integrate::{Run, VolterraObserver};
use crate::ode::observer::{Crossing, LocatedEvent};
use crate::ode::root_finding::{Dip, Look};
use crate::ode::system::{Direction, EvalError};

/// How far from the ends of a step event functions are looked at as well, in steps: to see which way they go there.
/// An extremum within the nearer of these is told from the other side of the end too.
const BEYOND: [f64; 2] = [1e-6, 1e-3];

/// Functions that were never larger than this have no extrema worth telling.
const ROUNDING: f64 = 1e-14;

impl Run<'_> {
    /// Locates the events within the trial, tells them, and gives the first that stops the run.
    ///
    /// Changes of sign between nodes are zeros; between three points of one sign the middle of which is
    /// nearest to zero, the extremum is searched.
    pub(super) fn events(
        &mut self,
        h: f64,
        end: f64,
        observer: &mut dyn VolterraObserver,
    ) -> Result<Option<LocatedEvent>, EvalError> {
        if self.watched.is_empty() {
            return Ok(None);
        }
        let kinds = self.system.events().to_vec();
        let mut found: Vec<LocatedEvent> = Vec::new();
        let points = self.looks(h, end)?;
        let approach = self.approach.take();
        for (index, kind) in kinds.iter().enumerate() {
            let mut values: Vec<(f64, f64)> =
                points.iter().map(|(t, values)| (*t, values[index])).collect();
            let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.1.abs()));
            self.reach[index] = self.reach[index].max(largest);
            let negligible = 1e-12 * self.reach[index];
            let was_pending = std::mem::take(&mut self.pending[index]);
            if was_pending {
                values[0].1 = 0.0;
            }
            // What is zero at the end is left to the next step, which sees both sides of it.
            if let Some(last) = values.last_mut().filter(|v| v.1.abs() <= negligible)
                && end < self.options.t1 - self.options.t0
            {
                last.1 = 0.0;
                self.pending[index] = true;
            }
            let leaves = self.pending[index];
            // NOTE: what begins at zero, as 1 − x does at x = 1, is rounding at first, whose extrema mean nothing.
            let counts_extrema = self.reach[index] > ROUNDING;
            let mut look = Within { run: self, index, h, end };
            let mut report = |t: f64, crossing: Crossing| {
                let counts = match kind.direction {
                    Direction::Rising => crossing != Crossing::Falling,
                    Direction::Falling => crossing != Crossing::Rising,
                    Direction::Both => true,
                };
                if counts {
                    found.push(LocatedEvent { index, t, crossing });
                }
            };
            for (i, pair) in values.windows(2).enumerate() {
                let (a, b) = (pair[0], pair[1]);
                if leaves && i + 2 == values.len() {
                    continue;
                }
                if (a.1 < 0.0 && b.1 >= 0.0) || (a.1 > 0.0 && b.1 <= 0.0) {
                    report(look.zero(a, b)?, crossing(a.1));
                }
            }
            if let (Some((t, before)), [start, after, ..]) = (&approach, &values[..]) {
                let before = (*t, before[index]);
                if let Some(t) =
                    touch(before, *start, *after, negligible).filter(|_| counts_extrema)
                {
                    report(t.max(start.0), Crossing::Touch);
                } else if was_pending && before.1 * after.1 < 0.0 {
                    report(start.0, crossing(before.1));
                }
            }
            for triple in values.windows(3).filter(|_| counts_extrema) {
                let (a, here, b) = (triple[0], triple[1], triple[2]);
                let side = a.1.signum();
                let Some(dip) = Dip::new(side, a, here, b).filter(|_| side * here.1 > 0.0)
                else {
                    continue;
                };
                let bottom = dip.bottom(&mut look, negligible)?;
                if side * bottom.1 < -negligible {
                    report(look.zero(a, bottom)?, crossing(side));
                    report(look.zero(bottom, b)?, crossing(-side));
                } else if side * bottom.1 <= negligible {
                    report(bottom.0, Crossing::Touch);
                }
            }
        }
        if let [.., before, (_, values)] = &points[..] {
            self.watched.copy_from_slice(values);
            self.approach = Some(before.clone());
        }
        found.sort_by(|a, b| a.t.total_cmp(&b.t).then(a.index.cmp(&b.index)));
        let stop = found.iter().position(|e| kinds[e.index].stop);
        found.truncate(stop.map_or(found.len(), |i| i + 1));
        let kept = (self.x.clone(), self.z.clone());
        for event in &found {
            self.at(event.t - self.options.t0, h, end)?;
            observer.event(event, &self.x, &self.z);
            self.x.copy_from_slice(&kept.0);
            self.z.copy_from_slice(&kept.1);
        }
        Ok(stop.map(|i| found[i]))
    }

    /// The event functions at the start of the trial, a little later, at its nodes, and a little before its end.
    fn looks(&mut self, h: f64, end: f64) -> Result<Vec<(f64, Vec<f64>)>, EvalError> {
        let (s, n, count) = (self.frame.basis.stages, self.frame.n, self.frame.operands.len());
        let mut points = vec![(self.options.t0 + self.elapsed, self.watched.clone())];
        let mut values = vec![0.0; self.watched.len()];
        for j in 0..s {
            let [near, far] = BEYOND;
            let looks = match j {
                0 => [near, far],
                _ if j + 1 == s => [1.0 - far, 1.0 - near],
                _ => [f64::NAN; 2],
            };
            for part in looks.into_iter().filter(|part| part.is_finite()) {
                let t = self.options.t0 + self.elapsed + part * h;
                self.look(t, (h, end), &mut values)?;
                points.push((t, values.clone()));
            }
            let node = self.elapsed + self.frame.basis.nodes[j] * h;
            let t = self.options.t0 + if j + 1 == s { end } else { node };
            let (x, z) = (&self.main.x[j * n..(j + 1) * n], &self.main.z[j * count..]);
            self.system.event_values(t, x, &z[..count], &mut values)?;
            points.push((t, values.clone()));
        }
        Ok(points)
    }

    /// The event functions at a time within the trial.
    fn look(
        &mut self,
        t: f64,
        (h, end): (f64, f64),
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let kept = (self.x.clone(), self.z.clone());
        let found = self.at(t - self.options.t0, h, end);
        let seen = found.and_then(|_| self.system.event_values(t, &self.x, &self.z, values));
        self.x.copy_from_slice(&kept.0);
        self.z.copy_from_slice(&kept.1);
        seen
    }
}

/// One event function along the trial.
struct Within<'r, 'a> {
    run: &'r mut Run<'a>,
    index: usize,
    h: f64,
    end: f64,
}

impl Look for Within<'_, '_> {
    fn at(&mut self, t: f64) -> Result<(f64, f64), EvalError> {
        let mut values = vec![0.0; self.run.watched.len()];
        self.run.look(t, (self.h, self.end), &mut values)?;
        Ok((t, values[self.index]))
    }
}

/// Where the parabola through three points turns, if that is between the outer ones and at zero.
fn touch(a: (f64, f64), b: (f64, f64), c: (f64, f64), negligible: f64) -> Option<f64> {
    let side = a.1.signum();
    let lowest = side * b.1 >= 0.0 && side * b.1 <= side * a.1 && side * b.1 <= side * c.1;
    if !lowest || side * c.1 <= 0.0 {
        return None;
    }
    let (left, right) = ((b.1 - a.1) / (b.0 - a.0), (c.1 - b.1) / (c.0 - b.0));
    let bend = (right - left) / (c.0 - a.0);
    let slope = left + bend * (b.0 - a.0);
    let (t, value) = (b.0 - 0.5 * slope / bend, b.1 - 0.25 * slope * slope / bend);
    let between = t > a.0 && t < c.0;
    (between && side * value <= negligible).then_some(t)
}

/// How a function leaves this side.
fn crossing(side: f64) -> Crossing {
    if side < 0.0 { Crossing::Rising } else { Crossing::Falling }
}
