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

/// Andrews' squeezing mechanism: seven bodies in the plane, six joints, no friction.
const ANDREWS: &str = "\
coordinates be, th, ga, ph, de, om, ep
parameters m1 = 0.04325, m2 = 0.00365, m3 = 0.02373, m4 = 0.00706, m5 = 0.07050, m6 = 0.00706, m7 = 0.05498
parameters i1 = 2.194e-6, i2 = 4.410e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5, i6 = 5.667e-7, i7 = 1.912e-5
parameters xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072, c0 = 4530
parameters d = 28e-3, da = 115e-4, e = 2e-2, ea = 1421e-5, rr = 7e-3, ra = 92e-5, l0 = 7785e-5, mom = 33e-3
parameters ss = 35e-3, sa = 1874e-5, sb = 1043e-5, sc = 18e-3, sd = 2e-2, ta = 2308e-5, tb = 916e-5
parameters u = 4e-2, ua = 1228e-5, ub = 449e-5, zf = 2e-2, zt = 4e-2, fa = 1421e-5
kinetic (m1*ra^2 + i1)*be'^2/2
kinetic m2*(rr^2*be'^2 - 2*da*rr*cos(th)*be'*(be' + th') + da^2*(be' + th')^2)/2 + i2*(be' + th')^2/2
kinetic (m3*(sa^2 + sb^2) + i3)*ga'^2/2
kinetic m4*(zt^2*de'^2 + 2*zt*(e - ea)*sin(ph)*de'*(ph' + de') + (e - ea)^2*(ph' + de')^2)/2 + i4*(ph' + de')^2/2
kinetic (m5*(ta^2 + tb^2) + i5)*de'^2/2
kinetic m6*(u^2*ep'^2 - 2*u*(zf - fa)*sin(om)*ep'*(om' + ep') + (zf - fa)^2*(om' + ep')^2)/2 + i6*(om' + ep')^2/2
kinetic (m7*(ua^2 + ub^2) + i7)*ep'^2/2
let D = [sd*cos(ga) + sc*sin(ga) + xb, sd*sin(ga) - sc*cos(ga) + yb]
potential c0*(norm(D - [xc, yc]) - l0)^2/2
force be: mom
let X = rr*cos(be) - d*cos(be + th)
let Y = rr*sin(be) - d*sin(be + th)
constraint X - ss*sin(ga) - xb = 0
constraint Y + ss*cos(ga) - yb = 0
constraint X - e*sin(ph + de) - zt*cos(de) - xa = 0
constraint Y + e*cos(ph + de) - zt*sin(de) - ya = 0
constraint X - zf*cos(om + ep) - u*sin(ep) - xa = 0
constraint Y - zf*sin(om + ep) + u*cos(ep) - ya = 0
initial be = -0.0617138900142764496358948458001, th = 0, ga = 0.455279819163070380255912382449
initial ph = 0.222668390165885884674473185609, de = 0.487364979543842550225598953530
initial om = -0.222668390165885884674473185609, ep = 1.23054744454982119249735015568
solve t = 0..0.03
";

/// The car axis: the right wheel on a bumpy road, time in the constraint.
const CAR_AXIS: &str = "\
coordinates xl, yl, xr, yr
parameters M = 10, eps = 0.01, L = 1, L0 = 0.5, r = 0.1, w = 10
let k = M*eps^2/2
let yb = r*sin(w*t)
let xb = sqrt(L^2 - yb^2)
kinetic k*(xl'^2 + yl'^2 + xr'^2 + yr'^2)/2
potential (sqrt(xl^2 + yl^2) - L0)^2/2 + (sqrt((xr - xb)^2 + (yr - yb)^2) - L0)^2/2 + k*(yl + yr)
constraint axle: xb*xl + yb*yl = 0
constraint rod: (xl - xr)^2 + (yl - yr)^2 = L^2
initial xl = 0, yl = L0, xr = L, yr = L0, xl' = -L0/L, yl' = 0, xr' = -L0/L, yr' = 0
solve t = 0..3
";

