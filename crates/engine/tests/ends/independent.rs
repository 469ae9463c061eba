//! Motions between given ends, checked by what does not use the canonical equations.
//!
//! A motion is stationary if for every admissible variation that keeps its start, $\delta S =
//! p(t_1)\cdot\delta q(t_1)$. Here the kinematics are written by hand, the controls are varied,
//! and both sides are computed by quadrature.

use pfaff::{Motion, Run};

use crate::support::ends::{best, gallery_by, last};

/// Output times that Simpson's rule and the rule of Runge and Kutta take two steps at a time.
const SAMPLES: usize = 4001;

fn sampled(name: &str, set: &str) -> Motion {
    gallery_by(name, set, &Run { samples: Some(SAMPLES), ..Run::default() })
}

fn positions<'a>(motion: &'a Motion, name: &str) -> &'a [f64] {
    &motion.q.iter().find(|s| s.name == name).expect("the coordinate is there").values
}

fn velocities<'a>(motion: &'a Motion, name: &str) -> &'a [f64] {
    &motion.v.iter().find(|s| s.name == name).expect("the coordinate is there").values
}

fn multiplier(motion: &Motion, name: &str) -> f64 {
    let series = motion.multipliers.iter().find(|s| s.name == name).expect("it is there");
    *series.values.last().expect("there are output times")
}

/// ∫₀¹ by Simpson's rule.
fn simpson(values: impl Iterator<Item = f64>) -> f64 {
    let h = 1.0 / (SAMPLES - 1) as f64;
    let weight = |i: usize| match i {
        0 => 1.0,
        i if i == SAMPLES - 1 => 1.0,
        i if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    values.enumerate().map(|(i, f)| weight(i) * f).sum::<f64>() * h / 3.0
}

/// The end of y' = f(i, y) by the classical rule of Runge and Kutta, where i counts output times.
fn followed<const N: usize>(
    start: [f64; N],
    rates: impl Fn(usize, &[f64; N]) -> [f64; N],
) -> [f64; N] {
    let h = 2.0 / (SAMPLES - 1) as f64;
    let moved = |y: &[f64; N], k: &[f64; N], h: f64| -> [f64; N] {
        std::array::from_fn(|i| y[i] + h * k[i])
    };
    let mut y = start;
    for i in (0..SAMPLES - 1).step_by(2) {
        let a = rates(i, &y);
        let b = rates(i + 1, &moved(&y, &a, 0.5 * h));
        let c = rates(i + 1, &moved(&y, &b, 0.5 * h));
        let d = rates(i + 2, &moved(&y, &c, h));
        y = std::array::from_fn(|k| y[k] + h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]));
    }
    y
}

fn time(i: usize) -> f64 {
    i as f64 / (SAMPLES - 1) as f64
}

/// Shapes of the variations.
fn bump(k: usize, t: f64) -> f64 {
    libm::sin((k as f64 + 1.0) * t) + 0.3 * libm::cos(5.0 * k as f64 * t)
}

/// A variation with the action last: δS and p·δq agree.
fn stationary<const N: usize>(
    momenta: &[f64],
    end: impl Fn(f64, usize) -> [f64; N],
    variations: usize,
) {
    let ε = 1e-4;
    let mut largest = 0.0_f64;
    for k in 0..variations {
        let (plus, minus) = (end(ε, k), end(-ε, k));
        let δ: Vec<f64> = plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * ε)).collect();
        let boundary: f64 = momenta.iter().zip(&δ).map(|(p, δ)| p * δ).sum();
        // Central differences err by ε² times third derivatives, some 10 to 100 here.
        assert!((δ[N - 1] - boundary).abs() < 1e-5, "{k}: {} against {boundary}", δ[N - 1]);
        largest = largest.max(δ[N - 1].abs());
    }
    assert!(largest > 0.1, "not all variations are trivial: {largest}");
}

