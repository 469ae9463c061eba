//! More rows: constrained systems, their thresholds and bifurcations.

use pfaff::{
    ContinueRequest, Linearization, LinearizeRequest, Model, OrbitRequest, Run,
    continue_equilibria, continue_orbits, linearize, orbit,
};

use super::{Row, row};

fn parsed(text: &str) -> Model {
    Model::parse(text).expect("the text is right")
}

fn at(model: &Model, state: &str) -> Linearization {
    let request = LinearizeRequest { at: Some(state.into()), ..LinearizeRequest::default() };
    linearize(model, &request).expect("the model has linear equations there")
}

fn over(parameter: &str, from: f64, to: f64) -> ContinueRequest {
    ContinueRequest { parameter: parameter.into(), from, to, ..ContinueRequest::default() }
}

/// The parameters at which something of a kind happens to equilibria.
fn places(text: &str, kind: &str, range: &ContinueRequest) -> Vec<f64> {
    let found = continue_equilibria(&parsed(text), range, &mut || true).expect("it rests");
    let all = found.branches.iter().flat_map(|branch| &branch.special);
    all.filter(|s| s.kind == kind).map(|s| s.parameter).collect()
}

/// Frequencies, ascending.
fn frequencies(found: &Linearization) -> Vec<f64> {
    let mut list: Vec<f64> =
        found.eigenvalues.iter().filter(|v| v[1] > 0.0).map(|v| v[1]).collect();
    list.sort_by(f64::total_cmp);
    list
}

/// Where a linear function of x vanishes.
fn zero(x: [f64; 2], y: [f64; 2]) -> f64 {
    x[0] - y[0] * (x[1] - x[0]) / (y[1] - y[0])
}

pub(super) fn nonholonomic(rows: &mut Vec<Row>) {
    let oscillator = Model::gallery("contact_oscillator").expect("it is there");
    let motion = oscillator.run(&Run::to(10.0).tolerance(1e-12)).expect("it runs");
    rows.push(row(
        "contact oscillator, y at t = 10",
        "y₀ cos ωt + (w₀/ω) sin ωt (Bates and Śniatycki 1993)",
        0.5 * libm::cos(20.0) + 0.15 * libm::sin(20.0),
        motion.position("y").expect("it has a y").at(10.0),
        10,
    ));
    let gas = Model::gallery("isokinetic").expect("it is there");
    let motion = gas.run(&Run::to(5.0).tolerance(1e-12)).expect("it runs");
    let last = |name: &str| {
        *motion.observed(name).expect("it is observed").last().expect("there are outputs")
    };
    rows.push(row(
        "four isokinetic particles, compression of phase space at t = 5",
        "(2n − 1) F·v/2K (Evans, Hoover, Failor, Moran and Ladd 1983)",
        7.0 * last("friction"),
        7.0 * last("friction") - last("error_compression"),
        12,
    ));
    // A hoop: A = m r²/2, C = m r².
    let disk = pfaff::gallery_model("falling_disk").expect("it is there").text;
    let hoop = disk.replace("C = m*r^2/2", "C = m*r^2").replace("A = m*r^2/4", "A = m*r^2/2");
    let hoop = parsed(&hoop);
    let square = |ω: f64| {
        let found = at(&hoop, &format!("phi'={ω:?}"));
        let λ = found.eigenvalues.iter().find(|λ| λ[0] > 0.0 || λ[1] > 0.0).expect("it nods");
        λ[0] * λ[0] - λ[1] * λ[1]
    };
    rows.push(row(
        "rolling hoop, threshold of stability, square of the spin",
        "A m g r/(C (C + m r²)) = g/4r",
        9.81 / 2.0,
        zero([1.0, 4.0], [square(1.0), square(2.0)]),
        12,
    ));
}

