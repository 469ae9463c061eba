//! Splines over the state: steps end where a place is a whole number, and nowhere is a knot stepped over.

use pfaff_solver::{EvalError, OdeOptions, System, Trajectory, integrate};

/// A curve that has a kink at every whole number, and what its integral is from zero on.
fn bump(p: f64) -> f64 {
    let s = p - p.floor();
    s * (1.0 - s)
}

fn integral_of_bump(p: f64) -> f64 {
    let s = p - p.floor();
    p.floor() / 6.0 + s * s * (0.5 - s / 3.0)
}

/// ẋ = −x, ż = s(p) ṗ with the places p = 5 − 4x and, the other way, 3x; the rates have breaks in time as well.
struct Spline {
    breaks: Vec<f64>,
}

fn place(x: f64) -> f64 {
    5.0 - 4.0 * x
}

impl System for Spline {
    fn dimension(&self) -> usize {
        3
    }

    fn rates(&mut self, _t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let x = y[0];
        rates.copy_from_slice(&[-x, 4.0 * x * bump(place(x)), -3.0 * x * bump(3.0 * x)]);
        Ok(())
    }

    fn knot_count(&self) -> usize {
        2
    }

    fn knot_places(&mut self, _t: f64, y: &[f64], places: &mut [f64]) {
        places.copy_from_slice(&[place(y[0]), 3.0 * y[0]]);
    }

    fn next_break(&self, t: f64, t1: f64) -> Option<f64> {
        let mut ahead: Vec<f64> =
            self.breaks.iter().copied().filter(|b| (b - t) * (t1 - t) > 0.0).collect();
        ahead.sort_by(|a, b| (a - t).abs().total_cmp(&(b - t).abs()));
        ahead.first().copied()
    }
}

/// The whole run from t₀ to t₁, with $x = e^{t_0 - t}$ times its start.
fn run(t0: f64, t1: f64, start: f64, breaks: &[f64]) -> (Vec<f64>, usize) {
    let options = OdeOptions { t0, t1, tolerance: 1e-11, ..OdeOptions::default() };
    let mut trajectory = Trajectory::default();
    let mut system = Spline { breaks: breaks.to_vec() };
    let outcome = integrate(&mut system, &[start, 0.0, 0.0], &options, &mut trajectory);
    let mut ends: Vec<f64> =
        trajectory.steps().iter().map(|step| step.as_step().end()).collect();
    ends.insert(0, t0);
    let x = |t: f64| start * libm::exp(t0 - t);
    assert!((outcome.y[0] - x(t1)).abs() < 1e-10 * start.max(x(t1)), "{:?}", outcome.y);
    let expected = [
        integral_of_bump(place(x(t1))) - integral_of_bump(place(start)),
        integral_of_bump(3.0 * x(t1)) - integral_of_bump(3.0 * start),
    ];
    for (found, expected) in outcome.y[1..].iter().zip(expected) {
        // Some tens of steps, each good to the tolerance in parts of a size of about one.
        assert!((found - expected).abs() < 3e-10, "{t0} {t1}: {found} {expected}");
    }
    // Between the ends of a step no place passes a whole number, but by what rounding leaves.
    for pair in ends.windows(2) {
        for place in [place, |x| 3.0 * x] {
            let [a, b] = [pair[0], pair[1]].map(|t| place(x(t)));
            let (low, high) = (a.min(b) + 2e-6, a.max(b) - 2e-6);
            assert!(low.ceil() > high, "{t0} {t1}: a knot between {} and {}", pair[0], pair[1]);
        }
    }
    // The knots themselves are ends of steps.
    for whole in 1..=4 {
        for value in [(5.0 - f64::from(whole)) / 4.0, f64::from(whole) / 3.0] {
            let t = t0 + libm::log(start / value);
            let is_within = (t - t0) * (t - t1) < 0.0;
            let nearest = ends.iter().map(|end| (end - t).abs()).fold(f64::INFINITY, f64::min);
            // A place counts as whole up to 1e-6, and moves by about one in a unit of time, or less.
            assert!(!is_within || nearest < 2e-6, "{t0} {t1}: {t} is {nearest:e} away");
        }
    }
    for b in breaks.iter().filter(|b| (**b - t0) * (**b - t1) < 0.0) {
        assert!(ends.contains(b), "{t0} {t1}: {b} is no end of a step");
    }
    (ends, outcome.statistics.rejected)
}

#[test]
fn steps_end_at_knots() {
    for t0 in [0.0, 7.0, -3.0] {
        run(t0, t0 + 3.0, 1.24, &[]);
        run(t0, t0 - 2.0, 0.17, &[]);
    }
}

/// A knot behind a break waits for it, and the other way round.
#[test]
fn breaks_between_knots_are_ends_of_steps_too() {
    for t0 in [0.0, 7.0, -3.0] {
        let breaks: Vec<f64> = (1..20).map(|k| t0 + 0.17 * f64::from(k)).collect();
        run(t0, t0 + 3.0, 1.24, &breaks);
        let breaks: Vec<f64> = (1..20).map(|k| t0 - 0.13 * f64::from(k)).collect();
        run(t0, t0 - 2.0, 0.17, &breaks);
    }
}

/// Each knot costs a trial or two, not a search by ever shorter steps.
#[test]
fn a_knot_costs_little() {
    let (ends, rejected) = run(0.0, 3.0, 1.24, &[]);
    // Seven knots on the way, from each of which steps grow again.
    assert!(rejected <= 100 && ends.len() < 140, "{rejected} {}", ends.len());
}
