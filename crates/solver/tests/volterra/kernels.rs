//! General kernels: two roads to one motion, and closed forms.

use super::systems::{Remembering, Values};
use pfaff_solver::{
    DampedWave, DirectQuadrature, EvalError, Kernel, KernelResolution, Operand,
    VolterraObserver, VolterraOptions, VolterraPoint, VolterraStep, VolterraSystem,
    integrate_volterra,
};

struct Counted(DirectQuadrature, Values);

impl VolterraObserver for Counted {
    fn sample(&mut self, t: f64, _x: &[f64], z: &[f64]) {
        self.0.compare(t, z, &z[1..], &[]);
    }
    fn last(&mut self, t: f64, piece: &VolterraStep<'_>) {
        self.0.last(t, piece, &mut |_, t, s| (self.1)(t, s));
    }
    fn piece(&mut self, piece: &VolterraStep<'_>) {
        self.0.piece(piece, &mut |_, t, s| (self.1)(t, s));
    }
}

struct Found {
    y: f64,
    recounted: f64,
    steps: usize,
}

fn found(kernel: Kernel, values: Values, t1: f64) -> Found {
    let options =
        VolterraOptions { t1, outputs: vec![0.3 * t1, t1], ..VolterraOptions::default() };
    let mut system = Remembering { kernel, values };
    let recount = DirectQuadrature::new(
        system.operands(),
        vec![1],
        options.stages,
        0.0,
        &options.outputs,
    );
    let mut counted = Counted(recount, values);
    let outcome = integrate_volterra(&mut system, &options, &mut counted);
    let recounted = counted.0.worst().expect("the end was reached");
    Found { y: outcome.z[0], recounted, steps: outcome.steps }
}

/// One kernel by all roads that are open to it, at the end of a run.
fn agree(mu: f64, values: Values, steady: bool, waves: Option<Kernel>, t1: f64) -> f64 {
    let resolved = KernelResolution::new(mu, t1, steady, &[], &mut |t, s| values(t, s));
    assert!(resolved.is_some(), "the kernel is resolved");
    let blocks = found(Kernel::General(mu, resolved), values, t1);
    let direct = found(Kernel::General(mu, None), values, t1);
    // Ten times the tolerance 1e-11 of a step.
    assert!((blocks.y - direct.y).abs() < 1e-10, "{} {}", blocks.y, direct.y);
    assert!(blocks.recounted < 1e-12, "{:e}", blocks.recounted);
    assert!(direct.recounted < 1e-12, "{:e}", direct.recounted);
    if let Some(kernel) = waves {
        let waves = found(kernel, values, t1);
        assert!((blocks.y - waves.y).abs() < 1e-10, "{} {}", blocks.y, waves.y);
        assert!(waves.recounted < 1e-12, "{:e}", waves.recounted);
    }
    blocks.y
}

fn close(found: f64, exact: f64) {
    // Ten times the tolerance of a step.
    assert!((found - exact).abs() < 1e-10, "{found} {exact}");
}

/// Against Laplace inversion in extended precision, $Y = 1/(p + 1 + K(p))$.
#[test]
fn tempered_powers_agree_by_three_roads() {
    // s^{−1/2} e^{−s}
    let weight = [libm::tgamma(0.5), 0.0];
    let waves = Kernel::Waves(0.5, vec![DampedWave { weight, rate: [1.0, 0.0] }]);
    let y = agree(0.5, |_, s| libm::exp(-s) / s.sqrt(), true, Some(waves), 5.0);
    close(y, 0.000_137_044_296_015_655_45);
    // s^{−0.7} cos 3s
    let weight = [libm::tgamma(0.3), 0.0];
    let waves = Kernel::Waves(0.3, vec![DampedWave { weight, rate: [0.0, 3.0] }]);
    let kernel = |_: f64, s: f64| libm::pow(s, -0.7) * libm::cos(3.0 * s);
    close(agree(0.3, kernel, true, Some(waves), 5.0), -0.003_448_098_611_907_942);
}

/// The same for kernels that are kept in blocks.
#[test]
fn other_kernels_agree_by_two_roads() {
    let y = agree(1.0, |_, s| libm::exp(-s * s), true, None, 8.0);
    close(y, 0.000_012_530_859_925_146_887);
    let y = agree(1.0, |_, s| -libm::log(s) * libm::exp(-s), true, None, 5.0);
    close(y, 0.009_770_853_684_115_08);
    let y = agree(1.5, |_, s| s.sqrt() * libm::exp(-s), true, None, 5.0);
    close(y, -0.004_188_255_902_507_987);
    agree(0.4, |_, s| libm::pow(s, -0.6) / (1.0 + s * s), true, None, 5.0);
    agree(1.0, |t, s| libm::exp(-s * (1.0 + 0.5 * libm::sin(t))), false, None, 5.0);
}

