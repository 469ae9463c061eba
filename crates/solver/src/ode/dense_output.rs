//! One accepted step and the polynomial through it.
//!
//! With $\theta = (t - t_0)/h$ and the rows $r_0, r_1, \dots$
//!
//! $$ u(t) = r_0 + \theta\bigl(r_1 + (1-\theta)\bigl(r_2 + \theta\bigl(r_3
//!    + (1-\theta)(r_4 + \dots)\bigr)\bigr)\bigr) \qquad (\mathrm{D}) $$
//!
//! (Hairer, Nørsett and Wanner 1993, §II.6). Four rows make the cubic Hermite polynomial of
//! both ends, eight rows the seventh-order dense output of Dormand and Prince. The rows of a Taylor step are
//! the coefficients of
//! $u(t) = \sum_k r_k (t - t_0)^k$ themselves; those of a collocation polynomial $u(t) = \sum_k r_k \theta^k$.
//!
//! **Projection.** The rows $r_1, r_2, r_3$ are made from the *projected* end and its rates.
//! That is the polynomial of the unprojected step plus $\delta\,(3\theta^2 - 2\theta^3)$ for the
//! displacement $\delta$ of the projection, which the error control keeps below the tolerance:
//! dense output stays continuous with a continuous derivative from step to step, its
//! order is kept, and it costs no evaluation.

/// One accepted step with dense output.
#[derive(Clone, Copy, Debug)]
pub struct DenseStep<'a> {
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
    /// Coefficients of powers of $\theta$.
    Powers,
}

