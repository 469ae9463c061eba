//! Systems with memory against closed forms: relaxation, a constraint's kind of index, order on singular starts, cost.

use pfaff_solver::{
    Halt, Kernel, MemoryObserver, MemoryOptions, MemorySystem, Operand, StopReason,
    integrate_memory,
};

/// $D^\alpha y = -y$, $y(0) = 1$, with $x = D^\alpha y$.
struct Relaxation(f64);

impl MemorySystem for Relaxation {
    fn unknowns(&self) -> usize {
        1
    }
    fn operands(&self) -> Vec<Operand> {
        let start = vec![(1.0, 0.0)];
        vec![Operand { unknown: 0, kernel: Kernel::Power(self.0), start, controlled: true }]
    }
    fn residual(&mut self, _t: f64, x: &[f64], z: &[f64], out: &mut [f64]) -> Result<(), Halt> {
        out[0] = x[0] + z[0];
        Ok(())
    }
    fn jacobian(
        &mut self,
        _at: (f64, &[f64], &[f64]),
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), Halt> {
        by_x[0] = 1.0;
        by_z[0] = 1.0;
        Ok(())
    }
}

/// $E_{1/2}(-\sqrt t) = e^t\,\mathrm{erfc}\sqrt t$
fn half(t: f64) -> f64 {
    libm::exp(t) * libm::erfc(t.sqrt())
}

struct Samples(Vec<(f64, f64)>);

impl MemoryObserver for Samples {
    fn sample(&mut self, t: f64, _x: &[f64], z: &[f64]) {
        self.0.push((t, z[0]));
    }
}

#[test]
fn relaxation_of_order_one_half_is_met_at_all_outputs() {
    let outputs = vec![1e-6, 0.01, 0.1, 1.0, 3.3, 10.0, 20.0];
    let options = MemoryOptions { t1: 20.0, outputs, ..MemoryOptions::default() };
    let mut samples = Samples(Vec::new());
    let outcome = integrate_memory(&mut Relaxation(0.5), &options, &mut samples);
    assert_eq!(outcome.stop, StopReason::End);
    assert_eq!(samples.0.len(), 7);
    println!("{} steps {} rejected", outcome.steps, outcome.rejected);
    for (t, y) in samples.0 {
        println!("{t} {:e}", y - half(t));
        // A few times the tolerance 1e-11 of a step.
        assert!((y - half(t)).abs() < 1e-10, "{t} {y} {}", half(t));
    }
}

#[test]
fn order_is_at_least_four_from_a_singular_start() {
    let error = |step: f64| {
        let options =
            MemoryOptions { step: Some(step), stages: 4, t1: 2.0, ..MemoryOptions::default() };
        let outcome = integrate_memory(&mut Relaxation(0.5), &options, &mut ());
        println!("{step} {} {:e}", outcome.steps, (outcome.z[0] - half(2.0)).abs());
        (outcome.z[0] - half(2.0)).abs()
    };
    let (coarse, fine) = (error(0.4), error(0.1));
    // Two halvings.
    assert!(libm::log2(coarse / fine) / 2.0 > 4.0, "{coarse:e} {fine:e}");
}

#[test]
fn twice_the_steps_are_twice_the_evaluations_and_no_more_storage() {
    let run = |step: f64| {
        let options =
            MemoryOptions { step: Some(step), stages: 3, t1: 10.0, ..MemoryOptions::default() };
        integrate_memory(&mut Relaxation(0.7), &options, &mut ())
    };
    let (one, two) = (run(0.01), run(0.005));
    assert_eq!(one.exponentials, two.exponentials);
    let ratio = two.evaluations as f64 / one.evaluations as f64;
    assert!(ratio < 2.2, "{ratio}");
}