pub(super) fn equilibria(rows: &mut Vec<Row>) {
    let rods = at(
        &parsed(
            "
             coordinates x1, y1, x2, y2
             lagrangian (x1'^2 + y1'^2 + x2'^2 + y2'^2)/2 - 9.81*(y1 + y2)
             constraint upper: x1^2 + y1^2 = 1
             constraint lower: (x2 - x1)^2 + (y2 - y1)^2 = 1
             constraint both: x1^2 + y1^2 + (x2 - x1)^2 + (y2 - y1)^2 = 2",
        ),
        "x1=0, y1=-1, x2=0, y2=-2",
    );
    let names = [
        "double pendulum of rods, one constraint twice, slow frequency",
        "double pendulum of rods, one constraint twice, fast frequency",
    ];
    for ((name, sign), ours) in names.into_iter().zip([-1.0, 1.0]).zip(frequencies(&rods)) {
        let theirs = (9.81 * (2.0 + sign * 2.0_f64.sqrt())).sqrt();
        rows.push(row(name, "√((2 ∓ √2) g/l)", theirs, ours, 13));
    }
    let top = parsed(
        "
         coordinates x, y, psi
         parameters A = 0.7, C = 0.3, k = 1.3
         let z = sqrt(1 - x^2 - y^2)
         lagrangian A*(x'^2 + y'^2 + z'^2)/2 + C*(psi' + (x*y' - y*x')/(1 + z))^2/2 - k*z",
    );
    // The difference of its frequencies has a square that is linear in that of the spin.
    let gap = |w: f64| {
        let list = frequencies(&at(&top, &format!("x=0, y=0, psi'={w:?}")));
        (list[1] - list[0]).powi(2)
    };
    rows.push(row(
        "sleeping top, threshold of stability, square of the spin",
        "4 A m g l/C²",
        4.0 * 0.7 * 1.3 / 0.09,
        zero([64.0, 100.0], [gap(8.0), gap(10.0)]),
        12,
    ));
    let truss = "
        coordinates y, s
        parameters F = 0, k = 100, b = 1, h = 0.4
        lagrangian (y'^2 + s'^2)/2 - k*(s - b)^2/2 - F*y
        constraint bar: s^2 + y^2 = b^2 + h^2
        initial y = 0.4, s = 1";
    let bar = 1.16_f64.sqrt();
    let cos = libm::cbrt(1.0 / bar);
    rows.push(row(
        "toggle with a spring, load at which it snaps through",
        "k l sin³α, cos³α = b/l (after von Mises 1923)",
        100.0 * bar * libm::pow(1.0 - cos * cos, 1.5),
        places(truss, "fold", &over("F", 0.0, 5.0))[0],
        12,
    ));
    let column = "
        coordinates a[4]
        parameters P = 0.05
        lagrangian sum(i = 1..4, a[i]'^2)/2 - a[1]^2/2 - sum(i = 2..4, (a[i] - a[i-1])^2)/2
          - P*sum(i = 1..4, cos(a[i]))";
    rows.push(row(
        "column of four links with springs, first buckling load",
        "2 (k/l) (1 − cos π/9)",
        2.0 - 2.0 * libm::cos(std::f64::consts::PI / 9.0),
        places(column, "branch", &over("P", 0.05, 0.2))[0],
        12,
    ));
    let lorenz = "
        coordinates x, y, z
        parameters r = 20
        equation x' = 10*(y - x)
        equation y' = x*(r - z) - y
        equation z' = x*y - 8/3*z";
    rows.push(row(
        "Lorenz's system, Hopf point",
        "σ(σ + b + 3)/(σ − b − 1) = 470/19 (Lorenz 1963)",
        470.0 / 19.0,
        places(lorenz, "hopf", &over("r", 20.0, 28.0))[0],
        12,
    ));
    let brusselator = "
        coordinates x, y
        parameters A = 1.3, B = 1
        equation x' = A + x^2*y - (B + 1)*x
        equation y' = B*x - x^2*y
        initial x = 1.3, y = 0.8";
    rows.push(row(
        "Brusselator, Hopf point",
        "1 + A² (Prigogine and Lefever 1968)",
        2.69,
        places(brusselator, "hopf", &over("B", 1.0, 4.0))[0],
        12,
    ));
}

/// The complete elliptic integral of the first kind by its parameter.
fn elliptic(m: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - m).sqrt());
    for _ in 0..30 {
        (a, b) = (f64::midpoint(a, b), (a * b).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

/// Periods and multipliers of closed form.
pub(super) fn curves(rows: &mut Vec<Row>) {
    let found = |text: &str, period: &str| {
        let request = OrbitRequest { period: Some(period.into()), ..OrbitRequest::default() };
        orbit(&parsed(text), &request, &mut || true).expect("it has periodic motions")
    };
    let spherical = "
        coordinates x, y, z
        lagrangian (x'^2 + y'^2 + z'^2)/2 - 9.81*z
        constraint rod: x^2 + y^2 + z^2 = 1
        initial x = 0.8, z = -0.6, y' = 1.5";
    // At the start z' = 0, so that z = -0.6 is a zero of 2 (E - g z)(1 - z²) - L²; the others are those of a quadratic.
    let (g, z) = (9.81_f64, -0.6);
    let energy = 1.125 + g * z;
    let (b, c) = (-2.0 * energy + 2.0 * g * z, -2.0 * g + z * (-2.0 * energy + 2.0 * g * z));
    let root = (b * b - 8.0 * g * c).sqrt();
    let (low, high) = ((-b - root) / (4.0 * g), (-b + root) / (4.0 * g));
    rows.push(row(
        "spherical pendulum, period of its height",
        "4 K/√(2 g (z₃ − z₁)), zᵢ the zeros of 2 (E − g z)(1 − z²) − L²",
        4.0 * elliptic((z - low) / (high - low)) / (2.0 * g * (high - low)).sqrt(),
        found(spherical, "2").period,
        11,
    ));
    let hopf = "
        coordinates x, y
        parameters m = 0.3, w = 2
        equation x' = m*x - w*y - x*(x^2 + y^2)
        equation y' = w*x + m*y - y*(x^2 + y^2)
        initial x = 0.5";
    let cycle = found(hopf, "3").multipliers;
    let across = cycle.iter().map(|v| v[0]).fold(1.0, f64::min);
    rows.push(row(
        "normal form of Hopf, multiplier of its cycle",
        "exp(−4π μ/ω)",
        libm::exp(-0.6 * std::f64::consts::PI),
        across,
        11,
    ));
}

pub(super) fn orbits(rows: &mut Vec<Row>) {
    let walker = Model::gallery("simplest_walker").expect("it is there");
    let gait = orbit(&walker, &OrbitRequest::default(), &mut || true).expect("it walks");
    let state =
        |name: &str| gait.state.iter().find(|(known, _)| known == name).expect("it is there").1;
    let source = "Garcia, Chatterjee, Ruina and Coleman 1998";
    let values = [
        ("simplest walker, slope 0.009, angle after a step", 0.200_310_900_544_287, "th", 12),
        ("simplest walker, slope 0.009, its rate", -0.199_832_473_004_977, "th'", 12),
    ];
    for (what, theirs, name, least) in values {
        rows.push(row(what, source, theirs, state(name), least));
    }
    let [re, im] = gait.multipliers[0];
    let parts = [
        ("simplest walker, multiplier, real part", -0.1901, re),
        ("simplest walker, multiplier, imaginary part", 0.5576, im.abs()),
    ];
    rows.extend(
        parts.map(|(what, theirs, ours)| Row {
            decimals: 4,
            ..row(what, source, theirs, ours, 3)
        }),
    );
    let mathieu = parsed(
        "
         coordinates x
         parameters a = 1.5, q = 5
         equation x'' = -(a - 2*q*cos(2*t))*x",
    );
    let start = OrbitRequest { period: Some("pi".into()), ..OrbitRequest::default() };
    let found = continue_orbits(&mathieu, &over("a", 1.5, 8.0), &start, &mut || true);
    let found = found.expect("it rests");
    let special = &found.branches[0].special;
    let wanted = [
        ("Mathieu's equation, q = 5, a₁", 1.858_187_54),
        ("Mathieu's equation, q = 5, b₂", 2.099_460_45),
        ("Mathieu's equation, q = 5, a₂", 7.449_109_74),
    ];
    assert_eq!(special.len(), wanted.len(), "{special:?}");
    for ((what, theirs), ours) in wanted.into_iter().zip(special) {
        let source = "Abramowitz and Stegun 1964, table 20.1";
        rows.push(Row { decimals: 8, ..row(what, source, theirs, ours.parameter, 8) });
    }
}
