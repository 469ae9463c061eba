//! Motions in lanes, against single runs that are stricter, and against closed forms.

use pfaff::{
    Backend, CaseMotion, Cases, Ensemble, GalleryFiles, LaneMotion, Overrides, Run, Source,
    gallery_model,
};

fn ensemble(text: &str, vary: &str, request: Run) -> (Ensemble<'static>, Cases) {
    let cases = Cases::default().vary(vary).expect("ranges");
    let source = Source::new("model", text);
    let overrides = Overrides::default();
    let made = Ensemble::new(source, overrides, &GalleryFiles, &cases, request);
    (made.expect("a model"), cases)
}

/// All motions in the order of the cases, and how many ran by themselves.
fn motions(ensemble: &Ensemble<'_>, cases: &Cases) -> (Vec<Option<LaneMotion>>, usize) {
    let count = cases.count() as usize;
    let mut found: Vec<Option<LaneMotion>> = vec![None; count];
    let mut single = 0;
    let mut done = |case: usize, motion: CaseMotion<'_>| match motion {
        CaseMotion::Lane(motion) => found[case] = Some(motion.clone()),
        CaseMotion::Single(_) => single += 1,
    };
    let mut values = |i: usize, own: &mut [f64]| cases.write_values(i as u64, own);
    ensemble.run_cases((0, count), &mut values, &|| true, &mut done);
    (found, single)
}

fn only_ends(request: Run) -> Run {
    Run { samples: Some(2), ..request }
}

const SLEIGH: &str = "\
coordinates x, y, phi
parameters m = 1, J = 0.5, a = 0.2, F = 0.3
kinetic m*((x' - a*phi'*sin(phi))^2 + (y' + a*phi'*cos(phi))^2)/2 + J*phi'^2/2
constraint blade: y'*cos(phi) - x'*sin(phi) = 0
force phi: F*cos(t)
initial phi = 0.3, x' = 1, phi' = 0.7
observe speed = sqrt(x'^2 + y'^2)
observe side = lambda(blade)
";

/// The ends of motions in lanes are those of stricter single runs, to the error that they tell with a margin of three;
/// what is missing at the start is found as in a single run.
#[test]
fn ends_are_those_of_single_runs() {
    let disk = gallery_model("disk").expect("it is there").text;
    let pendulum = gallery_model("double_pendulum").expect("it is there").text;
    let name =
        |text: &str| text.lines().find(|l| l.starts_with("title")).unwrap_or("").to_owned();
    for (text, vary, t1) in [
        (SLEIGH, "a=0.05..0.5:4, phi(0)=-3..3:5", 8.0),
        (SLEIGH, "m=1..2:3, x'(0)=[-1, 2], F=[0, 1]", 5.0),
        (disk, "m=1..3:9", 4.0),
        (pendulum, "g=5..12:10", 3.0),
    ] {
        let (lanes, cases) = ensemble(text, vary, only_ends(Run::to(t1).tolerance(1e-9)));
        assert!(lanes.has_lanes(), "{}", name(text));
        let (strict, _) = ensemble(text, vary, only_ends(Run::to(t1).tolerance(1e-13)));
        let (found, single) = motions(&lanes, &cases);
        assert!(single * 4 <= found.len(), "{}: {single} of {}", name(text), found.len());
        for (case, motion) in found.iter().enumerate() {
            let Some(motion) = motion else { continue };
            let exact = strict.motion(&cases.values(case as u64), &mut |_| true).expect("it");
            assert_eq!(motion.t, t1);
            let n = exact.q.len();
            for (k, series) in exact.q.iter().enumerate() {
                let truth = *series.values.last().expect("a row");
                let error = (motion.state[k] - truth).abs();
                assert!(
                    error <= 3.0 * motion.errors[k],
                    "{case} {}: {error:e} {:e}",
                    series.name,
                    motion.errors[k]
                );
            }
            // Velocities and what is observed have no estimate: a thousand tolerances of their size.
            let rest = exact.v.iter().chain(&exact.observed);
            for (k, series) in rest.enumerate() {
                let truth = *series.values.last().expect("a row");
                let found = motion.state[n + k];
                assert!(
                    (found - truth).abs() <= 1e-6 * (1.0 + truth.abs()),
                    "{case} {}: {found} {truth}",
                    series.name
                );
            }
        }
    }
}

