//! Systems with memory against closed forms: relaxation, a constraint's kind of index, order on singular starts, cost.

use super::convolution::caputo;
use super::systems::{constrained, relaxation};
use pfaff_solver::{
    Control, Crossing, DirectQuadrature, Direction, EvalError, EventKind, Kernel, LocatedEvent,
    Operand, StopReason, VolterraObserver, VolterraOptions, VolterraPoint, VolterraStep,
    VolterraSystem, integrate_volterra,
};

/// $E_{1/2}(-\sqrt t) = e^t\,\mathrm{erfc}\sqrt t$
fn half(t: f64) -> f64 {
    libm::exp(t) * libm::erfc(t.sqrt())
}

struct Samples(Vec<(f64, f64)>);

impl VolterraObserver for Samples {
    fn sample(&mut self, t: f64, _x: &[f64], z: &[f64]) {
        self.0.push((t, z[0]));
    }
}

#[test]
fn relaxation_of_order_one_half_is_met_at_all_outputs() {
    let outputs = vec![1e-6, 0.01, 0.1, 1.0, 3.3, 10.0, 20.0];
    let options = VolterraOptions { t1: 20.0, outputs, ..VolterraOptions::default() };
    let mut samples = Samples(Vec::new());
    let outcome = integrate_volterra(&mut relaxation(0.5), &options, &mut samples);
    assert_eq!(outcome.stop, StopReason::End);
    assert_eq!(samples.0.len(), 7);
    for (t, y) in samples.0 {
        // A few times the tolerance 1e-11 of a step.
        assert!((y - half(t)).abs() < 1e-10, "{t} {y} {}", half(t));
    }
}

#[test]
fn order_is_at_least_four_from_a_singular_start() {
    let error = |step: f64| {
        let options = VolterraOptions {
            step: Some(step),
            stages: 4,
            t1: 2.0,
            ..VolterraOptions::default()
        };
        let outcome = integrate_volterra(&mut relaxation(0.5), &options, &mut ());
        (outcome.z[0] - half(2.0)).abs()
    };
    let (coarse, fine) = (error(0.4), error(0.1));
    // Two halvings.
    assert!(libm::log2(coarse / fine) / 2.0 > 4.0, "{coarse:e} {fine:e}");
}

#[test]
fn twice_the_steps_are_twice_the_evaluations_and_no_more_storage() {
    let run = |step: f64| {
        let options = VolterraOptions {
            step: Some(step),
            stages: 3,
            t1: 10.0,
            ..VolterraOptions::default()
        };
        integrate_volterra(&mut relaxation(0.7), &options, &mut ())
    };
    let (one, two) = (run(0.01), run(0.005));
    assert_eq!(one.exponentials, two.exponentials);
    let ratio = two.evaluations as f64 / one.evaluations as f64;
    assert!(ratio < 2.2, "{ratio}");
}

/// Laplace inversion in extended precision gives the positions at t = 1 (first case); the finest run stands
/// in for the others.
#[test]
fn order_is_at_least_four_on_every_start_of_a_constraint() {
    for (alpha, b, v) in [
        (0.5, [0.5, -0.25], [0.7, -0.7]), // λ ~ t^{−1/2}
        (0.5, [0.5, 0.5], [0.7, -0.7]),   // b·v = 0: bounded
        (1.5, [0.5, 1.0], [0.4, 0.3]),    // λ ~ t^{−1/2}, v free
        (1.5, [0.5, 1.0], [0.4, -0.4]),   // a·v = 0: bounded
    ] {
        let run = |step: f64, stages: usize| {
            let first = 1e-28;
            let options =
                VolterraOptions { step: Some(step), stages, first, ..Default::default() };
            integrate_volterra(&mut constrained(alpha, b, v), &options, &mut ()).z
        };
        let exact = run(1.0 / 64.0, 8);
        let error = |z: &[f64]| (0..4).map(|i| (z[i] - exact[i]).abs()).fold(0.0_f64, f64::max);
        let (coarse, fine) = (error(&run(0.25, 4)), error(&run(0.0625, 4)));
        let order = libm::log2(coarse / fine) / 2.0;
        assert!(order > 4.0, "{alpha} {b:?}: {coarse:e} {fine:e} {order}");
        if alpha == 0.5 && b[1] < 0.0 {
            // Sixteen digits of the reference.
            assert!((exact[0] - 1.117_274_449_189_068_2).abs() < 1e-12, "{}", exact[0]);
            assert!((exact[1] + 0.770_336_488_297_215_6).abs() < 1e-12, "{}", exact[1]);
        }
    }
}

