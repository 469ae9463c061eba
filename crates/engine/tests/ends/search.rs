//! The search for motions between given ends: where it begins, when it gives up, and what it then shows.

use pfaff::{Guess, Model, Motion, Note, Run, StopReason, gallery_model};

use crate::support;
use crate::support::ends::{best, gallery, named, solutions};

fn model(name: &str, set: &str) -> Model {
    support::model_with(gallery_model(name).expect("it is in the gallery").text, set, "")
}

fn says(motion: &Motion, part: &str) -> bool {
    pfaff_present::notes(motion).iter().any(|n| n.contains(part))
}

/// From given velocities and multipliers the search goes to the solution they belong to, and to that one only.
#[test]
fn a_given_start_leads_to_its_own_solution() {
    let all = gallery("shortest_path", "");
    let model = model("shortest_path", "");
    for wanted in &solutions(&all)[..2] {
        let near = |x: f64| 1.02 * x + 0.01;
        let (vx, turning) = (near(named(&wanted.v0, "x")), near(named(&wanted.v0, "phi")));
        let μ = near(named(&wanted.mu0, "blade"));
        let text = format!("x'={vx}, phi'={turning}, mu(blade)={μ}");
        let guess = Guess::start(&model, &text).expect("the names are there");
        let motion = support::run(&model, &Run { guess: Some(guess), ..Run::default() });
        assert_eq!(solutions(&motion).len(), 1);
        assert!(
            (named(&best(&motion).mu0, "blade") - named(&wanted.mu0, "blade")).abs() < 1e-8
        );
    }
    assert!(Guess::start(&model, "mu(knife)=1").is_err());
}

/// A motion written as a table is a start for the same ends and for ends nearby; positions alone are enough.
#[test]
fn a_given_motion_is_a_start() {
    let whole = gallery("shortest_path", "");
    let table = |keep: &dyn Fn(&str) -> bool| {
        let columns: Vec<_> =
            whole.columns().into_iter().filter(|(name, _)| keep(name)).collect();
        let mut text =
            columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",");
        for row in 0..whole.t.len() {
            let cells: Vec<String> = columns.iter().map(|(_, c)| c[row].to_string()).collect();
            text += &format!("\n{}", cells.join(","));
        }
        text
    };
    let model = model("shortest_path", "");
    let wanted = named(&best(&whole).mu0, "blade");
    let with = |text: &str| Guess::motion(&model, "motion.csv", text);
    for text in [table(&|_| true), table(&|n| ["t", "x", "y", "phi", "mu(blade)"].contains(&n))]
    {
        let guess = with(&text).expect("the columns are there");
        let motion = support::run(&model, &Run { guess: Some(guess), ..Run::default() });
        assert_eq!(solutions(&motion).len(), 1, "{:?}", solutions(&motion));
        assert!((named(&best(&motion).mu0, "blade") - wanted).abs() < 1e-8);
    }
    let missing = with(&table(&|n| n != "phi"));
    assert!(matches!(missing, Err(pfaff::Error::Usage(m)) if m.contains("`phi`")));
}

/// Continuation in a parameter: motions of a small turn become those of a larger one.
#[test]
fn motions_are_led_along_a_parameter() {
    let whole = gallery("heisenberg", "X=1, Y=0.5, Z=0.4");
    let model = model("heisenberg", "X=1, Y=0.5, Z=0.4");
    let lead = vec![("Z".to_owned(), 0.05), ("Y".to_owned(), 0.0)];
    let motion = support::run(&model, &Run { lead, ..Run::default() });
    assert!((best(&motion).action - best(&whole).action).abs() < 1e-11);
    let wrong = Run { lead: vec![("W".into(), 1.0)], ..Run::default() };
    let refused = pfaff::run(&model, &wrong, &mut |_, _| true);
    assert!(
        matches!(refused, Err(pfaff::Error::Usage(m)) if m.contains("`W`") && m.contains("X, Y, Z"))
    );
}

/// Complete elliptic integrals K and E of a modulus, by arithmetic and geometric means.
fn elliptic(k: f64) -> (f64, f64) {
    let (mut a, mut b, mut c, mut weight) = (1.0, (1.0 - k * k).sqrt(), k, 0.5);
    let mut sum = 1.0 - weight * c * c;
    for _ in 0..12 {
        (a, b, c) = (0.5 * (a + b), (a * b).sqrt(), 0.5 * (a - b));
        weight *= 2.0;
        sum -= weight * c * c;
    }
    let whole = std::f64::consts::FRAC_PI_2 / a;
    (whole, whole * sum)
}

