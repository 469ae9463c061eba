//! High orders: derivatives between 2 and 3 in constraints and forces, data beyond the second derivative.
//!
//! A constraint whose reaction does not act on $b\cdot\ddot q = g$ is compared with the model that is reduced
//! by hand, where $D^\alpha(b\cdot q) = D^{\alpha-2} g$ is written out
//! in `equation` statements: no reaction, no Lagrangian, no automatic reduction.

use pfaff::{Motion, Range, Run, Value, Verdict, evaluate};

use crate::support::{model, run};

/// Agreement asked for, relative to 1 + |reference|: ten times the tolerance 1e-10 of a run.
const TOLERANCE: f64 = 1e-9;

fn at(times: &[f64]) -> Run {
    Run { at: Some(times.to_vec()), ..Run::default() }
}

/// Runs both texts and compares all coordinates.
fn same(what: &str, constrained: &str, by_hand: &str, times: &[f64]) -> Motion {
    let motion = run(&model(constrained), &at(times));
    assert_eq!(motion.t, times, "{what} {:?}", motion.notes);
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{what} {:?}", motion.audit);
    let other = run(&model(by_hand), &at(times));
    assert_eq!(other.t, times, "{what} {:?}", other.notes);
    for (a, b) in motion.q.iter().zip(&other.q) {
        for (x, y) in a.values.iter().zip(&b.values) {
            assert!((x - y).abs() <= TOLERANCE * (1.0 + y.abs()), "{what} {} {x} {y}", a.name);
        }
    }
    motion
}

fn refusal(text: &str) -> String {
    match pfaff::run(&model(text), &Run::default(), &mut |_, _| true) {
        Err(pfaff::Error::Text(pfaff::ParseErrors { diagnostics, .. })) => {
            diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n")
        }
        other => panic!("{other:?}"),
    }
}

fn noted(motion: &Motion, word: &str) -> bool {
    pfaff_present::notes(motion).iter().any(|n| n.contains(word))
}

/// The factor of the note on the first multiplier, met by the multiplier itself at t = 1e-9.
fn law_holds(text: &str, factor: f64, power: f64) {
    let motion = run(&model(text), &at(&[1e-9]));
    let scaled = motion.multipliers[0].values[0] / libm::pow(1e-9, power);
    // The next term is smaller by t^{0.3} = 2e-3 or less.
    assert!((scaled / factor - 1.0).abs() < 1e-2, "{scaled} {factor}");
    assert!(noted(&motion, &format!("{factor:.10}")), "{factor} {:?}", motion.notes);
}

const START: &str = "initial q1 = 1, q2 = -0.5, q1' = 0.2";

fn pair(force: &str, data: &str) -> String {
    format!(
        "coordinates q1, q2\nlagrangian (q1'^2 + q2'^2)/2 - (q1^2 + q2^2)/2\n{force}\n\
         constraint c: q1' + q2' - caputo(q1 - q2, 2.5) = 0\n{START}, q2' = {data}\nsolve t = 0..3\n"
    )
}

fn pair_by_hand(damping: &str, memory: &str, data: &str) -> String {
    format!(
        "coordinates q1, q2\nequation q1'' - q2'' + q1 - q2 + {damping} = 0\n\
         equation q1' + q2' + caputo(q1 - q2, 0.5) + {memory} = 0\n{START}, q2' = {data}\nsolve t = 0..3\n"
    )
}

/// Forces with velocities: along b they leave the constraint an order below 1, else they make it one of order 3/2.
#[test]
fn velocities_in_forces_reduce_the_order() {
    let times = [0.1, 1.0, 3.0];
    let along = pair("force q1: -0.3*(q1' - q2')\nforce q2: 0.3*(q1' - q2')", "-0.2");
    let hand = pair_by_hand("0.6*(q1' - q2')", "0.6*caputo(q1 - q2, 1.5)", "-0.2");
    same("along b", &along, &hand, &times);
    let across = pair("force q1: -0.6*q1'", "0.1");
    let hand = pair_by_hand("0.6*q1'", "0.6*caputo(q1, 1.5)", "0.1");
    same("across b", &across, &hand, &times);
    // λ ~ −(a·v0)/(c Γ(1/2)) t^{−1/2} with c = 0.6, a·v0 = 0.3.
    law_holds(&across, -0.5 / libm::tgamma(0.5), -0.5);
    assert!(
        refusal(&pair("force q1: -0.3*(q1' - q2')\nforce q2: 0.3*(q1' - q2')", "0.1"))
            .contains("cannot be chosen")
    );
}