/// Densities like $t^{-\alpha}$ with $\alpha$ near 1, against Laplace inversion in extended precision: one
/// step in powers of $t^{1-\alpha}$ stands for hundreds of decades.
#[test]
fn nearly_divergent_starts_take_few_steps() {
    let (one, two) = ([0.5, -0.25], [0.5, 1.0]);
    let (across, free) = ([0.7, -0.7], [0.4, 0.3]);
    for (alpha, b, v, exact) in [
        (0.9, one, across, [1.127_104_335_251_096_8, -0.768_215_654_628_628_4]),
        (0.99, one, across, [1.131_931_285_621_015_4, -0.765_433_793_106_795_4]),
        (0.999, one, across, [1.132_472_345_612_506, -0.765_103_551_400_037_2]),
        (1.001, two, free, [0.720_511_316_766_159_4, -0.040_373_186_218_331_725]),
        (1.01, two, free, [0.720_499_889_533_269_2, -0.040_272_548_879_669_94]),
        (1.05, two, free, [0.720_440_867_087_411_5, -0.039_832_133_357_243_27]),
    ] {
        let exponent = if alpha < 1.0 { -alpha } else { alpha - 2.0 };
        let options = VolterraOptions { exponent, ..VolterraOptions::default() };
        let outcome = integrate_volterra(&mut constrained(alpha, b, v), &options, &mut ());
        assert_eq!(outcome.stop, StopReason::End, "{alpha}");
        for (found, exact) in outcome.z.iter().zip(exact) {
            // Ten times the tolerance 1e-11 of a step.
            assert!((found - exact).abs() < 1e-10, "{alpha} {found} {exact}");
        }
        assert!(outcome.steps < 250, "{alpha} {}", outcome.steps);
    }
}

/// Two methods that share nothing: $D^{1/2}$ of the solution as the collocation carries it, and by
/// convolution of its samples.
#[test]
fn collocation_and_convolution_agree() {
    struct Damped;
    impl VolterraSystem for Damped {
        fn unknowns(&self) -> usize {
            1
        }
        fn operands(&self) -> Vec<Operand> {
            let operand = |mu, start| Operand {
                unknown: 0,
                kernel: Kernel::Power(mu),
                start,
                controlled: true,
            };
            vec![operand(2.0, vec![(1.0, 0.0)]), operand(1.5, Vec::new())]
        }
        fn residual(
            &mut self,
            VolterraPoint { x, z, .. }: VolterraPoint<'_>,
            out: &mut [f64],
        ) -> Result<(), EvalError> {
            out[0] = x[0] + z[0] + 0.5 * z[1];
            Ok(())
        }
        fn jacobian(
            &mut self,
            _at: VolterraPoint<'_>,
            by_x: &mut [f64],
            by_z: &mut [f64],
        ) -> Result<(), EvalError> {
            by_x[0] = 1.0;
            by_z.copy_from_slice(&[1.0, 0.5]);
            Ok(())
        }
    }
    struct Both(Vec<f64>, f64);
    impl VolterraObserver for Both {
        fn sample(&mut self, _t: f64, _x: &[f64], z: &[f64]) {
            self.0.push(z[0]);
            self.1 = z[1];
        }
    }
    let difference = |count: usize| {
        let h = 2.0 / count as f64;
        let outputs = (1..=count).map(|i| i as f64 * h).collect();
        let options = VolterraOptions { t1: 2.0, outputs, ..VolterraOptions::default() };
        let mut seen = Both(vec![1.0], f64::NAN);
        integrate_volterra(&mut Damped, &options, &mut seen);
        assert_eq!(seen.0.len(), count + 1);
        (caputo(0.5, h, &seen.0) - seen.1).abs()
    };
    let (coarse, fine) = (difference(100), difference(400));
    // The solution has a term t^{3.5} at the start, which the convolution meets with order 2 at least.
    assert!(fine < 1e-6 && libm::log2(coarse / fine) / 2.0 > 1.9, "{coarse:e} {fine:e}");
}

/// Recounts the memory of a run, and of one whose steps are told wrong.
struct Counted(DirectQuadrature, f64);

impl VolterraObserver for Counted {
    fn sample(&mut self, t: f64, _x: &[f64], z: &[f64]) {
        self.0.compare(t, z, &[], &[]);
    }
    fn last(&mut self, t: f64, piece: &VolterraStep<'_>) {
        self.0.last(t, piece, &mut |_, _, _| f64::NAN);
    }
    fn piece(&mut self, piece: &VolterraStep<'_>) {
        let x: Vec<f64> = piece.x.iter().map(|x| x * self.1).collect();
        self.0.piece(&VolterraStep { x: &x, ..*piece }, &mut |_, _, _| f64::NAN);
    }
}

