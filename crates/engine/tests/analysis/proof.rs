//! The proof page: one row for each published or closed-form number, with the digits in which ours agrees.
//!
//! `cargo xtask proof` writes `docs/proof.md`; the test fails if the page would change or a row lost a digit.

mod chaos;
mod published;
mod systems;

use std::fmt::Write as _;
use std::path::Path;

use pfaff::{
    ContinueRequest, Linearization, LinearizeRequest, Model, NoFiles, OrbitRequest, Overrides,
    Run, SectionRequest, Source, continue_equilibria, linearize, orbit, section,
};

/// One number.
struct Row {
    what: &'static str,
    source: &'static str,
    /// As it is printed there, or from the closed form.
    theirs: f64,
    ours: f64,
    /// Digits that must agree.
    least: i32,
    /// Decimals that the source prints.
    decimals: usize,
}

fn row(what: &'static str, source: &'static str, theirs: f64, ours: f64, least: i32) -> Row {
    Row { what, source, theirs, ours, least, decimals: 14 }
}

/// Significant digits in which two numbers agree; at most 15, and at most those that the source prints.
fn digits(row: &Row) -> i32 {
    let size = row.theirs.abs();
    let off = (row.ours - row.theirs).abs() / if size == 0.0 { 1.0 } else { size };
    let agreed = if off == 0.0 { 15.0 } else { (-libm::log10(2.0 * off)).floor() };
    let printed = if row.decimals < 14 {
        libm::log10(size).floor() + 1.0 + row.decimals as f64
    } else {
        15.0
    };
    agreed.min(printed).clamp(0.0, 15.0) as i32
}

fn at(model: &Model, state: &str) -> Linearization {
    let request = LinearizeRequest { at: Some(state.into()), ..LinearizeRequest::default() };
    linearize(model, &request).expect("the model has linear equations there")
}

const WHIPPLE: &str = "Meijaard, Papadopoulos, Ruina and Schwab 2007";

/// The speed between two at which the largest real part of some eigenvalues changes its sign.
fn crossing(
    model: &Model,
    mut low: f64,
    mut high: f64,
    part: &dyn Fn(&Linearization) -> f64,
) -> f64 {
    let value = |v: f64| part(&at(model, &format!("x'={v:?}")));
    let (mut a, mut b) = (value(low), value(high));
    for _ in 0..60 {
        let mut v = (low * b - high * a) / (b - a);
        if !(low < v && v < high) {
            v = 0.5 * (low + high);
        }
        let f = value(v);
        if f == 0.0 || high - low < 4e-15 * high {
            return v;
        }
        if f.signum() == a.signum() {
            (low, a) = (v, f);
            b *= 0.5;
        } else {
            (high, b) = (v, f);
            a *= 0.5;
        }
    }
    0.5 * (low + high)
}

