//! Gallery models that jump, stick and slip, against closed forms, published numbers and other roads.

use std::f64::consts::PI;

use pfaff::{Motion, Run, StopReason, gallery_model};

use crate::support;

const G: f64 = 9.81;

fn run(name: &str, set: &str, initial: &str, request: &Run) -> Motion {
    let gallery = gallery_model(name).unwrap_or_else(|| panic!("{name} is in the gallery"));
    support::run(&support::model_with(gallery.text, set, initial), request)
}

fn column<'a>(motion: &'a Motion, name: &str) -> &'a [f64] {
    let all = [&motion.q, &motion.observed, &motion.multipliers];
    let found = all.into_iter().flatten().find(|series| series.name == name);
    &found.unwrap_or_else(|| panic!("{name} is there")).values
}

fn velocity<'a>(motion: &'a Motion, name: &str) -> &'a [f64] {
    &motion.v.iter().find(|s| s.name == name).expect("a velocity").values
}

/// Rows after each jump.
fn after_jumps(motion: &Motion) -> Vec<usize> {
    (1..motion.t.len()).filter(|&i| motion.t[i] == motion.t[i - 1]).collect()
}

/// T (1 + e)/(1 − e) with T = √(2h/g).
#[test]
fn the_ball_rests_where_its_bounces_accumulate() {
    let motion = run("bouncing_ball", "", "", &Run::default());
    let (end, floor) = (9.0 * (2.0 / G).sqrt(), column(&motion, "floor"));
    let first = motion.t.iter().position(|t| (t - end).abs() < 1e-12 * end).expect("a row");
    assert!(floor[first + 1..].iter().all(|f| (f - G).abs() < 1e-12));
    assert!(floor[..first].iter().all(|f| *f == 0.0));
}

/// The period of one pendulum, 4 √(l/g) K(sin a/2) = 2π √(l/g)/agm(1, cos a/2).
#[test]
fn the_cradle_has_the_period_of_a_pendulum() {
    let (mut a, mut b) = (1.0, libm::cos(0.4));
    for _ in 0..10 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    let period = 2.0 * PI / (G.sqrt() * a);
    let times: Vec<f64> = (1..=3).map(|k| f64::from(k) * period).collect();
    let motion = run("newtons_cradle", "", "", &Run::to(3.5 * period).at(times));
    for k in 0..3 {
        assert!((column(&motion, "th[1]")[k] + 0.8).abs() < 1e-7);
        assert!((2..=5).all(|i| column(&motion, &format!("th[{i}]"))[k].abs() < 1e-9));
    }
    let motion = run("newtons_cradle", "", "", &Run::to(period).at(vec![period / 2.0]));
    assert!((column(&motion, "th[5]")[0] - 0.8).abs() < 1e-7);
}

/// Each hit leaves 1 − (3/2) sin²α of the rate.
#[test]
fn the_block_loses_what_housner_says() {
    let motion = run("rocking_block", "", "", &Run::default());
    let (rate, factor) = (velocity(&motion, "th"), column(&motion, "factor")[0]);
    let jumps = after_jumps(&motion);
    assert!(jumps.len() >= 5 && jumps.len() == motion.events.len(), "{} hits", jumps.len());
    for &i in &jumps {
        assert!((rate[i] / rate[i - 1] - factor).abs() < 1e-7, "{}", rate[i] / rate[i - 1]);
    }
    assert_eq!(motion.stop.reason, StopReason::End);
    // What it has lost is in the balance.
    let lost = motion.energy[motion.t.len() - 1] - motion.energy[0];
    assert!((motion.work.last().expect("a row") - lost).abs() < 1e-8);
}

/// Where the hits accumulate, the block would stand on two corners whose frictions repeat each other: the run ends
/// there, with everything before it.
#[test]
fn a_block_that_comes_to_stand_keeps_its_motion() {
    let motion = run("rocking_block", "", "", &Run::to(12.0));
    assert!(motion.t.len() > 100 && motion.stop.t > 9.0, "{:?}", motion.stop);
    let least = |name: &str| column(&motion, name).iter().fold(f64::INFINITY, |m, x| m.min(*x));
    assert!(least("left").min(least("right")) > -1e-9);
    assert!(column(&motion, "y").iter().all(|y| *y > 1.0 - 1e-9));
}

