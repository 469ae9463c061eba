//! One accepted step and the polynomial through it.
//!
//! With $\theta = (t - t_0)/h$ and the rows $r_0, r_1, \dots$
//!
//! $$ u(t) = r_0 + \theta\bigl(r_1 + (1-\theta)\bigl(r_2 + \theta\bigl(r_3
//!    + (1-\theta)(r_4 + \dots)\bigr)\bigr)\bigr) \qquad (\mathrm{D}) $$
//!
//! (Hairer, Nørsett and Wanner 1993, §II.6). Four rows make the cubic Hermite polynomial of
//! both ends, eight rows the seventh-order dense output of Dormand and Prince. The rows of a Taylor step are the coefficients of
//! $u(t) = \sum_k r_k (t - t_0)^k$ themselves.
//!
//! **Projection.** The rows $r_1, r_2, r_3$ are made from the *projected* end and its rates.
//! That is the polynomial of the unprojected step plus $\delta\,(3\theta^2 - 2\theta^3)$ for the
//! displacement $\delta$ of the projection, which the error control keeps below the tolerance:
//! dense output stays continuous with a continuous derivative from step to step, its
//! order is kept, and it costs no evaluation.

/// One accepted step with dense output.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    pub(crate) start: f64,
    pub(crate) end: f64,
    /// $h$ of (D); longer than the step if an event ends it early.
    pub(crate) length: f64,
    pub(crate) kind: Kind,
    pub(crate) rows: &'a [f64],
    pub(crate) at_end: &'a [f64],
}

/// What the rows of a step mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Those of (D).
    #[default]
    Hermite,
    /// Coefficients of powers of $t - t_0$.
    Series,
}

impl<'a> Step<'a> {
    /// Where the step begins. Backward runs have `start() > end()`.
    pub fn start(&self) -> f64 {
        self.start
    }

    /// Where the step ends.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// Whether `t` lies within the step, ends included.
    pub fn contains(&self, t: f64) -> bool {
        (self.start <= t && t <= self.end) || (self.end <= t && t <= self.start)
    }

    /// The (projected) state at the end.
    pub fn state_at_end(&self) -> &'a [f64] {
        self.at_end
    }

    /// Writes $u(t)$ into `y`; at the ends exactly the states of the run.
    pub fn state(&self, t: f64, y: &mut [f64]) {
        if t == self.end {
            y.copy_from_slice(self.at_end);
            return;
        }
        let θ = self.variable(t);
        // What multiplies everything after an even row, and after an odd one.
        let factors = [self.factor(0, θ), self.factor(1, θ)];
        let count = self.count();
        let mut done = 0;
        // Four components at a time stay in registers.
        for part in y.chunks_exact_mut(4) {
            part.copy_from_slice(&self.values::<4>(done, count, factors));
            done += 4;
        }
        for (i, y) in y.iter_mut().enumerate().skip(done) {
            [*y] = self.values::<1>(i, count, factors);
        }
    }

    /// Components `first`, `first + 1`, … of (D).
    fn values<const N: usize>(
        &self,
        first: usize,
        count: usize,
        factors: [f64; 2],
    ) -> [f64; N] {
        let n = self.at_end.len();
        let row = |k: usize| -> &[f64] { &self.rows[k * n + first..][..N] };
        let mut values = [0.0; N];
        values.copy_from_slice(row(count - 1));
        for k in (0..count - 1).rev() {
            let factor = factors[k % 2];
            for (value, r) in values.iter_mut().zip(row(k)) {
                *value = r + factor * *value;
            }
        }
        values
    }

    /// Writes $\dot u(t)$ into `rates`: close to $f(t, u(t))$, one order less than the state.
    pub fn derivative(&self, t: f64, rates: &mut [f64]) {
        let n = self.at_end.len();
        let θ = self.variable(t);
        let last = self.count() - 1;
        for (i, rate) in rates.iter_mut().enumerate() {
            let (mut value, mut slope) = (self.rows[last * n + i], 0.0);
            for k in (0..last).rev() {
                // d/dθ of θ is 1, of 1 − θ is −1.
                let odd = self.kind == Kind::Hermite && k % 2 == 1;
                let sign = if odd { -1.0 } else { 1.0 };
                slope = sign * value + self.factor(k, θ) * slope;
                value = self.rows[k * n + i] + self.factor(k, θ) * value;
            }
            *rate = if self.kind == Kind::Series { slope } else { slope / self.length };
        }
    }

    /// $\theta$, or $t - t_0$ for a series.
    fn variable(&self, t: f64) -> f64 {
        match self.kind {
            Kind::Hermite => (t - self.start) / self.length,
            Kind::Series => t - self.start,
        }
    }

    /// What multiplies everything after row `k`.
    fn factor(&self, k: usize, θ: f64) -> f64 {
        match self.kind {
            Kind::Hermite if k % 2 == 1 => 1.0 - θ,
            _ => θ,
        }
    }

    /// Number of rows.
    fn count(&self) -> usize {
        self.rows.len().checked_div(self.at_end.len()).unwrap_or(1)
    }
}