fn bicycle(rows: &mut Vec<Row>) {
    let model = Model::gallery("bicycle").expect("it is there");
    let found = at(&model, "x'=5");
    let real: Vec<f64> =
        found.eigenvalues.iter().filter(|v| v[1] == 0.0 && v[0] != 0.0).map(|v| v[0]).collect();
    let weave = found.eigenvalues.iter().find(|v| v[1] > 0.0).expect("it weaves");
    let values = [
        ("bicycle, weave at 5 m/s, real part", -0.775_341_882_195_85, weave[0]),
        ("bicycle, weave at 5 m/s, imaginary part", 4.464_867_713_788_23, weave[1]),
        ("bicycle, capsize at 5 m/s", -0.322_866_429_004_09, real[0]),
        ("bicycle, castering at 5 m/s", -14.078_389_692_798_22, real[1]),
    ];
    rows.extend(values.map(|(what, theirs, ours)| row(what, WHIPPLE, theirs, ours, 12)));
    let pair = |found: &Linearization| {
        let complex = found.eigenvalues.iter().filter(|v| v[1] > 0.0);
        complex.map(|v| v[0]).fold(f64::NEG_INFINITY, f64::max)
    };
    // Of the real ones that do not stay zero the largest.
    let single = |found: &Linearization| {
        let real = found.eigenvalues.iter().filter(|v| v[1] == 0.0).map(|v| v[0]);
        real.min_by(|a, b| {
            let weight = |x: f64| if x == 0.0 { f64::INFINITY } else { x.abs() };
            weight(*a).total_cmp(&weight(*b))
        })
        .unwrap_or(f64::NAN)
    };
    let weave = crossing(&model, 4.2, 4.4, &pair);
    let capsize = crossing(&model, 5.9, 6.1, &single);
    rows.push(row("bicycle, weave speed in m/s", WHIPPLE, 4.292_382_536_341_11, weave, 12));
    rows.push(row("bicycle, capsize speed in m/s", WHIPPLE, 6.024_262_015_388_37, capsize, 12));
    let form = found.second_order.expect("coordinates and velocities");
    let still = at(&model, "x'=0").second_order.expect("coordinates and velocities");
    let n = form.coordinates.len();
    let place =
        |name: &str| form.coordinates.iter().position(|c| c == name).expect("it is there");
    let (φ, δ) = (place("phi"), place("delta"));
    let (v, g) = (5.0, 9.81);
    let k0 = |i: usize, j: usize| still.stiffness[i * n + j] / g;
    let k2 =
        |i: usize, j: usize| (form.stiffness[i * n + j] - still.stiffness[i * n + j]) / (v * v);
    let c1 = |i: usize, j: usize| form.damping[i * n + j] / v;
    let entries = [
        ("bicycle, M, lean and lean", 80.817_22, form.mass[φ * n + φ]),
        ("bicycle, M, lean and steer", 2.319_413_322_087_09, form.mass[φ * n + δ]),
        ("bicycle, M, steer and steer", 0.297_841_881_996_86, form.mass[δ * n + δ]),
        ("bicycle, K0, lean and lean", -80.95, k0(φ, φ)),
        ("bicycle, K0, lean and steer", -2.599_516_852_498_72, k0(φ, δ)),
        ("bicycle, K0, steer and steer", -0.803_294_884_586_18, k0(δ, δ)),
        ("bicycle, K2, lean and steer", 76.597_345_895_732_22, k2(φ, δ)),
        ("bicycle, K2, steer and steer", 2.654_315_237_946_04, k2(δ, δ)),
        ("bicycle, C1, lean and steer", 33.866_413_914_924_94, c1(φ, δ)),
        ("bicycle, C1, steer and lean", -0.850_356_414_569_78, c1(δ, φ)),
        ("bicycle, C1, steer and steer", 1.685_403_973_975_60, c1(δ, δ)),
    ];
    rows.extend(entries.map(|(what, theirs, ours)| row(what, WHIPPLE, theirs, ours, 12)));
}

fn rolling(rows: &mut Vec<Row>) {
    let disk = Model::gallery("falling_disk").expect("it is there");
    let (r, g): (f64, f64) = (0.5, 9.81);
    let (a, c) = (r * r / 4.0, r * r / 2.0);
    let square = |ω: f64| {
        let found = at(&disk, &format!("phi'={ω:?}"));
        let λ = found.eigenvalues.iter().find(|λ| λ[0] > 0.0 || λ[1] > 0.0).expect("it nods");
        λ[0] * λ[0] - λ[1] * λ[1]
    };
    // λ² is linear in Ω².
    let (s0, s1) = (square(1.0), square(2.0));
    let threshold = 1.0 + 3.0 * s0 / (s0 - s1);
    rows.push(row(
        "rolling disk, threshold of stability, square of the spin",
        "A m g r/(C (C + m r²)) [Bloch15, ch. 1]",
        a * g * r / (c * (c + r * r)),
        threshold,
        12,
    ));
    let overrides = Overrides { set: None, initial: Some("x'=-1, phi'=1e-12".into()) };
    let sleigh = Model::read(
        Source::new("sleigh", pfaff::gallery_model("sleigh").expect("it is there").text),
        &overrides,
        &NoFiles,
    )
    .expect("it can be read");
    let motion = sleigh.run(&Run::to(160.0).tolerance(1e-12)).expect("it runs");
    let turn = motion.position("phi").expect("it has a heading");
    let turn = turn.at(160.0) - turn.at(0.0);
    rows.push(row(
        "Chaplygin sleigh, total turn",
        "π √(1 + J/(m a²)) [Bloch15, ch. 1]",
        std::f64::consts::PI * (1.0 + 0.5 / 0.04_f64).sqrt(),
        turn.abs(),
        9,
    ));
}

