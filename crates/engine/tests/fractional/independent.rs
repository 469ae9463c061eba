//! Extrema with memory by more than one road: Hamilton's form, equivalence with Chetaev's motions, nonlinear
//! operands, several extrema.

use pfaff::{Guess, Motion, Run, Verdict};
use pfaff_present::{ToLatex, ToText, present_fractional_hamilton};

use crate::support::{model, run};

fn at(times: &[f64]) -> Run {
    Run { at: Some(times.to_vec()), ..Run::default() }
}

fn check(motion: &Motion, name: &str) -> Option<f64> {
    motion.audit.checks.iter().find(|c| c.name == name).map(|c| c.value)
}

#[track_caller]
fn passed(motion: &Motion) {
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
}

/// [TZ06, (84)–(94)] put right, for a constraint A(q, D^α q)·q' = 0 with a potential: positions and
/// multipliers of both forms agree.
#[test]
fn hamilton_and_lagrange_agree() {
    for alpha in [0.4, 0.8] {
        let text = format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x^2/2 - x*y/3\nconstraint c: (1 + x^2/4)*y' - (1/2 + caputo(x, {alpha})/4)*x' = 0\nprinciple vakonomic\ninitial x = 0, y = 0\nfinal x = 1\nsolve t = 0..1\n"
        );
        let motion = run(&model(&text), &at(&[0.5]));
        passed(&motion);
        let off = check(&motion, "hamilton's form").expect("there is one");
        assert!(off < 1e-10, "{alpha} {off:e}");
    }
    // Fractional velocities, and both kinds at once.
    for (lagrangian, ends) in [
        ("caputo(q, 0.8)^2/2 - q^2", "initial q = 0\nfinal q = 1"),
        ("caputo(q, 1.6)^2/2 + q'^2/2 + q^4/4", "initial q = 0\nfinal q = 1"),
        ("q'^2/2 + caputo_right(q, 0.4)^2/2 + q*caputo(q, 0.3)", "initial q = 0\nfinal q = 1"),
    ] {
        let text = format!("coordinates q\nlagrangian {lagrangian}\n{ends}\nsolve t = 0..1\n");
        let motion = run(&model(&text), &at(&[0.5]));
        passed(&motion);
        let off = check(&motion, "hamilton's form").expect("there is one");
        assert!(off < 1e-10, "{lagrangian} {off:e}");
    }
}

#[test]
fn hamilton_form_is_printed() {
    let text = "coordinates x, y\nparameters a = 0.5\nlagrangian (x'^2 + y'^2)/2 - x^2/2\nconstraint c: y' - caputo(x, a)*x' = 0\nprinciple vakonomic\ninitial x = 0, y = 0\nfinal x = 1\nsolve t = 0..1\n";
    let constrained = model(text);
    let shown = present_fractional_hamilton(&constrained, None)
        .expect("it is derived")
        .expect("it is fractional");
    let text = shown.to_text();
    for part in ["p[y] = y' - mu(c)", "mu(c) = ", "H = ", "x' = ", "p'[y] = 0", "rl_right("] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(shown.to_latex().contains(r"\mathcal H"));
    let quartic = model(
        "coordinates q\nlagrangian q'^4 + caputo(q, 0.5)^2\ninitial q = 0\nfinal q = 1\nsolve t = 0..1\n",
    );
    match present_fractional_hamilton(&quartic, None) {
        Err(pfaff::Error::Text(pfaff::ParseErrors { diagnostics: list, .. })) => {
            assert!(list[0].message.contains("not quadratic"), "{}", list[0].message);
        }
        other => panic!("refused: {other:?}"),
    }
}

/// Proposition 2 holds where the memory stands along the same direction as the velocities, a·q' + κ a·D^α q:
/// then the bracket is along a.
#[test]
fn proposition_2_holds_along_the_direction_of_the_constraint() {
    for (alpha, kappa) in [(0.3, -0.5), (0.8, 1.5)] {
        let text = format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x*y^2/3\nconstraint c: x' + 2*y' + ({kappa})*caputo(x + 2*y, {alpha}) = cos(t)\nprinciple vakonomic\ninitial x = 0, y = 0\nfinal x = 1\nsolve t = 0..1\n"
        );
        let motion = run(&model(&text), &at(&[0.5]));
        passed(&motion);
        let found = motion.equivalence.as_ref().expect("there is a constraint");
        assert!(found.equivalent, "{alpha} {found:?}");
        // The reaction is there: it is the test that has something to explain.
        assert!(found.reaction > 1e-2 && found.residual < 1e-7, "{alpha} {found:?}");
        assert!(
            pfaff_present::notes(&motion)
                .iter()
                .any(|n| { n.contains("also satisfies the d'Alembert–Chetaev equations") })
        );
    }
}