/// ω² after a hit follows from that after the one before, and ω tends to the limit.
#[test]
fn the_rimless_wheel_tends_to_its_rate() {
    let motion = run("rimless_wheel", "", "", &Run::to(12.0));
    let rate = velocity(&motion, "th");
    let after: Vec<f64> = after_jumps(&motion).iter().map(|&i| rate[i]).collect();
    assert!(after.len() > 10);
    let (al, inertia) = (PI / 8.0, 1.1);
    let k = (0.1 + libm::cos(2.0 * al)) / inertia;
    let gain = 4.0 * G * libm::sin(al) * libm::sin(0.08) / inertia;
    for pair in after.windows(2) {
        let next = k * f64::sqrt(pair[0] * pair[0] + gain);
        assert!((pair[1] - next).abs() < 1e-8, "{} and not {next}", pair[1]);
    }
    let limit = column(&motion, "limit")[0];
    assert!((after.last().expect("a hit") - limit).abs() < 1e-3);
    // Started at the limit, it stays there.
    let w = k * f64::sqrt(gain / (1.0 - k * k));
    assert!((w - limit).abs() < 1e-14);
}

/// (θ, θ') after a step from (θ, θ') after the one before, with the time that it takes.
fn step(θ: f64, rate: f64) -> [f64; 3] {
    let other = (1.0 - libm::cos(2.0 * θ)) * rate;
    let initial = format!("th={θ}, th'={rate}, ph=2*{θ}, ph'={other}");
    let request = Run::to(5.0).tolerance(1e-14).samples(3);
    let motion = run("simplest_walker", "", &initial, &request);
    let strike = motion.events.first().expect("a strike");
    let (θ, rate) = (strike.q[0], strike.v[0]);
    [-θ, libm::cos(2.0 * θ) * rate, strike.t]
}

/// The long-period gait of Garcia et al. (1998) for the slope 0.009, and its multipliers -0.190100 ± 0.557599i. The
/// digits beyond are of the variational equations with their jump, computed apart; here by differences of order
/// eight of the return map (step 1e-4: rounding of 1e-13/1e-4; the map bends within 6e-3).
#[test]
fn the_simplest_walker_has_the_published_gait() {
    let (θ, rate) = (0.200_310_900_544_287, -0.199_832_473_004_977);
    let [next, next_rate, period] = step(θ, rate);
    assert!((next - θ).abs() < 1e-12 && (next_rate - rate).abs() < 1e-12, "{next} {next_rate}");
    // All steps take the same time.
    let motion = run("simplest_walker", "", "", &Run::default());
    for (k, event) in motion.events.iter().enumerate() {
        assert!((event.t - (k as f64 + 1.0) * period).abs() < 1e-9, "{}", event.t);
    }
    let weights = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    let h = 1e-4;
    let slope = |by: [f64; 2]| {
        let mut sum = [0.0; 2];
        for (k, w) in weights.iter().enumerate() {
            let δ = h * (k as f64 + 1.0);
            let [a, b] = [δ, -δ].map(|δ| step(θ + δ * by[0], rate + δ * by[1]));
            (0..2).for_each(|i| sum[i] += w * (a[i] - b[i]) / h);
        }
        sum
    };
    let (first, second) = (slope([1.0, 0.0]), slope([0.0, 1.0]));
    let trace = first[0] + second[1];
    let det = first[0] * second[1] - second[0] * first[1];
    let (re, im) = (0.5 * trace, f64::sqrt(det - 0.25 * trace * trace));
    assert!((re + 0.190_099_841_069).abs() < 3e-9, "{re}");
    assert!((im - 0.557_598_776_680).abs() < 3e-9, "{im}");
}

/// The compass of Goswami et al. (1998) on 3 degrees tends to its limit cycle, with a step in 0.734 s. The digits are
/// from a fixed point of the return map in minimal coordinates, with the impact by the angular momenta, computed apart.
#[test]
fn the_compass_walks_on_its_limit_cycle() {
    let motion = run("compass_walker", "", "", &Run::to(30.0).samples(3));
    let i = *after_jumps(&motion).last().expect("steps");
    let value = |series: &[pfaff::Series], k: usize| series[k].values[i];
    let (stance, swing) = if value(&motion.q, 2) > 0.0 { (2, 3) } else { (3, 2) };
    assert!((value(&motion.q, stance) - 0.271_028_68).abs() < 1e-6);
    assert!((value(&motion.v, stance) + 1.092_383_59).abs() < 1e-6);
    assert!((value(&motion.v, swing) + 0.377_373_95).abs() < 1e-6);
    let times: Vec<f64> = motion.events.iter().map(|e| e.t).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] > 0.5), "{times:?}");
    let last = times.len() - 1;
    assert!((times[last] - times[last - 1] - 0.734_346_391).abs() < 1e-6);
}