fn others(rows: &mut Vec<Row>) {
    let top = Model::parse(
        "
         coordinates phi, th, psi
         parameters A = 0.7, C = 0.3, k = 1.3
         lagrangian A*(th'^2 + phi'^2*sin(th)^2)/2 + C*(psi' + phi'*cos(th))^2/2 - k*cos(th)",
    )
    .expect("the text is right");
    let (a, c, k, th, w): (f64, f64, f64, f64, f64) = (0.7, 0.3, 1.3, 0.8, 2.1);
    let cos = libm::cos(th);
    let spin = (k + a * w * w * cos) / (c * w) - w * cos;
    let found = at(&top, &format!("th={th:?}, phi'={w:?}, psi'={spin:?}"));
    let ours = found.eigenvalues.iter().map(|v| v[1]).fold(0.0, f64::max);
    let theirs = (a * a * w.powi(4) - 2.0 * a * w * w * k * cos + k * k).sqrt() / (a * w);
    rows.push(row(
        "top, frequency of nutation",
        "√(A²Ω⁴ − 2AΩ²mgl cos θ + (mgl)²)/(AΩ)",
        theirs,
        ours,
        12,
    ));
    let hoop = Model::parse(
        "
         coordinates a
         parameters w = 1, g = 9.81, l = 1.2
         lagrangian l^2*(a'^2 + w^2*sin(a)^2)/2 + g*l*cos(a)",
    )
    .expect("the text is right");
    let request = ContinueRequest {
        parameter: "w".into(),
        from: 1.0,
        to: 5.0,
        ..ContinueRequest::default()
    };
    let found = continue_equilibria(&hoop, &request, &mut || true).expect("it rests");
    let mut all = found.branches.iter().flat_map(|branch| &branch.special);
    let ours = all.find(|s| s.kind == "branch").map_or(f64::NAN, |s| s.parameter);
    rows.push(row(
        "bead on a hoop, pitchfork",
        "ω = √(g/l)",
        (9.81_f64 / 1.2).sqrt(),
        ours,
        10,
    ));
}

/// The last value of a coordinate.
fn last(text: &str, name: &str) -> f64 {
    let model = Model::parse(text).expect("the text is right");
    let motion = model.run(&Run::default()).expect("it runs");
    let series = motion.q.iter().find(|series| series.name == name);
    *series.and_then(|series| series.values.last()).expect("it has this coordinate")
}

fn periods(rows: &mut Vec<Row>) {
    let model = Model::parse(
        "
         coordinates x
         equation x'' = (1 - x^2)*x' - x
         initial x = 2, x' = 0",
    )
    .expect("the text is right");
    let request = OrbitRequest { period: Some("6.6".into()), ..OrbitRequest::default() };
    let cycle = orbit(&model, &request, &mut || true).expect("it has a limit cycle");
    rows.push(row(
        "van der Pol's oscillator, period for μ = 1",
        "Amore, Boyd and Fernández 2018",
        6.663_286_859_323_13,
        cycle.period,
        12,
    ));
    let model = Model::parse(
        "
         coordinates a
         lagrangian a'^2/2 + cos(a)
         initial a = pi/2, a' = 0
         solve t = 0..30, tolerance = 1e-13",
    )
    .expect("the text is right");
    let request =
        SectionRequest { on: "rising a".into(), count: 3, ..SectionRequest::default() };
    let found = section(&model, &request, &mut || true).expect("it swings");
    rows.push(row(
        "pendulum from 90°, period",
        "4 K(1/√2) = Γ(1/4)²/√π",
        7.416_298_709_205_487,
        found.t[2] - found.t[1],
        11,
    ));
    let turntable = Model::gallery("turntable").expect("it is there");
    let found = at(&turntable, "x=0, y=0, x'=0, y'=0, psi=0.2, th=1.2");
    rows.push(row(
        "ball on a turntable, angular velocity of its circles",
        "2Ω/7 (Earnshaw 1844)",
        0.4,
        found.eigenvalues.iter().map(|v| v[1]).fold(0.0, f64::max),
        12,
    ));
}

fn memory(rows: &mut Vec<Row>) {
    let relaxation = "
         coordinates q
         equation caputo(q, 0.5) = -q
         initial q = 1
         solve t = 0..1, tolerance = 1e-11";
    rows.push(row(
        "fractional relaxation of order 1/2 at t = 1",
        "E_{1/2}(−1) = e erfc 1",
        0.427_583_576_155_807,
        last(relaxation, "q"),
        10,
    ));
    let diethelm = "
         coordinates y
         parameters a = 0.5
         equation caputo(y, a) = 40320/gamma(9 - a)*t^(8 - a) - 3*gamma(5 + a/2)/gamma(5 - a/2)*t^(4 - a/2)
           + 9/4*gamma(a + 1) + (3/2*t^(a/2) - t^4)^3 - abs(y)^(3/2)
         initial y = 0
         solve t = 0..1, tolerance = 1e-11";
    rows.push(row(
        "fractional test problem of Diethelm, Ford and Freed 2004 at t = 1",
        "t⁸ − 3 t^(4+α/2) + 9 t^α/4 [Garrappa 2018]",
        0.25,
        last(diethelm, "y"),
        9,
    ));
    let bagley = "
         coordinates x
         equation x'' + caputo(x, 1.5) + x = 1 + t
         initial x = 1, x' = 1
         solve t = 0..10, tolerance = 1e-11";
    rows.push(row(
        "equation of Bagley and Torvik at t = 10",
        "1 + t [Garrappa 2018]",
        11.0,
        last(bagley, "x"),
        10,
    ));
}

fn page(rows: &[Row]) -> String {
    let mut text = String::from(
        "# Proof\n\nNumbers that others have published, or that a closed form gives, and ours. Nothing is derived by \
         hand outside\nthe text of the model. `cargo xtask proof` writes this page from \
         `crates/engine/tests/analysis/proof.rs`; the tests\nfail if a row loses a digit. Digits are significant \
         ones that agree, rounded down, at most 15, and at most\nthose that the source prints. Lyapunov exponents are \
         means over a finite motion: theirs and ours have errors of a\nfew units of the fourth decimal.\n\n\
         | number | source | theirs | ours | digits |\n|---|---|---|---|---|\n",
    );
    for row in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {:.*} | {:.14} | {} |",
            row.what,
            row.source,
            row.decimals,
            row.theirs,
            row.ours,
            digits(row)
        );
    }
    text
}

#[test]
fn the_proof_page_is_what_the_program_computes() {
    let mut rows = Vec::new();
    bicycle(&mut rows);
    rolling(&mut rows);
    others(&mut rows);
    periods(&mut rows);
    memory(&mut rows);
    published::steady(&mut rows);
    published::orbits(&mut rows);
    systems::nonholonomic(&mut rows);
    systems::equilibria(&mut rows);
    systems::orbits(&mut rows);
    systems::curves(&mut rows);
    published::test_set(&mut rows);
    published::tables(&mut rows);
    chaos::nonholonomic(&mut rows);
    chaos::exponents(&mut rows);
    for row in &rows {
        assert!(
            digits(row) >= row.least,
            "{}: {} is not {} to {} digits",
            row.what,
            row.ours,
            row.theirs,
            row.least
        );
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/proof.md");
    let text = page(&rows);
    if std::env::var_os("PFAFF_BLESS").is_some() {
        std::fs::write(path, text).expect("the page can be written");
        return;
    }
    let there = std::fs::read_to_string(path).expect("the page is there");
    assert_eq!(there, text, "run `cargo xtask proof`");
}
