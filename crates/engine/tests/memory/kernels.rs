//! Motions with general kernels: what is recognised, fitted, taken apart or kept in blocks, against closed forms.
//!
//! The references of kernels of the lag are inversions of $1/(p + 1 + K(p))$ in extended precision.

use pfaff::{Motion, Run, Verdict, check};

use crate::support::{model, run};

/// Ten times the tolerance 1e-10 of a run.
const TOLERANCE: f64 = 1e-9;

fn text(kernel: &str, end: f64) -> String {
    format!(
        "coordinates x\nequation x' + x + memory({kernel}, x) = 0\ninitial x = 1\nsolve t = 0..{end}\n"
    )
}

fn motion(text: &str, end: f64) -> Motion {
    let request = Run { at: Some(vec![0.4 * end, end]), ..Run::default() };
    run(&model(text), &request)
}

fn recounted(motion: &Motion) -> f64 {
    let check = motion.audit.checks.iter().find(|c| c.name == "memory by direct quadrature");
    check.unwrap_or_else(|| panic!("{:?}", motion.audit)).value
}

fn past(text: &str) -> String {
    let survey = check(&model(text));
    survey.kernels.into_iter().map(|k| k.1).collect::<Vec<_>>().join("; ")
}

#[test]
fn kernels_of_the_lag_agree_with_laplace_inversion() {
    for (kernel, end, exact, how) in [
        ("s^(-1/2)*exp(-s)", 5.0, 0.000_137_044_296_015_655_45, "a power times"),
        ("s^(-0.7)*cos(3*s)", 5.0, -0.003_448_098_611_907_942, "a power times"),
        ("exp(-s^2)", 8.0, 0.000_012_530_859_925_146_887, "waves"),
        ("-log(s)*exp(-s)", 5.0, 0.009_770_853_684_115_08, "blocks"),
        ("sqrt(s)*exp(-s)", 5.0, -0.004_188_255_902_507_987, "blocks"),
        ("if(s < 1, 1, 0)", 5.0, -0.000_393_649_328_264_500_4, "blocks"),
        (
            "s^(-1/2)*exp(-s) + 0.5*s^(-0.7)*cos(3*s)",
            5.0,
            -0.003_579_536_295_841_571,
            "a power times",
        ),
    ] {
        let text = text(kernel, end);
        let motion = motion(&text, end);
        let x = motion.q[0].values[1];
        assert!((x - exact).abs() < TOLERANCE, "{kernel}: {x} for {exact}");
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{kernel} {:?}", motion.audit);
        let off = recounted(&motion);
        assert!(off > 0.0 && off < 1e-12, "{kernel} {off:e}");
        assert!(motion.notes.is_empty(), "{kernel} {:?}", motion.notes);
        assert!(past(&text).contains(how), "{kernel} {}", past(&text));
    }
}

/// Kernels with the time in them, and the same motions as ordinary equations.
#[test]
fn products_of_functions_of_time_and_lag_are_taken_apart() {
    for (kernel, ordinary) in [
        ("cos(t)*exp(-s)", "equation x' + x + cos(t)*u = 0\nequation u' = x - u"),
        ("cos(t - s)", "equation x' + x + u = 0\nequation u' = cos(t)*x"),
        (
            "exp(-2*s)*(1 + t*s)",
            "equation x' + x + u + t*w = 0\nequation u' = x - 2*u\nequation w' = u - 2*w",
        ),
        (
            "exp(-2*s) + 0*t + sin(t)^2 + cos(t)^2 - 1",
            "equation x' + x + u = 0\nequation u' = x - 2*u",
        ),
    ] {
        let unknowns = if ordinary.contains("w'") { "x, u, w" } else { "x, u" };
        let ordinary =
            format!("coordinates {unknowns}\n{ordinary}\ninitial x = 1\nsolve t = 0..5\n");
        let text = text(kernel, 5.0);
        let (a, b) = (motion(&text, 5.0), motion(&ordinary, 5.0));
        let (x, exact) = (a.q[0].values[1], b.q[0].values[1]);
        assert!((x - exact).abs() < TOLERANCE, "{kernel}: {x} for {exact}");
        assert_eq!(a.audit.verdict, Verdict::Pass, "{kernel} {:?}", a.audit);
        assert!(
            a.notes.is_empty() && !past(&text).contains("blocks"),
            "{kernel} {:?}",
            a.notes
        );
    }
}

