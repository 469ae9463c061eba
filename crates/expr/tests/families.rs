//! Families of like terms: the same values and derivatives as the sum written out.

use pfaff_expr::{Expr, Graph, Node, Role, Unary};

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

/// $\sum_{i<j} k/((x_i - x_j)^2 + c) + \sum_i \sqrt{x_i^2 + i}$ read in pieces, and as it is.
fn read_in_pieces(g: &Graph, n: usize) -> (Expr, Expr) {
    let term = |i: usize, j: usize| {
        let x = |i: usize| g.symbol(&format!("x[{i}]"), Role::Coordinate { order: 0 });
        if i == j {
            let square = g.pow(x(i), g.integer(2));
            return g.unary(Unary::Sqrt, g.add(square, g.integer(i as i64 + 1)));
        }
        let square = g.pow(g.sub(x(i), x(j)), g.integer(2));
        let k = g.symbol("k", Role::Parameter);
        g.div(k, g.add(square, g.fraction(2, 7)))
    };
    let mut long = g.begin_long_sum();
    let mut sum = None;
    for i in 0..n {
        for j in 0..=i {
            let next = term(i, j);
            sum = Some(sum.map_or(next, |sum| g.add(sum, next)));
        }
        if let Some(piece) = sum
            && long.is_due(g)
        {
            long.take(g, piece);
            sum = None;
        }
    }
    let (read, _) = long.finish(g, sum);
    let whole =
        g.sum((0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| term(i, j)));
    (read, whole)
}

#[test]
fn a_sum_read_in_pieces_is_the_sum() {
    // 44 850 pairs of six nodes each are eight pieces and a rest; 30 particles are one.
    for n in [30, 300] {
        let g = Graph::new();
        let (read, whole) = read_in_pieces(&g, n);
        assert_eq!(families(&g, read), if n == 300 { 2 } else { 1 });
        assert!(g.is_zero(g.sub(read, whole)), "equal modulo a prime");
        let written = g.written_out(&[read])[0];
        assert_eq!(families(&g, written), 0);
        assert!(g.is_zero(g.sub(written, whole)), "equal modulo a prime");
        let (a, b) = (g.evaluate(&[read], &value)[0], g.evaluate(&[whole], &value)[0]);
        // So many additions in another order.
        assert!((a - b).abs() < 1e-10 * b.abs(), "{a} instead of {b}");
    }
}

#[test]
fn what_is_read_in_pieces_leaves_little_behind() {
    let g = Graph::new();
    let mut long = g.begin_long_sum();
    let mut sum = g.zero();
    let x = |i: usize| g.symbol(&format!("x[{i}]"), Role::Coordinate { order: 0 });
    let mut most = 0;
    for i in 0..400 {
        for j in 0..i {
            sum = g.add(sum, g.unary(Unary::Exp, g.mul(x(i), g.sub(x(i), x(j)))));
        }
        most = most.max(g.len());
        if long.is_due(&g) {
            assert!(long.take(&g, sum), "like terms are taken");
            sum = g.zero();
        }
    }
    let (_, is_void) = long.finish(&g, Some(sum));
    assert!(is_void);
    assert!(most < 40_000, "a piece at a time, not 320 000 nodes: {most}");
    assert!(g.len() < 1_500, "symbols, a list and a term: {}", g.len());
}

#[test]
fn terms_with_corners_are_not_taken() {
    let g = Graph::new();
    let x = |i: usize| g.symbol(&format!("x[{i}]"), Role::Coordinate { order: 0 });
    let term = |i: usize| g.mul(x(i), g.unary(Unary::Abs, g.sub(x(i), x(i + 1))));
    let long = g.begin_long_sum();
    let sum = g.sum((0..300).map(term));
    let (read, is_void) = long.finish(&g, Some(sum));
    assert!(!is_void);
    assert_eq!(read, sum);
}

/// $\sum_i k(\sqrt{1 + (x_{i+d} - x_i)^2} - 1)^2$ over a line.
fn springs(g: &Graph, x: &[Expr], d: usize) -> Expr {
    let k = g.symbol("k", Role::Parameter);
    let two = g.integer(2);
    let spring = |i: usize| {
        let root = g.sqrt(g.add(g.one(), g.pow(g.sub(x[i + d], x[i]), two)));
        g.mul(k, g.pow(g.sub(root, g.one()), two))
    };
    g.sum((0..x.len() - d).map(spring))
}

#[test]
fn families_over_one_term_are_one() {
    let g = Graph::new();
    let coordinate = |i: usize| g.symbol(&format!("x[{i}]"), Role::Coordinate { order: 0 });
    let x: Vec<Expr> = (0..300).map(coordinate).collect();
    let (near, far) = (springs(&g, &x, 1), springs(&g, &x, 20));
    let apart = g.add(g.gathered(near), g.add(x[0], g.gathered(far)));
    assert_eq!(families(&g, apart), 2);
    let together = g.gathered(apart);
    assert_eq!(families(&g, together), 1);
    assert!(g.is_zero(g.sub(apart, together)), "equal modulo a prime");
    let [a, b] = [together, apart].map(|e| g.evaluate(&g.gradient(e, &x), &value));
    assert_near(&a, &b);
    // Other coefficients stay apart.
    let apart = g.add(g.gathered(near), g.mul(g.integer(3), g.gathered(far)));
    assert_eq!(families(&g, g.gathered(apart)), 2);
}

#[test]
fn expressions_of_one_shape_are_the_parts_of_a_family() {
    let g = Graph::new();
    let coordinate = |i: usize| g.symbol(&format!("x[{i}]"), Role::Coordinate { order: 0 });
    let x: Vec<Expr> = (0..300).map(coordinate).collect();
    let m = g.symbol("m", Role::Parameter);
    let slopes = g.gradient(g.gathered(springs(&g, &x, 1)), &x);
    let force = |(i, &e): (usize, &Expr)| {
        // One in a hundred has a weight of its own.
        let e = if i % 100 == 50 { g.add(e, g.mul(g.integer(9), x[i])) } else { e };
        g.div(g.neg(e), m)
    };
    let written: Vec<Expr> = slopes.iter().enumerate().map(force).collect();
    let alike = g.alike(&written, &[x.as_slice(), &[m]].concat());
    let changed = alike.iter().zip(&written).filter(|(a, b)| a != b).count();
    assert_eq!(changed, 297);
    assert_eq!(g.evaluate(&alike, &value), g.evaluate(&written, &value));
    // What is given is not looked into, and few expressions stay as they are.
    assert_eq!(g.alike(&written, &written), written);
    assert_eq!(g.alike(&written[..200], &x), written[..200]);
}