/// All motions of a pendulum from rest height to rest height: j half swings of modulus k with 2jK(k) = T and the
/// action 8j(E − (1 − k²)K) + (1 − 2k²)T, to both sides, and none.
#[test]
fn a_pendulum_has_all_its_swings_between_given_ends() {
    for duration in [5.0, 8.0, 10.0] {
        let text = format!(
            "coordinates a\nlagrangian a'^2/2 + cos(a)\ninitial a = 0\nfinal a = 0, t = {duration}"
        );
        let motion = support::run(&support::model(&text), &Run::default());
        let mut wanted = vec![duration];
        for swings in 1..=3 {
            let each = duration / f64::from(swings);
            let (mut low, mut high) = (0.0, 1.0 - 1e-15);
            if 2.0 * elliptic(low).0 > each {
                continue;
            }
            for _ in 0..100 {
                let half = 0.5 * (low + high);
                if 2.0 * elliptic(half).0 < each { low = half } else { high = half }
            }
            let (K, E) = elliptic(low);
            let kept = 1.0 - low * low;
            let action =
                8.0 * f64::from(swings) * (E - kept * K) + (2.0 * kept - 1.0) * duration;
            wanted.extend([action, action]);
        }
        wanted.sort_by(f64::total_cmp);
        let found: Vec<f64> = solutions(&motion).iter().map(|s| s.action).collect();
        assert_eq!(found.len(), wanted.len(), "{duration}: {found:?} {wanted:?}");
        for (found, wanted) in found.iter().zip(&wanted) {
            // The modulus of a slow swing is known to 1e-16 of itself, its action to about 1e-9.
            assert!((found - wanted).abs() < 1e-8, "{duration}: {found} {wanted}");
        }
        assert_eq!(best(&motion).minimum, Some(true));
        assert_eq!(motion.audit.verdict, pfaff::Verdict::Pass);
    }
}

/// Least actions, by minimising a sum over 400 intervals from 60 random curves: paths that stay near a place at
/// which they are least, some of them around the pole of a chart.
#[test]
fn least_actions_are_found() {
    let double = "coordinates a\nlagrangian a'^2/2 + (a^2 - 1)^2\n";
    let sphere = "coordinates a, b\nlagrangian (a'^2 + sin(a)^2*b'^2)/2 + cos(a)\n";
    let plane = "coordinates a, b\nlagrangian (a'^2 + b'^2)/2 + cos(a)*cos(b)\n";
    let hill = "coordinates a, b\nlagrangian (a'^2 + b'^2)/2 + 5*exp(-2*(a^2 + b^2))\n";
    for (text, ends, least) in [
        (double, "initial a = 0\nfinal a = 0, t = 6", 1.88567),
        (double, "initial a = -1.5\nfinal a = 1.5, t = 8", 2.71074),
        (sphere, "initial a = 1, b = 0\nfinal a = 0.7, b = 2, t = 10", -5.28898),
        (sphere, "initial a = 2, b = 0\nfinal a = 2, b = 3, t = 6", -4.72478),
        (plane, "initial a = 0, b = 0\nfinal a = 2, b = 1, t = 8", -2.95717),
        (hill, "initial a = -1, b = 0\nfinal a = 1, b = 0, t = 4", 2.95678),
    ] {
        let motion = support::run(&support::model(&format!("{text}{ends}")), &Run::default());
        let action = best(&motion).action;
        // The sum is too large by a part of the square of its interval.
        assert!(action <= least && action > least - 5e-4, "{text}{ends}: {action}");
    }
}

fn elastica(ends: &str) -> Motion {
    let text = format!(
        "coordinates x, y, th\nlagrangian th'^2/2\nconstraint cx: x' = cos(th)\nconstraint cy: y' = sin(th)\n\
         principle vakonomic\ninitial x = 0, y = 0, th = 0\nfinal {ends}\nsolve t = 0..1\n"
    );
    support::run(&support::model(&text), &Run::default())
}

