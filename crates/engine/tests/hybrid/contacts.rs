//! Contacts: impacts, rest and lift-off, against closed forms.

use pfaff::{Model, Run, StopReason, Verdict};

use super::{codes, last, motion, sound};

const G: f64 = 9.81;

fn ball(e: f64, end: f64) -> String {
    format!(
        "coordinates x, y\nparameters g = {G}\nlagrangian (x'^2 + y'^2)/2 - g*y\n\
         contact floor: y >= 0, restitution = {e}\ninitial y = 1, x' = 1\nsolve t = 0..{end}"
    )
}

/// The bounces end at T (1 + e)/(1 − e) with T = √(2/g); from there on the ball rests, and the floor carries it.
#[test]
fn a_ball_comes_to_rest_where_its_bounces_accumulate() {
    for e in [0.0, 0.3, 0.8, 0.95] {
        let motion = sound(&ball(e, 20.0));
        assert_eq!(motion.stop.reason, StopReason::End);
        let end = (2.0 / G).sqrt() * (1.0 + e) / (1.0 - e);
        let floor = &motion.multipliers[0].values;
        let first = (0..motion.t.len()).find(|&i| floor[i] > 0.0).expect("it rests");
        if e > 0.0 {
            // The row at which it closes.
            let closed = motion.t.iter().position(|&t| (t - end).abs() < 1e-12 * end.max(1.0));
            assert!(
                closed.is_some_and(|i| i <= first),
                "{e}: {} and not {end}",
                motion.t[first]
            );
        }
        for i in first..motion.t.len() {
            assert!((floor[i] - G).abs() < 1e-12 && motion.q[1].values[i].abs() < 1e-14);
        }
        assert!((last(&motion.q, "x") - 20.0).abs() < 1e-11);
        // All energy of the fall is lost.
        assert!((motion.work.last().expect("a row") + G).abs() < 1e-8);
    }
}

/// Balls of equal mass that touch: the last one leaves with the velocity of the first.
#[test]
fn the_balls_of_a_cradle_hand_the_velocity_on() {
    for n in [3, 5] {
        let text = format!(
            "coordinates x[{n}]\nparameters d = 0.1\nlagrangian sum(i = 1..{n}, x[i]'^2/2)\n\
             contact c[i = 1..{n}-1]: x[i+1] - x[i] >= d, restitution = 1\n\
             initial x[i = 2..{n}] = d*(i - 2), x[1] = -1, x'[1] = 1\nsolve t = 0..3"
        );
        let motion = sound(&text);
        for i in 0..n {
            let v = motion.v[i].values.last().expect("a row");
            assert!((v - f64::from(u8::from(i == n - 1))).abs() < 1e-14, "ball {i}: {v}");
        }
        let notes = pfaff_present::notes(&motion).join("\n");
        assert!(notes.contains("in which order"), "{notes}");
    }
    // All at once they part otherwise, with the same momentum and energy.
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n\
        contact a: y >= x, restitution = 1, law = moreau\ncontact b: z >= y, restitution = 1, law = moreau\n\
        initial x = -1, x' = 1\nsolve t = 0..2";
    let motion = sound(text);
    let v: Vec<f64> = motion.v.iter().map(|s| *s.values.last().expect("a row")).collect();
    for (v, known) in v.iter().zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
        assert!((v - known).abs() < 1e-14);
    }
}

/// Two masses: v₁ = (m₁ − e m₂)/(m₁ + m₂), v₂ = (1 + e) m₁/(m₁ + m₂), under all laws.
#[test]
fn two_masses_collide_by_the_textbook() {
    for law in ["newton", "poisson", "moreau"] {
        let text = format!(
            "coordinates x, y\nlagrangian 3*x'^2/2 + 2*y'^2/2\n\
             contact c: y - x >= 0, restitution = 0.4, law = {law}\ninitial x = -1, x' = 1\nsolve t = 0..2"
        );
        let motion = sound(&text);
        assert!((last(&motion.v, "x") - (3.0 - 0.8) / 5.0).abs() < 1e-14, "{law}");
        assert!((last(&motion.v, "y") - 1.4 * 3.0 / 5.0).abs() < 1e-14, "{law}");
    }
}

