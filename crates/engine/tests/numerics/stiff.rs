//! Stiff models by `radau` and by `auto`: chemistry as `equation` models, stiff springs, regularised friction.
//!
//! The reference values of Robertson's problem, HIRES and the Oregonator are those of the Test Set for IVP Solvers.

use pfaff::{Method, Motion, Note, Run, StopReason, Verdict};

use crate::support;

const ROBERTSON: &str = "\
coordinates a, b, c
equation a' = -0.04*a + 1e4*b*c
equation b' = 0.04*a - 1e4*b*c - 3e7*b^2
equation c' = 3e7*b^2
initial a = 1
solve t = 0..1e11
";

const HIRES: &str = "\
coordinates y[8]
parameters k = 280
equation y[1]' = -1.71*y[1] + 0.43*y[2] + 8.32*y[3] + 0.0007
equation y[2]' = 1.71*y[1] - 8.75*y[2]
equation y[3]' = -10.03*y[3] + 0.43*y[4] + 0.035*y[5]
equation y[4]' = 8.32*y[2] + 1.71*y[3] - 1.12*y[4]
equation y[5]' = -1.745*y[5] + 0.43*y[6] + 0.43*y[7]
equation y[6]' = -k*y[6]*y[8] + 0.69*y[4] + 1.71*y[5] - 0.43*y[6] + 0.69*y[7]
equation y[7]' = k*y[6]*y[8] - 1.81*y[7]
equation y[8]' = -k*y[6]*y[8] + 1.81*y[7]
initial y[1] = 1, y[8] = 0.0057
solve t = 0..321.8122
";

const OREGONATOR: &str = "\
coordinates x, y, z
equation x' = 77.27*(y + x*(1 - 8.375e-6*x - y))
equation y' = (z - (1 + x)*y)/77.27
equation z' = 0.161*(x - z)
initial x = 1, y = 2, z = 3
solve t = 0..360
";

/// The motion with one output, at its end.
fn end(text: &str, method: Method, tolerance: f64) -> Motion {
    let model = support::model(text);
    let t1 = model.solve.range.expect("a solve line").1;
    support::run(&model, &Run::default().method(method).tolerance(tolerance).at([t1]))
}

fn is_near(motion: &Motion, expected: &[f64], limit: f64) {
    assert_eq!(motion.stop.reason, StopReason::End, "{}", motion.title);
    for (q, expected) in motion.q.iter().zip(expected) {
        let off = ((q.values[0] - expected) / expected).abs();
        assert!(off < limit, "{} = {} for {expected}, off by {off:e}", q.name, q.values[0]);
    }
}

#[test]
fn chemistry_to_the_digits_of_the_test_set() {
    let problems: [(&str, &[f64]); 3] = [
        (
            ROBERTSON,
            &[0.208_334_014_970_125_5e-7, 0.833_336_077_033_471_3e-13, 0.999_999_979_166_505],
        ),
        (
            HIRES,
            &[
                0.737_131_257_332_566_8e-3,
                0.144_248_572_631_618_5e-3,
                0.588_872_974_096_757_5e-4,
                0.117_565_134_328_314_9e-2,
                0.238_635_619_883_133_1e-2,
                0.623_896_825_274_279_6e-2,
                0.284_999_839_518_576_9e-2,
                0.285_000_160_481_423_1e-2,
            ],
        ),
        (
            OREGONATOR,
            &[0.100_081_487_031_852_3e1, 0.122_817_852_154_991_7e4, 0.132_055_494_284_670_6e3],
        ),
    ];
    for (text, expected) in problems {
        // Errors of some hundred steps: tens of tolerances.
        let motion = end(text, Method::Radau, 1e-10);
        is_near(&motion, expected, 1e-9);
        assert_eq!(motion.method, "radau");
        assert_ne!(motion.audit.verdict, Verdict::Fail, "{:?}", motion.audit);
        let motion = end(text, Method::Auto, 1e-8);
        is_near(&motion, expected, 1e-6);
        let told = motion.notes.iter().any(|note| {
            matches!(note, Note::Remark(text) if text.contains("the method changes to radau"))
        });
        assert!(told, "{:?}", motion.notes);
    }
}

/// A sleigh drawn by a spring of stiffness 10⁶ that hardly moves: the motion of a rod.
#[test]
fn a_stiff_spring_costs_a_hundredth() {
    let text = "\
coordinates x, y, phi, s
parameters k = 1e6, d = 1e3
lagrangian (x'^2 + y'^2)/2 + phi'^2/4 + (s' + x')^2/20 - k*s^2/2
constraint blade: y'*cos(phi) - x'*sin(phi) = 0
force s: -d*s'
initial x' = 1, phi' = 0.3
solve t = 0..20
";
    let stiff = end(text, Method::Radau, 1e-8);
    let plain = end(text, Method::Dop853, 1e-8);
    let auto = end(text, Method::Auto, 1e-8);
    for (a, b) in stiff.q.iter().zip(&plain.q) {
        let off = (a.values[0] - b.values[0]).abs();
        assert!(off < 1e-6, "{}: {} and {}", a.name, a.values[0], b.values[0]);
    }
    let evaluations = |motion: &Motion| motion.statistics.evaluations;
    assert!(
        100 * evaluations(&stiff) < evaluations(&plain),
        "{:?}",
        [&stiff, &plain].map(evaluations)
    );
    assert!(
        20 * evaluations(&auto) < evaluations(&plain),
        "{:?}",
        [&auto, &plain].map(evaluations)
    );
    assert_eq!(stiff.audit.verdict, Verdict::Pass, "{:?}", stiff.audit);
}

/// Friction −tanh(v/ε): the body stops at v²/2 = x, and creeps no farther than ε t.
#[test]
fn regularised_friction_holds() {
    let text = "\
coordinates x
lagrangian x'^2/2
force x: -tanh(x'/1e-6)
initial x' = 1
solve t = 0..10
";
    for method in [Method::Radau, Method::Auto] {
        let motion = end(text, method, 1e-9);
        assert_eq!(motion.stop.reason, StopReason::End, "{method:?}");
        let x = motion.q[0].values[0];
        assert!((x - 0.5).abs() < 2e-5, "{method:?}: {x}, up to 10 ε");
        assert!(motion.statistics.evaluations < 20_000, "{:?}", motion.statistics);
    }
}
