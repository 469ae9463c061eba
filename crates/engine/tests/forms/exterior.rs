//! The exterior algebra: d² = 0, Leibniz, Cartan's formula, naturality, Stokes; over random forms.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_mechanics::{DifferentialForm, MixedDegrees, Space};

use crate::support::Random;

/// Values of identities whose terms are of size one to a hundred.
const HOLDS: f64 = 1e-11;

struct Setting {
    g: Graph,
    space: Space,
    random: Random,
}

impl Setting {
    fn new(seed: u64, names: &[&str]) -> Self {
        let g = Graph::new();
        let space = Space::new(names.iter().map(|n| g.symbol(n, Role::Free)).collect());
        Self { g, space, random: Random::new(seed) }
    }

    fn decimal(&mut self) -> Expr {
        let hundredths = self.random.below(199) as i64 - 99;
        self.g.fraction(hundredths, 100)
    }

    /// A polynomial of degree two and a sine.
    fn function(&mut self, of: &[Expr]) -> Expr {
        let mut sum = self.decimal();
        for _ in 0..3 {
            let (a, b) = (of[self.random.below(of.len())], of[self.random.below(of.len())]);
            let c = self.decimal();
            sum = self.g.add(sum, self.g.mul(c, self.g.mul(a, b)));
        }
        let (a, b) = (of[self.random.below(of.len())], self.decimal());
        let wave = self.g.sin(self.g.add(a, b));
        let c = self.decimal();
        self.g.add(sum, self.g.mul(c, wave))
    }

    fn form(&mut self, degree: usize) -> DifferentialForm {
        let coordinates = self.space.coordinates.clone();
        let mut form = DifferentialForm::zero(degree);
        for _ in 0..4 {
            let f = self.function(&coordinates);
            let mut term = DifferentialForm::function(&self.g, f);
            for _ in 0..degree {
                let x = coordinates[self.random.below(coordinates.len())];
                term = term.wedge(&self.g, &self.space.differential(&self.g, x));
            }
            form = form.plus(&self.g, &term).expect("one degree");
        }
        form
    }

    fn field(&mut self) -> Vec<Expr> {
        let coordinates = self.space.coordinates.clone();
        coordinates.iter().map(|_| self.function(&coordinates)).collect()
    }

    /// The largest coefficient of a form at a random point.
    fn size(&mut self, form: &DifferentialForm) -> f64 {
        let point: Vec<f64> =
            self.space.coordinates.iter().map(|_| self.random.number()).collect();
        let place = |s: Expr| self.space.coordinates.iter().position(|&c| c == s);
        let at = |s: Expr| place(s).map_or(f64::NAN, |k| point[k]);
        let values = form.terms().map(|(_, f)| self.g.evaluate(&[f], &at)[0]);
        values.fold(0.0, |m, x: f64| if x.abs() <= m { m } else { x.abs() })
    }
}

const TQPV: [&str; 7] = ["t", "q1", "q2", "p1", "p2", "v1", "v2"];

#[test]
fn the_derivative_of_a_derivative_is_zero() {
    let mut s = Setting::new(1, &TQPV);
    for degree in [0, 1, 2, 3, 1, 2] {
        let ω = s.form(degree);
        let once = s.space.d(&s.g, &ω);
        assert!(s.size(&once) > 1e-2, "dω is not zero by itself");
        let twice = s.space.d(&s.g, &once);
        assert!(s.size(&twice) < HOLDS);
    }
}

/// d(ω∧η) = dω∧η + (−1)^k ω∧dη, and ω∧η = (−1)^{kl} η∧ω.
#[test]
fn products_follow_leibniz_and_commute_with_sign() {
    let mut s = Setting::new(2, &TQPV);
    for (k, l) in [(0, 1), (1, 1), (1, 2), (2, 1), (2, 2)] {
        let (ω, η) = (s.form(k), s.form(l));
        let left = s.space.d(&s.g, &ω.wedge(&s.g, &η));
        let (plus, minus) = (s.g.one(), s.g.integer(-1));
        let sign = |odd: bool| if odd { minus } else { plus };
        let first = s.space.d(&s.g, &ω).wedge(&s.g, &η);
        let second = ω.wedge(&s.g, &s.space.d(&s.g, &η)).scaled(&s.g, sign(k % 2 == 1));
        let right = first.plus(&s.g, &second).expect("one degree");
        let rest = left.minus(&s.g, &right).expect("one degree");
        assert!(s.size(&left) > 1e-2 && s.size(&rest) < HOLDS);
        let swapped = η.wedge(&s.g, &ω).scaled(&s.g, sign(k * l % 2 == 1));
        let rest = ω.wedge(&s.g, &η).minus(&s.g, &swapped).expect("one degree");
        assert!(s.size(&rest) < HOLDS);
    }
}

/// 𝓛_X = i_X d + d i_X, the left side by its own rule; and i_X i_X = 0.
#[test]
fn cartans_formula() {
    let mut s = Setting::new(3, &TQPV);
    for degree in [0, 1, 2, 3] {
        let (ω, X) = (s.form(degree), s.field());
        let left = s.space.lie(&s.g, &X, &ω);
        let inner = s.space.d(&s.g, &ω).interior(&s.g, &X);
        let outer = match degree {
            0 => DifferentialForm::zero(0),
            _ => s.space.d(&s.g, &ω.interior(&s.g, &X)),
        };
        let right = inner.plus(&s.g, &outer).expect("one degree");
        let rest = left.minus(&s.g, &right).expect("one degree");
        assert!(s.size(&left) > 1e-2 && s.size(&rest) < HOLDS, "degree {degree}");
        if degree >= 2 {
            let twice = ω.interior(&s.g, &X).interior(&s.g, &X);
            assert!(s.size(&twice) < HOLDS);
        }
    }
}