/// A car with one trailer: forward speed and turning rate are varied.
#[test]
fn parked_trailer_is_stationary_among_controls() {
    let motion = sampled("parking_trailer", "");
    let (x, y) = (velocities(&motion, "x"), velocities(&motion, "y"));
    let (θ, turning) = (positions(&motion, "theta"), velocities(&motion, "theta"));
    let forward: Vec<f64> =
        (0..SAMPLES).map(|i| x[i] * libm::cos(θ[i]) + y[i] * libm::sin(θ[i])).collect();
    let end = |ε: f64, k: usize| {
        followed([0.0; 5], |i, q| {
            let push = ε * bump(k / 2, time(i));
            let v = forward[i] + if k.is_multiple_of(2) { push } else { 0.0 };
            let w = turning[i] + if k.is_multiple_of(2) { 0.0 } else { push };
            let (θ, ψ) = (q[2], q[3]);
            [v * libm::cos(θ), v * libm::sin(θ), w, v * libm::sin(θ - ψ), 0.5 * (v * v + w * w)]
        })
    };
    let whole = end(0.0, 0);
    for (value, wanted) in whole.iter().zip([0.0, 0.5, 0.0, 0.0, best(&motion).action]) {
        assert!((value - wanted).abs() < 1e-9, "{whole:?}");
    }
    // At the end θ = ψ = 0: p = ∂(L − μφ)/∂q̇ by hand.
    let momenta = [
        x[SAMPLES - 1],
        y[SAMPLES - 1] - multiplier(&motion, "car"),
        turning[SAMPLES - 1],
        -multiplier(&motion, "trailer"),
    ];
    stationary(&momenta, end, 6);
}

/// Angular momentum about the centre of mass and kinetic energy of the cat, link by link.
fn cat(θ: f64, [α, β]: [f64; 2], turning: f64, [da, db]: [f64; 2]) -> (f64, f64) {
    let along = |u: f64, rate: f64| {
        let (c, s) = (libm::cos(u), libm::sin(u));
        ([c, s], [-s * rate, c * rate])
    };
    let (e, de) = along(θ, turning);
    let (ea, dea) = along(θ + α, turning + da);
    let (eb, deb) = along(θ + β, turning + db);
    let middles = [[-e[0] - ea[0], -e[1] - ea[1]], [0.0; 2], [e[0] + eb[0], e[1] + eb[1]]];
    let speeds =
        [[-de[0] - dea[0], -de[1] - dea[1]], [0.0; 2], [de[0] + deb[0], de[1] + deb[1]]];
    let mean = |r: &[[f64; 2]; 3], k: usize| (r[0][k] + r[1][k] + r[2][k]) / 3.0;
    let spins = [turning + da, turning, turning + db];
    let (mut momentum, mut energy) = (0.0, 0.0);
    for link in 0..3 {
        let r = [0, 1].map(|k| middles[link][k] - mean(&middles, k));
        let v = [0, 1].map(|k| speeds[link][k] - mean(&speeds, k));
        momentum += r[0] * v[1] - r[1] * v[0] + spins[link] / 3.0;
        energy += 0.5 * (v[0] * v[0] + v[1] * v[1] + spins[link] * spins[link] / 3.0);
    }
    (momentum, energy)
}

/// The rate of turning that keeps the angular momentum zero.
fn turning(shape: [f64; 2], rates: [f64; 2]) -> f64 {
    let (own, _) = cat(0.0, shape, 0.0, rates);
    let (inertia, _) = cat(0.0, shape, 1.0, [0.0; 2]);
    -own / inertia
}

/// The falling cat: its turn is the geometric phase of the loop of its shapes, and loops nearby cost more for
/// each radian.
#[test]
fn falling_cat_turns_by_its_geometric_phase() {
    let motion = sampled("falling_cat", "");
    let shape = [positions(&motion, "alpha"), positions(&motion, "beta")];
    let rates = [velocities(&motion, "alpha"), velocities(&motion, "beta")];
    let varied = |ε: f64, k: usize| -> [f64; 2] {
        let w = (k / 2 + 1) as f64 * std::f64::consts::PI;
        let at = |i: usize| {
            let (mut q, mut v) = ([shape[0][i], shape[1][i]], [rates[0][i], rates[1][i]]);
            q[k % 2] += ε * libm::sin(w * time(i));
            v[k % 2] += ε * w * libm::cos(w * time(i));
            (q, v)
        };
        let phase = simpson((0..SAMPLES).map(|i| turning(at(i).0, at(i).1)));
        let action = simpson((0..SAMPLES).map(|i| {
            let (q, v) = at(i);
            cat(0.0, q, turning(q, v), v).1
        }));
        [phase, action]
    };
    let [phase, action] = varied(0.0, 0);
    // Simpson's rule on 2000 panels.
    assert!((phase - last(&motion, "theta")).abs() < 1e-9 && (phase - 0.5).abs() < 1e-9);
    // The Lagrangian counts the motion of the centre of mass relative to the middle link.
    let counted = best(&motion).action;
    assert!((counted - action).abs() < 1e-8, "{counted} against {action}");
    let inertia = cat(0.0, [0.0; 2], 1.0, [0.0; 2]).0;
    stationary(&[-multiplier(&motion, "momentum") * inertia], varied, 6);
}

