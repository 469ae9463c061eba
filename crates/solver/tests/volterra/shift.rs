//! The start of a run is no special time: a system that is shifted in time has the shifted motion.

use crate::volterra::systems::Duffing;
use pfaff_solver::{
    Control, Direction, EvalError, EventKind, LocatedEvent, Operand, StopReason,
    VolterraObserver, VolterraOptions, VolterraPoint, VolterraSystem, integrate_volterra,
};

/// What stands at $\tau + 0.3$ in one system stands at $t = s + \tau$ in this one, with a zero at $s + 1.1$ and a stop
/// at $s + 1.7$. It knows $\tau$ by $t$, or is told.
struct Later {
    shift: f64,
    is_told: bool,
    stops: [f64; 1],
    kinds: [EventKind; 1],
}

impl Later {
    fn new(shift: f64, is_told: bool) -> Self {
        let kind =
            EventKind { direction: Direction::Both, stop: false, jump: false, barrier: false };
        Self { shift, is_told, stops: [shift + 1.7], kinds: [kind] }
    }

    fn earlier<'a>(&self, at: VolterraPoint<'a>) -> VolterraPoint<'a> {
        let elapsed = if self.is_told { at.elapsed } else { at.t - self.shift };
        // NOTE: the force on these masses is even in time.
        VolterraPoint { t: elapsed + 0.3, ..at }
    }
}

impl VolterraSystem for Later {
    fn unknowns(&self) -> usize {
        Duffing.unknowns()
    }
    fn operands(&self) -> Vec<Operand> {
        Duffing.operands()
    }
    fn residual(&mut self, at: VolterraPoint<'_>, out: &mut [f64]) -> Result<(), EvalError> {
        Duffing.residual(self.earlier(at), out)
    }
    fn jacobian(
        &mut self,
        at: VolterraPoint<'_>,
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), EvalError> {
        Duffing.jacobian(self.earlier(at), by_x, by_z)
    }
    fn stops(&self) -> &[f64] {
        &self.stops
    }
    fn events(&self) -> &[EventKind] {
        &self.kinds
    }
    fn event_values(
        &mut self,
        at: VolterraPoint<'_>,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        values[0] = libm::sin(self.earlier(at).t - 1.4);
        Ok(())
    }
}

/// All times, and what holds at some of them.
#[derive(Default)]
struct Seen {
    times: Vec<f64>,
    values: Vec<f64>,
}

impl VolterraObserver for Seen {
    fn sample(&mut self, t: f64, x: &[f64], z: &[f64]) {
        self.times.push(t);
        self.values.extend(x.iter().chain(z));
    }
    fn step(&mut self, t: f64, _x: &[f64], _z: &[f64]) -> Control {
        self.times.push(t);
        Control::Continue
    }
    fn event(&mut self, event: &LocatedEvent, _x: &[f64], z: &[f64]) {
        self.times.push(event.t);
        self.values.extend(z);
    }
}

#[test]
fn a_shifted_system_has_the_shifted_motion() {
    let seen = |shift: f64, is_told: bool| {
        let outputs = [0.0, 0.01, 0.7, 1.7, 2.5, 4.0].map(|t| shift + t).to_vec();
        let (t0, t1) = (shift, shift + 4.0);
        let options = VolterraOptions { t0, t1, outputs, ..VolterraOptions::default() };
        let mut seen = Seen::default();
        let outcome = integrate_volterra(&mut Later::new(shift, is_told), &options, &mut seen);
        assert_eq!(outcome.stop, StopReason::End, "{shift}");
        (seen, outcome.steps)
    };
    let (first, steps) = seen(0.0, true);
    assert!(first.times.contains(&1.7) && first.times.iter().any(|t| (t - 1.1).abs() < 1e-11));
    for shift in [0.0, 8.0, -16.0] {
        let (later, as_many) = seen(shift, false);
        assert_eq!((later.times.len(), as_many), (first.times.len(), steps), "{shift}");
        for (a, b) in first.times.iter().zip(&later.times) {
            assert!((b - shift - a).abs() < 1e-6, "{shift}: {a} {b}");
        }
        for (a, b) in first.values.iter().zip(&later.values) {
            // A few times the tolerance of a step.
            assert!((a - b).abs() < 1e-8 * (1.0 + a.abs()), "{shift}: {a} {b}");
        }
    }
}

/// Stops when the time is not before `at`.
struct Stopping {
    at: f64,
    reached: f64,
}

impl VolterraObserver for Stopping {
    fn step(&mut self, t: f64, _x: &[f64], _z: &[f64]) -> Control {
        self.reached = t;
        if t >= self.at { Control::Stop } else { Control::Continue }
    }
}

/// A run that is stopped within is interrupted, and one that is stopped at its end has ended, whenever it began.
#[test]
fn a_run_that_is_stopped_at_its_end_has_ended() {
    for shift in [0.0, 8.0, -16.0] {
        let (t0, t1) = (shift, shift + 4.0);
        let stop = |at: f64| {
            let options = VolterraOptions { t0, t1, ..VolterraOptions::default() };
            let mut stopping = Stopping { at, reached: t0 };
            let outcome =
                integrate_volterra(&mut Later::new(shift, false), &options, &mut stopping);
            (outcome.stop, stopping.reached)
        };
        assert_eq!(stop(t1), (StopReason::End, t1), "{shift}");
        let (why, reached) = stop(shift + 1.0);
        assert_eq!(why, StopReason::Interrupted, "{shift}");
        assert!(reached < shift + 3.0, "{shift}: {reached}");
    }
}

/// Zeros are searched on the function itself, not on the polynomials of a step.
#[test]
fn zeros_are_right_to_rounding() {
    for shift in [0.0, 8.0, -16.0] {
        let (t0, t1) = (shift, shift + 4.0);
        let options = VolterraOptions { t0, t1, tolerance: 1e-5, ..VolterraOptions::default() };
        let mut seen = Seen::default();
        integrate_volterra(&mut Later::new(shift, false), &options, &mut seen);
        let off = seen.times.iter().map(|t| (t - shift - 1.1).abs()).fold(1.0, f64::min);
        // A few roundings of the time, and of the sine there.
        assert!(off <= 1e-14, "{shift}: {off:e}");
    }
}