/// It does not hold where the memory stands across it, and not where a constraint has no velocities at all.
#[test]
fn proposition_2_fails_across_the_direction_of_the_constraint() {
    for (constraint, lagrangian, start) in [
        ("x' + 2*y' + caputo(x - y, 0.5)/2 = cos(t)", "(x'^2 + y'^2)/2", "x = 0, y = 0"),
        ("y' - caputo(x, 0.6) = 0", "(x'^2 + y'^2)/2", "x = 0, y = 0"),
        ("y - caputo(x, 0.6) = 0", "(x'^2 + y^2)/2", "x = 0"),
    ] {
        let text = format!(
            "coordinates x, y\nlagrangian {lagrangian}\nconstraint c: {constraint}\nprinciple vakonomic\ninitial {start}\nfinal x = 1\nsolve t = 0..1\n"
        );
        let motion = run(&model(&text), &at(&[0.5]));
        passed(&motion);
        let found = motion.equivalence.as_ref().expect("there is a constraint");
        assert!(!found.equivalent, "{constraint} {found:?}");
        assert!(found.residual > 1e-2 * found.reaction, "{constraint} {found:?}");
        assert!(
            pfaff_present::notes(&motion)
                .iter()
                .any(|n| { n.contains("does not satisfy the d'Alembert–Chetaev equations") })
        );
    }
}

/// A function of its own for a nonlinear operand gives what a coordinate z with z' = G' gives, and what a
/// force made for it gives.
#[test]
fn nonlinear_operands() {
    let own = run(
        &model(
            "coordinates q\nlagrangian caputo(q^2, 0.7)^2/2 + q'^2/2\ninitial q = 0\nfinal q = 1\nsolve t = 0..1\n",
        ),
        &at(&[0.3, 0.7]),
    );
    passed(&own);
    // With `constraint z' = 2*q*q'` and z(0) = 0, solved once to 1e-11.
    let first = &own.solutions.as_ref().expect("ends")[0];
    assert!((first.action - 0.896_084_336_3).abs() < 1e-9, "{}", first.action);
    assert!((own.q[0].values[1] - 0.709_120_941_8).abs() < 1e-9, "{:?}", own.q[0].values);
    assert_eq!(first.minimum, Some(true));
    // With q = t² the operand tq is t³.
    for alpha in [0.3, 0.8] {
        let gamma = libm::tgamma;
        // D^α t³ = K t^(3−α); the force is made by giving the action the square of the distance from it.
        let k = gamma(4.0) / gamma(4.0 - alpha);
        let text = format!(
            "coordinates q\nlagrangian (caputo(t*q, {alpha}) - ({k:.17})*t^({}))^2/2 + (q' - 2*t)^2/2\ninitial q = 0\nfinal q = 1\nsolve t = 0..1\n",
            3.0 - alpha
        );
        let motion = run(&model(&text), &at(&[0.2, 0.5, 0.9]));
        passed(&motion);
        for (q, t) in motion.q[0].values.iter().zip([0.2, 0.5, 0.9]) {
            assert!((q - t * t).abs() < 1e-10, "{alpha} {t} {q}");
        }
    }
    // Products, right operators, orders above 1, integrals.
    for (l, ends) in [
        ("caputo((1 + t)*x*y, 0.4)^2/2", "initial x = 0, y = 1\nfinal x = 1"),
        ("caputo_right(x*y, 0.6)^2/2 + y^2", "initial x = 0, y = 1\nfinal x = 1, y = 0"),
        ("integral(x*y, 0.6)^2/2", "initial x = 0, y = 1\nfinal x = 1, y = 0"),
        ("caputo(x + sin(t), 0.5)*y", "initial x = 0, y = 1\nfinal x = 1, y = 0"),
    ] {
        let text = format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 + {l}\n{ends}\nsolve t = 0..1\n"
        );
        let motion = run(&model(&text), &at(&[0.5]));
        passed(&motion);
        assert!(check(&motion, "first variation").expect("it is there") < 1e-9);
    }
}

/// Three extrema of one action, least action first; a guess finds its own first where the waves would too.
#[test]
fn several_extrema_are_listed() {
    let text = "coordinates x, y\nlagrangian x'^2/2 + y'^2/2 + caputo_right(x^2, 0.6)*y\ninitial x = 0, y = 1\nfinal x = 1\nsolve t = 0..1\n";
    let motion = run(&model(text), &at(&[0.5]));
    passed(&motion);
    let all = motion.solutions.as_ref().expect("ends");
    assert!(all.len() >= 2, "{all:?}");
    assert!(all.windows(2).all(|w| w[0].action < w[1].action));
    assert_eq!(all[0].minimum, Some(true));
    assert!(all.iter().all(|s| s.error.expect("an estimate") < 1e-10 && s.residual < 1e-10));
}