/// Memory of order β in the forces makes the constraint one of order β + 1/2: below 1, 1 itself, and above.
#[test]
fn memory_in_forces_reduces_the_order() {
    let times = [0.1, 1.0, 3.0];
    for (beta, composed, data) in [
        ("0.3", "caputo(q1, 0.8)", "-0.2"),
        ("0.5", "q1'", "-0.32"),
        ("1.4", "caputo(q1, 1.9)", "0.1"),
    ] {
        let text = pair(&format!("force q1: -0.6*caputo(q1, {beta})"), data);
        let hand =
            pair_by_hand(&format!("0.6*caputo(q1, {beta})"), &format!("0.6*{composed}"), data);
        same(beta, &text, &hand, &times);
    }
    // D^{1/2} D^{0.8} q1 contains q1'(0) t^{−0.3}: only q1'(0) = 0 starts, and then q2' is free.
    let text = pair("force q1: -0.6*caputo(q1, 0.8)", "0.1");
    let message = refusal(&text);
    assert!(message.contains("q1' = 0.2 cannot be chosen"), "{message}");
    let rest = text.replace("q1' = 0.2", "q1' = 0");
    let hand = pair_by_hand("0.6*caputo(q1, 0.8)", "0.6*caputo(q1, 1.3)", "0.1");
    same("0.8", &rest, &hand.replace("q1' = 0.2", "q1' = 0"), &times);
    // Along b the reaction does not act on it, but the term is there all the same.
    let along =
        pair("force q1: -0.3*caputo(q1 - q2, 0.8)\nforce q2: 0.3*caputo(q1 - q2, 0.8)", "-0.2");
    assert!(refusal(&along).contains("begin like (t - t0)^(-0.3"), "{}", refusal(&along));
    let rest = along.replace("q1' = 0.2", "q1' = 0").replace("q2' = -0.2", "q2' = 0");
    let hand = pair_by_hand("0.6*caputo(q1 - q2, 0.8)", "0.6*caputo(q1 - q2, 1.3)", "0");
    same("along", &rest, &hand.replace("q1' = 0.2", "q1' = 0"), &times);
    // Below 1 the reaction begins like that of the highest of the orders 0.8 and 1/2.
    let below = pair("force q1: -0.6*caputo(q1, 0.3)", "-0.2");
    law_holds(&below, -0.6 * 0.2 / libm::tgamma(0.2) / 2.0, -0.8);
}

/// Masses that vary: in polar coordinates the constraint on the angle acts on the distance through the
/// centrifugal force alone.
#[test]
fn varying_masses_reduce_the_order() {
    let polar = "coordinates r, phi\nlagrangian (r'^2 + r^2*phi'^2)/2 - r^2/2\n\
         constraint c: phi' + 0.4*caputo(r, 2.5) = 1\ninitial r = 1, phi' = 0.7, r' = 0.1\nsolve t = 0..2\n";
    let hand = "coordinates r, phi\nequation r'' - r*phi'^2 + r = 0\n\
         equation phi' + 0.4*caputo(r*phi'^2 - r, 0.5) = 1\ninitial r = 1, phi' = 0.7, r' = 0.1\nsolve t = 0..2\n";
    same("polar", polar, hand, &[0.1, 0.5, 2.0]);
    let still = polar.replace("phi' = 0.7", "phi' = 0");
    assert!(refusal(&still).contains("does not determine its reaction at the start"));
    // An order between 1 and 2, and a coefficient that varies beside masses that do.
    let metric = "coordinates x, y\nlagrangian (1 + x^2)*(x'^2 + 2*y'^2)/2 - x^2/2 - y^2\n\
         constraint c: x' + (1 + y^2)*caputo(y, 1.5) = 0\ninitial x = 1, y = 0.3, y' = 0.5\nsolve t = 0..2\n";
    let hand = "coordinates x, y\nequation 2*(1 + x^2)*y'' + 4*x*x'*y' + 2*y = 0\n\
         equation x' + (1 + y^2)*caputo(y, 1.5) = 0\ninitial x = 1, y = 0.3, y' = 0.5\nsolve t = 0..2\n";
    same("metric", metric, hand, &[0.1, 0.5, 2.0]);
}

