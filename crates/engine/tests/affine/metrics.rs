//! The polar forms of the rotation-free body for any metrics g of space and η of the body, in the plane and
//! in space: each holds along the motions of the general core,
//! and each, integrated by itself, gives the same motion. The vakonomic ones with their momentum Π, which
//! turns with the body in space.

use pfaff::{Motion, Run};

use crate::support::matrix::{
    self, Matrix, chain, distance, half, inverse, plus, product, transposed,
};
use crate::support::{self, Random};

const TIMES: [f64; 4] = [0.0, 0.3, 0.7, 1.0];

fn observed(motion: &Motion, name: &str, i: usize) -> Matrix {
    let own = |s: &&pfaff::Series| s.name == name || s.name.starts_with(&format!("{name}["));
    motion.observed.iter().filter(own).map(|s| s.values[i]).collect()
}

fn matrix_at(series: &[pfaff::Series], i: usize) -> Matrix {
    series.iter().map(|s| s.values[i]).collect()
}

fn run(text: &str) -> Motion {
    let request = Run { at: Some(TIMES.to_vec()), tolerance: Some(1e-12), ..Run::default() };
    support::run(&support::model(text), &request)
}

fn scaled(s: f64, a: &[f64]) -> Matrix {
    a.iter().map(|x| s * x).collect()
}

fn size(a: &[f64]) -> f64 {
    distance(a, &vec![0.0; a.len()])
}

/// The lower triangular root L of a = LLᵀ.
fn root(n: usize, a: &[f64]) -> Matrix {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let rest = a[i * n + j] - dot;
            l[i * n + j] = if i == j { rest.sqrt() } else { rest / l[j * n + j] };
        }
    }
    l
}

fn determinant(n: usize, a: &[f64]) -> f64 {
    if n == 2 {
        return a[0] * a[3] - a[1] * a[2];
    }
    a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6])
        + a[2] * (a[3] * a[7] - a[4] * a[6])
}

/// A rotation-free body with V = 0.4·tr(E²) + ½(log det φ)², E = η⁻¹G − 1.
struct Body {
    n: usize,
    j: Matrix,
    g: Matrix,
    eta: Matrix,
    phi: Matrix,
    velocity: Matrix,
}

impl Body {
    fn random(n: usize, plain: bool, random: &mut Random) -> Self {
        let j = matrix::positive(n, 0.7, random);
        let metric = |random: &mut Random| {
            if plain {
                return matrix::identity(n);
            }
            let close = plus(&matrix::identity(n), 0.4, &matrix::positive(n, 0.0, random));
            half(n, &close, 1.0)
        };
        let (g, eta) = (metric(random), metric(random));
        let phi = plus(&matrix::identity(n), 0.2, &matrix::random(n, random));
        // gΩ symmetric, so that every constraint of `rotation_free` holds at the start.
        let lowered = scaled(0.5, &half(n, &matrix::random(n, random), 1.0));
        let velocity = chain(n, &[&inverse(n, &g), &lowered, &phi]);
        Self { n, j, g, eta, phi, velocity }
    }