/// Euler's elastica of unit speed: the straight line between the ends satisfies no constraint, arches of `th` do. Ends
/// that are their own mirror image have the mirror image of every solution.
#[test]
fn curves_along_the_constraints_lead_to_elastica() {
    let motion = elastica("x = 0.5, y = 0.2, th = 0.5");
    let actions: Vec<f64> = solutions(&motion).iter().map(|s| s.action).collect();
    // To the digits that are given: 16.3038 and 37.3759 were found from random momenta too.
    for known in [16.3038, 25.6504, 37.3759] {
        assert!(actions.iter().any(|a| (a - known).abs() < 1e-4), "{actions:?}");
    }
    let motion = elastica("x = 0.3, y = 0, th = 0");
    let found = solutions(&motion);
    let least = best(&motion);
    assert!(found.len() >= 2, "{found:?}");
    let mirrored = found.iter().any(|s| {
        (s.action - least.action).abs() < 1e-9 * least.action
            && (named(&s.v0, "th") + named(&least.v0, "th")).abs() < 1e-6
    });
    assert!(mirrored, "{found:?}");
}

/// No path goes beyond a wall that the search cannot know of: the best one is shown, and the run counts as
/// stopped early.
const WALLED: &str = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2/(1 - x)^4\ninitial x = 0, y = 0\nfinal x = 2, y = 0\nsolve t = 0..1";

#[test]
fn without_convergence_the_best_path_is_shown() {
    let motion = support::run(&support::model(WALLED), &Run::default());
    assert!(solutions(&motion).is_empty());
    assert_eq!(motion.stop.reason, StopReason::MaxSteps);
    assert!(says(&motion, "misses them by"), "{:?}", motion.notes);
    assert!(motion.t.len() > 10 && motion.q[0].values.iter().all(|x| *x < 1.0));
}

/// A search that is watched has no rows yet, and can be asked for them.
#[test]
fn a_search_under_way_is_a_motion_without_rows() {
    let model = support::model(WALLED);
    let mut rows = Vec::new();
    let mut watch = |progress: &pfaff::Progress<'_>| {
        rows.push(progress.motion().t.len());
        rows.len() < 3
    };
    let motion = pfaff::run_watched(&model, &Run::default(), &mut watch).expect("a motion");
    assert_eq!(motion.stop.reason, StopReason::Interrupted);
    assert_eq!(rows[0], 0);
}

/// A time limit ends an attempt that is under way: one attempt with thirty coordinates takes longer than that.
#[test]
fn a_time_limit_ends_a_large_search() {
    let text = "coordinates q[30]\nlagrangian dot(q', q')/2 + sum(i = 1..29, cos(3*q[i] - 2*q[i+1])) + cos(q[30])\n\
                initial q = 0\nfinal q[1] = 1, q[30] = 2\nsolve t = 0..30\n";
    let clock = support::clock();
    let begun = clock.0();
    let request = Run { seconds: Some(0.2), ..Run::default() }.clock(clock);
    let motion = support::run(&support::model(text), &request);
    assert!(motion.t.len() > 1);
    // Derivation, the path that is shown and its audit come on top, on a machine that may be busy.
    assert!(clock.0() - begun < 10.0, "{}", clock.0() - begun);
}

/// An interrupted search shows what it has, to its end; one that is out of time too.
#[test]
fn an_interrupted_search_keeps_its_best_path() {
    let model = support::model(WALLED);
    let mut calls = 0;
    let mut watch = |_: f64, _: usize| {
        calls += 1;
        calls < 30
    };
    let motion = match pfaff::run(&model, &Run::default(), &mut watch) {
        Ok(motion) => motion,
        other => panic!("{other:?}"),
    };
    assert_eq!(motion.stop.reason, StopReason::Interrupted);
    assert!(says(&motion, "The search was interrupted"), "{:?}", motion.notes);
    assert!(motion.t.len() > 10 && calls == 30);
    let limited = Run { seconds: Some(1e-9), ..Run::default() };
    let untimed = pfaff::run(&model, &limited, &mut |_, _| true);
    assert!(matches!(untimed, Err(pfaff::Error::Usage(why)) if why.contains("clock")));
    let late = support::run(&model, &limited.clock(support::clock()));
    assert_eq!(late.stop.reason, StopReason::MaxSteps);
    assert!(
        late.notes.iter().any(|n| matches!(n, Note::Stopped(t) if t.contains("time limit")))
    );
    let refused = Run { seconds: Some(-1.0), ..Run::default() };
    assert!(matches!(
        pfaff::run(&model, &refused, &mut |_, _| true),
        Err(pfaff::Error::Usage(_))
    ));
}
