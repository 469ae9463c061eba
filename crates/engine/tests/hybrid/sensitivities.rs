//! Derivatives across jumps: closed forms, and differences of motions.

use pfaff::{Run, Sensitivity, Verdict};

use super::{last, motion};
use crate::support;

const G: f64 = 9.81;

fn sensitive(text: &str, names: &str, t1: f64) -> pfaff::Motion {
    motion(text, &Run::to(t1).sensitivity(names))
}

fn end(found: &Sensitivity, name: &str) -> (f64, f64) {
    (last(&found.q, name), last(&found.v, name))
}

/// y = v (t − t₁) − g (t − t₁)²/2 after the first bounce, with t₁ = √(2h/g) and v = e √(2gh).
#[test]
fn a_bounce_has_the_derivatives_of_its_closed_form() {
    let (h, e, t) = (1.3_f64, 0.7, 1.1);
    let ball =
        ["event falling hit: y\non hit: y' = -e*y'", "contact hit: y >= 0, restitution = e"];
    for jump in ball {
        let text = format!(
            "coordinates y\nparameters g = {G}, e = {e}, h = {h}\nlagrangian y'^2/2 - g*y\n{jump}\n\
             initial y = h\nsolve t = 0..2"
        );
        let motion = sensitive(&text, "h, e, g, y'(0)", t);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
        let (first, speed) = ((2.0 * h / G).sqrt(), (2.0 * G * h).sqrt());
        let later = t - first;
        let by_h = {
            let (δt, δv) = (1.0 / speed, e * G / speed);
            (δv * later - (e * speed - G * later) * δt, δv + G * δt)
        };
        let by_e = (speed * later, speed);
        // t₁ and v by g: −t₁/(2g) and e h/speed.
        let by_g = {
            let (δt, δv) = (-first / (2.0 * G), e * h / speed);
            let y = δv * later - (e * speed - G * later) * δt - later * later / 2.0;
            (y, δv - later + G * δt)
        };
        // A push u at the start: g t₁ = u + √(u² + 2gh), v = e √(u² + 2gh).
        let by_push = {
            let δt = 1.0 / G;
            (-(e * speed - G * later) * δt, G * δt)
        };
        let expected = [("h", by_h), ("e", by_e), ("g", by_g), ("y'(0)", by_push)];
        for (name, (y, rate)) in expected {
            let found = motion.sensitivity(name).expect("it was asked for");
            let (found_y, found_rate) = end(found, "y");
            // The tolerance of the run is 1e-9; the motion is a parabola.
            assert!((found_y - y).abs() < 1e-10, "{name}: {found_y} {y}\n{text}");
            assert!((found_rate - rate).abs() < 1e-10, "{name}: {found_rate} {rate}\n{text}");
        }
        let hit = &motion.sensitivity("h").expect("it was asked for").events[0];
        assert!((hit.t - 1.0 / speed).abs() < 1e-10 && hit.q[0].abs() < 1e-10, "{hit:?}");
    }
}