    fn run(&self, rest: &str) -> Motion {
        let n = self.n;
        let show = |a: &[f64]| matrix::text(n, a);
        run(&format!(
            "coordinates phi[{n},{n}]\nparameters J = {}, g = {}, eta = {}
let E = inv(eta)*green(phi, g) - identity({n})\nlet V = 0.4*tr(E*E) + log(det(phi))^2/2
kinetic tr(transpose(phi')*g*phi'*J)/2\npotential V\nconstraint c: rotation_free(phi, g)
initial phi = {}, phi' = {}\nobserve A = stretch(phi, g, eta)\nobserve U = rotation_part(phi, g, eta)
observe Ad = stretch_rate(phi, g, eta)\nobserve Add = stretch_rate(phi, g, eta)'
observe w = polar_spin(phi, g, eta)\nobserve N = dipole(phi, V, g)\nobserve NR = reaction_moment(phi, g)
observe S = spin(phi, J)\nobserve Kd = affine_spin(phi, J)'\nsolve t = 0..1, tolerance = 1e-12\n{rest}",
            show(&self.j), show(&self.g), show(&self.eta), show(&self.phi), show(&self.velocity)
        ))
    }

    /// log(det U), so that log det φ = log det A + this.
    fn volume_of_rotation(&self) -> f64 {
        libm::log(determinant(self.n, &self.eta) / determinant(self.n, &self.g)) / 2.0
    }

    /// The roots P and L of g = PPᵀ and η = LLᵀ: φ̃ = PᵀφL⁻ᵀ has both metrics 1 and the inertia LᵀJL.
    fn roots(&self) -> (Matrix, Matrix) {
        (root(self.n, &self.g), root(self.n, &self.eta))
    }

    fn plain_inertia(&self) -> Matrix {
        let (_, l) = self.roots();
        chain(self.n, &[&transposed(self.n, &l), &self.j, &l])
    }
}

/// [a, b]
fn bracket(n: usize, a: &[f64], b: &[f64]) -> Matrix {
    plus(&product(n, a, b), -1.0, &product(n, b, a))
}

/// A matrix and its rate.
#[derive(Clone)]
struct Moving {
    value: Matrix,
    rate: Matrix,
}

impl Moving {
    fn new(value: &[f64], rate: &[f64]) -> Self {
        Self { value: value.to_vec(), rate: rate.to_vec() }
    }

    fn times(&self, n: usize, other: &Self) -> Self {
        let first = product(n, &self.rate, &other.value);
        let second = product(n, &self.value, &other.rate);
        Self { value: product(n, &self.value, &other.value), rate: plus(&first, 1.0, &second) }
    }

    fn inverse(&self, n: usize) -> Self {
        let value = inverse(n, &self.value);
        let rate = scaled(-1.0, &chain(n, &[&value, &self.rate, &value]));
        Self { value, rate }
    }

