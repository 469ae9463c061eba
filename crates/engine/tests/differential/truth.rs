//! The independent truth: equations of motion written by hand, integrated slowly.
//!
//! Gragg's modified midpoint rule with extrapolation (Bulirsch and Stoer 1966); a cap, the estimated error and the
//! width of known features bound its steps. Every switch of the right-hand side is located by bisection, and a new
//! step begins there. Nothing of this is the engine's.

use super::formula::{Found, Reading};

/// The rates of change of a state.
pub(crate) type Rates = Box<dyn Fn(&mut Reading<'_>, &[f64], &mut [f64])>;
/// What the model shows of a state: coordinates, then velocities.
pub(crate) type Shown = Box<dyn Fn(f64, &[f64]) -> Vec<f64>>;

/// A motion to be computed.
pub(crate) struct Hand {
    pub(crate) rates: Rates,
    pub(crate) shown: Shown,
    pub(crate) start: Vec<f64>,
    pub(crate) span: f64,
}

/// How finely it is computed.
#[derive(Clone, Copy)]
pub(crate) struct Fineness {
    pub(crate) tolerance: f64,
    pub(crate) columns: usize,
    /// The longest step is the span divided by this.
    pub(crate) parts: f64,
    pub(crate) evaluations: usize,
}

/// A change of the motion, by which its sensitivity is measured.
#[derive(Clone, Copy, Default)]
pub(crate) struct Change {
    /// When, as a part of the span, and by which part of its scale each component moves.
    pub(crate) at: f64,
    pub(crate) by: f64,
    /// Added to the time in the equations.
    pub(crate) shift: f64,
}

pub(crate) struct Outcome {
    /// What the model shows at the end, and the largest magnitude of each on the way.
    pub(crate) end: Vec<f64>,
    pub(crate) largest: Vec<f64>,
    /// The largest rate of change of each on the way.
    pub(crate) fastest: Vec<f64>,
}

/// Why there is no truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unknown {
    /// It would take too long.
    Long,
    /// The motion stays on a switch, or touches it.
    Held,
    /// Something is not finite.
    Infinite,
    /// Two finenesses do not agree, or a small change makes a large difference.
    Sensitive,
}

struct Walk<'a> {
    hand: &'a Hand,
    fineness: Fineness,
    shift: f64,
    sides: Vec<bool>,
    evaluations: usize,
}

/// The motion to its end.
pub(crate) fn motion(
    hand: &Hand,
    fineness: Fineness,
    change: Change,
) -> Result<Outcome, Unknown> {
    let mut walk =
        Walk { hand, fineness, shift: change.shift, sides: Vec::new(), evaluations: 0 };
    let mut y = hand.start.clone();
    let mut lost = vec![0.0; y.len()];
    let mut scale: Vec<f64> = y.iter().map(|v| v.abs().max(1e-2)).collect();
    walk.begin(&y)?;
    let mut before = (hand.shown)(0.0, &y);
    let mut largest: Vec<f64> = before.iter().map(|v| v.abs()).collect();
    let mut fastest = vec![0.0_f64; before.len()];
    let longest = hand.span / fineness.parts;
    let (mut t, mut h) = (0.0, longest * 1e-3);
    let mut changed = change.by == 0.0;
    while t < hand.span {
        let place = change.at * hand.span;
        let goal = if changed || place <= t { hand.span } else { place };
        let last = h >= goal - t;
        h = h.min(goal - t);
        let (rise, error) = walk.step(t, &y, h, &scale);
        if !error.is_finite() && h < 1e-12 * hand.span {
            return Err(Unknown::Infinite);
        }
        if walk.evaluations > fineness.evaluations {
            return Err(Unknown::Long);
        }
        let next = added(&y, &rise);
        // The rounding of one step: what is left then cannot be made smaller.
        let floor = h <= 1e-9 * hand.span;
        if !(error <= fineness.tolerance || floor) || !walk.sees(t, &y, h, &next) {
            h *= if error.is_finite() { 0.5 } else { 0.1 };
            if h < 1e-14 * hand.span {
                return Err(Unknown::Held);
            }
            continue;
        }
        let (step, rise) = match walk.crossing(t, &y, h, &next, &scale) {
            Some(crossing) => crossing,
            None => (h, rise),
        };
        let crossed = step < h || walk.differs(t + step, &added(&y, &rise));
        // Compensated sums: the rounding of a thousand steps is that of one.
        for ((value, lost), rise) in y.iter_mut().zip(&mut lost).zip(&rise) {
            let term = rise - *lost;
            let total = *value + term;
            *lost = (total - *value) - term;
            *value = total;
        }
        t = if last && step == h { goal } else { t + step };
        if crossed {
            walk.change_sides(t, &y)?;
        }
        if !changed && t >= place {
            changed = true;
            for (i, (value, scale)) in y.iter_mut().zip(&scale).enumerate() {
                *value += change.by * scale * [1.0, -0.7, 0.4, 0.9, -0.5][i % 5];
            }
            walk.begin_at(t, &y)?;
        }
        if y.iter().any(|v| v.is_nan() || v.abs() > 1e9) {
            return Err(Unknown::Infinite);
        }
        for (scale, value) in scale.iter_mut().zip(&y) {
            *scale = scale.max(value.abs());
        }
        let now = (hand.shown)(t, &y);
        for i in 0..now.len() {
            largest[i] = largest[i].max(now[i].abs());
            // A step that ends at a switch may be too short for a quotient.
            if step > 1e-9 * hand.span {
                fastest[i] = fastest[i].max((now[i] - before[i]).abs() / step);
            }
        }
        before = now;
        let order = (2 * fineness.columns - 1) as f64;
        let factor = 0.8 * libm::pow(fineness.tolerance / error.max(1e-300), 1.0 / order);
        h = (h * factor.clamp(0.3, 3.0)).min(longest);
        if crossed {
            h = h.min(longest * 0.1);
        }
    }
    Ok(Outcome { end: before, largest, fastest })
}