/// A well with two sides: from 0 to 0 the rest is one extremum, and the two arcs mirror each other.
#[test]
fn arcs_on_both_sides() {
    let text = "coordinates q\nlagrangian caputo(q, 0.9)^2/2 + 3*q^2 - 6*q^4\ninitial q = 0\nfinal q = 0\nsolve t = 0..1\n";
    let model = model(text);
    let motion = run(&model, &at(&[0.5]));
    passed(&motion);
    let all = motion.solutions.as_ref().expect("ends");
    assert!(all.iter().any(|s| s.action.abs() < 1e-12), "{all:?}");
    let high: Vec<f64> = all.iter().map(|s| s.action).filter(|a| a.abs() > 1e-6).collect();
    assert!(high.len() >= 2, "{all:?}");
    assert!((high[0] - high[1]).abs() < 1e-8, "{high:?}");
    let guess = Guess::start(&model, "q' = 8").expect("a guess");
    let led = run(&model, &Run { guess: Some(guess), ..at(&[0.5]) });
    assert!(led.solutions.expect("ends").len() >= all.len());
}

#[test]
fn leads_are_refused() {
    let model = model(
        "coordinates q\nparameters k = 1\nlagrangian caputo(q, 0.8)^2/2 - k*q^2\ninitial q = 0\nfinal q = 1\nsolve t = 0..1\n",
    );
    let request = Run { lead: vec![("k".into(), 0.5)], ..Run::default() };
    match pfaff::run(&model, &request, &mut |_, _| true) {
        Err(pfaff::Error::Usage(text)) => assert!(text.contains("other parameters"), "{text}"),
        other => panic!("refused: {other:?}"),
    }
}

/// [TZ06, (80), (82), (90), (94)]: the bracket of the constraint and the rate of the momentum have the right
/// derivative of Riemann and Liouville; printed is the left one of Caputo.
/// Along x = J^α g with g = t²(1−t)³, y' = D^α x = g, which a force F = x'' − D_right^α g makes an extremum:
/// p_x = x', p_y = 0.
#[test]
fn momenta_of_94_look_ahead() {
    let gamma = libm::tgamma;
    let powers = |list: &[(f64, f64)], beta: f64, x: f64| -> f64 {
        list.iter()
            .map(|(c, p)| c * gamma(p + 1.0) / gamma(p + 1.0 - beta) * libm::pow(x, p - beta))
            .sum()
    };
    let text = |list: &[(f64, f64)], beta: f64, x: &str| -> String {
        let term = |(c, p): &(f64, f64)| {
            let factor = c * gamma(p + 1.0) / gamma(p + 1.0 - beta);
            format!("({factor:.18})*{x}^({:.3})", p - beta)
        };
        list.iter().map(term).collect::<Vec<_>>().join(" + ")
    };
    let left = [(1.0, 2.0), (-3.0, 3.0), (3.0, 4.0), (-1.0, 5.0)];
    let right = [(1.0, 3.0), (-2.0, 4.0), (1.0, 5.0)];
    let (alpha, t) = (0.5, 0.2);
    let force =
        format!("{} - ({})", text(&left, 2.0 - alpha, "t"), text(&right, alpha, "(1-t)"));
    let problem = model(&format!(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 + x*({force})\nconstraint c: y' - caputo(x, {alpha}) = 0\nprinciple vakonomic\ninitial x = 0, y = 0\nfinal x = {:.17}\nsolve t = 0..1\n",
        powers(&left, -alpha, 1.0)
    ));
    // The engine's extremum is this course, and its equation has the right operator.
    let motion = run(&problem, &at(&[t]));
    assert!((motion.q[0].values[0] - powers(&left, -alpha, t)).abs() < 1e-10);
    let shown =
        present_fractional_hamilton(&problem, None).expect("derived").expect("with memory");
    assert!(
        shown.to_text().contains("rl_right(p[y] - caputo(x, 1/2), 1/2)"),
        "{}",
        shown.to_text()
    );
    // p_x' = F + D^α g, at t.
    let rate = powers(&left, 2.0 - alpha, t);
    let pull = rate - powers(&right, alpha, 1.0 - t);
    let ours = pull + powers(&right, alpha, 1.0 - t) - rate;
    let printed = pull + powers(&left, alpha, t) - rate;
    assert!(ours.abs() < 1e-14 && printed.abs() > 1e-2, "{ours} {printed}");
}