/// Resets with constraints, contacts that slide and hold, modes and conditions: as differences of motions.
#[test]
fn derivatives_across_jumps_are_differences_of_motions() {
    let texts = [
        // A ball that bounces on a slope, with friction.
        (
            "coordinates x, y\nparameters g = 9.81, s = 0.3, e = 0.6, mu = 0.2\n\
             lagrangian (x'^2 + y'^2)/2 - g*(y*cos(s) - x*sin(s))\n\
             contact slope: y >= 0, restitution = e, friction = mu\n\
             initial y = 0.4, x' = 0.3\nsolve t = 0..2",
            "s, e, mu, x'(0), y(0)",
            0.9,
        ),
        // A block that slides to rest and stays.
        (
            "coordinates x, y\nparameters g = 9.81, mu = 0.3, u = 2\nlagrangian (x'^2 + y'^2)/2 - g*y\n\
             contact floor: y >= 0, friction = mu\ninitial x' = u\nsolve t = 0..2",
            "mu, u",
            1.5,
        ),
        // A block on a belt, by modes.
        (
            "coordinates x\nparameters v = 0.2, Fs = 0.6, Fk = 0.4\nlagrangian x'^2/2 - x^2/2\n\
             mode stick, slip\nconstraint grip: x' = v in stick\nforce x: Fk in slip\n\
             event rising breaks: lambda(grip) - Fs in stick\nevent rising catches: x' - v in slip\n\
             on breaks: mode = slip\non catches: mode = stick\ninitial x' = v\nsolve t = 0..30",
            "v, Fs, Fk",
            9.0,
        ),
        // A sleigh that hits a wall: its edge acts during the impact.
        (
            "coordinates x, y, th\nparameters a = 0.2, e = 0.7\n\
             lagrangian ((x' - a*th'*sin(th))^2 + (y' + a*th'*cos(th))^2)/2 + th'^2/10\n\
             constraint edge: y'*cos(th) - x'*sin(th) = 0\n\
             contact wall: 1 - x >= 0, restitution = e\n\
             initial th = 0.3, x' = 1, th' = 0.2\nsolve t = 0..3",
            "a, e, th(0), th'(0)",
            2.0,
        ),
        // Dry friction without modes: the block comes to rest on its belt, and leaves it.
        (
            "coordinates x\nparameters v = 0.2, Fk = 0.4\nlagrangian x'^2/2 - x^2/2\n\
             force x: -Fk*sign(x' - v)\ninitial x' = 0.9\nsolve t = 0..12",
            "v, Fk, x'(0)",
            5.7,
        ),
        (
            "coordinates x\nparameters v = 0.2, Fk = 0.4\nlagrangian x'^2/2 - x^2/2\n\
             force x: -Fk*sign(x' - v)\ninitial x' = 0.9\nsolve t = 0..12",
            "v, Fk, x'(0)",
            9.0,
        ),
        // A thermostat that stays at its temperature by a mean of both branches.
        (
            "coordinates T, S\nparameters k = 0.3, P = 9, c = 20\n\
             equation T' = -k*T + if(T < c, P, 0)\nequation S' = T - S\n\
             initial T = 15\nsolve t = 0..5",
            "k, P, c, T(0)",
            3.0,
        ),
    ];
    for (text, names, t1) in texts {
        let found = sensitive(text, names, t1);
        assert_ne!(found.audit.verdict, Verdict::Fail, "{text}\n{:?}", found.audit);
        for sensitivity in &found.sensitivities {
            let name = &sensitivity.name;
            let h = 1e-4;
            let beside = |by: f64| {
                let model = match name.strip_suffix("(0)") {
                    Some(quantity) => {
                        let value = start(&found, quantity) + by;
                        support::model_with(text, "", &format!("{quantity}={value}"))
                    }
                    None => {
                        let value = parameter(text, name) + by;
                        support::model_with(text, &format!("{name}={value}"), "")
                    }
                };
                let motion = support::run(&model, &Run::to(t1).tolerance(1e-13));
                let columns = motion.q.iter().chain(&motion.v);
                columns.map(|s| *s.values.last().expect("a row")).collect::<Vec<f64>>()
            };
            let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|k| beside(k * h));
            let ours = sensitivity.q.iter().chain(&sensitivity.v);
            for (i, ours) in ours.map(|s| *s.values.last().expect("a row")).enumerate() {
                let expected = (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * h);
                // Differences of motions of 1e-13 over 1e-4, and of the run itself.
                let size = 1.0 + expected.abs();
                assert!(
                    (ours - expected).abs() < 1e-7 * size,
                    "{name} {i}: {ours} {expected}\n{text}"
                );
            }
        }
    }
}

/// The value of a parameter in a text.
fn parameter(text: &str, name: &str) -> f64 {
    let parameters = text.lines().find(|l| l.starts_with("parameters")).expect("parameters");
    let own = parameters["parameters".len()..].split(',').find_map(|part| {
        let (known, value) = part.split_once('=')?;
        (known.trim() == name).then(|| value.trim().parse().expect("a number"))
    });
    own.expect("it is there")
}

/// The initial value of `x` or `x'`.
fn start(motion: &pfaff::Motion, quantity: &str) -> f64 {
    let (list, name) = match quantity.strip_suffix('\'') {
        Some(name) => (&motion.v, name),
        None => (&motion.q, quantity),
    };
    list.iter().find(|s| s.name == name).expect("a column").values[0]
}

/// Where two balls are hit together nothing is differentiable, and nothing goes on beyond an accumulation.
#[test]
fn derivatives_end_where_there_are_none() {
    let text = format!(
        "coordinates y\nparameters e = 0.5\nlagrangian y'^2/2 - {G}*y\n\
         contact floor: y >= 0, restitution = e\ninitial y = 1\nsolve t = 0..3"
    );
    let motion = sensitive(&text, "e", 3.0);
    let by_e = &motion.sensitivity("e").expect("it was asked for").q[0].values;
    assert!(by_e.last().expect("a row").is_nan() && by_e[10].is_finite());
    let note = "the sensitivities end at t = 1.35";
    assert!(motion.notes.iter().any(|n| format!("{n:?}").contains(note)), "{:?}", motion.notes);
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\ncontrol u = -x every 0.1\nforce x: u\n\
                initial x = 1\nsolve t = 0..1";
    let refused = support::model(text).run(&Run::default().sensitivity("x(0)"));
    assert!(refused.is_err_and(|e| e.to_string().contains("sampled controls")));
}