    fn plus(&self, s: f64, other: &Self) -> Self {
        Self {
            value: plus(&self.value, s, &other.value),
            rate: plus(&self.rate, s, &other.rate),
        }
    }
}

/// Where a symmetric matrix of n rows has its independent entries.
fn upper(n: usize, diagonal: bool) -> Vec<(usize, usize)> {
    let first = usize::from(!diagonal);
    (0..n).flat_map(|i| (i + first..n).map(move |j| (i, j))).collect()
}

/// The text of a symmetric or skew matrix of the entries `name[1]`, `name[2]` ….
fn written(n: usize, name: &str, symmetric: bool) -> String {
    let places = upper(n, symmetric);
    let entry = |i: usize, j: usize| {
        let k = places.iter().position(|&p| p == (i.min(j), i.max(j)));
        let sign = if j < i && !symmetric { "-" } else { "" };
        k.map_or_else(|| "0".to_owned(), |k| format!("{sign}{name}[{}]", k + 1))
    };
    let row =
        |i: usize| format!("[{}]", (0..n).map(|j| entry(i, j)).collect::<Vec<_>>().join(", "));
    format!("[{}]", (0..n).map(row).collect::<Vec<_>>().join(", "))
}

fn entries(n: usize, a: &[f64], diagonal: bool) -> String {
    let all: Vec<String> =
        upper(n, diagonal).iter().map(|&(i, j)| format!("({:?})", a[i * n + j])).collect();
    format!("[{}]", all.join(", "))
}

fn rows(n: usize, diagonal: bool, left: &str, right: &str) -> String {
    let row = |(i, j): (usize, usize)| {
        format!("equation ({left})[{0},{1}] = ({right})[{0},{1}]\n", i + 1, j + 1)
    };
    upper(n, diagonal).into_iter().map(row).collect()
}

/// (A3), (A4) and ω̂ = ½[A⁻¹, A′] with metrics, in the mixed components of the body: J becomes Jη, N̄ =
/// U⁻¹NgU, and the symmetric part that of η.
#[test]
fn polar_forms_hold_for_any_metrics() {
    let mut random = Random::new(41);
    for case in 0..6 {
        let body = Body::random(2 + case % 2, false, &mut random);
        let (n, g, eta) = (body.n, &body.g, &body.eta);
        let motion = body.run("");
        for i in 0..TIMES.len() {
            let see = |name: &str| observed(&motion, name, i);
            let (a, ad, add, u) = (see("A"), see("Ad"), see("Add"), see("U"));
            let (phi, v) = (matrix_at(&motion.q, i), matrix_at(&motion.v, i));
            // A dozen products of entries of size 1.
            let close = |x: &[f64], y: &[f64], what: &str| {
                assert!(distance(x, y) <= 1e-10, "{case} {i}: {what}, {:e}", distance(x, y));
            };
            close(&product(n, &u, &a), &phi, "φ = UA");
            close(&chain(n, &[&transposed(n, &u), g, &u]), eta, "UᵀgU = η");
            let lowered = product(n, eta, &a);
            close(&lowered, &transposed(n, &lowered), "A is η-symmetric");
            let back = inverse(n, &a);
            let c = bracket(n, &back, &ad);
            close(&see("w"), &scaled(0.5, &c), "ω̂");
            let energy = |x: &[f64], metric: &[f64]| {
                matrix::trace(n, &chain(n, &[&transposed(n, x), metric, x, &body.j]))
            };
            let x = plus(&ad, 1.0, &chain(n, &[&back, &ad, &a]));
            close(&[energy(&x, eta) / 8.0], &[energy(&v, g) / 2.0], "T");
            assert!(
                (energy(&x, &matrix::identity(n)) / 8.0 - energy(&v, g) / 2.0).abs() >= 1e-4
            );
            let moving = Moving::new(&a, &ad);
            let rate = Moving::new(&ad, &add);
            let inverse_a = moving.inverse(n);
            let commutator = inverse_a.times(n, &rate).plus(-1.0, &rate.times(n, &inverse_a));
            let residual = |j: &[f64]| {
                let aj = product(n, &a, j);
                let aja = product(n, &aj, &a);
                let first =
                    plus(&product(n, &aj, &add), -0.5, &product(n, &aja, &commutator.rate));
                let second = plus(&first, -1.0, &chain(n, &[&aj, &ad, &c]));
                let left = plus(&second, 0.25, &chain(n, &[&aja, &c, &c]));
                let moment = chain(n, &[&inverse(n, &u), &see("N"), g, &u]);
                size(&half(n, &product(n, eta, &plus(&left, -1.0, &moment)), 1.0))
            };
            assert!(residual(&product(n, &body.j, eta)) <= 1e-9, "{case} {i}: (A4)");
            assert!(residual(&body.j) >= 1e-3, "{case} {i}: η belongs to J");
            // Balance of the affine spin, and the structure of the reaction.
            let kinetic = chain(n, &[&v, &body.j, &transposed(n, &v)]);
            let balance = plus(&plus(&kinetic, 1.0, &see("N")), 1.0, &see("NR"));
            close(&see("Kd"), &balance, "K′ = φ′Jφ′ᵀ + N + N_R");
            close(&half(n, &see("NR"), 1.0), &vec![0.0; n * n], "N_R antisymmetric");
            assert!(size(&see("NR")) >= 1e-6, "{case} {i}: there is a reaction");
        }
    }
}

/// (A4) with metrics as equations for ηA and U: the motion of the core.
#[test]
fn polar_equations_with_metrics_give_the_motion_back() {
    let mut random = Random::new(42);
    for n in [2, 3] {
        let body = Body::random(n, false, &mut random);
        let core = body.run("");
        let start = |name: &str| product(n, &body.eta, &observed(&core, name, 0));
        let k = upper(n, true).len();
        let text =
            format!(
            "coordinates b[{k}], U[{n},{n}]\nparameters J = {}, eta = {}\nlet A = inv(eta)*{}
let C = inv(A)*A' - A'*inv(A)\nlet K = A*J*eta\nlet left = K*A'' - K*A*C'/2 - K*A'*C + K*A*C*C/4
let G = A*A\nlet right = -(1.6*G*(G - identity({n})) + (log(det(A)) + ({:?}))*identity({n}))
{}equation U' = U*C/2\ninitial b = {}, b' = {}, U = {}\nobserve back = U*A\nsolve t = 0..1",
            matrix::text(n, &body.j), matrix::text(n, &body.eta), written(n, "b", true),
            body.volume_of_rotation(),
            rows(n, true, "sym(eta*left)", "sym(eta*right)"),
            entries(n, &start("A"), true), entries(n, &start("Ad"), true),
            matrix::text(n, &observed(&core, "U", 0)),
        );
        let view = run(&text);
        for i in 1..TIMES.len() {
            let off = distance(&observed(&view, "back", i), &matrix_at(&core.q, i));
            assert!(off <= 1e-9, "{n} {i}: {off:e}");
        }
    }
}

/// A vakonomic motion with multipliers that are not chosen, in the frame where both metrics are 1.
struct Vakonomic {
    body: Body,
    core: Motion,
}

impl Vakonomic {
    fn random(n: usize, plain: bool, random: &mut Random) -> Self {
        let body = Body::random(n, plain, random);
        let names: Vec<String> = upper(n, false)
            .iter()
            .map(|(i, j)| {
                let name = if n == 2 { "c".into() } else { format!("c[{},{}]", i + 1, j + 1) };
                format!("mu({name}) = {:?}", 0.8 * random.number())
            })
            .collect();
        let rest =
            format!("principle vakonomic\ninitial {}\nobserve m = mu(c)\n", names.join(", "));
        let core = body.run(&rest);
        Self { body, core }
    }