/// Each hit is a reflection in the kinetic metric of (u, w).
#[test]
fn the_sleigh_is_reflected_by_walls() {
    let motion = run("sleigh_billiard", "", "", &Run::default());
    let jumps = after_jumps(&motion);
    assert!(jumps.len() >= 5);
    let (mass, inertia, c) = (1.0, 0.1, 0.3);
    for (event, &i) in motion.events.iter().zip(&jumps) {
        let φ = motion.q[2].values[i];
        let speed = |i: usize| {
            motion.v[0].values[i] * libm::cos(φ) + motion.v[1].values[i] * libm::sin(φ)
        };
        let arm = if event.name.starts_with("nose") { c } else { -c };
        let n = if event.name.ends_with("right") || event.name.ends_with("left") {
            [libm::cos(φ), -arm * libm::sin(φ)]
        } else {
            [libm::sin(φ), arm * libm::cos(φ)]
        };
        let (u, w) = (speed(i - 1), motion.v[2].values[i - 1]);
        let closing = n[0] * u + n[1] * w;
        let impulse = 2.0 * closing / (n[0] * n[0] / mass + n[1] * n[1] / inertia);
        assert!((speed(i) - (u - impulse * n[0] / mass)).abs() < 1e-11);
        assert!((motion.v[2].values[i] - (w - impulse * n[1] / inertia)).abs() < 1e-10);
    }
    let energy = &motion.energy;
    assert!((energy[energy.len() - 1] - energy[0]).abs() < 1e-11);
}

/// After its first slip the motion repeats itself with the period that the model states.
#[test]
fn stick_and_slip_have_their_period() {
    for (name, begin, x) in [("stick_slip", 3.0, "pull"), ("block_on_belt", 5.0, "x")] {
        let period = run(name, "", "", &Run::to(0.1)).observed.last().expect("it").values[0];
        let times = vec![begin, begin + 0.1, begin + period, begin + 0.1 + period];
        let motion = run(name, "", "", &Run::default().at(times).tolerance(1e-12));
        let x = column(&motion, x);
        for k in 0..2 {
            assert!((x[k] - x[k + 2]).abs() < 1e-10, "{name}: {}", x[k] - x[k + 2]);
        }
        assert!((x[0] - x[1]).abs() > 1e-3);
    }
}

/// While the wheel spins the car accelerates uniformly; later it rolls.
#[test]
fn the_car_accelerates_by_friction_while_its_wheel_spins() {
    let motion = run("slipping_car", "", "", &Run::default().at(vec![1.0, 2.0, 4.0]));
    let (x, spinning) = (column(&motion, "x"), column(&motion, "spinning")[0]);
    for (k, t) in [1.0, 2.0].iter().enumerate() {
        assert!((x[k] - 1.2 - spinning * t * t / 2.0).abs() < 1e-10);
        assert!(column(&motion, "slip")[k] < -1.0);
    }
    assert!(column(&motion, "slip")[2].abs() < 1e-12);
}

/// With much friction the rattleback rolls as its namesake does, whose rolling is a constraint.
#[test]
fn the_rattleback_rolls_where_friction_holds() {
    let request = Run::to(0.5).at(vec![0.5]);
    let (slips, rolls) =
        (run("rattleback_slip", "mu=5", "", &request), run("rattleback", "", "", &request));
    for name in ["gamma", "alpha", "beta", "spin"] {
        let [a, b] = [&slips, &rolls].map(|motion| column(motion, name)[0]);
        assert!((a - b).abs() < 1e-7, "{name}: {a} and not {b}");
    }
    // With little it loses energy, and never pulls with more than μ times its load.
    let motion = run("rattleback_slip", "mu=0.05", "", &Run::to(0.5));
    let [load, x, y] =
        ["table", "friction(table)[1]", "friction(table)[2]"].map(|name| column(&motion, name));
    for i in 1..motion.t.len() {
        assert!(x[i].hypot(y[i]) <= 0.05 * load[i] * (1.0 + 1e-9), "{}", motion.t[i]);
    }
    let energy = &motion.energy;
    assert!(energy[energy.len() - 1] < energy[0] * (1.0 - 1e-6));
}

/// The same law with steps of Runge and Kutta between the samples, written by hand.
#[test]
fn the_pole_is_swung_up_by_samples() {
    let motion = run("cart_pole", "", "", &Run::default().at(vec![1.0, 2.0, 8.0]));
    let (m1, m2, l) = (1.0, 0.2, 0.5);
    let rates = |y: [f64; 4], u: f64| {
        let [_, th, v, w] = y;
        let (s, c) = (libm::sin(th), libm::cos(th));
        let a = (u + m2 * l * w * w * s - m2 * G * s * c) / (m1 + m2 * s * s);
        [v, w, a, (G * s - a * c) / l]
    };
    let mut y = [0.0, PI - 0.05, 0.0, 0.0];
    for k in 0..100 {
        let [x, th, v, w] = y;
        let energy = m2 * l * l * w * w / 2.0 + m2 * G * l * (libm::cos(th) - 1.0);
        let pump = 1.2 * (8.0 * energy * w * libm::cos(th) - x - 1.5 * v);
        let hold = 1.4 * x + 35.2 * libm::sin(th) + 3.0 * v + 7.6 * w;
        let near = libm::cos(th) > 0.9 && w.abs() < 4.0;
        let u = (if near { hold } else { pump }).clamp(-12.0, 12.0);
        let h = 0.02 / 40.0;
        for _ in 0..40 {
            let add = |k: [f64; 4], h: f64| [0, 1, 2, 3].map(|i| y[i] + h * k[i]);
            let a = rates(y, u);
            let b = rates(add(a, h / 2.0), u);
            let c = rates(add(b, h / 2.0), u);
            let d = rates(add(c, h), u);
            y = [0, 1, 2, 3].map(|i| y[i] + h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]));
        }
        if k == 49 || k == 99 {
            let row = usize::from(k == 99);
            assert!((column(&motion, "th")[row] - y[1]).abs() < 1e-8);
            assert!((column(&motion, "x")[row] - y[0]).abs() < 1e-8);
        }
    }
    assert!(column(&motion, "height")[2] > 0.9999);
}