impl<'a> DenseStep<'a> {
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
        let n = self.at_end.len();
        let mut rows = self.rows.chunks_exact(n.max(1)).enumerate().rev();
        let Some((_, last)) = rows.next() else { return };
        let y = &mut y[..n];
        y.copy_from_slice(last);
        for (k, row) in rows {
            let factor = self.factor(k, θ);
            for (y, r) in y.iter_mut().zip(row) {
                *y = r + factor * *y;
            }
        }
    }

    /// Writes bounds of $u$ over the whole step, with room for what a polynomial of low order does not show.
    ///
    /// The cubic of the first four rows of (D) lies between its coefficients in Bernstein's form; the rows after them
    /// add at most $\tfrac1{16}\sum_{k \ge 4} |r_k|$.
    pub(crate) fn bounds(&self, low: &mut [f64], high: &mut [f64]) {
        let n = self.at_end.len();
        let row = |k: usize| self.rows.get(k * n..(k + 1) * n);
        if let (Kind::Hermite, Some(first), Some(way), Some(second), Some(third)) =
            (self.kind, row(0), row(1), row(2), row(3))
        {
            for i in 0..n {
                let (a, d) = (first[i], first[i] + way[i]);
                let b = a + (way[i] + second[i]) / 3.0;
                let c = d - (way[i] - second[i] - third[i]) / 3.0;
                (low[i], high[i]) = (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)));
            }
            for row in self.rows[4 * n..].chunks_exact(n.max(1)) {
                for (i, r) in row.iter().enumerate() {
                    low[i] -= r.abs() / 16.0;
                    high[i] += r.abs() / 16.0;
                }
            }
        } else {
            low.copy_from_slice(self.at_end);
            high.copy_from_slice(self.at_end);
            let reach = match self.kind {
                Kind::Series => self.end - self.start,
                Kind::Hermite | Kind::Powers => 1.0,
            };
            let mut rows = self.rows.chunks_exact(n.max(1));
            let first = rows.next().unwrap_or(self.at_end);
            for i in 0..n {
                (low[i], high[i]) = (low[i].min(first[i]), high[i].max(first[i]));
            }
            let mut power = 1.0;
            for row in rows {
                power *= reach.abs();
                for (i, r) in row.iter().enumerate() {
                    low[i] -= (r * power).abs();
                    high[i] += (r * power).abs();
                }
            }
        }
        for (low, high) in low.iter_mut().zip(high) {
            let room = 0.5 * (*high - *low);
            (*low, *high) = (*low - room, *high + room);
        }
    }

    /// Writes $\dot u(t)$ into `rates`: close to $f(t, u(t))$, one order less than the state.
    pub fn derivative(&self, t: f64, rates: &mut [f64]) {
        let θ = self.variable(t);
        let mut done = 0;
        // Four components at a time stay in registers.
        for part in rates.chunks_exact_mut(4) {
            part.copy_from_slice(&self.slopes::<4>(done, θ));
            done += 4;
        }
        for (i, rate) in rates.iter_mut().enumerate().skip(done) {
            [*rate] = self.slopes::<1>(i, θ);
        }
    }

    /// By how much more than the rates at its stages the derivative of the polynomial may be off in the middle of the
    /// step.
    ///
    /// It is $\dot u(t_0 + h/2) = \sum_j w_j k_j$, so that rates that are off by $\rho$ take it off by at most
    /// $\rho \sum_j |w_j|$, which is 58.2835 for the dense output of Dormand and Prince, 3/2 for a cubic whose end is
    /// a mean of rates, and at most 1.67 (Lebesgue's sum of its nodes there) for collocation at Radau's nodes. The
    /// terms of a series that converges over the whole step are off by at most $2^{1-k}\rho$ in its middle.
    pub fn spread(&self) -> f64 {
        match self.kind {
            Kind::Hermite if self.rows.len() > 4 * self.at_end.len() => 58.2836,
            Kind::Hermite => 1.5,
            Kind::Series => 2.0,
            Kind::Powers => 1.67,
        }
    }

    /// Derivatives of the components `first`, `first + 1`, ….
    fn slopes<const N: usize>(&self, first: usize, θ: f64) -> [f64; N] {
        let (mut values, mut slopes) = ([0.0; N], [0.0; N]);
        for (k, row) in self.rows.chunks_exact(self.at_end.len().max(1)).enumerate().rev() {
            let factor = self.factor(k, θ);
            // d/dθ of θ is 1, of 1 − θ is −1.
            let odd = self.kind == Kind::Hermite && k % 2 == 1;
            let sign = if odd { -1.0 } else { 1.0 };
            for (i, r) in row[first..][..N].iter().enumerate() {
                slopes[i] = sign * values[i] + factor * slopes[i];
                values[i] = r + factor * values[i];
            }
        }
        if self.kind != Kind::Series {
            slopes.iter_mut().for_each(|s| *s /= self.length);
        }
        slopes
    }

    /// $\theta$, or $t - t_0$ for a series.
    fn variable(&self, t: f64) -> f64 {
        match self.kind {
            Kind::Hermite | Kind::Powers => (t - self.start) / self.length,
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
    pub fn copy_from(&mut self, step: &DenseStep<'_>) {
        (self.start, self.end, self.length) = (step.start, step.end, step.length);
        self.kind = step.kind;
        self.rows.clear();
        self.rows.extend_from_slice(step.rows);
        self.at_end.clear();
        self.at_end.extend_from_slice(step.at_end);
    }

    /// The step, as its observer saw it.
    pub fn as_step(&self) -> DenseStep<'_> {
        DenseStep {
            start: self.start,
            end: self.end,
            length: self.length,
            kind: self.kind,
            rows: &self.rows,
            at_end: &self.at_end,
        }
    }
}

impl From<&DenseStep<'_>> for StoredStep {
    fn from(step: &DenseStep<'_>) -> Self {
        let mut stored = Self::default();
        stored.copy_from(step);
        stored
    }
}

/// A state with its rates.
#[derive(Clone, Copy)]
pub(crate) struct StepPoint<'a> {
    pub(crate) y: &'a [f64],
    pub(crate) f: &'a [f64],
}