/// Taylor series are taken where that needs fewer instructions: about a third of the steps of DOP853. They end where
/// single runs at a stricter tolerance end, also where the work of a force is carried along.
#[test]
fn strict_motions_take_few_long_steps() {
    let disk = gallery_model("disk").expect("it is there").text;
    let damped = "coordinates x, y\nparameters k = 1, c = 0.1\n\
                  lagrangian (x'^2 + y'^2)/2 - k*(x^2 + 2*y^2)/2 - x^2*y/3\n\
                  force x: -c*x'\nforce y: -c*y'\ninitial x = 1, y' = 0.5";
    for (text, vary) in [(disk, "m=1..3:3"), (damped, "k=1..2:3, c=[0, 0.2]")] {
        let (lanes, cases) = ensemble(text, vary, only_ends(Run::to(5.0).tolerance(1e-11)));
        assert!(lanes.has_lanes());
        let (strict, _) = ensemble(text, vary, only_ends(Run::to(5.0).tolerance(1e-14)));
        let (found, single) = motions(&lanes, &cases);
        assert_eq!(single, 0);
        for (case, motion) in found.iter().flatten().enumerate() {
            let exact = strict.motion(&cases.values(case as u64), &mut |_| true).expect("it");
            // DOP853 takes more than thirty.
            assert!(motion.steps < 20, "{case}: {} steps", motion.steps);
            for (k, series) in exact.q.iter().enumerate() {
                let error = (motion.state[k] - series.values.last().expect("a row")).abs();
                assert!(error <= 3.0 * motion.errors[k], "{case} {}: {error:e}", series.name);
                assert!(motion.errors[k] < 1e-8, "{case}: {:e}", motion.errors[k]);
            }
        }
    }
}

/// Beside a separatrix the looser integration may turn over where the motion swings back. It then has met angles that
/// the motion never has, and does not say what errors are measured in: whatever passes has the error that it tells.
#[test]
fn a_looser_integration_that_goes_astray_sets_no_scale() {
    let text = "coordinates p\nparameters g = 1\nlagrangian p'^2/2 + g*cos(p)\ninitial p' = 2";
    let vary = "p'(0)=1.999..2.001:41, g=[1, 1.0001]";
    let request = only_ends(Run::to(14.0).tolerance(1e-8));
    let (lanes, cases) = ensemble(text, vary, request);
    assert!(lanes.has_lanes());
    let (strict, _) = ensemble(text, vary, only_ends(Run::to(14.0).tolerance(1e-13)));
    let (found, single) = motions(&lanes, &cases);
    assert!(single < found.len(), "some are far enough from it");
    for (case, motion) in found.iter().enumerate() {
        let Some(motion) = motion else { continue };
        let exact = strict.motion(&cases.values(case as u64), &mut |_| true).expect("it");
        let error = (motion.state[0] - exact.q[0].values.last().expect("a row")).abs();
        assert!(error <= 3.0 * motion.errors[0], "{case}: {error:e} {:e}", motion.errors[0]);
    }
}

/// What a lane checks has the names that it has in the audit of a single run, and a value of its own.
#[test]
fn lanes_make_checks_of_the_audit() {
    let (lanes, cases) =
        ensemble(SLEIGH, "a=0.1..0.5:3", only_ends(Run::to(3.0).tolerance(1e-9)));
    let (found, _) = motions(&lanes, &cases);
    let single = lanes.motion(&cases.values(0), &mut |_| true).expect("it");
    let known: Vec<&str> = single.audit.checks.iter().map(|c| c.name.as_ref()).collect();
    let constraints = ["blade".to_owned()];
    for motion in found.iter().flatten() {
        let names: Vec<_> = motion.checks.iter().map(|c| c.kind.name(&constraints)).collect();
        assert_eq!(
            names,
            [
                "constraint blade",
                "energy balance",
                "equations of motion at steps",
                "constraints differentiated at steps",
                "error by a second integration",
            ]
        );
        assert!(names.iter().all(|name| known.contains(&name.as_ref())), "{known:?}");
        assert!(motion.checks.iter().all(|c| c.value <= c.limit));
        // The energy of a motion with a force is balanced to some tolerances of its steps, not exactly.
        assert!(motion.checks[1].value > 0.0);
    }
}