    /// π = S + 2φWφᵀ in space.
    fn momentum(&self, i: usize) -> Matrix {
        let n = self.body.n;
        let mut w = vec![0.0; n * n];
        for ((a, b), mu) in upper(n, false).into_iter().zip(observed(&self.core, "m", i)) {
            (w[a * n + b], w[b * n + a]) = (mu, -mu);
        }
        let phi = matrix_at(&self.core.q, i);
        let carried = chain(n, &[&phi, &w, &transposed(n, &phi)]);
        plus(&observed(&self.core, "S", i), 2.0, &carried)
    }

    /// A, A′ or A″ in the plain frame: LᵀAL⁻ᵀ.
    fn plain(&self, name: &str, i: usize) -> Matrix {
        let n = self.body.n;
        let (_, l) = self.body.roots();
        let lt = transposed(n, &l);
        chain(n, &[&lt, &observed(&self.core, name, i), &inverse(n, &lt)])
    }

    /// PᵀxL⁻ᵀ of φ or U.
    fn plain_place(&self, x: &[f64]) -> Matrix {
        let n = self.body.n;
        let (p, l) = self.body.roots();
        chain(n, &[&transposed(n, &p), x, &inverse(n, &transposed(n, &l))])
    }

    /// Π = ŨᵀPᵀπPŨ
    fn turned_momentum(&self, i: usize) -> Matrix {
        let n = self.body.n;
        let (p, _) = self.body.roots();
        let u = self.plain_place(&observed(&self.core, "U", i));
        let space = chain(n, &[&transposed(n, &p), &self.momentum(i), &p]);
        chain(n, &[&transposed(n, &u), &space, &u])
    }