fn added(y: &[f64], rise: &[f64]) -> Vec<f64> {
    y.iter().zip(rise).map(|(a, b)| a + b).collect()
}

impl Walk<'_> {
    fn rates(&mut self, t: f64, y: &[f64], into: &mut [f64]) {
        self.evaluations += 1;
        let mut reading = Reading::new(t + self.shift, &self.sides, None);
        (self.hand.rates)(&mut reading, y, into);
    }

    /// Switches, features and rates under the present sides.
    fn found(&self, t: f64, y: &[f64]) -> (Found, Vec<f64>) {
        let (mut found, mut rates) = (Found::default(), vec![0.0; y.len()]);
        let mut reading = Reading::new(t + self.shift, &self.sides, Some(&mut found));
        (self.hand.rates)(&mut reading, y, &mut rates);
        (found, rates)
    }

    /// Switches and features with their rates of change along the motion.
    fn moving(&self, t: f64, y: &[f64]) -> (Found, Found) {
        let (found, rates) = self.found(t, y);
        let δ = 1e-7 * self.hand.span.min(1.0);
        let ahead: Vec<f64> = y.iter().zip(&rates).map(|(y, r)| y + δ * r).collect();
        let (mut speed, _) = self.found(t + δ, &ahead);
        for (speed, value) in speed.switches.iter_mut().zip(&found.switches) {
            *speed = (*speed - value) / δ;
        }
        for (speed, value) in speed.features.iter_mut().zip(&found.features) {
            speed[0] = (speed[0] - value[0]) / δ;
        }
        (found, speed)
    }

    fn begin(&mut self, y: &[f64]) -> Result<(), Unknown> {
        self.begin_at(0.0, y)
    }

    /// Sides by the signs of the switches; where one is zero, by where it goes.
    fn begin_at(&mut self, t: f64, y: &[f64]) -> Result<(), Unknown> {
        self.sides.clear();
        let (found, _) = self.found(t, y);
        self.sides = found.switches.iter().map(|s| *s > 0.0).collect();
        for i in (0..found.switches.len()).filter(|i| found.switches[*i] == 0.0) {
            self.sides[i] = true;
            let up = self.moving(t, y).1.switches[i];
            self.sides[i] = up > 0.0;
            let again = self.moving(t, y).1.switches[i];
            if up == 0.0 || again == 0.0 || (again > 0.0) != self.sides[i] {
                return Err(Unknown::Held);
            }
        }
        Ok(())
    }

    fn differs(&self, t: f64, y: &[f64]) -> bool {
        let (found, _) = self.found(t, y);
        found.switches.iter().zip(&self.sides).any(|(s, side)| (*s > 0.0) != *side && *s != 0.0)
    }

    /// The sides after a crossing; a motion that would go back at once is held there.
    fn change_sides(&mut self, t: f64, y: &[f64]) -> Result<(), Unknown> {
        let (before, _) = self.found(t, y);
        let old = self.sides.clone();
        self.sides = before.switches.iter().map(|s| *s > 0.0).collect();
        let (after, speed) = self.moving(t, y);
        for (i, old) in old.iter().enumerate() {
            let (side, rate) = (self.sides[i], speed.switches[i]);
            let agrees = (after.switches[i] > 0.0) == side;
            if side != *old && (!agrees || (rate > 0.0) != side || rate == 0.0) {
                return Err(Unknown::Held);
            }
        }
        Ok(())
    }

    /// Whether a step sees every narrow feature, and no switch comes and goes within it.
    fn sees(&self, t: f64, y: &[f64], h: f64, next: &[f64]) -> bool {
        let ((a, da), (b, db)) = (self.moving(t, y), self.moving(t + h, next));
        let features =
            a.features.iter().zip(&b.features).zip(da.features.iter().zip(&db.features));
        let wide = features.into_iter().all(|((a, b), (da, db))| {
            let apart = if a[0] * b[0] > 0.0 { a[0].abs().min(b[0].abs()) } else { 0.0 };
            h * (da[0].abs() + db[0].abs()) <= 0.5 * apart.max(a[1])
        });
        wide && (0..a.switches.len()).all(|i| {
            let (s0, s1) = (a.switches[i], b.switches[i]);
            let (d0, d1) = (h * da.switches[i], h * db.switches[i]);
            s0 * s1 <= 0.0
                || (1..16).all(|k| {
                    let u = f64::from(k) / 16.0;
                    let cubic = s0 * (1.0 + 2.0 * u) * (1.0 - u) * (1.0 - u)
                        + s1 * u * u * (3.0 - 2.0 * u)
                        + d0 * u * (1.0 - u) * (1.0 - u)
                        - d1 * u * u * (1.0 - u);
                    cubic * s0 > 0.0
                })
        })
    }

    /// The shortest step after which a switch is on its other side, if this one is.
    fn crossing(
        &mut self,
        t: f64,
        y: &[f64],
        h: f64,
        next: &[f64],
        scale: &[f64],
    ) -> Option<(f64, Vec<f64>)> {
        if !self.differs(t + h, next) {
            return None;
        }
        let (mut low, mut high) = (0.0, h);
        let mut best = self.step(t, y, h, scale).0;
        while high - low > 1e-15 * self.hand.span.min(1.0) {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            let rise = self.step(t, y, middle, scale).0;
            if self.differs(t + middle, &added(y, &rise)) {
                (high, best) = (middle, rise);
            } else {
                low = middle;
            }
        }
        Some((high, best))
    }

    /// One step: the rise of the state, and the estimated error in parts of the scale.
    fn step(&mut self, t: f64, y: &[f64], h: f64, scale: &[f64]) -> (Vec<f64>, f64) {
        let (n, columns) = (y.len(), self.fineness.columns);
        let mut first = vec![0.0; n];
        self.rates(t, y, &mut first);
        // Of each number of parts the best extrapolation that begins there.
        let mut table: Vec<Vec<f64>> = Vec::with_capacity(columns);
        let mut error = f64::INFINITY;
        for k in 0..columns {
            let parts = 2 * (k + 1);
            let mut best = self.midpoint(t, y, h, parts, &first);
            table.push(best.clone());
            for j in (0..k).rev() {
                // Aitken and Neville, in powers of the squared step.
                let ratio = (k + 1) as f64 / (j + 1) as f64;
                error = 0.0;
                for i in 0..n {
                    let correction = (best[i] - table[j][i]) / (ratio * ratio - 1.0);
                    best[i] += correction;
                    table[j][i] = best[i];
                    error = f64::max(error, (correction / scale[i]).abs());
                }
            }
        }
        let end = table.swap_remove(0);
        if end.iter().any(|v| !v.is_finite()) {
            error = f64::INFINITY;
        }
        (end, error)
    }

    /// The rise over a step by the modified midpoint rule.
    fn midpoint(&mut self, t: f64, y: &[f64], h: f64, parts: usize, first: &[f64]) -> Vec<f64> {
        let n = y.len();
        let δ = h / parts as f64;
        let mut before = vec![0.0; n];
        let mut now: Vec<f64> = first.iter().map(|r| δ * r).collect();
        let mut rates = vec![0.0; n];
        for k in 1..parts {
            self.rates(t + k as f64 * δ, &added(y, &now), &mut rates);
            for i in 0..n {
                let next = before[i] + 2.0 * δ * rates[i];
                before[i] = std::mem::replace(&mut now[i], next);
            }
        }
        now
    }
}