/// A constraint without memory beside one whose reaction does not act on its derivative: the other reaction does.
#[test]
fn other_constraints_take_part_in_the_reduction() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - (x^2 + 2*y^2)/2\nforce x: -0.2*x'\n\
         constraint plane: x + 2*y = 1\nconstraint c: z' + 0.5*caputo(x - y, 2.4) = 0\n\
         initial x = 0.6, y = 0.2, x' = 0.4\nsolve t = 0..2\n";
    // y = (1 − x)/2: 5/4 x″ = −x + (1 − x)/2 − x′/5, and x − y = (3x − 1)/2.
    let hand = "coordinates x, y, z\nequation 1.25*x'' + x - (1 - x)/2 + 0.2*x' = 0\nequation y = (1 - x)/2\n\
         equation z' + 0.6*caputo(-1.5*x - 0.2*x', 0.4) = 0\ninitial x = 0.6, y = 0.2, x' = 0.4\nsolve t = 0..2\n";
    same("plane", text, hand, &[0.1, 0.5, 2.0]);
}

#[test]
fn constraints_may_be_nonlinear_in_high_derivatives() {
    let data = "initial q = 0.3, q' = -0.7, q'' = 1.1\nsolve t = 0..2\n";
    let constraint = "q' + caputo(q, 2.5) + caputo(q, 2.5)^3";
    let text =
        format!("coordinates q\nlagrangian q'^2/2\nconstraint c: {constraint} = 0\n{data}");
    let hand = format!("coordinates q\nequation {constraint} = 0\n{data}");
    same("cubic", &text, &hand, &[0.1, 0.5, 2.0]);
    // Two orders, one with a coefficient that varies; a·q″ = 0 at the start by default.
    let both = "q' + r' + (2 + sin(r))*caputo(q, 2.5) + caputo(r, 2.3)";
    let text = format!(
        "coordinates q, r\nlagrangian (q'^2 + r'^2)/2 - r^2/2\nconstraint c: {both} = 0\ninitial q = 0.3, q' = -0.7, r = 0.5\nsolve t = 0..2\n"
    );
    let hand = format!(
        "coordinates q, r\nequation q'' - r'' - r = 0\nequation {both} = 0\ninitial q = 0.3, q' = -0.7, r = 0.5, q'' = 0.25, r'' = -0.25\nsolve t = 0..2\n"
    );
    same("two orders", &text, &hand, &[0.1, 0.5, 2.0]);
    // D^α q = ±0.8 at the start: the choice is told.
    let square = format!(
        "coordinates q\nlagrangian q'^2/2\nconstraint c: q' - 0.06 + caputo(q, 2.5)^2 = 0\n{data}"
    );
    let motion = run(&model(&square), &at(&[0.1]));
    assert!(noted(&motion, "several values"), "{:?}", motion.notes);
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
}

