//! Conditions at the ends: their values, and their derivatives by the states there.

use pfaff_solver::{BoundaryProblem, EvalError};

use crate::run::bvp::canonical::{Canonical, Solve};
use crate::run::bvp::conditions::Condition;

/// Values of one condition and its derivatives.
impl Canonical {
    fn ending(&self, last: &[f64]) -> f64 {
        self.time(1.0, last)
    }

    /// Final value `i` and its derivative at a time.
    pub(in crate::run::bvp) fn datum(&mut self, t: f64, i: usize) -> (f64, f64) {
        let mut values = vec![0.0; self.conditions.data.len()];
        self.data.evaluate(&[t], &mut values);
        (values[2 * i], values[2 * i + 1])
    }

    fn state<'a>(&self, at_end: bool, first: &'a [f64], last: &'a [f64]) -> (f64, &'a [f64]) {
        if at_end { (self.ending(last), last) } else { (self.conditions.t0, first) }
    }

    pub(super) fn condition(
        &mut self,
        i: usize,
        first: &[f64],
        last: &[f64],
    ) -> Result<f64, EvalError> {
        let n = self.n;
        let end = self.ending(last);
        Ok(match self.conditions.list[i].clone() {
            Condition::Start { component, value } => first[component] - value,
            Condition::End { component, datum } => last[component] - self.datum(end, datum).0,
            Condition::Shift { component, datum } => {
                last[component] - first[component] - self.datum(end, datum).0
            }
            Condition::Natural { component, at_end, slack } => {
                let (t, y) = self.state(at_end, first, last);
                let mut p = y[n + component];
                if slack {
                    let surface = self.surface(t, y);
                    let h = self.conditions.holonomic;
                    (0..h).for_each(|a| p += surface[h + a * n + component] * y[2 * n + a]);
                }
                p
            }
            Condition::Periodic { component } => last[n + component] - first[n + component],
            Condition::SolvedStart { index, value } => {
                self.invert(self.conditions.t0, first)?;
                self.solve.inputs[1 + n + index] - value
            }
            Condition::SolvedEnd { index, datum } => {
                self.invert(end, last)?;
                self.solve.inputs[1 + n + index] - self.datum(end, datum).0
            }
            Condition::SolvedShift { index, datum } => {
                self.invert(end, last)?;
                let ending = self.solve.inputs[1 + n + index];
                self.rewind();
                self.invert(self.conditions.t0, first)?;
                ending - self.solve.inputs[1 + n + index] - self.datum(end, datum).0
            }
            Condition::Surface { index } => self.surface(self.conditions.t0, first)[index],
            Condition::Time => {
                // H − p·ġ = 0
                self.invert(end, last)?;
                self.push.evaluate(&self.solve.inputs, &mut self.solve.push);
                let v = &self.solve.inputs[1 + n..=2 * n];
                let work: f64 = last[n..2 * n].iter().zip(v).map(|(p, v)| p * v).sum();
                let mut h = work - self.solve.push[2 * n + 1];
                for (component, datum) in self.conditions.moving.clone() {
                    h -= last[n + component] * self.datum(end, datum).1;
                }
                h
            }
        })
    }

    fn surface(&mut self, t: f64, y: &[f64]) -> Vec<f64> {
        let h = self.conditions.holonomic;
        let mut values = vec![0.0; h + h * self.n + h * self.n * self.n];
        let inputs = [&[t][..], &y[..self.n]].concat();
        self.surface.evaluate(&inputs, &mut values);
        values
    }

    pub(super) fn condition_slopes(
        &mut self,
        i: usize,
        first: &[f64],
        last: &[f64],
        at_first: &mut [f64],
        at_last: &mut [f64],
    ) -> Result<(), EvalError> {
        let (n, size) = (self.n, self.n + self.m);
        let end = self.ending(last);
        let free = self.conditions.duration.is_none();
        let d = at_first.len();
        match self.conditions.list[i].clone() {
            Condition::Start { component, .. } => at_first[component] = 1.0,
            Condition::End { component, datum } => {
                at_last[component] = 1.0;
                if free {
                    at_last[d - 1] = -self.datum(end, datum).1;
                }
            }
            Condition::Shift { component, datum } => {
                at_last[component] = 1.0;
                at_first[component] = -1.0;
                if free {
                    at_last[d - 1] = -self.datum(end, datum).1;
                }
            }
            Condition::Natural { component, at_end, slack } => {
                let (t, y) = self.state(at_end, first, last);
                if slack {
                    self.slack_slopes(t, y, component, if at_end { at_last } else { at_first });
                } else if at_end {
                    at_last[n + component] = 1.0;
                } else {
                    at_first[n + component] = 1.0;
                }
            }
            Condition::Periodic { component } => {
                at_last[n + component] = 1.0;
                at_first[n + component] = -1.0;
            }
            Condition::SolvedStart { index, .. } => {
                self.rewind();
                self.invert(self.conditions.t0, first)?;
                self.differentiate();
                (0..2 * n).for_each(|c| at_first[c] = self.solve.slopes[c * size + index]);
            }
            Condition::SolvedEnd { index, datum } | Condition::SolvedShift { index, datum } => {
                self.invert(end, last)?;
                self.differentiate();
                (0..2 * n).for_each(|c| at_last[c] = self.solve.slopes[c * size + index]);
                if free {
                    at_last[d - 1] =
                        self.solve.slopes[2 * n * size + index] - self.datum(end, datum).1;
                }
                if matches!(self.conditions.list[i], Condition::SolvedShift { .. }) {
                    self.rewind();
                    self.invert(self.conditions.t0, first)?;
                    self.differentiate();
                    (0..2 * n).for_each(|c| at_first[c] = -self.solve.slopes[c * size + index]);
                }
            }
            Condition::Surface { index } => {
                let surface = self.surface(self.conditions.t0, first);
                let h = self.conditions.holonomic;
                at_first[..n].copy_from_slice(&surface[h + index * n..][..n]);
            }
            Condition::Time => {
                self.invert(end, last)?;
                self.push.evaluate(&self.solve.inputs, &mut self.solve.push);
                let Solve { inputs, push, .. } = &self.solve;
                for k in 0..n {
                    // H_q = −𝓛_q, H_p = q̇, H_t = −𝓛_t
                    at_last[k] = -push[n + k];
                    at_last[n + k] = inputs[1 + n + k];
                }
                at_last[d - 1] = -push[2 * n];
                for (component, datum) in self.conditions.moving.clone() {
                    at_last[n + component] -= self.datum(end, datum).1;
                }
            }
        }
        Ok(())
    }

    /// Derivatives of $p_k + c\cdot\partial\varphi/\partial q_k$.
    fn slack_slopes(&mut self, t: f64, y: &[f64], k: usize, row: &mut [f64]) {
        let (n, h) = (self.n, self.conditions.holonomic);
        let surface = self.surface(t, y);
        row[n + k] = 1.0;
        for a in 0..h {
            row[2 * n + a] = surface[h + a * n + k];
            let bends = &surface[h + h * n + a * n * n + k * n..][..n];
            row.iter_mut().zip(bends).for_each(|(x, b)| *x += b * y[2 * n + a]);
        }
    }
}