#[test]
fn memory_is_recounted_by_direct_quadrature() {
    for alpha in [0.3, 0.7, 1.5] {
        let outputs = vec![0.5, 3.0, 10.0];
        let options = VolterraOptions {
            t1: 10.0,
            outputs: outputs.clone(),
            ..VolterraOptions::default()
        };
        let mut system = relaxation(alpha);
        let operands = system.operands();
        let recount = || {
            DirectQuadrature::new(operands.clone(), Vec::new(), options.stages, 0.0, &outputs)
        };
        let (mut right, mut wrong) = (Counted(recount(), 1.0), Counted(recount(), 1.0 + 1e-9));
        integrate_volterra(&mut system, &options, &mut right);
        integrate_volterra(&mut system, &options, &mut wrong);
        // The kernel is compressed to 1e-14, and some hundred steps are added up.
        let off = right.0.worst().expect("times were reached");
        assert!(off < 1e-12, "{alpha} {off:e}");
        assert!(wrong.0.worst().is_some_and(|off| off > 1e-11), "{alpha}");
    }
}

/// Relaxation with the events $1 - \cos(t - c)$, which touch zero at each $c$, and $\sin(t - c)$, which cross it.
struct Touching {
    relaxation: super::systems::Fractional,
    places: Vec<f64>,
    kinds: Vec<EventKind>,
}

impl Touching {
    fn new(places: Vec<f64>) -> Self {
        let kind =
            EventKind { direction: Direction::Both, stop: false, jump: false, barrier: false };
        let kinds = vec![kind; 2 * places.len()];
        Self { relaxation: relaxation(0.5), places, kinds }
    }
}

impl VolterraSystem for Touching {
    fn unknowns(&self) -> usize {
        1
    }
    fn operands(&self) -> Vec<Operand> {
        self.relaxation.operands()
    }
    fn residual(&mut self, at: VolterraPoint<'_>, out: &mut [f64]) -> Result<(), EvalError> {
        self.relaxation.residual(at, out)
    }
    fn jacobian(
        &mut self,
        at: VolterraPoint<'_>,
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), EvalError> {
        self.relaxation.jacobian(at, by_x, by_z)
    }
    fn events(&self) -> &[EventKind] {
        &self.kinds
    }
    fn event_values(
        &mut self,
        VolterraPoint { t, .. }: VolterraPoint<'_>,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        for (pair, c) in values.chunks_exact_mut(2).zip(&self.places) {
            pair[0] = 1.0 - libm::cos(t - c);
            pair[1] = libm::sin(t - c);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Ends {
    ends: Vec<f64>,
    events: Vec<LocatedEvent>,
}

impl VolterraObserver for Ends {
    fn step(&mut self, t: f64, _x: &[f64], _z: &[f64]) -> Control {
        self.ends.push(t);
        Control::Continue
    }
    fn event(&mut self, event: &LocatedEvent, _x: &[f64], _z: &[f64]) {
        self.events.push(*event);
    }
}

/// Touches and zeros at the end of a step, and within a thousandth and a millionth of it, are told once each.
#[test]
fn events_at_the_ends_of_steps_are_told_once() {
    let options = VolterraOptions { t1: 3.0, ..VolterraOptions::default() };
    let mut first = Ends::default();
    integrate_volterra(&mut relaxation(0.5), &options, &mut first);
    let late: Vec<f64> = first.ends.iter().copied().filter(|t| *t > 0.5 && *t < 2.9).collect();
    assert!(late.len() > 4, "{late:?}");
    let mut places = Vec::new();
    for pair in late.windows(2).take(4) {
        let h = pair[1] - pair[0];
        for part in [-9e-4, -4e-4, -2e-5, -3e-7, -1e-9, 0.0, 1e-9, 4e-7, 3e-5, 6e-4, 9.5e-4] {
            places.push(pair[1] + part * h);
        }
    }
    let mut touching = Touching::new(places.clone());
    let mut found = Ends::default();
    integrate_volterra(&mut touching, &options, &mut found);
    assert_eq!(found.ends, first.ends, "events do not change the steps");
    for (i, c) in places.iter().enumerate() {
        let of = |index: usize| -> Vec<&LocatedEvent> {
            found.events.iter().filter(|e| e.index == index).collect()
        };
        let (touches, zeros) = (of(2 * i), of(2 * i + 1));
        let told = matches!(touches[..], [LocatedEvent { crossing: Crossing::Touch, .. }]);
        // The place of an extremum is found by differences of values.
        assert!(told && (touches[0].t - c).abs() < 1e-6, "{c} {touches:?}");
        let told = matches!(zeros[..], [LocatedEvent { crossing: Crossing::Rising, .. }]);
        // What is below 1e-12 of the largest value counts as zero.
        assert!(told && (zeros[0].t - c).abs() < 1e-11, "{c} {zeros:?}");
    }
}