/// Positions, velocities and multipliers of Andrews' mechanism at t = 0.03 and of the car axis at t = 3, from the Test
/// Set for IVP Solvers. Its multipliers of the mechanism have the other sign.
#[test]
fn mechanisms_to_the_digits_of_the_test_set() {
    let andrews = [
        &[
            0.158_107_711_962_990_4e2,
            -0.157_563_710_598_429_8e2,
            0.408_222_401_307_310_1e-1,
            -0.534_730_116_322_694_8,
            0.524_409_965_880_530_4,
            0.534_730_116_322_694_8,
            0.104_808_074_104_226_3e1,
        ][..],
        &[
            0.113_992_030_215_120_8e4,
            -0.142_437_929_499_411_1e4,
            0.110_329_122_193_713_4e2,
            0.192_933_746_442_138_5e2,
            0.573_569_928_479_080_8,
            -0.192_933_746_442_138_5e2,
            0.323_179_165_802_695_5,
        ],
        &[
            -0.199_175_333_373_191e3,
            0.297_553_122_801_505_2e2,
            -0.230_665_411_909_839_9e2,
            -0.314_527_136_547_592_7e2,
            -0.226_424_923_208_273_9e2,
            -0.116_174_070_001_967_3e2,
        ],
    ];
    let car = [
        &[
            0.493_455_784_275_402_8e-1,
            0.496_989_460_230_171_2,
            0.104_174_252_488_542_15e1,
            0.373_911_027_265_361_26,
        ][..],
        &[
            -0.770_583_684_040_972_4e-1,
            0.744_686_658_723_778_6e-2,
            0.175_568_157_537_232_22e-1,
            0.770_341_043_779_252,
        ],
        &[-0.473_688_659_084_893_3e-2, -0.110_468_033_125_734_37e-2],
    ];
    // The reference of the mechanism has errors of 3e-10, 3e-8 and 1e-6: our methods agree with each other to 1e-12.
    // That of the car axis was computed with quadruple precision.
    let problems = [
        (ANDREWS, andrews, Method::Radau, 1e-11, [1e-9, 1e-7, 3e-6]),
        (ANDREWS, andrews, Method::Dop853, 1e-12, [1e-9, 1e-7, 3e-6]),
        (CAR_AXIS, car, Method::Radau, 1e-12, [1e-10, 5e-9, 1e-8]),
        (CAR_AXIS, car, Method::Dop853, 1e-12, [1e-9, 1e-8, 1e-7]),
    ];
    for (text, expected, method, tolerance, limits) in problems {
        let motion = end(text, method, tolerance);
        assert_eq!(motion.stop.reason, StopReason::End);
        let lists = [&motion.q, &motion.v, &motion.multipliers];
        for ((series, expected), limit) in lists.into_iter().zip(expected).zip(limits) {
            for (s, expected) in series.iter().zip(expected) {
                let off = ((s.values[0] - expected) / expected).abs();
                assert!(off < limit, "{method:?} {}: {} for {expected}", s.name, s.values[0]);
            }
        }
    }
}

/// At a loose tolerance the Rosenbrock method needs fewer evaluations than Radau's, and its error is as expected.
/// What decays by many powers of ten is compared with the second integration in parts of what it was, on the way: both
/// substances that vanish, and the jumps of a relaxation oscillation, pass the audit.
#[test]
fn what_decays_is_audited_by_its_size_on_the_way() {
    let van_der_pol = "\
coordinates y, z
equation y' = z
equation z' = ((1 - y^2)*z - y)/1e-6
initial y = 2
solve t = 0..2
";
    for (text, method) in [
        (ROBERTSON, Method::Radau),
        (ROBERTSON, Method::Auto),
        (van_der_pol, Method::Radau),
        (van_der_pol, Method::Auto),
    ] {
        let motion = end(text, method, 1e-10);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{method:?} {:?}", motion.audit);
    }
}

#[test]
fn rosenbrock_at_loose_tolerances() {
    let expected =
        [0.208_334_014_970_125_5e-7, 0.833_336_077_033_471_3e-13, 0.999_999_979_166_505];
    let motion = end(ROBERTSON, Method::Rosenbrock, 1e-4);
    assert_eq!(motion.method, "rosenbrock");
    is_near(&motion, &expected, 3e-2);
    let motion = end(ROBERTSON, Method::Rosenbrock, 1e-7);
    is_near(&motion, &expected, 1e-4);
    let oregonator =
        [0.100_081_487_031_852_3e1, 0.122_817_852_154_991_7e4, 0.132_055_494_284_670_6e3];
    let motion = end(OREGONATOR, Method::Rosenbrock, 1e-6);
    is_near(&motion, &oregonator, 1e-3);
    // With constraints, and with explicit time, whose derivative the method needs.
    let motion = end(CAR_AXIS, Method::Rosenbrock, 1e-9);
    assert!((motion.q[0].values[0] - 0.493_455_784_275_402_8e-1).abs() < 1e-5);
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

/// Van der Pol's oscillator with μ = 10⁶ in its own time: in the jumps the steps of an explicit method would be some
/// units of the last place of time. x(2μ) by SciPy's Radau in Liénard's plane, time in units of μ, to 12 digits.
#[test]
fn auto_stays_implicit_where_time_is_coarse() {
    let text = "
        coordinates x
        parameters mu = 1e6
        equation x'' = mu*(1 - x^2)*x' - x
        initial x = 2
        solve t = 0..2e6
    ";
    // In a jump x' is 10¹² times larger than before, and time is known to 1e-10: when the next one begins is left open
    // to some 1e-8.
    for (tolerance, limit) in [(1e-8, 1e-6), (1e-10, 1e-7), (1e-12, 1e-7)] {
        is_near(&end(text, Method::Auto, tolerance), &[1.705_546_217_535_383_7], limit);
    }
}
