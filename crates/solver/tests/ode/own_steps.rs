//! Steps that a system carries out itself, with quadratures beside them.

use pfaff_solver::{EvalError, Method, OdeOptions, OwnSteps, System, Trajectory, integrate};

/// ẍ = −x by leapfrog steps (kick, drift, kick); ∫ t x dt and ∫ ẋ² dt are carried along.
struct Leapfrog;

impl System for Leapfrog {
    fn dimension(&self) -> usize {
        4
    }

    fn controlled(&self) -> usize {
        2
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates.copy_from_slice(&[y[1], -y[0], t * y[0], y[1] * y[1]]);
        Ok(())
    }

    fn own_steps(&mut self) -> Option<&mut dyn OwnSteps> {
        Some(self)
    }
}

impl OwnSteps for Leapfrog {
    fn step(&mut self, _t: f64, h: f64, y: &[f64], end: &mut [f64]) -> Result<(), EvalError> {
        let half = y[1] - 0.5 * h * y[0];
        end[0] = y[0] + h * half;
        end[1] = half - 0.5 * h * end[0];
        // What it writes elsewhere does not count.
        end[2] = f64::NAN;
        Ok(())
    }
}

/// The steps are the system's, the quadratures trapezoids over them, and between the ends there is the cubic of both.
#[test]
fn quadratures_beside_own_steps_are_trapezoids() {
    let (t0, h, count) = (0.3, 0.125, 8);
    for h in [h, -h] {
        let options = OdeOptions {
            t0,
            t1: t0 + f64::from(count) * h,
            method: Method::Own,
            step: Some(h.abs()),
            ..OdeOptions::default()
        };
        let mut trajectory = Trajectory::default();
        let start = [1.0, 0.4, 2.0, -3.0];
        let outcome = integrate(&mut Leapfrog, &start, &options, &mut trajectory);
        let mut y = start;
        for k in 0..count {
            let t = t0 + f64::from(k) * h;
            let half = y[1] - 0.5 * h * y[0];
            let x = y[0] + h * half;
            let v = half - 0.5 * h * x;
            let middle = trajectory.step_at(t + 0.5 * h).expect("it is on the way");
            let mut found = [0.0; 4];
            middle.state(t + 0.5 * h, &mut found);
            // The cubic of values and rates at both ends, in the middle.
            let cubic = 0.5 * (y[0] + x) + 0.125 * h * (y[1] - v);
            assert!((found[0] - cubic).abs() < 1e-15, "{h} {k}: {} {cubic}", found[0]);
            y[2] += 0.5 * h * (t * y[0] + (t + h) * x);
            y[3] += 0.5 * h * (y[1] * y[1] + v * v);
            (y[0], y[1]) = (x, v);
        }
        // Some roundings in each of eight steps.
        let off = outcome.y.iter().zip(&y).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-14, "{h}: {:?} {y:?}", outcome.y);
    }
}