/// A rolled ball: its track is one of Euler's elastica, whose curvature is affine in the place; rolled along
/// it, by quaternions, the ball comes to its end.
#[test]
fn rolled_ball_follows_an_elastica() {
    for set in ["", "X=0.7, Y=-0.4, turn=0.6", "r=0.5, X=1.2, turn=-1.1"] {
        let motion = sampled("rolling_ball", set);
        let (x, y) = (positions(&motion, "x"), positions(&motion, "y"));
        let (u, v) = (velocities(&motion, "x"), velocities(&motion, "y"));
        let speed = u[0].hypot(v[0]);
        let accelerations =
            |name: &str| &motion.a.iter().find(|s| s.name == name).expect("it is there").values;
        let (du, dv) = (accelerations("x"), accelerations("y"));
        let curvature = |i: usize| (u[i] * dv[i] - v[i] * du[i]) / speed.powi(3);
        // κ = c₀ + c₁ x + c₂ y through three points; then at all others.
        let at = [0, SAMPLES / 3, 2 * SAMPLES / 3];
        let rows = at.map(|i| [1.0, x[i], y[i]]);
        let det = |m: [[f64; 3]; 3]| {
            (0..3)
                .map(|k| {
                    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                    m[0][k] * (m[1][i] * m[2][j] - m[1][j] * m[2][i])
                })
                .sum::<f64>()
        };
        let c: [f64; 3] = std::array::from_fn(|k| {
            let mut replaced = rows;
            (0..3).for_each(|r| replaced[r][k] = curvature(at[r]));
            det(replaced) / det(rows)
        });
        let affine = |x: f64, y: f64| c[0] + c[1] * x + c[2] * y;
        for i in 0..SAMPLES {
            let off = curvature(i) - affine(x[i], y[i]);
            // The motion is good to 1e-11, its curvature to a hundred times that.
            assert!(off.abs() < 1e-8 * (1.0 + curvature(i).abs()), "{set}: {off:e} at {i}");
        }
        let r = if set.starts_with('r') { 0.5 } else { 1.0 };
        let heading = v[0].atan2(u[0]);
        let end = followed([0.0, 0.0, heading, 1.0, 0.0, 0.0, 0.0], |_, s| {
            let (u, v) = (speed * libm::cos(s[2]), speed * libm::sin(s[2]));
            let (ω, q) = ([-v / r, u / r], [s[3], s[4], s[5], s[6]]);
            [
                u,
                v,
                speed * affine(s[0], s[1]),
                -0.5 * (ω[0] * q[1] + ω[1] * q[2]),
                0.5 * (ω[0] * q[0] + ω[1] * q[3]),
                0.5 * (ω[1] * q[0] - ω[0] * q[3]),
                0.5 * (ω[0] * q[2] - ω[1] * q[1]),
            ]
        });
        let attitude = ["a", "b", "c"].map(|name| last(&motion, name));
        let reached = [4, 5, 6].map(|k| end[k] / (1.0 + end[3]));
        assert!((end[0] - last(&motion, "x")).abs() < 1e-8, "{set}: {end:?}");
        assert!((end[1] - last(&motion, "y")).abs() < 1e-8, "{set}: {end:?}");
        for (a, b) in attitude.iter().zip(reached) {
            assert!((a - b).abs() < 1e-8, "{set}: {attitude:?} against {reached:?}");
        }
        assert!((best(&motion).action - 0.5 * speed * speed).abs() < 1e-9);
    }
}