/// Zeros of cos(w t) at (k + 1/2) π/w, each with its direction, and a stop at the end of a fall.
#[test]
fn events_are_where_closed_forms_have_them() {
    let text = "coordinates x\nparameters w = 1\nlagrangian x'^2/2 - w^2*x^2/2\ninitial x = 1\n\
                event zero: x\nevent rising up: x - 0.5\nevent slow: x' + 2*w";
    let (ensemble, cases) =
        ensemble(text, "w=1..2:11", only_ends(Run::to(10.0).tolerance(1e-10)));
    assert!(ensemble.has_lanes());
    let (found, single) = motions(&ensemble, &cases);
    assert!(single <= 3, "{single}");
    for (case, motion) in found.iter().enumerate() {
        let Some(motion) = motion else { continue };
        let w = cases.values(case as u64)[0];
        let zeros: Vec<f64> = (0..1_000_000)
            .map(|k| (f64::from(k) + 0.5) * std::f64::consts::PI / w)
            .take_while(|t| *t < 10.0)
            .collect();
        let seen: Vec<_> = motion.events.iter().filter(|e| e.event == 0).collect();
        assert_eq!(seen.len(), zeros.len(), "w = {w}");
        for (k, (event, t)) in seen.iter().zip(&zeros).enumerate() {
            // The phase is right to some tolerances of the run.
            assert!((event.t - t).abs() < 1e-8, "w = {w}: {} {t}", event.t);
            assert_eq!(event.direction, if k % 2 == 0 { -1.0 } else { 1.0 });
            assert!(event.state[0].abs() < 1e-12);
        }
        // cos(w t) rises through 1/2 at w t = 2 k π - π/3.
        let up = (1..).map(|k| (f64::from(k) - 1.0 / 6.0) * std::f64::consts::TAU / w);
        let up = up.take_while(|t| *t < 10.0).count();
        assert_eq!(motion.events.iter().filter(|e| e.event == 1).count(), up);
        assert!(motion.events.iter().all(|e| e.event != 2), "x' stays above -2 w");
    }
}

#[test]
fn a_stop_ends_a_lane_where_the_closed_form_says() {
    let text = "coordinates y\nparameters g = 9.81, h = 2\nlagrangian y'^2/2 - g*y\ninitial y = h\n\
                event stop ground: y";
    let (ensemble, cases) = ensemble(text, "g=1..20:20, h=1..3:3", only_ends(Run::to(2.0)));
    assert!(ensemble.has_lanes());
    let (found, single) = motions(&ensemble, &cases);
    assert!(single <= 6, "{single}");
    for (case, motion) in found.iter().enumerate() {
        let Some(motion) = motion else { continue };
        let [g, h] = cases.values(case as u64)[..] else { panic!("two values") };
        let fall = (2.0 * h / g).sqrt();
        let t = fall.min(2.0);
        // What falls for just two seconds is there at the end.
        assert_eq!(motion.event.is_some(), fall <= 2.0, "g = {g}, h = {h}");
        assert!((motion.t - t).abs() < 1e-11, "{} {t}", motion.t);
        assert!((motion.state[1] + g * t).abs() < 1e-9);
    }
}

/// Neither the neighbours nor the backend change a bit.
#[test]
fn lanes_do_not_depend_on_their_neighbours() {
    let vary = "a=0.05..0.5:7, phi'(0)=[0.2, 1, 1.5]";
    let request = only_ends(Run::to(4.0).tolerance(1e-8));
    let (ensemble, cases) = ensemble(SLEIGH, vary, request.clone());
    let (together, _) = motions(&ensemble, &cases);
    let bits = |m: &LaneMotion| m.state.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for case in [0, 5, 13, 20] {
        let mut alone = None;
        let mut values = |_: usize, own: &mut [f64]| cases.write_values(case as u64, own);
        let mut done = |_: usize, motion: CaseMotion<'_>| {
            if let CaseMotion::Lane(motion) = motion {
                alone = Some(motion.clone());
            }
        };
        ensemble.run_cases((case as u64, 1), &mut values, &|| true, &mut done);
        assert_eq!(alone.as_ref().map(bits), together[case].as_ref().map(bits), "{case}");
    }
    let (interpreted, _) = self::ensemble(SLEIGH, vary, request.backend(Backend::Interpreter));
    let (other, _) = motions(&interpreted, &cases);
    for (a, b) in together.iter().zip(&other) {
        assert_eq!(a.as_ref().map(bits), b.as_ref().map(bits));
    }
}

/// What lanes cannot judge is run by itself: velocities that contradict the constraint, and a start without mass.
#[test]
fn doubtful_starts_run_by_themselves() {
    let vary = "y'(0)=[0, 1], m=[1, 2]";
    let (ensemble, cases) = ensemble(SLEIGH, vary, only_ends(Run::to(1.0).tolerance(1e-8)));
    let (found, single) = motions(&ensemble, &cases);
    // x' and y' are both given, and meet the constraint for no y' of the list at phi = 0.3.
    assert_eq!((found.iter().flatten().count(), single), (0, 4));
}