/// The toy by Moreau's time stepping with Gauss and Seidel's iteration, written by hand: the same times of pecking,
/// as accurately as its first order shows them.
#[test]
fn the_woodpecker_pecks_as_time_stepping_says() {
    let motion = run("woodpecker", "", "", &Run::default().samples(3));
    let pecks: Vec<f64> =
        motion.events.iter().filter(|e| e.name == "beak").map(|e| e.t).collect();
    assert_eq!(pecks.len(), 2);
    let (mm, jm, ms, js, c) = (0.0003, 5e-9, 0.0045, 7e-7, 0.0056);
    let (r0, rm, hm, lm, lg, hs, ls, mu) =
        (0.0025, 0.0031, 0.0058, 0.01, 0.015, 0.02, 0.0201, 0.3);
    let bird = [1.0, lm, lg];
    let mut mass = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            mass[i][j] = ms * bird[i] * bird[j];
        }
    }
    mass[0][0] += mm;
    mass[1][1] += jm;
    mass[2][2] += js;
    let inverse = inverted(mass);
    let normals = [[0.0, 0.0, -hs], [0.0, hm, 0.0], [0.0, -hm, 0.0]];
    let tangents = [[1.0, lm, lg - ls], [1.0, rm, 0.0], [1.0, rm, 0.0]];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let times = |a: [f64; 3]| [0, 1, 2].map(|i| dot(inverse[i], a));
    let (mut q, mut v) = ([0.0, -(rm - r0) / hm, -0.2788], [-0.3411, 0.0, -7.4583]);
    let h = 1e-5;
    let mut found = Vec::new();
    for k in 0..26_000 {
        let middle = [0, 1, 2].map(|i| q[i] + h / 2.0 * v[i]);
        let gaps = [
            lm + lg - ls - r0 - hs * middle[2],
            rm - r0 + hm * middle[1],
            rm - r0 - hm * middle[1],
        ];
        let spring = c * (middle[2] - middle[1]);
        let force = [-(mm + ms) * G, spring - ms * G * lm, -spring - ms * G * lg];
        let change = times(force);
        let mut next = [0, 1, 2].map(|i| v[i] + h * change[i]);
        let (mut p, mut s) = ([0.0; 3], [0.0; 3]);
        for _ in 0..200 {
            for i in (0..3).filter(|&i| gaps[i] <= 0.0) {
                let e = if i == 0 { 0.5 } else { 0.0 };
                let (n, t) = (normals[i], tangents[i]);
                let rate = dot(n, next) + e * dot(n, v).min(0.0);
                let to = (p[i] - rate / dot(n, times(n))).max(0.0);
                let by = times(n);
                (0..3).for_each(|k| next[k] += (to - p[i]) * by[k]);
                p[i] = to;
                let to = (s[i] - dot(t, next) / dot(t, times(t))).clamp(-mu * p[i], mu * p[i]);
                let by = times(t);
                (0..3).for_each(|k| next[k] += (to - s[i]) * by[k]);
                s[i] = to;
            }
        }
        if p[0] > 0.0 {
            found.push(f64::from(k) * h);
        }
        q = [0, 1, 2].map(|i| middle[i] + h / 2.0 * next[i]);
        v = next;
    }
    let is_first = |k: &usize| *k == 0 || found[*k] - found[*k - 1] > 0.01;
    let found: Vec<f64> = (0..found.len()).filter(is_first).map(|k| found[k]).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    for (a, b) in pecks.iter().zip(&found) {
        assert!((a - b).abs() < 1e-4, "{pecks:?} {found:?}");
    }
}

fn inverted(m: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let minor = |i: usize, j: usize| {
        let [a, b] = [(i + 1) % 3, (i + 2) % 3];
        let [c, d] = [(j + 1) % 3, (j + 2) % 3];
        m[a][c] * m[b][d] - m[a][d] * m[b][c]
    };
    let det = (0..3).map(|j| m[0][j] * minor(0, j)).sum::<f64>();
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| minor(j, i) / det))
}
