//! Folds, branch points and Hopf points against closed forms.

use pfaff::{
    Continuation, ContinueRequest, Model, NoFiles, Overrides, Source, SpecialPoint,
    continue_equilibria,
};

fn over(text: &str, parameter: &str, from: f64, to: f64) -> Result<Continuation, pfaff::Error> {
    let set = Overrides { set: Some(format!("{parameter}={from:?}")), initial: None };
    let model = Model::read(Source::new("model", text), &set, &NoFiles)?;
    let request =
        ContinueRequest { parameter: parameter.into(), from, to, ..ContinueRequest::default() };
    continue_equilibria(&model, &request, &mut || true)
}

fn specials<'a>(found: &'a Continuation, kind: &str) -> Vec<&'a SpecialPoint> {
    let all = found.branches.iter().flat_map(|branch| &branch.special);
    all.filter(|special| special.kind == kind).collect()
}

/// A bead on a turning hoop: a pitchfork at ω² = g/l, and arms with cos(a) = g/(ω²l).
#[test]
fn a_bead_on_a_hoop_has_a_pitchfork() {
    let text = "
        coordinates a
        parameters w = 1, g = 9.81, l = 1.2
        lagrangian l^2*(a'^2 + w^2*sin(a)^2)/2 + g*l*cos(a)";
    let found = over(text, "w", 1.0, 5.0).unwrap();
    let exact = (9.81_f64 / 1.2).sqrt();
    let branch: Vec<f64> = specials(&found, "branch").iter().map(|s| s.parameter).collect();
    assert!(branch.iter().any(|w| (w - exact).abs() < 1e-10), "{branch:?} {exact}");
    // Both arms were followed to the end of the range.
    let angle = (9.81 / (25.0 * 1.2_f64)).acos();
    for sign in [1.0, -1.0] {
        let ends = found.branches.iter().filter_map(|branch| branch.points.last());
        let on_arm = |state: &[(String, f64)]| (state[0].1 - sign * angle).abs() < 1e-9;
        assert!(
            ends.clone().any(|end| (end.parameter - 5.0).abs() < 1e-9 && on_arm(&end.state))
        );
    }
}

/// x' = p − x²: a fold at p = 0, x = 0.
#[test]
fn a_parabola_has_a_fold() {
    let text = "coordinates x\nparameters p = 1\nequation x' = p - x^2\ninitial x = 1";
    let found = over(text, "p", 1.0, -1.0).unwrap();
    let folds = specials(&found, "fold");
    assert_eq!(folds.len(), 1, "{:?}", found.branches);
    assert!(folds[0].parameter.abs() < 1e-12 && folds[0].state[0].1.abs() < 1e-6, "{folds:?}");
}

/// The follower-force oscillator of van der Pol's kind: x'' = p x' − x − x³ has a Hopf point at p = 0.
#[test]
fn negative_damping_has_a_hopf_point() {
    let text = "
        coordinates x
        parameters p = -1
        equation x'' = p*x' - x - x^3";
    let found = over(text, "p", -1.0, 1.0).unwrap();
    let hopf = specials(&found, "hopf");
    assert_eq!(hopf.len(), 1, "{:?}", found.branches);
    assert!(hopf[0].parameter.abs() < 1e-10, "{hopf:?}");
    let points = &found.branches[0].points;
    assert_eq!(points[0].stability.name(), "asymptotically stable");
    assert_eq!(points.last().unwrap().stability.name(), "unstable");
}

/// Constraints: a bead on a parabola y = x² under a wind, x = F/(2mg).
#[test]
fn a_branch_stays_on_the_constraints() {
    let text = "
        coordinates x, y
        parameters F = 0
        lagrangian (x'^2 + y'^2)/2 - y
        force x: F
        constraint wire: y = x^2";
    let found = over(text, "F", 0.0, 1.0).unwrap();
    for point in &found.branches[0].points {
        let x = point.parameter / 2.0;
        assert!((point.state[0].1 - x).abs() < 1e-9 && (point.state[1].1 - x * x).abs() < 1e-9);
    }
    assert!((found.branches[0].points.last().unwrap().parameter - 1.0).abs() < 1e-9);
}

#[test]
fn what_cannot_be_continued_says_why() {
    let text = "coordinates x\nparameters k = 1, b = 2\nlagrangian x'^2/2 - k*x^2/2";
    let idle = over(text, "b", 0.0, 1.0).expect_err("nothing depends on b").to_string();
    assert!(idle.contains("does nothing"), "{idle}");
    let slope = "coordinates x\nparameters k = 1\nlagrangian x'^2/2 - k*x";
    let none = over(slope, "k", 1.0, 2.0).expect_err("nothing rests").to_string();
    assert!(none.contains("no equilibrium"), "{none}");
}
