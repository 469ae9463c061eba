//! Taylor coefficients against repeated symbolic derivatives, closed forms, and the other methods to compute them.

use pfaff_expr::series::SeriesKind;
use pfaff_expr::{Binary, Expr, Graph, Relation, Role, Unary};
use pfaff_program::{Backend, Lanes, TaylorError, TaylorRecurrences, VectorField};
use proptest::prelude::*;

use crate::support::{cases, codes};

/// $\dot z = f(y)$, $\dot y = c$ as a field over $(y, z)$; `c` is a parameter.
struct Curve {
    graph: Graph,
    time: Expr,
    state: [Expr; 2],
    speed: Expr,
}

impl Curve {
    fn new() -> Self {
        let graph = Graph::new();
        let symbol = |name: &str| graph.symbol(name, Role::Free);
        let (time, y, z) = (graph.symbol("t", Role::Time), symbol("y"), symbol("z"));
        let speed = graph.symbol("c", Role::Parameter);
        Self { time, state: [y, z], speed, graph }
    }

    fn recurrences(&self, f: Expr) -> Result<TaylorRecurrences, TaylorError> {
        TaylorRecurrences::of(&VectorField {
            graph: &self.graph,
            time: self.time,
            state: &self.state,
            parameters: &[self.speed],
            rates: &[self.speed, f],
            unknowns: &[],
            matrix: &[],
            right: &[],
        })
    }

    /// $f^{[k]}$ at $y$ by repeated symbolic derivatives.
    fn derivatives(&self, f: Expr, order: usize, at: f64, speed: f64) -> Vec<f64> {
        let value = |e: Expr| {
            self.graph.evaluate(&[e], &|s| if s == self.speed { speed } else { at })[0]
        };
        let (mut g, mut factor, mut found) = (f, 1.0, Vec::new());
        for k in 0..order {
            found.push(factor * value(g));
            g = self.graph.derivative(g, self.state[0]);
            factor *= speed / (k + 1) as f64;
        }
        found
    }
}

/// Every function that has Taylor coefficients.
fn with_series() -> impl Iterator<Item = Unary> {
    Unary::ALL.into_iter().filter(|f| !matches!(f.series(), SeriesKind::None))
}

/// The same by one program for each order.
fn by_passes(recurrences: &TaylorRecurrences, order: usize, y: f64, c: f64) -> Vec<f64> {
    let mut all = vec![0.0; 2 * order];
    recurrences
        .passes(order, &[], &[c], Backend::default())
        .evaluate(&[0.0, y, 0.0, 0.0, 0.0], &mut all);
    all.chunks_exact(2).map(|row| row[1]).collect()
}

/// The coefficients of $z$, from order 1 on.
fn coefficients(recurrences: &TaylorRecurrences, order: usize, y: f64, c: f64) -> Vec<f64> {
    let program = recurrences.unrolled(order, &[]).fused();
    let mut all = vec![0.0; 2 * order];
    program.interpreter(&[c]).evaluate(&[0.0, y, 0.0, 0.0, 0.0], &mut all);
    all.chunks_exact(2).map(|row| row[1]).collect()
}

/// Errors of order k relative to the largest term of that order that may cancel: the derivatives share no
/// operation with the recurrences.
fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    let growth = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (k, (x, y)) in found.iter().zip(expected).enumerate() {
        // 1e-9: derivatives of order six of nested quotients lose some six digits to cancellation.
        assert!((x - y).abs() <= 1e-9 * growth, "{what}, order {k}: {x} for {y}");
    }
}

#[test]
fn every_function_has_the_coefficients_of_its_derivatives() {
    let order = 7;
    assert!(with_series().count() >= 13);
    for function in with_series() {
        let curve = Curve::new();
        let (g, y) = (&curve.graph, curve.state[0]);
        // Arguments between 0.2 and 0.9, where every function has a value.
        let inner = g.div(g.sin(y), g.add(g.one(), g.mul(y, y)));
        let f = g.unary(function, inner);
        let recurrences = curve.recurrences(f).unwrap();
        let expected = curve.derivatives(f, order, 0.7, 1.3);
        for found in [coefficients, by_passes].map(|way| way(&recurrences, order, 0.7, 1.3)) {
            let found: Vec<f64> =
                found.iter().enumerate().map(|(k, x)| x * (k + 1) as f64).collect();
            assert_close(&found, &expected, function.name());
        }
    }
}