/// A window of length 1: $\ddot y = -\dot y - y + y(t-1)$, from interval to interval by series in extended precision.
#[test]
fn a_window_forgets_and_breaks() {
    let window: Values = |_, s| if s < 1.0 { 1.0 } else { 0.0 };
    let resolved = KernelResolution::new(1.0, 5.0, true, &[], &mut |t, s| window(t, s));
    let blocks = found(Kernel::General(1.0, resolved), window, 5.0);
    close(blocks.y, -0.000_393_649_328_264_500_4);
    assert!(blocks.recounted < 1e-12, "{:e}", blocks.recounted);
    // Steps end at the kinks, so that few are needed.
    assert!(blocks.steps < 150, "{}", blocks.steps);
}

/// A window that grows with the time: nothing is compressed, and the sum is right.
#[test]
fn breaks_that_move_are_summed_directly() {
    let window: Values = |t, s| if s < 0.5 * t { 1.0 } else { 0.0 };
    assert_eq!(KernelResolution::new(1.0, 2.0, false, &[], &mut |t, s| window(t, s)), None);
    let direct = found(Kernel::General(1.0, None), window, 2.0);
    assert!(direct.recounted < 1e-12, "{:e}", direct.recounted);
    close(direct.y, 0.000_998_032_528_867_988);
}

/// Twice the steps are twice the work, with a kernel in blocks.
#[test]
fn blocks_cost_little_more_than_the_steps() {
    let kernel: Values = |_, s| libm::pow(s, -0.6) / (1.0 + s * s);
    let resolved = KernelResolution::new(0.4, 10.0, true, &[], &mut |t, s| kernel(t, s));
    let asked = |step: f64| {
        let kernel = Kernel::General(0.4, resolved.clone());
        let mut system =
            Asked(Remembering { kernel, values: |_, s| libm::pow(s, -0.6) / (1.0 + s * s) }, 0);
        let options = VolterraOptions {
            t1: 10.0,
            step: Some(step),
            stages: 3,
            ..VolterraOptions::default()
        };
        let outcome = integrate_volterra(&mut system, &options, &mut ());
        (system.1 as f64, outcome.steps as f64)
    };
    let ((few, short), (many, long)) = (asked(0.04), asked(0.01));
    // Each step looks at some log N blocks: twice two more, of some thirty.
    assert!(many / few < 1.3 * long / short, "{few} {many} {short} {long}");
}

/// Counts the values of the kernel.
struct Asked(Remembering, usize);

impl VolterraSystem for Asked {
    fn unknowns(&self) -> usize {
        self.0.unknowns()
    }
    fn operands(&self) -> Vec<Operand> {
        self.0.operands()
    }
    fn residual(&mut self, at: VolterraPoint<'_>, out: &mut [f64]) -> Result<(), EvalError> {
        self.0.residual(at, out)
    }
    fn jacobian(
        &mut self,
        at: VolterraPoint<'_>,
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), EvalError> {
        self.0.jacobian(at, by_x, by_z)
    }
    fn kernel(&mut self, operand: usize, t: f64, lags: &[f64], out: &mut [f64]) {
        self.1 += lags.len();
        self.0.kernel(operand, t, lags, out);
    }
}

/// What a recount finds is measured by $1 + |z|$: the integral of 3 over a step of length 1 against 2, 5 and −7.
#[test]
fn a_recount_is_measured_by_the_size_of_what_it_counts() {
    let power = Operand {
        unknown: 0,
        kernel: Kernel::Power(1.0),
        start: vec![(2.0, 0.0)],
        controlled: true,
    };
    let worst = |z: &[f64], written: &[f64]| {
        let mut recount = DirectQuadrature::new(vec![power.clone()], vec![0], 5, 4.0, &[5.0]);
        let piece = VolterraStep { elapsed: 0.0, h: 1.0, x: &[1.0; 5], unknowns: 1 };
        recount.last(5.0, &piece, &mut |_, _, _| 3.0);
        recount.compare(5.0, z, written, &[]);
        recount.worst().expect("the time was reached")
    };
    let close = |found: f64, wanted: f64| {
        // The rounding of a dozen weights, which the recount takes off.
        assert!((found - wanted).abs() < 1e-13, "{found} instead of {wanted}");
    };
    close(worst(&[3.0], &[3.0]), 0.0);
    close(worst(&[3.0], &[2.0]), 1.0 / 3.0);
    close(worst(&[3.0], &[-7.0]), 10.0 / 8.0);
    close(worst(&[5.0], &[3.0]), 2.0 / 6.0);
    close(worst(&[-7.0], &[3.0]), 10.0 / 8.0);
}