/// Fills `rows` with the four rows of the cubic Hermite polynomial between two points at a distance `h`.
pub(crate) fn hermite_rows(
    h: f64,
    start: StepPoint<'_>,
    end: StepPoint<'_>,
    rows: &mut Vec<f64>,
) {
    let (StepPoint { y, f }, StepPoint { y: y1, f: f1 }) = (start, end);
    let n = y.len();
    rows.clear();
    rows.resize(4 * n, 0.0);
    let (first, rest) = rows.split_at_mut(n);
    let (way, rest) = rest.split_at_mut(n);
    let (second, third) = rest.split_at_mut(n);
    first.copy_from_slice(y);
    // Slices of one length, so that it vectorises.
    let (f, y1, f1) = (&f[..n], &y1[..n], &f1[..n]);
    for i in 0..n {
        way[i] = y1[i] - y[i];
        second[i] = h * f[i] - way[i];
        third[i] = 2.0 * way[i] - h * (f[i] + f1[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// u(t) = t³ on [1, 3].
    fn cube(rows: &mut Vec<f64>) -> DenseStep<'_> {
        let (start, end) =
            (StepPoint { y: &[1.0], f: &[3.0] }, StepPoint { y: &[27.0], f: &[27.0] });
        hermite_rows(2.0, start, end, rows);
        DenseStep {
            start: 1.0,
            end: 3.0,
            length: 2.0,
            kind: Kind::Hermite,
            rows,
            at_end: &[27.0],
        }
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
    fn bounds_contain_the_step() {
        let mut rows = Vec::new();
        let step = cube(&mut rows);
        let (mut low, mut high) = ([0.0], [0.0]);
        step.bounds(&mut low, &mut high);
        assert!(low[0] <= 1.0 && low[0] > -13.0 && high[0] >= 27.0 && high[0] < 41.0);
        let series = [1.0, -3.0, 2.0, 1.0];
        let step =
            DenseStep { kind: Kind::Series, end: 1.5, rows: &series, at_end: &[0.125], ..step };
        step.bounds(&mut low, &mut high);
        // Between 1 and 1 − 3h + 2h² + h³ at h = 1/2, with 1.5 + 0.5 + 0.125 around.
        assert!(low[0] <= 0.0 && high[0] >= 1.0 && high[0] - low[0] < 11.0);
    }

    /// Bernstein's coefficients of a cubic, are the bounds before there is room, and a row beyond it adds a
    /// sixteenth of itself.
    #[test]
    fn bounds_of_cubics_are_their_coefficients() {
        for [a, b, c, d] in
            [[1.0, 2.0, -1.5, 0.5], [0.5, -1.5, 2.0, 1.0], [-2.0, 0.0, 1.0, 3.0]]
        {
            // u = ((1 − θ)³, 3(1 − θ)²θ, 3(1 − θ)θ², θ³)·(a, b, c, d), and the slopes at the ends.
            let (start, end) = (
                StepPoint { y: &[a], f: &[3.0 * (b - a) / 2.0] },
                StepPoint { y: &[d], f: &[3.0 * (d - c) / 2.0] },
            );
            let mut rows = Vec::new();
            hermite_rows(2.0, start, end, &mut rows);
            for further in [0.0, 8.0, -8.0] {
                let rows = [&rows[..4], &[further]].concat();
                let step = DenseStep {
                    start: 1.0,
                    end: 3.0,
                    length: 2.0,
                    kind: Kind::Hermite,
                    rows: &rows,
                    at_end: &[d],
                };
                let (mut low, mut high) = ([0.0], [0.0]);
                step.bounds(&mut low, &mut high);
                let all = [a, b, c, d];
                let least =
                    all.iter().fold(f64::INFINITY, |m, x| m.min(*x)) - further.abs() / 16.0;
                let most =
                    all.iter().fold(-f64::INFINITY, |m, x| m.max(*x)) + further.abs() / 16.0;
                // Half of the width is room on each side.
                let room = 0.5 * (most - least);
                let off = (low[0] - least + room).abs().max((high[0] - most - room).abs());
                assert!(off < 1e-14, "{all:?} {further}: {low:?} {high:?}");
            }
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