#[test]
fn powers_and_angles_have_the_coefficients_of_their_derivatives() {
    let curve = Curve::new();
    let (g, y, c) = (&curve.graph, curve.state[0], curve.speed);
    let number = |text: f64| g.number(pfaff_expr::number::from_f64(text).unwrap());
    let base = g.add(g.one(), g.mul(y, y));
    let cases = [
        g.pow(base, number(2.5)),
        g.pow(base, number(-1.25)),
        g.pow(base, c),
        g.pow(base, g.sin(y)),
        g.pow(number(1.5), g.sin(y)),
        g.pow(base, number(5.0)),
        g.binary(Binary::Atan2, g.sin(y), g.sub(base, number(3.0))),
        g.binary(Binary::Atan2, g.sin(y), c),
        g.add(g.unary(Unary::Sinh, y), g.unary(Unary::Cosh, y)),
        g.div(c, base),
        g.div(base, c),
    ];
    for f in cases {
        let recurrences = curve.recurrences(f).unwrap();
        let expected = curve.derivatives(f, 7, 0.7, 1.3);
        for found in [coefficients, by_passes].map(|way| way(&recurrences, 7, 0.7, 1.3)) {
            let found: Vec<f64> =
                found.iter().enumerate().map(|(k, x)| x * (k + 1) as f64).collect();
            assert_close(&found, &expected, &g.to_text(f));
        }
    }
}

/// A random analytic expression as data that can be shrunk.
#[derive(Clone, Debug)]
enum Analytic {
    State,
    Speed,
    Number(f64),
    Operation(usize, Box<Self>, Box<Self>),
}

fn analytic() -> impl Strategy<Value = Analytic> {
    let leaf = prop_oneof![
        2 => Just(Analytic::State),
        1 => Just(Analytic::Speed),
        1 => (0.25..2.0).prop_map(Analytic::Number),
    ];
    leaf.prop_recursive(3, 15, 2, |part| {
        (0..16_usize, part.clone(), part)
            .prop_map(|(kind, a, b)| Analytic::Operation(kind, a.into(), b.into()))
    })
}

impl Analytic {
    fn build(&self, curve: &Curve) -> Expr {
        let g = &curve.graph;
        let (kind, a, b) = match self {
            Self::State => return curve.state[0],
            Self::Speed => return curve.speed,
            Self::Number(x) => {
                return g.number(pfaff_expr::number::from_f64(*x).expect("a finite number"));
            }
            Self::Operation(kind, a, b) => (*kind, a.build(curve), b.build(curve)),
        };
        // Functions with a bounded domain get arguments inside of it.
        let positive = g.add(g.one(), g.mul(b, b));
        let small = g.div(g.sin(a), g.add(g.one(), g.one()));
        match kind {
            0 => g.add(a, b),
            1 => g.sub(a, b),
            2 | 3 => g.mul(a, b),
            4 => g.div(a, positive),
            5 => g.pow(positive, g.fraction(3, 4)),
            6 => g.binary(Binary::Atan2, a, positive),
            7 => g.unary(Unary::Sqrt, positive),
            8 => g.unary(Unary::Log, positive),
            9 => g.unary(Unary::Sin, small),
            10 => g.unary(Unary::Cos, small),
            11 => g.unary(Unary::Tanh, small),
            12 => g.unary(Unary::Asin, small),
            13 => g.unary(Unary::Atan, small),
            14 => g.unary(Unary::Exp, small),
            _ => g.unary(Unary::Erf, small),
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn random_expressions_have_the_same_series_by_every_method(
        expression in analytic(),
        y in -1.0..1.0,
        c in 0.5..1.5,
    ) {
        let (curve, order) = (Curve::new(), 6);
        let f = expression.build(&curve);
        let recurrences = curve.recurrences(f).unwrap();
        let expected = curve.derivatives(f, order, y, c);
        let found = coefficients(&recurrences, order, y, c);
        let scaled: Vec<f64> =
            found.iter().enumerate().map(|(k, x)| x * (k + 1) as f64).collect();
        assert_close(&scaled, &expected, &curve.graph.to_text(f));

        let at = [0.0, y, 0.0, 0.0, 0.0];
        let mut interpreted = vec![0.0; 2 * order];
        assert!(recurrences.interpreter(order, &[c]).evaluate(&at, &mut interpreted));
        let interpreted: Vec<f64> = interpreted.chunks_exact(2).map(|row| row[1]).collect();
        let growth = found.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let by_passes = by_passes(&recurrences, order, y, c);
        for (x, y) in interpreted.iter().chain(&by_passes).zip(found.iter().chain(&found)) {
            // The same sums in another order.
            assert!((x - y).abs() <= 1e-12 * growth, "{x} for {y}: {}", curve.graph.to_text(f));
        }

        let plain = recurrences.unrolled(order, &[]);
        for program in [plain.clone(), plain.fused()] {
            let (mut a, mut b) = (vec![0.0; 2 * order], vec![0.0; 2 * order]);
            program.interpreter(&[c]).evaluate(&at, &mut a);
            for (backend, native) in codes(&program, Lanes::One) {
                native.start(&[c]).evaluate(&at, &mut b);
                let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&a), bits(&b), "the same bits by {backend:?}");
            }
        }
    }
}

