//! Equations that do not contain time do not know when a run begins, nor which way it goes: the same motion and the
//! same events, in as many steps, from zero, later, earlier and backward.

use pfaff_solver::{
    Crossing, EvalError, EventKind, Method, OdeOptions, Outcome, StopReason, System,
    TaylorSeries, Trajectory, integrate,
};

/// Rates, and functions that are watched, of the state; written the other way round, so that a run backward in time is
/// the same motion.
struct Autonomous {
    rates: fn(&[f64], &mut [f64]),
    dimension: usize,
    watched: fn(&[f64], &mut [f64]),
    kinds: Vec<EventKind>,
    direction: f64,
    order: usize,
}

impl System for Autonomous {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn rates(&mut self, _t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        (self.rates)(y, rates);
        rates.iter_mut().for_each(|rate| *rate *= self.direction);
        Ok(())
    }

    fn has_invariants(&self) -> bool {
        false
    }

    fn events(&self) -> &[EventKind] {
        &self.kinds
    }

    fn event_values(
        &mut self,
        _t: f64,
        y: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        (self.watched)(y, values);
        Ok(())
    }

    fn taylor_series(&mut self) -> Option<&mut dyn TaylorSeries> {
        (self.order > 0).then_some(self)
    }
}

/// Of the oscillator.
impl TaylorSeries for Autonomous {
    fn coefficients(&mut self, at: &[f64], rows: &mut [f64]) -> Result<(), EvalError> {
        let (mut x, mut v) = (at[1] + at[3], at[2] + at[4]);
        for (k, row) in rows.chunks_exact_mut(2).enumerate() {
            let k = (k + 1) as f64;
            (x, v) = (self.direction * v / k, -self.direction * x / k);
            row.copy_from_slice(&[x, v]);
        }
        Ok(())
    }
}

fn oscillator(y: &[f64], rates: &mut [f64]) {
    rates.copy_from_slice(&[y[1], -y[0]]);
}

fn kepler(y: &[f64], rates: &mut [f64]) {
    let r = libm::hypot(y[0], y[1]);
    rates.copy_from_slice(&[y[2], y[3], -y[0] / (r * r * r), -y[1] / (r * r * r)]);
}

/// Van der Pol's oscillator, which is stiff for most of the time.
fn relaxing(y: &[f64], rates: &mut [f64]) {
    rates.copy_from_slice(&[y[1], 200.0 * ((1.0 - y[0] * y[0]) * y[1]) - y[0]]);
}

/// A crossing, a pair that is close together, a near miss, a product and a pole.
fn five(y: &[f64], g: &mut [f64]) {
    g[0] = y[0] - 0.3;
    g[1] = (y[1] - 0.1) * (y[1] - 0.100_3);
    g[2] = y[0] * y[0] + 1e-4;
    g[3] = y[0] * y[1] + 0.1;
    g[4] = y[1] / (y[0] + 0.4);
}

fn none(_: &[f64], _: &mut [f64]) {}

struct Found {
    outcome: Outcome,
    events: Vec<(usize, f64, Crossing)>,
    steps: Vec<f64>,
}

fn run(
    system: &mut Autonomous,
    y0: &[f64],
    options: OdeOptions,
    t0: f64,
    length: f64,
) -> Found {
    system.direction = length.signum();
    let options = OdeOptions { t0, t1: t0 + length, ..options };
    let mut trajectory = Trajectory::default();
    let outcome = integrate(system, y0, &options, &mut trajectory);
    let since = |t: f64| (t - t0) * length.signum();
    let events =
        trajectory.events().iter().map(|(e, _)| (e.index, since(e.t), e.crossing)).collect();
    let steps = trajectory.steps().iter().map(|s| since(s.as_step().end())).collect();
    Found { outcome, events, steps }
}