/// $m\ddot x = -kx - c D^{5/2} x$ is an equation of order 5/2 with $\ddot x_0$ as a datum.
#[test]
fn forces_of_orders_above_two_make_equations_of_that_order() {
    let data = "initial x = 1, x'' = -0.3\nsolve t = 0..4\n";
    let text = format!(
        "coordinates x\nlagrangian x'^2/2 - x^2/2 - x^4/4\nforce x: -0.5*caputo(x, 2.5)\n{data}"
    );
    let hand =
        format!("coordinates x\nequation x'' + x + x^3 + 0.5*caputo(x, 2.5) = 0\n{data}");
    let motion = same("jerk", &text, &hand, &[0.1, 1.0, 4.0]);
    assert!(!noted(&motion, "unstable"), "{:?}", motion.notes);
    // x″ = 2 D^{5/2} x: y = x″ solves y = 2 D^{1/2} y, so y = y0 E_{1/2}(t^{1/2}/2).
    let text = "coordinates x\nlagrangian x'^2/2\nforce x: 2*caputo(x, 2.5)\ninitial x'' = 1\nobserve y = x''\nsolve t = 0..4\n";
    let motion = run(&model(text), &at(&[4.0]));
    assert!(noted(&motion, "exp(0.25"), "{:?}", motion.notes);
    let exact = match evaluate("mittag_leffler(0.5, 1, 1)", "", Range::default()) {
        Ok(Value::Number(x)) => x,
        other => panic!("{other:?}"),
    };
    let y = motion.observed[0].values[0];
    assert!((y - exact).abs() < TOLERANCE * (1.0 + exact), "{y} {exact}");
    let relative = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nforce x: -caputo(x - y, 2.5)\nforce y: caputo(x - y, 2.5)\ninitial x = 1\nsolve t = 0..1\n";
    assert!(refusal(relative).contains("some sum of these coordinates"));
    let tied = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nforce x: -caputo(x, 2.5)\nconstraint c: x' = y'\ninitial x = 1\nsolve t = 0..1\n";
    assert!(refusal(tied).contains("cannot be combined with the constraint `c`"));
}

/// $x = \sum_j x^{(j)}_0 t^j E_{4.5,\,j+1}(-t^{4.5})$
#[test]
fn equations_begin_with_all_their_derivatives() {
    let text = "coordinates x\nequation caputo(x, 4.5) + x = 0\n\
         initial x = 1, x' = -0.5, x'' = 0.3, x''' = 2, x'''' = -1\nsolve t = 0..3\n";
    let motion = run(&model(text), &at(&[0.5, 3.0]));
    assert!(motion.notes.is_empty(), "{:?}", motion.notes);
    let closed = "mittag_leffler(4.5, 1, -t^4.5) - 0.5*t*mittag_leffler(4.5, 2, -t^4.5) + 0.3*t^2*mittag_leffler(4.5, 3, -t^4.5) \
         + 2*t^3*mittag_leffler(4.5, 4, -t^4.5) - t^4*mittag_leffler(4.5, 5, -t^4.5)";
    for (t, x) in motion.t.iter().zip(&motion.q[0].values) {
        let exact = match evaluate(closed, &format!("t={t}"), Range::default()) {
            Ok(Value::Number(x)) => x,
            other => panic!("{other:?}"),
        };
        assert!((x - exact).abs() < TOLERANCE * (1.0 + exact.abs()), "{t} {x} {exact}");
    }
    let low = "coordinates x\nequation caputo(x, 2.5) + x = 0\ninitial x = 1, x''' = 2\nsolve t = 0..1\n";
    assert!(noted(&run(&model(low), &at(&[1.0])), "x''' is ignored"));
}