#[test]
fn a_linear_system_as_one_node_is_its_written_solution() {
    let g = Graph::new();
    let symbol = |name: &str| g.symbol(name, Role::Free);
    let t = g.symbol("t", Role::Time);
    let state = [symbol("q"), symbol("v"), symbol("w")];
    let unknowns = [symbol("a"), symbol("l")];
    let [q, v, w] = state;
    // [2 + cos q, w; w, −q] (a, l) = (v², sin t)
    let two = g.add(g.one(), g.one());
    let k = [g.add(two, g.cos(q)), w, w, g.neg(q)];
    let r = [g.mul(v, v), g.sin(t)];
    let rates = |a: Expr, l: Expr| [v, a, g.mul(l, q)];
    let node = TaylorRecurrences::of(&VectorField {
        graph: &g,
        time: t,
        state: &state,
        parameters: &[],
        rates: &rates(unknowns[0], unknowns[1]),
        unknowns: &unknowns,
        matrix: &k,
        right: &r,
    })
    .unwrap();
    let determinant = g.sub(g.mul(k[0], k[3]), g.mul(k[1], k[2]));
    let cramer = |a: Expr, b: Expr| g.div(g.sub(a, b), determinant);
    let a = cramer(g.mul(r[0], k[3]), g.mul(k[1], r[1]));
    let l = cramer(g.mul(k[0], r[1]), g.mul(k[2], r[0]));
    let written = TaylorRecurrences::of(&VectorField {
        graph: &g,
        time: t,
        state: &state,
        parameters: &[],
        rates: &rates(a, l),
        unknowns: &[],
        matrix: &[],
        right: &[],
    })
    .unwrap();
    let (order, inputs) = (9, [0.4, 0.8, -0.5, 0.3, 0.0, 0.0, 0.0]);
    let mut expected = vec![0.0; 3 * order];
    written.unrolled(order, &[]).interpreter(&[]).evaluate(&inputs, &mut expected);
    let growth = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    // Pivots chosen at different samples, and with row pivoting: the same numbers up to rounding.
    for sample in [[2.7, 0.3, 0.3, -0.8], [0.0, 1.0, 1.0, 0.0]] {
        let mut found = vec![0.0; 3 * order + 2];
        node.unrolled(order, &sample).interpreter(&[]).evaluate(&inputs, &mut found);
        for (x, y) in found.iter().zip(&expected) {
            assert!((x - y).abs() <= 1e-12 * growth, "{sample:?}: {x} for {y}");
        }
    }
    for sample in [[2.7, 0.3, 0.3, -0.8], [0.0, 1.0, 1.0, 0.0]] {
        let mut found = vec![0.0; 3 * order];
        let mut passes = node.passes(order, &sample, &[], Backend::default());
        passes.evaluate(&inputs, &mut found);
        for (x, y) in found.iter().zip(&expected) {
            assert!((x - y).abs() <= 1e-12 * growth, "passes {sample:?}: {x} for {y}");
        }
        // Their product is the determinant, up to its sign.
        let [a, b] = passes.pivots() else { panic!("two pivots") };
        let exact = (2.0 + libm::cos(0.8)) * -0.8 - 0.3 * 0.3;
        assert!(((a * b).abs() - exact.abs()).abs() < 1e-14, "{a} {b} for {exact}");
    }
    let mut found = vec![0.0; 3 * order];
    assert!(node.interpreter(order, &[]).evaluate(&inputs, &mut found));
    for (x, y) in found.iter().zip(&expected) {
        assert!((x - y).abs() <= 1e-12 * growth, "loops: {x} for {y}");
    }
    assert!(
        !node
            .interpreter(order, &[])
            .evaluate(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], &mut found),
        "singular"
    );
}