/// Nodes and weights of Gauss and Legendre on (0, 1).
fn gauss() -> Vec<(f64, f64)> {
    let pfaff_solver::QuadratureRule { nodes, weights } = pfaff_solver::gauss_jacobi(14, 1.0);
    nodes.into_iter().zip(weights).collect()
}

/// ∫_cell dω = ∮_boundary ω for random cells of dimension two and three in (t, q, p, v), by pull-back to the unit cube.
#[test]
fn stokes_on_a_random_cell() {
    let mut s = Setting::new(4, &TQPV);
    let rule = gauss();
    for dimension in [2, 3, 2, 3] {
        let names = &["r1", "r2", "r3"][..dimension];
        let cube = Space::new(names.iter().map(|n| s.g.symbol(n, Role::Free)).collect());
        let corners = cube.coordinates.clone();
        let images: Vec<Expr> =
            (0..s.space.coordinates.len()).map(|_| s.function(&corners)).collect();
        let ω = s.form(dimension - 1);
        let dω = s.space.d(&s.g, &ω);
        // Products of the rule over the free parameters, the others fixed.
        let integral =
            |form: &DifferentialForm, place: &[usize], fixed: &[Option<f64>]| -> f64 {
                let f = form.coefficient(&s.g, place);
                let mut points = vec![(Vec::new(), 1.0)];
                for side in fixed {
                    points = points
                        .iter()
                        .flat_map(|(x, w): &(Vec<f64>, f64)| match side {
                            Some(r) => vec![([x.as_slice(), &[*r]].concat(), *w)],
                            None => rule
                                .iter()
                                .map(|(r, v)| ([x.as_slice(), &[*r]].concat(), w * v))
                                .collect(),
                        })
                        .collect();
                }
                let place = |e: Expr| corners.iter().position(|&c| c == e);
                let at =
                    |x: &[f64]| s.g.evaluate(&[f], &|e| place(e).map_or(f64::NAN, |k| x[k]))[0];
                points.iter().map(|(x, w)| w * at(x)).sum()
            };
        let inside = s.space.pull_back(&s.g, &dω, &images, &cube);
        let all: Vec<usize> = (0..dimension).collect();
        let volume = integral(&inside, &all, &vec![None; dimension]);
        let side = s.space.pull_back(&s.g, &ω, &images, &cube);
        let mut boundary = 0.0;
        for j in 0..dimension {
            let rest: Vec<usize> = all.iter().copied().filter(|&i| i != j).collect();
            for (end, sign) in [(1.0, 1.0), (0.0, -1.0)] {
                let mut fixed = vec![None; dimension];
                fixed[j] = Some(end);
                let turn = if j % 2 == 0 { 1.0 } else { -1.0 };
                boundary += sign * turn * integral(&side, &rest, &fixed);
            }
        }
        // Fourteen nodes leave 1e-15 of functions as smooth as these.
        assert!(
            (volume - boundary).abs() < 1e-12 * (1.0 + volume.abs()),
            "{volume} {boundary}"
        );
        assert!(volume.abs() > 1e-3, "the cell is not flat");
    }
}

#[test]
fn sums_of_mixed_degree_are_refused() {
    let mut s = Setting::new(5, &TQPV);
    let (one, two) = (s.form(1), s.form(2));
    assert_eq!(one.plus(&s.g, &two), Err(MixedDegrees { first: 1, second: 2 }));
    let message = one.minus(&s.g, &two).expect_err("mixed").to_string();
    assert!(message.contains("1-form") && message.contains("2-form"), "{message}");
}

/// The pull-back to a motion: ω = p dq − H dt on a curve is its value on the velocity times dt, and every
/// 2-form vanishes there.
#[test]
fn pull_back_to_a_motion() {
    let mut s = Setting::new(6, &["t", "q", "p"]);
    let [t, q, p] = s.space.coordinates[..] else { unreachable!("three coordinates") };
    let line = Space::new(vec![t]);
    let curve = [t, s.g.sin(t), s.g.cos(t)];
    let H = s.g.mul(s.g.fraction(1, 2), s.g.add(s.g.mul(q, q), s.g.mul(p, p)));
    let ω = s.space.differential(&s.g, q).scaled(&s.g, p);
    let energy = s.space.differential(&s.g, t).scaled(&s.g, H);
    let ω = ω.minus(&s.g, &energy).expect("1-forms");
    let pulled = s.space.pull_back(&s.g, &ω, &curve, &line);
    // p q̇ − H = cos² t − ½
    let at = |x: f64| s.g.evaluate(&[pulled.coefficient(&s.g, &[0])], &|_| x)[0];
    for x in [0.3, 1.1] {
        assert!((at(x) - (libm::cos(x) * libm::cos(x) - 0.5)).abs() < 1e-15);
    }
    let flat = s.space.pull_back(&s.g, &s.space.d(&s.g, &ω), &curve, &line);
    assert!(flat.is_zero(&s.g));
    let two = s.form(2);
    assert!(s.space.pull_back(&s.g, &two, &curve, &line).is_zero(&s.g));
}