/// A motion that is given first, and the forces that make it: $q_1 = 1/2 + 3t/10 - t^2/5 + t^3/10$ with a
/// constraint that is nonlinear in $D^\alpha q_1$ and a reaction cos t.
#[test]
fn motions_that_are_given_first_are_found() {
    let coefficients = [0.5, 0.3, -0.2, 0.1];
    for alpha in [0.15, 0.63, 0.95, 1.25, 1.85, 2.2, 2.75] {
        let power = |k: usize| {
            let c = coefficients[k] * libm::tgamma(k as f64 + 1.0);
            let e = k as f64 - alpha;
            format!("({})*t^({e})", c / libm::tgamma(e + 1.0))
        };
        let first = f64::ceil(alpha) as usize;
        let memory: Vec<String> = (first..4).map(power).collect();
        let memory = memory.join(" + ");
        let (v1, v2) = ("(0.3 - 0.4*t + 0.3*t^2)", "(0.4 + 0.3*t)");
        let q2 = "(0.4*t + 0.15*t^2 - 0.2)";
        let text = format!(
            "coordinates q1, q2\nlagrangian (q1'^2 + q2'^2)/2\nforce q1: 0.6*t - 0.4 - cos(t)\nforce q2: 0.3 - cos(t)*{v2}\n\
             constraint c: q1' + 0.5*q2'^2 + 0.3*sin(caputo(q1, {alpha})) + 0.2*caputo(q1, {alpha})*q2 \
             = {v1} + 0.5*{v2}^2 + 0.3*sin({memory}) + 0.2*({memory})*{q2}\n\
             initial q1 = 0.5, q2 = -0.2, q1' = 0.3, q2' = 0.4{}\nsolve t = 0..1.5\n",
            if alpha > 2.0 { ", q1'' = -0.4, q2'' = 0.3" } else { "" }
        );
        let motion = run(&model(&text), &at(&[0.2, 1.5]));
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{alpha} {:?}", motion.audit);
        for (i, &t) in motion.t.iter().enumerate() {
            let q1: f64 = (0..4).rev().fold(0.0, |sum, k| sum * t + coefficients[k]);
            let q2 = 0.4 * t + 0.15 * t * t - 0.2;
            let off = (motion.q[0].values[i] - q1).abs() + (motion.q[1].values[i] - q2).abs();
            assert!(off < TOLERANCE, "{alpha} {t} {off}");
            // λ is a density: a step gives it to the error of the step over its length.
            let λ = motion.multipliers[0].values[i];
            assert!((λ - libm::cos(t)).abs() < 1e-8, "{alpha} {t} {λ}");
        }
        assert_eq!(motion.t.len(), 2, "{alpha} {:?}", motion.notes);
    }
}

/// What cannot start says which datum or which derivative stands in the way.
#[test]
fn refusals_name_what_is_in_the_way() {
    let two = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint a: x' + y' + caputo(x, 0.5) = 0\n\
         constraint b: z' + caputo(y, 0.4) = 0\ninitial x' = 1, y' = -1, z' = 2\nsolve t = 0..1\n";
    let message = refusal(two);
    assert!(
        message.contains("z' = 2") && message.contains("`b`") && !message.contains("`a`"),
        "{message}"
    );
    let pair = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\n";
    let tail = "initial x = 1\nsolve t = 0..1\n";
    for (line, words) in [
        ("constraint c: x' + y' + rl(x, 0.5) = 0", "begins like 0.564190 (t - t0)^(-0.5)"),
        ("force x: -rl(x, 1.5)", "(t - t0)^(-1.5)"),
        ("constraint c: x' + y' + rl(x, 2.5) = 0", "of order 2.5 of Riemann and Liouville"),
        ("constraint c: x' + y' + caputo(x^2, 2.5) = 0", "not linear in the coordinates"),
        ("constraint c: x' + y' + caputo(x', 2.2) = 0", "of order 3.2"),
        ("force x: -caputo(x, 3.5)", "of order 3.5 of `x`"),
        (
            "constraint c: (1 + x)*x' + y' + caputo(x - 2*y, 2.5) = 0",
            "zero at the start, but not along the motion",
        ),
    ] {
        let message = refusal(&format!("{pair}{line}\n{tail}"));
        assert!(message.contains(words), "{line}: {message}");
    }
    let infinite =
        format!("{pair}force x: -caputo(x, 0.5)\ninitial x = log(-1)\nsolve t = 0..1\n");
    assert!(refusal(&infinite).contains("not a finite number"));
    // A force that begins like t^{−1/2} has an integral.
    let motion = run(&model(&format!("{pair}force x: -rl(x, 0.5)\n{tail}")), &at(&[1.0]));
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
}