/// A step kept beyond the call of its observer.
#[derive(Clone, Debug, Default)]
pub struct StoredStep {
    start: f64,
    end: f64,
    length: f64,
    kind: Kind,
    rows: Vec<f64>,
    at_end: Vec<f64>,
}

impl StoredStep {
    /// Takes a copy of `step`, in the storage that is already there.
    pub fn copy_from(&mut self, step: &Step<'_>) {
        (self.start, self.end, self.length) = (step.start, step.end, step.length);
        self.kind = step.kind;
        self.rows.clear();
        self.rows.extend_from_slice(step.rows);
        self.at_end.clear();
        self.at_end.extend_from_slice(step.at_end);
    }

    /// The step, as its observer saw it.
    pub fn as_step(&self) -> Step<'_> {
        Step {
            start: self.start,
            end: self.end,
            length: self.length,
            kind: self.kind,
            rows: &self.rows,
            at_end: &self.at_end,
        }
    }
}

impl From<&Step<'_>> for StoredStep {
    fn from(step: &Step<'_>) -> Self {
        let mut stored = Self::default();
        stored.copy_from(step);
        stored
    }
}

/// Fills `rows` with the four rows of the cubic Hermite polynomial from `(y, f)` to `(y1, f1)`.
pub(crate) fn hermite_rows(
    h: f64,
    (y, f): (&[f64], &[f64]),
    (y1, f1): (&[f64], &[f64]),
    rows: &mut Vec<f64>,
) {
    let n = y.len();
    rows.clear();
    rows.extend_from_slice(y);
    rows.extend(y1.iter().zip(y).map(|(y1, y)| y1 - y));
    for i in 0..n {
        rows.push(h * f[i] - rows[n + i]);
    }
    for i in 0..n {
        rows.push(2.0 * rows[n + i] - h * (f[i] + f1[i]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// u(t) = t³ on [1, 3].
    fn cube(rows: &mut Vec<f64>) -> Step<'_> {
        hermite_rows(2.0, (&[1.0], &[3.0]), (&[27.0], &[27.0]), rows);
        Step { start: 1.0, end: 3.0, length: 2.0, kind: Kind::Hermite, rows, at_end: &[27.0] }
    }

    #[test]
    fn cubics_are_reproduced_with_their_derivative() {
        let mut rows = Vec::new();
        let step = cube(&mut rows);
        for t in [1.0, 1.25, 2.0, 2.5, 3.0] {
            let (mut y, mut rate) = ([0.0], [0.0]);
            step.state(t, &mut y);
            step.derivative(t, &mut rate);
            // Values below 27: rounding of four products.
            assert!((y[0] - t * t * t).abs() < 1e-13 && (rate[0] - 3.0 * t * t).abs() < 1e-13);
        }
    }

    #[test]
    fn a_stored_step_is_the_step() {
        let mut rows = Vec::new();
        let step = cube(&mut rows);
        let stored = StoredStep::from(&step);
        let (mut a, mut b) = ([0.0], [0.0]);
        step.state(1.7, &mut a);
        stored.as_step().state(1.7, &mut b);
        assert_eq!((a, stored.as_step().end()), (b, 3.0));
        assert!(stored.as_step().contains(3.0) && !stored.as_step().contains(3.1));
    }
}