/// Compares runs from several times with the one from zero.
fn check(system: &mut Autonomous, y0: &[f64], options: OdeOptions, length: f64, accuracy: f64) {
    let usual = run(system, y0, options, 0.0, length);
    assert_eq!(usual.outcome.stop, StopReason::End);
    let what = format!("{:?}", options.method);
    for (t0, length) in
        [(256.0, length), (-256.0, length), (0.0, -length), (256.0, -length), (-256.0, -length)]
    {
        let other = run(system, y0, options, t0, length);
        let what = format!("{what} {t0} {length}");
        assert_eq!(other.outcome.stop, StopReason::End, "{what}");
        for (a, b) in other.outcome.y.iter().zip(&usual.outcome.y) {
            assert!((a - b).abs() < accuracy, "{what}: {a} {b}");
        }
        assert_eq!(
            other.events.len(),
            usual.events.len(),
            "{what}: {:?} {:?}",
            other.events,
            usual.events
        );
        for (a, b) in other.events.iter().zip(&usual.events) {
            assert_eq!((a.0, a.2), (b.0, b.2), "{what}");
            assert!((a.1 - b.1).abs() < accuracy, "{what}: {a:?} {b:?}");
        }
        // Time is rounded to 6e-14 there, so that a step at the edge may fall on the other side, and a search for an
        // event may take another way.
        let (ours, theirs) = (other.outcome.statistics, usual.outcome.statistics);
        let near = |a: usize, b: usize, share: usize| a.abs_diff(b) <= 2 + b / share;
        assert!(near(ours.steps, theirs.steps, 50), "{what}: {ours:?} {theirs:?}");
        assert!(near(ours.rejected, theirs.rejected, 10), "{what}: {ours:?} {theirs:?}");
        assert!(near(ours.evaluations, theirs.evaluations, 5), "{what}: {ours:?} {theirs:?}");
        for (a, b) in other.steps.iter().zip(&usual.steps).take(20) {
            assert!((a - b).abs() < 1e-3 * b, "{what}: a step ends at {a} and not at {b}");
        }
        let pairs = other.outcome.scales.iter().zip(&usual.outcome.scales);
        for (a, b) in pairs {
            assert!((a - b).abs() <= 0.3 * b, "{what}: {a} {b}");
        }
    }
}

fn autonomous(rates: fn(&[f64], &mut [f64]), dimension: usize) -> Autonomous {
    let (watched, kinds) = (none as fn(&[f64], &mut [f64]), Vec::new());
    Autonomous { rates, dimension, watched, kinds, direction: 1.0, order: 0 }
}

#[test]
fn explicit_motions_do_not_know_when_they_begin() {
    let options = OdeOptions { tolerance: 1e-11, ..OdeOptions::default() };
    let mut system = autonomous(oscillator, 2);
    (system.watched, system.kinds) = (five, vec![EventKind::default(); 5]);
    check(&mut system, &[1.1, 0.3], options, 12.0, 2e-10);
    let rk4 = OdeOptions { method: Method::Rk4, ..options };
    check(&mut system, &[1.1, 0.3], rk4, 12.0, 2e-10);
    let mut system = autonomous(kepler, 4);
    (system.watched, system.kinds) = (five, vec![EventKind::default(); 5]);
    check(&mut system, &[0.4, 0.0, 0.0, 2.0], options, 7.0, 2e-8);
}

#[test]
fn series_do_not_know_when_they_begin() {
    let tolerance = 1e-12;
    let options = OdeOptions { tolerance, method: Method::Taylor, ..OdeOptions::default() };
    let mut system = autonomous(oscillator, 2);
    system.order = pfaff_solver::taylor_order(tolerance);
    (system.watched, system.kinds) = (five, vec![EventKind::default(); 5]);
    check(&mut system, &[1.1, 0.3], options, 12.0, 2e-10);
}

#[test]
fn stiff_motions_do_not_know_when_they_begin() {
    let start = [2.0, -0.001];
    for (method, tolerance) in [(Method::Radau, 1e-9), (Method::Rosenbrock, 1e-6)] {
        let options = OdeOptions { tolerance, method, ..OdeOptions::default() };
        check(&mut autonomous(relaxing, 2), &start, options, 60.0, 1e3 * tolerance);
    }
    // Beginning with explicit steps, until they are limited by stability.
    let options =
        OdeOptions { tolerance: 1e-9, watches_stiffness: true, ..OdeOptions::default() };
    check(&mut autonomous(relaxing, 2), &start, options, 60.0, 1e-6);
}

/// Steps of a given length are counted by what is left, and not by what time it is.
#[test]
fn many_fixed_steps_late_are_no_crawl() {
    let mut system = autonomous(oscillator, 2);
    for (t0, sign) in [(1e9, 1.0), (-1e9, 1.0), (1e9, -1.0)] {
        let options = OdeOptions {
            method: Method::Rk4,
            step: Some(1.0 / 1024.0),
            ..OdeOptions::default()
        };
        let found = run(&mut system, &[1.0, 0.0], options, t0, sign * 24.0);
        assert_eq!(found.outcome.stop, StopReason::End, "{t0}");
        assert_eq!(found.outcome.statistics.steps, 24 * 1024);
        // A thousandth of the run where no step is given.
        let options = OdeOptions { step: None, ..options };
        let found = run(&mut system, &[1.0, 0.0], options, t0, sign * 8.0);
        assert_eq!(found.outcome.statistics.steps, 1000, "{t0}");
    }
}
