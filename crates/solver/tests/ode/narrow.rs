//! What is narrower than a step: bumps in the rates and dips of event functions, told by their phases.

use pfaff_solver::{
    Direction, EvalError, EventKind, OdeOptions, Outcome, StopReason, System, Trajectory,
    integrate,
};

/// ẏ = cos t + A exp(−((t − c)/ε)²).
struct Bump {
    centre: f64,
    width: f64,
    height: f64,
}

impl System for Bump {
    fn dimension(&self) -> usize {
        1
    }

    fn rates(&mut self, t: f64, _y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let s = (t - self.centre) / self.width;
        rates[0] = libm::cos(t) + self.height * libm::exp(-s * s);
        Ok(())
    }

    fn feature_count(&self) -> usize {
        1
    }

    fn feature_phases(&mut self, t: f64, _y: &[f64], phases: &mut [f64]) {
        // About one for each halving of the distance, down to the width.
        phases[0] = libm::log2(libm::hypot(t - self.centre, self.width));
    }
}

fn run(bump: &mut Bump, t0: f64, t1: f64) -> Outcome {
    let options = OdeOptions { t0, t1, tolerance: 1e-9, ..OdeOptions::default() };
    integrate(bump, &[1.0], &options, &mut ())
}

/// The integral of the bump is A ε √π, wherever it lies: steps of a run that knows no phases are longer than it by far.
#[test]
fn narrow_bumps_are_not_stepped_over() {
    let root = std::f64::consts::PI.sqrt();
    for (t0, t1) in [(0.0, 10.0), (30.0, 40.0), (-4.0, -14.0), (-6.0, 5.0)] {
        let mut most = 0;
        for k in 0..40 {
            let centre = t0 + (t1 - t0) * (0.02 + 0.96 * f64::from(k) / 39.0);
            for width in [1e-2, 1e-4] {
                let mut bump = Bump { centre, width, height: 1.0 / width };
                let outcome = run(&mut bump, t0, t1);
                assert_eq!(outcome.stop, StopReason::End);
                let bumped = if t1 > t0 { root } else { -root };
                let expected = 1.0 + libm::sin(t1) - libm::sin(t0) + bumped;
                let off = (outcome.y[0] - expected).abs();
                // Stepped over, all of it is lost: 1.8.
                assert!(off < 1e-2, "{t0} {centre} {width}: {off:e}");
                assert!(outcome.has_features);
                most = most.max(outcome.statistics.evaluations);
            }
        }
        // Steps down to the width and up again; about 1200 evaluations.
        assert!(most < 1300, "{t0}: {most}");
    }
}

/// A phase that varies little costs nothing: the steps are those of a run that has none, but for the phases themselves.
#[test]
fn phases_far_away_cost_nothing() {
    for centre in [-300.0, 450.0] {
        let mut bump = Bump { centre, width: 1e-3, height: 1.0 };
        let with = run(&mut bump, 100.0, 110.0);
        assert!(!with.has_features, "{centre}");
        // As many as for the cosine alone.
        assert!(with.statistics.evaluations < 260, "{:?}", with.statistics);
    }
}

/// Time alone, and an event function 1 − 1.5 exp(−((t − c)/ε)²) whose phase is 3 on one side and −3 on the other.
struct Dip {
    centre: f64,
    width: f64,
}

impl System for Dip {
    fn dimension(&self) -> usize {
        1
    }

    fn rates(&mut self, _t: f64, _y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates[0] = 1.0;
        Ok(())
    }

    fn events(&self) -> &[EventKind] {
        const BOTH: EventKind =
            EventKind { direction: Direction::Both, stop: false, jump: false, barrier: false };
        &[BOTH]
    }

    fn event_phases(&self) -> &[usize] {
        &[0]
    }

    fn event_values(
        &mut self,
        t: f64,
        _y: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let s = (t - self.centre) / self.width;
        values[0] = 1.0 - 1.5 * libm::exp(-s * s);
        values[1] = 3.0 * libm::tanh(s);
        Ok(())
    }
}

/// Zeros at c ± ε √(ln 1.5), between points at which the function is the same.
#[test]
fn dips_between_points_are_seen_by_their_phase() {
    for k in 0..60 {
        let t0 = f64::from(k % 3) * 20.0 - 20.0;
        let centre = t0 + 1.0 + 8.0 * f64::from(k) / 59.0;
        for width in [0.1, 1e-2, 1e-3] {
            let mut dip = Dip { centre, width };
            let options = OdeOptions { t0, t1: t0 + 10.0, ..OdeOptions::default() };
            let mut trajectory = Trajectory::default();
            let outcome = integrate(&mut dip, &[t0], &options, &mut trajectory);
            assert_eq!(outcome.stop, StopReason::End);
            let found: Vec<f64> = trajectory.events().iter().map(|(e, _)| e.t).collect();
            let half = width * libm::log(1.5).sqrt();
            let expected = [centre - half, centre + half];
            assert_eq!(found.len(), 2, "{centre} {width}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-11, "{width}: {found} {expected}");
            }
        }
    }
}