/// A rod that falls on its tip: the impulse at the tip turns it, P = (1 + e) v/(1/m + (l/2)²cos²θ/J).
#[test]
fn a_rod_is_turned_by_the_impulse_at_its_tip() {
    let text = "coordinates x, y, th\nparameters l = 1, J = 1/12\n\
        lagrangian (x'^2 + y'^2)/2 + J*th'^2/2\n\
        contact tip: y - l/2*sin(th) >= 0, restitution = 0.5\n\
        initial th = 0.5, y = 1, y' = -1\nsolve t = 0..1";
    let motion = sound(text);
    let arm = 0.5 * libm::cos(0.5);
    let impulse = 1.5 / (1.0 + 12.0 * arm * arm);
    assert!((last(&motion.v, "y") - (impulse - 1.0)).abs() < 1e-12);
    assert!((last(&motion.v, "th") + 12.0 * arm * impulse).abs() < 1e-11);
}

/// A sleigh against a wall: the blade acts during the impact. Along itself it is thrown back, and by the arm of the
/// centre of mass it turns: the velocities after it are those of the impact form of (K), written out by hand.
#[test]
fn a_constraint_acts_during_the_impact() {
    let text = "coordinates x, y, phi\nparameters m = 1, J = 0.5, a = 0.2, w = 1\n\
        let X = x + a*cos(phi)\nlet Y = y + a*sin(phi)\nlagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2\n\
        constraint blade: y'*cos(phi) - x'*sin(phi) = 0\n\
        contact wall: X <= w, restitution = 1\ninitial phi = 0.6, x' = cos(0.6), y' = sin(0.6)\nsolve t = 0..1.5";
    let motion = sound(text);
    let event = motion.events.first().expect("a hit");
    let (φ, v, ω) = (event.q[2], event.v[0] / libm::cos(event.q[2]), event.v[2]);
    // With x' = v cos φ, y' = v sin φ: X' = v cos φ − a ω sin φ, T = v²/2 + (J + a²) ω²/2.
    let (row_v, row_ω, inertia) = (libm::cos(φ), -0.2 * libm::sin(φ), 0.5 + 0.04);
    let closing = row_v * v + row_ω * ω;
    let impulse = 2.0 * closing / (row_v * row_v + row_ω * row_ω / inertia);
    let after = motion.t.iter().rposition(|&t| t == event.t).expect("a row after it");
    let (v, ω) = (v - row_v * impulse, ω - row_ω * impulse / inertia);
    assert!((motion.v[0].values[after] - v * libm::cos(φ)).abs() < 1e-11);
    assert!((motion.v[2].values[after] - ω).abs() < 1e-11);
    let lost = motion.energy.last().expect("a row") - motion.energy[0];
    assert!(lost.abs() < 1e-12, "{lost}");
}

/// On a plate that moves as A sin ωt a body lets go where A ω² sin ωt = g, and flies from there.
#[test]
fn a_contact_lets_go_where_it_would_pull() {
    let text = "coordinates y\nparameters g = 9.81, A = 0.1, w = 12\nlagrangian y'^2/2 - g*y\n\
        contact plate: y - A*sin(w*t) >= 0\ninitial y = 0, y' = A*w\nsolve t = 0..0.15";
    let motion = sound(text);
    let (a, w) = (0.1_f64, 12.0_f64);
    let t = libm::asin(G / (a * w * w)) / w;
    let (y, v) = (a * libm::sin(w * t), a * w * libm::cos(w * t));
    let s = 0.15 - t;
    let end = y + v * s - G * s * s / 2.0;
    assert!((last(&motion.q, "y") - end).abs() < 1e-10, "{}", last(&motion.q, "y") - end);
}

