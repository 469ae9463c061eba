//! The Taylor method on systems that give their coefficients.

use pfaff_solver::{
    EvalError, EventKind, Method, OdeOptions, StopReason, System, TaylorSeries, Trajectory,
    integrate,
};

/// $\dot y = \omega (y_2, -y_1)$, whose coefficients are those of sine and cosine.
struct Rotation {
    order: usize,
    watches: Vec<EventKind>,
}

impl TaylorSeries for Rotation {
    fn coefficients(&mut self, at: &[f64], rows: &mut [f64]) -> Result<(), EvalError> {
        assert_eq!(
            (at.len(), rows.len()),
            (5, 2 * self.order),
            "time, state, and what rounding took"
        );
        let (mut x, mut y) = (at[1] + at[3], at[2] + at[4]);
        for (k, row) in rows.chunks_exact_mut(2).enumerate() {
            let k = (k + 1) as f64;
            (x, y) = (y / k, -x / k);
            row.copy_from_slice(&[x, y]);
        }
        Ok(())
    }
}

impl System for Rotation {
    fn dimension(&self) -> usize {
        2
    }

    fn rates(&mut self, _t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates.copy_from_slice(&[y[1], -y[0]]);
        Ok(())
    }

    fn has_invariants(&self) -> bool {
        false
    }

    fn taylor_series(&mut self) -> Option<&mut dyn TaylorSeries> {
        Some(self)
    }

    fn events(&self) -> &[EventKind] {
        &self.watches
    }

    fn event_values(
        &mut self,
        _t: f64,
        y: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        values[0] = y[0];
        Ok(())
    }
}

fn rotation(tolerance: f64, watches: Vec<EventKind>) -> (Rotation, OdeOptions) {
    let order = pfaff_solver::taylor_order(tolerance);
    let options =
        OdeOptions { t1: 100.0, tolerance, method: Method::Taylor, ..OdeOptions::default() };
    (Rotation { order, watches }, options)
}

#[test]
fn long_steps_follow_a_circle_to_rounding() {
    let (mut system, options) = rotation(1e-14, Vec::new());
    let mut trajectory = Trajectory::default();
    let outcome = integrate(&mut system, &[0.0, 1.0], &options, &mut trajectory);
    assert_eq!(outcome.stop, StopReason::End);
    let statistics = outcome.statistics;
    // A radian and more a step; for each one expansion and two looks at the rates within. Their rounding is
    // measured twice, by five evaluations, and three give the scales.
    assert!(
        statistics.steps < 70 && statistics.evaluations <= 3 * statistics.steps + 14,
        "{statistics:?}"
    );
    for i in 0..=200 {
        let t = 0.5 * f64::from(i);
        let y = trajectory.state(t).expect("within the run");
        // Some sixty steps, each with an error of some 1e-15.
        assert!(
            (y[0] - libm::sin(t)).abs() < 1e-13 && (y[1] - libm::cos(t)).abs() < 1e-13,
            "{t} {y:?}"
        );
    }
}

#[test]
fn events_are_found_on_the_series_itself() {
    let stop = EventKind { stop: true, ..EventKind::default() };
    let (mut system, options) = rotation(1e-12, vec![stop]);
    let outcome = integrate(&mut system, &[0.0, 1.0], &options, &mut ());
    assert_eq!(outcome.stop, StopReason::Event(0));
    assert!((outcome.t - std::f64::consts::PI).abs() < 1e-12, "{}", outcome.t);
}

#[test]
fn systems_without_coefficients_are_refused() {
    let options = OdeOptions { method: Method::Taylor, ..OdeOptions::default() };
    let outcome =
        integrate(&mut super::systems::kepler(), &[1.0, 0.0, 0.0, 1.0], &options, &mut ());
    assert_eq!((outcome.stop, outcome.t), (StopReason::NotFinite, 0.0));
}