/// $x(t) = 1 - t/2$ with what that asks for as a force: $\int_0^t e^{-st}(1 - (t-s)/2)\,ds$ is elementary.
#[test]
fn smooth_kernels_with_the_time_in_them_are_kept_in_blocks() {
    let work = "(1 - t/2)*(1 - exp(-t^2))/t + 0.5*(1 - exp(-t^2)*(1 + t^2))/t^2";
    let given = format!(
        "coordinates x\nequation x' + x + memory(exp(-s*t), x) + 1/2 - (1 - t/2) - if(t < 0.0001, t, {work}) = 0\ninitial x = 1\nsolve t = 0..4\n"
    );
    let found = motion(&given, 4.0);
    assert!(past(&given).contains("blocks"), "{}", past(&given));
    assert_eq!(found.audit.verdict, Verdict::Pass, "{:?}", found.audit);
    for (t, x) in [1.6, 4.0].into_iter().zip(&found.q[0].values) {
        // The force is cut at 1e-4, where it is t up to t³ and less.
        assert!((x - (1.0 - 0.5 * t)).abs() < 1e-8, "{t} {x}");
    }
}

#[test]
fn what_cannot_be_compressed_is_said() {
    // y' = −y − ∫_{t/2}^t y has a power series.
    let text = text("if(s < t/2, 1, 0)", 2.0);
    let motion = motion(&text, 2.0);
    let noted = pfaff_present::notes(&motion).iter().any(|n| n.contains("square"));
    assert!(noted && past(&text).contains("N²"), "{:?} {}", motion.notes, past(&text));
    let x = motion.q[0].values[1];
    assert!((x - 0.000_998_032_528_867_988).abs() < TOLERANCE, "{x}");
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
}

/// Kernels in forces do work, and the energy is balanced.
#[test]
fn kernels_in_forces_balance_the_energy() {
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\nforce x: -memory(s^(-0.4)*exp(-2*s), x') - 0.1*memory(s^(-0.6)/(1 + s^2), x')\ninitial x = 1\nsolve t = 0..5\n";
    let found = motion(text, 5.0);
    assert_eq!(found.audit.verdict, Verdict::Pass, "{:?}", found.audit);
}

/// In $u = \log(t/t_0)$ Hadamard's integral is that of Riemann and Liouville: $E_\mu(-u^\mu)$ solves both equations.
#[test]
fn hadamard_kernels() {
    for (mu, start) in [(0.5, 1.0), (0.7, 2.0), (0.2, 1.0)] {
        for equation in [
            format!("q + memory(log(t/(t - s))^({mu} - 1)/(t - s), q)/gamma({mu}) = 1"),
            format!("q + memory((log(t) - log(t - s))^({mu} - 1)/(t - s), q)/gamma({mu}) = 1"),
            format!("memory(log(t/(t - s))^(-{mu}), q')/gamma(1 - {mu}) = -q"),
        ] {
            let text = format!(
                "coordinates q\nequation {equation}\ninitial q = 1\nsolve t = {start}..6\n\
                 observe exact = mittag_leffler({mu}, 1, -log(t/{start})^{mu})\n"
            );
            let motion =
                run(&model(&text), &Run { at: Some(vec![2.5, 6.0]), ..Run::default() });
            assert_eq!(motion.t, [2.5, 6.0], "{equation} {:?}", motion.notes);
            assert_eq!(motion.audit.verdict, Verdict::Pass, "{equation} {:?}", motion.audit);
            for (q, exact) in motion.q[0].values.iter().zip(&motion.observed[0].values) {
                assert!((q - exact).abs() < TOLERANCE, "{equation} {q} {exact}");
            }
        }
    }
}

/// Equations of Abel's type: the highest derivative stands in `memory` alone, and is singular at the start or not.
/// $\int_0^t s^{-1/2}(t-s)^{-1/2}\,ds = \pi$.
#[test]
fn highest_terms_by_memory() {
    for (equation, first, exact) in [
        ("memory(s^(-0.5), q') + q = 0", 1.0, "mittag_leffler(0.5, 1, -sqrt(t)/gamma(0.5))"),
        ("memory(s^(-0.2), q') + q = 0", 1.0, "mittag_leffler(0.2, 1, -t^0.2/gamma(0.8))"),
        ("memory(s^(-0.5)*exp(-s), q') = 2*sqrt(t)*exp(-t)", 0.0, "1 - exp(-t)"),
        ("memory(s^(-0.5)*exp(-s), q') = pi*exp(-t)", 0.0, "sqrt(pi)*erf(sqrt(t))"),
        ("integral(q', 0.4) = gamma(0.6)", 0.0, "t^0.6/0.6"),
    ] {
        let text = format!(
            "coordinates q\nequation {equation}\ninitial q = {first}\nsolve t = 0..4\nobserve exact = {exact}\n"
        );
        let motion = run(&model(&text), &Run { at: Some(vec![0.5, 4.0]), ..Run::default() });
        assert_eq!(motion.t, [0.5, 4.0], "{equation} {:?}", motion.notes);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{equation} {:?}", motion.audit);
        for (q, exact) in motion.q[0].values.iter().zip(&motion.observed[0].values) {
            assert!(
                (q - exact).abs() < TOLERANCE * (1.0 + exact.abs()),
                "{equation} {q} {exact}"
            );
        }
    }
}