/// Energy is never gained, momentum is kept: chains of random masses with random restitutions.
#[test]
fn no_impact_gains_energy() {
    let mut seed = 7_u64;
    let mut next = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    for case in 0..30 {
        let law = ["poisson", "moreau"][case % 2];
        let n = 3 + case % 3;
        let masses: Vec<f64> = (0..n).map(|_| 0.2 + next()).collect();
        let mut text = String::from("coordinates ");
        let names: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
        text += &names.join(", ");
        let kinetic: Vec<String> =
            masses.iter().enumerate().map(|(i, m)| format!("{m}*x{i}'^2/2")).collect();
        text += &format!("\nlagrangian {}\n", kinetic.join(" + "));
        for i in 1..n {
            let e = next();
            text += &format!(
                "contact c{i}: x{i} - x{} >= 0, restitution = {e}, law = {law}\n",
                i - 1
            );
        }
        // Some touch from the beginning.
        let mut x = 0.0;
        let mut momentum = 0.0;
        let mut data = Vec::new();
        for (i, m) in masses.iter().enumerate() {
            x += if next() < 0.5 { 0.0 } else { next() };
            let v = if i == 0 { 2.0 } else { next() - 0.5 };
            momentum += m * v;
            data.push(format!("x{i} = {x}, x{i}' = {v}"));
        }
        text += &format!("initial {}\nsolve t = 0..5", data.join(", "));
        let motion = motion(&text, &Run::default());
        assert_eq!(motion.stop.reason, StopReason::End, "{text}\n{:?}", motion.notes);
        assert!(motion.audit.verdict != Verdict::Fail, "{text}\n{:?}", motion.audit);
        for pair in motion.energy.windows(2) {
            assert!(pair[1] <= pair[0] * (1.0 + 1e-12), "{text}\n{pair:?}");
        }
        let end: f64 =
            masses.iter().zip(&motion.v).map(|(m, v)| m * v.values.last().unwrap()).sum();
        assert!((end - momentum).abs() < 1e-12 * (1.0 + momentum.abs()), "{text}");
        for pair in motion.q.windows(2) {
            let gaps = pair[1].values.iter().zip(&pair[0].values).map(|(b, a)| b - a);
            assert!(gaps.fold(f64::INFINITY, f64::min) > -1e-9, "{text}");
        }
    }
}

/// Ten thousand impacts: the balance closes.
#[test]
fn the_balance_closes_over_ten_thousand_impacts() {
    let period = 2.0 * (2.0 / G).sqrt();
    let motion = motion(&ball(1.0, 10_000.0 * period), &Run::default().samples(11));
    assert_eq!((motion.stop.reason.clone(), motion.events.len()), (StopReason::End, 10_000));
    let check =
        motion.audit.checks.iter().find(|c| c.name == "energy balance").expect("a balance");
    assert!(check.value / G < 1e-9, "{:e}", check.value);
}

#[test]
fn check_lists_contacts_and_modes() {
    let text = "coordinates y\nmode a, b\nlagrangian y'^2/2\ncontact floor: y >= 0, law = moreau\ninitial y = 1";
    let check = Model::parse(text).expect("a model").check();
    assert_eq!(check.contacts, [("floor".to_owned(), "moreau")]);
    assert_eq!(check.modes, ["a", "b"]);
}

#[test]
fn mistakes_are_told() {
    let head = "coordinates x, y, th\nlagrangian (x'^2 + y'^2 + th'^2)/2\ninitial y = 1\nsolve t = 0..1\n";
    let cases = [
        ("contact c: y >= 0, restitution = 1.1", "E0454"),
        ("contact c: y >= 0, restitution = -0.1", "E0454"),
        ("contact c: y >= 0, friction = -1", "E0454"),
        ("contact c: y >= 0, friction = 0.3", "E0454"),
        // It holds from both sides, and the start is beside it.
        ("contact c: y = 0", "E0641"),
        ("contact c: y", "E0454"),
        ("contact c: y' >= 0", "E0454"),
        ("contact c: 1 >= 0", "E0454"),
        ("contact c: y >= 0, bounce = 1", "E0454"),
        ("contact c: y >= 0, law = hertz", "E0454"),
        ("contact c: y >= 0, restitution = 1, restitution = 1", "E0454"),
        ("contact c: y >= 2", "E0641"),
        ("contact c y >= 2", "E0118"),
        ("contact c: y >= 0\nfinal x = 1", "E0451"),
        ("contact c: y >= 0\nconstraint k: x' = y'\nprinciple vakonomic", "E0451"),
    ];
    for (rest, code) in cases {
        assert_eq!(codes(&format!("{head}{rest}")), [code], "{rest}");
    }
}

