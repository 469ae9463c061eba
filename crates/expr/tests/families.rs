//! Families of like terms: the same values and derivatives as the sum written out.

use pfaff_expr::{Expr, Graph, Node, Role};

/// $\sum_{i<j} k/((x_i - x_j)^2 + (y_i - y_j)^2 + c_i) + \sum_i m\,\dot x_i^2/2$ with numbers $c_i$ that differ.
fn pairs(g: &Graph, n: usize, numbers: bool) -> (Expr, Vec<Expr>) {
    let coordinate = |name: String| g.symbol(&name, Role::Coordinate { order: 0 });
    let x: Vec<Expr> = (0..n).map(|i| coordinate(format!("x[{i}]"))).collect();
    let y: Vec<Expr> = (0..n).map(|i| coordinate(format!("y[{i}]"))).collect();
    let [k, m] = ["k", "m"].map(|name| g.symbol(name, Role::Parameter));
    let two = g.integer(2);
    let mut sum = g.zero();
    for i in 0..n {
        let v = g.symbol(&format!("x[{i}]"), Role::Coordinate { order: 1 });
        sum = g.add(sum, g.div(g.mul(m, g.pow(v, two)), two));
        for j in 0..i {
            let square = |a: &[Expr]| g.pow(g.sub(a[i], a[j]), two);
            let offset = if numbers { g.fraction(i as i64 + 2, 7) } else { g.fraction(2, 7) };
            let distance = g.add(g.add(square(&x), square(&y)), offset);
            sum = g.sub(sum, g.div(k, distance));
        }
    }
    (sum, x.into_iter().chain(y).collect())
}

fn families(g: &Graph, e: Expr) -> usize {
    g.live(&[e]).iter().filter(|&&e| matches!(g.node(e), Node::Family { .. })).count()
}

/// Not alike, and the same in every run.
fn value(e: Expr) -> f64 {
    libm::sin(1.0 + 2.7 * e.index() as f64) * 3.0
}

/// The order of a sum of 276 terms differs: rounding of so many additions.
fn assert_near(a: &[f64], b: &[f64]) {
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} instead of {b}");
    }
}

#[test]
fn a_sum_of_many_pairs_is_one_family_with_the_same_value_and_derivatives() {
    for numbers in [false, true] {
        let g = Graph::new();
        let (sum, q) = pairs(&g, 24, numbers);
        let gathered = g.gathered(sum);
        assert_eq!(families(&g, gathered), 1);
        assert!(g.is_zero(g.sub(sum, gathered)), "equal modulo a prime");
        let (a, b) = (g.gradient(gathered, &q), g.gradient(sum, &q));
        assert_near(&g.evaluate(&[gathered], &value), &g.evaluate(&[sum], &value));
        assert_near(&g.evaluate(&a, &value), &g.evaluate(&b, &value));
        for (a, b) in a.iter().zip(&b) {
            assert!(g.is_zero(g.sub(*a, *b)), "equal modulo a prime");
        }
    }
}

#[test]
fn second_derivatives_along_a_direction_are_those_of_the_sum() {
    let g = Graph::new();
    let (sum, q) = pairs(&g, 24, false);
    let direction: Vec<(Expr, Expr)> =
        q.iter().enumerate().map(|(i, &q)| (q, g.integer(i as i64 % 5))).collect();
    let along = |e: Expr| g.directional(&g.gradient(e, &q[..3]), &direction);
    assert_near(&g.evaluate(&along(g.gathered(sum)), &value), &g.evaluate(&along(sum), &value));
}

#[test]
fn coordinates_put_in_for_others_reach_the_rows() {
    let g = Graph::new();
    let (sum, q) = pairs(&g, 24, false);
    let t = g.symbol("t", Role::Time);
    let change = [(q[0], g.mul(t, q[1])), (q[30], g.integer(2))];
    let of = |e: Expr| g.substitute(&[e], &change);
    assert_near(&g.evaluate(&of(g.gathered(sum)), &value), &g.evaluate(&of(sum), &value));
}

#[test]
fn few_terms_terms_with_velocities_and_short_terms_stay_as_they_are() {
    let g = Graph::new();
    let (few, _) = pairs(&g, 10, false);
    assert_eq!(g.gathered(few), few);
    let velocity = |i: usize| g.symbol(&format!("x[{i}]"), Role::Coordinate { order: 1 });
    let square = |i: usize| g.pow(g.add(velocity(i), velocity(i + 1)), g.integer(2));
    let kinetic = g.sum((0..400).map(square));
    assert_eq!(g.gathered(kinetic), kinetic);
    let position = |i: usize| g.symbol(&format!("x[{i}]"), Role::Coordinate { order: 0 });
    let short = g.sum((0..400).map(|i| g.mul(g.integer(3), position(i))));
    assert_eq!(g.gathered(short), short);
}