#[test]
fn what_rounding_took_from_an_angle_enters_its_sine() {
    let g = Graph::new();
    let (t, y) = (g.symbol("t", Role::Time), g.symbol("y", Role::Free));
    for (f, slope) in [(g.sin(y), libm::cos as fn(f64) -> f64), (g.cos(y), |y| -libm::sin(y))] {
        let field = VectorField {
            graph: &g,
            time: t,
            state: &[y],
            parameters: &[],
            rates: &[f],
            unknowns: &[],
            matrix: &[],
            right: &[],
        };
        let recurrences = TaylorRecurrences::of(&field).unwrap();
        let (place, e) = (53.1, 1e-7);
        let by_tape = |e: f64| {
            let mut found = [0.0; 3];
            recurrences
                .unrolled(3, &[])
                .interpreter(&[])
                .evaluate(&[0.0, place, e], &mut found);
            found
        };
        let by_loops = |e: f64| {
            let mut found = [0.0; 3];
            assert!(recurrences.interpreter(3, &[]).evaluate(&[0.0, place, e], &mut found));
            found
        };
        let by_passes = |e: f64| {
            let mut found = [0.0; 3];
            recurrences
                .passes(3, &[], &[], Backend::default())
                .evaluate(&[0.0, place, e], &mut found);
            found
        };
        for (with, without) in [
            (by_tape(e), by_tape(0.0)),
            (by_loops(e), by_loops(0.0)),
            (by_passes(e), by_passes(0.0)),
        ] {
            // Up to the square of e.
            assert!((with[0] - without[0] - e * slope(place)).abs() < 1e-14);
            assert!((with[2] - without[2]).abs() > 1e-9, "higher orders follow");
        }
    }
}

/// The branch that is not taken may have no value.
#[test]
fn a_choice_that_does_not_vary_takes_one_series() {
    let (curve, order) = (Curve::new(), 7);
    let (g, y) = (&curve.graph, curve.state[0]);
    let quotient = g.div(y, g.add(g.one(), g.mul(y, y)));
    let root = g.unary(Unary::Sqrt, y);
    let forward = g.compare(Relation::Less, g.zero(), curve.speed);
    let recurrences = curve.recurrences(g.choose(forward, quotient, root)).expect("series");
    for (taken, at, speed) in [(quotient, -0.4, 0.7), (root, 0.9, -0.6), (quotient, 1.3, 0.7)] {
        let mut expected = curve.derivatives(taken, order, at, speed);
        expected.iter_mut().enumerate().for_each(|(k, x)| *x /= (k + 1) as f64);
        assert_close(&coefficients(&recurrences, order, at, speed), &expected, "unrolled");
        assert_close(&by_passes(&recurrences, order, at, speed), &expected, "by passes");
    }
    let varying = g.compare(Relation::Less, g.zero(), y);
    assert!(curve.recurrences(g.choose(varying, y, root)).is_err());
}

#[test]
fn what_is_not_analytic_is_refused_by_its_name() {
    let curve = Curve::new();
    let (g, y) = (&curve.graph, curve.state[0]);
    for (f, word) in [
        (g.unary(Unary::Abs, y), "abs"),
        (g.unary(Unary::Sign, y), "sign"),
        (g.binary(Binary::Max, y, g.one()), "max"),
        (g.unary(Unary::Gamma, y), "gamma"),
    ] {
        let error = curve.recurrences(f).unwrap_err();
        assert!(error.to_string().contains(&format!("`{word}`")), "{error}");
    }
    // Of what does not vary along the motion they are numbers.
    assert!(curve.recurrences(g.mul(y, g.unary(Unary::Abs, curve.speed))).is_ok());
}

#[test]
fn the_exact_coefficients_of_simple_motions() {
    // y' = y²: 1/(1 − s) from 1; time enters as t + s: z' = t gives z = t s + s²/2.
    let g = Graph::new();
    let (t, y, z) =
        (g.symbol("t", Role::Time), g.symbol("y", Role::Free), g.symbol("z", Role::Free));
    let field = VectorField {
        graph: &g,
        time: t,
        state: &[y, z],
        parameters: &[],
        rates: &[g.mul(y, y), t],
        unknowns: &[],
        matrix: &[],
        right: &[],
    };
    let recurrences = TaylorRecurrences::of(&field).unwrap();
    let mut found = [0.0; 40];
    recurrences
        .unrolled(20, &[])
        .interpreter(&[])
        .evaluate(&[3.0, 1.0, 0.0, 0.0, 0.0], &mut found);
    for (k, row) in found.chunks_exact(2).enumerate() {
        assert!((row[0] - 1.0).abs() < 1e-14);
        assert_eq!(row[1], [3.0, 0.5].get(k).copied().unwrap_or(0.0));
    }
    let operations = recurrences.operations(20);
    let written = recurrences.unrolled(20, &[]).counts().per_evaluation;
    assert!(operations >= written && operations < 2 * written + 60, "{operations}, {written}");
}