/// A block that slides on two corners, whose frictions repeat each other, comes to rest and stays: both corners hold
/// together more than one of them could, s = v²/(2(μg − F)).
#[test]
fn a_block_on_two_corners_slides_to_rest() {
    let text = "coordinates x, y, th\nparameters g = 9.81, w = 0.5, h = 0.3, F = 1.5\n\
        let A = [x + w*cos(th) + h*sin(th), y + w*sin(th) - h*cos(th)]\n\
        let B = [x - w*cos(th) + h*sin(th), y - w*sin(th) - h*cos(th)]\n\
        lagrangian (x'^2 + y'^2)/2 + 0.05*th'^2 - g*y + F*x\n\
        contact a: A[2] >= 0, friction = 0.2, slip = A[1]'\n\
        contact b: B[2] >= 0, friction = 0.2, slip = B[1]'\n\
        initial y = h, x' = 1\nsolve t = 0..3";
    let held = text.replace("F = 1.5", "F = 1.2");
    let motion = motion(&held, &Run::default());
    assert_eq!(motion.stop.reason, StopReason::End, "{:?}", motion.notes);
    let far = 0.5 / (0.2 * G - 1.2);
    assert!((last(&motion.q, "x") - far).abs() < 1e-9, "{}", last(&motion.q, "x"));
    assert!(last(&motion.v, "x").abs() < 1e-12 && last(&motion.q, "th").abs() < 1e-12);
    let friction: f64 =
        ["friction(a)", "friction(b)"].iter().map(|name| last(&motion.multipliers, name)).sum();
    assert!((friction + 1.2).abs() < 1e-9, "{friction}");
}

/// Bounces that end below the rounding of the height: wherever the floor is, however steep, and whatever the
/// restitution and the scale of gravity, the ball stays above it, and rests on it once its bounces have ended.
#[test]
fn no_ball_falls_through_its_floor() {
    for floor in [0.0, 0.1, -3.7, 1e3, 1e6, 1e-6] {
        for e in [0.0, 0.1, 0.3, 0.5, 0.8, 0.95, 1.0] {
            for (g, unit) in [(1e-6, 1.0), (G, 1.0), (1e6, 1.0), (G, 1e-6)] {
                for slope in [0.0, 0.3] {
                    let (floor, high) = (floor * unit, 0.01 * unit);
                    let gap = format!("y - {slope}*x - ({floor})");
                    let end = 12.0 * (2.0 * high / g).sqrt();
                    let text = format!(
                        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - {g}*y\n\
                         observe gap = {gap}\ncontact c: {gap} >= 0, restitution = {e}\n\
                         initial x = {unit}, y = {}\nsolve t = 0..{end}",
                        floor + slope * unit + high
                    );
                    let motion = motion(&text, &Run::default());
                    assert_eq!(
                        motion.stop.reason,
                        StopReason::End,
                        "{text}\n{:?}",
                        motion.notes
                    );
                    assert!(
                        motion.audit.verdict != Verdict::Fail,
                        "{text}\n{:?}",
                        motion.audit
                    );
                    let gaps = &motion.observed[0].values;
                    let least = gaps.iter().fold(f64::INFINITY, |m, x| m.min(*x));
                    // The rounding of the height, and of what the motion has come down.
                    let size = floor.abs() + unit + 0.5 * g * end * end;
                    assert!(least >= -1e-14 * size, "{text}\n{least:e}");
                    let last = *gaps.last().expect("a row");
                    assert!(e > 0.8 || last <= 1e-14 * size, "{text}\n{last:e}");
                }
            }
        }
    }
}