    /// d/dt ∂/∂A′ − ∂/∂A of T − V + ½tr(Πᵀω̂) with Π′ = [Π, ω̂].
    fn residual(&self, i: usize, momentum: &[f64]) -> f64 {
        let n = self.body.n;
        let (a, ad, add) = (self.plain("A", i), self.plain("Ad", i), self.plain("Add", i));
        let still = |x: &[f64]| Moving::new(x, &vec![0.0; n * n]);
        let j = self.body.plain_inertia();
        let (moving, rate) = (Moving::new(&a, &ad), Moving::new(&ad, &add));
        let back = moving.inverse(n);
        let c = bracket(n, &back.value, &ad);
        let p = Moving::new(momentum, &scaled(0.5, &bracket(n, momentum, &c)));
        let x = rate.plus(1.0, &back.times(n, &rate).times(n, &moving));
        let xj = x.times(n, &still(&j));
        let momenta = xj.plus(1.0, &back.times(n, &xj).times(n, &moving));
        let gyroscopic = p.times(n, &back).plus(-1.0, &back.times(n, &p));
        let left = plus(&scaled(0.25, &momenta.rate), -0.25, &gyroscopic.rate);
        let (b, xj) = (&back.value, &xj.value);
        let kinetic = plus(&chain(n, &[&ad, b, xj]), -1.0, &chain(n, &[b, xj, &a, &ad, b]));
        let carried = chain(n, &[b, &bracket(n, &ad, momentum), b]);
        let strain = plus(&product(n, &a, &a), -1.0, &matrix::identity(n));
        let volume = libm::log(determinant(n, &matrix_at(&self.core.q, i)));
        let slope = plus(&scaled(1.6, &product(n, &a, &strain)), volume, b);
        let right = plus(&scaled(0.25, &plus(&kinetic, 1.0, &carried)), -1.0, &slope);
        size(&half(n, &plus(&left, -1.0, &right), 1.0))
    }
}

/// The vakonomic A-equation with any momentum, in the plane and in space: its residual along the motion of
/// the core, and that π is kept.
#[test]
fn vakonomic_equation_for_the_stretch_with_any_momentum() {
    let mut random = Random::new(43);
    for case in 0..8 {
        let (n, plain) = (2 + case % 2, case < 4);
        let body = Vakonomic::random(n, plain, &mut random);
        let kept = body.momentum(0);
        assert!(size(&kept) >= 1e-2, "{case}: there is a momentum");
        for i in 0..TIMES.len() {
            assert!(distance(&body.momentum(i), &kept) <= 1e-10, "{case} {i}: π is kept");
            let turned = body.turned_momentum(i);
            // Second derivatives of motions that are right to 1e-11.
            assert!(
                body.residual(i, &turned) <= 1e-9,
                "{case} {i}: {:e}",
                body.residual(i, &turned)
            );
            assert!(body.residual(i, &scaled(-1.0, &turned)) >= 1e-4, "{case} {i}: its sign");
            assert!(body.residual(i, &scaled(0.0, &turned)) >= 1e-4, "{case} {i}: Π matters");
        }
        if n == 3 {
            let (first, last) = (body.turned_momentum(0), body.turned_momentum(3));
            assert!(distance(&first, &last) >= 1e-4, "{case}: Π turns with the body");
        }
    }
}

/// The same integrated by itself, A and U and Π together: the motion of the core.
#[test]
fn vakonomic_equations_integrated_by_themselves() {
    let mut random = Random::new(44);
    for (n, plain) in [(2, false), (3, true), (3, false)] {
        let body = Vakonomic::random(n, plain, &mut random);
        let (k, m) = (upper(n, true).len(), upper(n, false).len());
        let view = |turn: &str| {
            run(&format!(
                "coordinates a[{k}], w[{m}], U[{n},{n}]\nparameters J = {}
let A = {}\nlet P = {}\nlet I = inv(A)\nlet C = I*A' - A'*I\nlet X = A' + I*A'*A
let p = sym(X*J + I*X*J*A)/4 - (P*I - I*P)/4
let slope = 1.6*A*(A*A - identity({n})) + (log(det(A)) + ({:?}))*I
let right = sym(A'*I*X*J - I*X*J*A*A'*I)/4 + I*(A'*P - P*A')*I/4 - slope
let turn = {turn}\n{}{}equation U' = U*C/2\ninitial a = {}, a' = {}, w = {}, U = {}
observe back = U*A\nsolve t = 0..1",
                matrix::text(n, &body.body.plain_inertia()),
                written(n, "a", true),
                written(n, "w", false),
                body.body.volume_of_rotation(),
                rows(n, true, "p'", "right"),
                rows(n, false, "P'", "turn"),
                entries(n, &body.plain("A", 0), true),
                entries(n, &body.plain("Ad", 0), true),
                entries(n, &body.turned_momentum(0), false),
                matrix::text(n, &body.plain_place(&observed(&body.core, "U", 0))),
            ))
        };
        let off = |view: &Motion, i: usize| {
            distance(&observed(view, "back", i), &body.plain_place(&matrix_at(&body.core.q, i)))
        };
        let right = view("(P*C - C*P)/2");
        for i in 1..TIMES.len() {
            assert!(off(&right, i) <= 1e-9, "{n} {i}: {:e}", off(&right, i));
        }
        if n == 3 {
            let wrong = view("(C*P - P*C)/2");
            assert!(off(&wrong, 3) >= 1e-5, "Π turns the other way: {:e}", off(&wrong, 3));
        }
    }
}