/// A rod on a pivot that falls on a stop, whose gap is a cosine: it comes to rest there.
#[test]
fn a_rod_rests_on_its_stop() {
    for stop in [-0.2, 0.3, 0.999_9] {
        for e in [0.0, 0.4, 0.7] {
            let gap = format!("cos(th) - ({stop})");
            let text = format!(
                "coordinates th\nlagrangian th'^2/6 - 9.81*cos(th)/2\nobserve gap = {gap}\n\
                 contact c: {gap} >= 0, restitution = {e}\ninitial th = acos({stop})/2\nsolve t = 0..8"
            );
            let motion = motion(&text, &Run::default());
            assert_eq!(motion.stop.reason, StopReason::End, "{text}\n{:?}", motion.notes);
            assert!(motion.audit.verdict != Verdict::Fail, "{text}\n{:?}", motion.audit);
            let gaps = &motion.observed[0].values;
            let least = gaps.iter().fold(f64::INFINITY, |m, x| m.min(*x));
            assert!(least >= -1e-14, "{text}\n{least:e}");
            assert!(*gaps.last().expect("a row") <= 1e-14, "{text}");
        }
    }
}

/// Five balls that fall onto each other come to rest, and each carries those above it.
#[test]
fn a_stack_of_balls_comes_to_rest() {
    for e in [0.0, 0.5] {
        let text = format!(
            "coordinates y[5]\nparameters g = {G}, d = 0.1\nlagrangian sum(i = 1..5, y[i]'^2/2 - g*y[i])\n\
             contact floor: y[1] >= 0, restitution = {e}\n\
             contact c[i = 1..4]: y[i+1] - y[i] >= d, restitution = {e}\n\
             initial y[i = 1..5] = 0.3*i\nsolve t = 0..5"
        );
        let motion = motion(&text, &Run::default());
        assert_eq!(motion.stop.reason, StopReason::End, "{text}\n{:?}", motion.notes);
        for i in 0..5 {
            let (y, carried) = (&motion.q[i].values, &motion.multipliers[i].values);
            let (y, carried) = (y.last().expect("a row"), carried.last().expect("a row"));
            assert!((y - 0.1 * i as f64).abs() < 1e-14, "{y}");
            assert!((carried - (5 - i) as f64 * G).abs() < 1e-11, "{carried}");
        }
    }
}

/// What a contact carries is an output, and its friction too: in flight nothing, at rest the weight.
#[test]
fn what_contacts_carry_is_observed() {
    let text = "coordinates x, y\nparameters g = 9.81\nlagrangian (x'^2 + y'^2)/2 - g*y\n\
                contact floor: y >= 0, friction = 0.1\nobserve load = lambda(floor)\n\
                observe drag = friction(floor)\nevent rising pressed: lambda(floor) - 5\n\
                initial y = 1, x' = 3\nsolve t = 0..2";
    let motion = sound(text);
    let column =
        |name: &str| &motion.observed.iter().find(|s| s.name == name).expect("it").values;
    assert_eq!((column("load")[0], column("drag")[0]), (0.0, 0.0));
    assert!((last(&motion.observed, "load") - 9.81).abs() < 1e-12);
    assert!((last(&motion.observed, "drag") + 0.981).abs() < 1e-12);
}

/// A motion that is looked at while it goes on has the columns that it will have, in all segments.
#[test]
fn what_is_shown_on_the_way_has_all_columns() {
    let text = "coordinates x, y\nparameters g = 9.81\nstate z: x\nlagrangian (x'^2 + y'^2)/2 - g*y\n\
                contact floor: y >= 0, friction = 0.1\ninitial y = 1, x' = 3\nsolve t = 0..2";
    let model = crate::support::model(text);
    let (mut names, mut shown) = (Vec::new(), 0);
    let end = pfaff::run_watched(&model, &Run::default(), &mut |progress| {
        let motion = progress.motion();
        names = motion.columns().into_iter().map(|(name, _)| name).collect();
        for (name, values) in motion.columns() {
            assert_eq!(values.len(), motion.t.len(), "{name}");
        }
        shown += 1;
        true
    });
    let end = end.expect("it runs");
    let all: Vec<String> = end.columns().into_iter().map(|(name, _)| name).collect();
    assert!(shown > 3 && names == all, "{shown} {names:?} {all:?}");
}
