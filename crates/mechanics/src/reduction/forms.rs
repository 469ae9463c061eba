//! Quasi-velocities from the model's own words: linear forms in $\dot q$ that it uses in several places, such
//! as angular velocities.

use pfaff_expr::{Expr, Graph, Node};
use rustc_hash::{FxHashMap, FxHashSet};

use super::LagrangianData;

/// More unknowns than this are left as they are: determinants grow.
const MOST: usize = 4;
/// Models with more shared sums than this have no few forms of their own.
const MOST_SUMS: usize = 24;
/// Models beyond this many nodes are left as they are.
const NODES: usize = 4_000;

/// The forms used in several places that are not only parts of one another, if there are $k$ of them.
pub(super) fn suggest(s: &LagrangianData, k: usize) -> Vec<Expr> {
    let g = &s.graph;
    let mut roots = s.rows.clone();
    roots.push(s.lagrangian);
    let live = g.live(&roots);
    if k > MOST || live.len() > NODES {
        return Vec::new();
    }
    let mut parents: FxHashMap<Expr, Vec<Expr>> = FxHashMap::default();
    for &x in &live {
        for o in g.node(x).operands() {
            let list = parents.entry(o).or_default();
            if list.last() != Some(&x) {
                list.push(x);
            }
        }
    }
    let is_shared_sum = |x: Expr| {
        let shared = parents.get(&x).is_some_and(|p| p.len() > 1);
        shared && matches!(g.node(x), Node::Add(..) | Node::Sub(..))
    };
    let sums: Vec<Expr> = live.iter().copied().filter(|&x| is_shared_sum(x)).collect();
    if sums.len() > MOST_SUMS {
        return Vec::new();
    }
    let degrees = degrees(g, &live, &s.velocities);
    let shared: Vec<Expr> = sums.into_iter().filter(|x| degrees.get(x) == Some(&1)).collect();
    let below: Vec<FxHashSet<Expr>> =
        shared.iter().map(|&y| g.live(&[y]).into_iter().collect()).collect();
    let is_part = |x: Expr| {
        parents[&x]
            .iter()
            .all(|p| shared.iter().zip(&below).any(|(&y, inside)| y != x && inside.contains(p)))
    };
    let forms: Vec<Expr> = shared.iter().copied().filter(|&x| !is_part(x)).collect();
    if forms.len() == k { forms } else { Vec::new() }
}

/// The degree in the velocities, as written, of the nodes that contain some; 2 stands for all above.
fn degrees(g: &Graph, live: &[Expr], velocities: &[Expr]) -> FxHashMap<Expr, u8> {
    let mut degrees: FxHashMap<Expr, u8> = FxHashMap::default();
    for &x in live {
        let of = |o: Expr| degrees.get(&o).copied().unwrap_or(0);
        let degree = match g.node(x) {
            Node::Symbol(_) => u8::from(velocities.contains(&x)),
            Node::Neg(a) => of(a),
            Node::Add(a, b) | Node::Sub(a, b) => of(a).max(of(b)),
            Node::Mul(a, b) => (of(a) + of(b)).min(2),
            Node::Div(a, b) if of(b) == 0 => of(a),
            Node::If(c, a, b) if of(c) == 0 => of(a).max(of(b)),
            node if node.operands().all(|o| of(o) == 0) => 0,
            _ => 2,
        };
        if degree > 0 {
            degrees.insert(x, degree);
        }
    }
    degrees
}

/// The determinant and the solution of $W x = r$.
///
/// An unknown that one equation alone contains, with a constant coefficient, follows from the others. These
/// come by Cramer's rule: where a quotient is
/// simple, its value is found among the nodes; the others are added up and divided once.
pub(super) fn cramer(
    g: &Graph,
    matrix: &[Vec<Expr>],
    right: &[Expr],
) -> Option<(Expr, Vec<Expr>)> {
    let k = right.len();
    let whole = determinant(g, matrix);
    if g.vanishes_modulo_prime(whole) {
        return None;
    }
    let (mut rows, mut columns): (Vec<usize>, Vec<usize>) =
        ((0..k).collect(), (0..k).collect());
    let mut last = Vec::new();
    while let Some((i, j)) = alone(g, matrix, &rows, &columns) {
        rows.retain(|&r| r != i);
        columns.retain(|&c| c != j);
        last.push((i, j));
    }
    let inner: Vec<Vec<Expr>> =
        rows.iter().map(|&i| columns.iter().map(|&j| matrix[i][j]).collect()).collect();
    let sides: Vec<Expr> = rows.iter().map(|&i| right[i]).collect();
    let mut solution = vec![g.zero(); k];
    for (&j, x) in columns.iter().zip(by_quotients(g, &inner, &sides)) {
        solution[j] = x;
    }
    for &(i, j) in last.iter().rev() {
        let known = (0..k).filter(|&c| c != j);
        let rest =
            known.fold(right[i], |rest, c| g.sub(rest, g.mul(matrix[i][c], solution[c])));
        solution[j] = g.mul(rest, g.div(g.one(), matrix[i][j]));
    }
    Some((whole, solution))
}

/// A row and a column whose only entry among these rows it is, a constant.
fn alone(
    g: &Graph,
    matrix: &[Vec<Expr>],
    rows: &[usize],
    columns: &[usize],
) -> Option<(usize, usize)> {
    columns.iter().find_map(|&j| {
        let mut entries = rows.iter().filter(|&&i| matrix[i][j] != g.zero());
        let (&i, None) = (entries.next()?, entries.next()) else { return None };
        g.is_constant(matrix[i][j]).then_some((i, j))
    })
}

/// Cramer's rule.
fn by_quotients(g: &Graph, matrix: &[Vec<Expr>], right: &[Expr]) -> Vec<Expr> {
    let k = right.len();
    let whole = determinant(g, matrix);
    let solved = (0..k).map(|f| {
        let (mut sum, mut above) = (g.zero(), g.zero());
        for a in 0..k {
            let rows = (0..k).filter(|&i| i != a);
            let minor: Vec<Vec<Expr>> = rows
                .map(|i| (0..k).filter(|&j| j != f).map(|j| matrix[i][j]).collect())
                .collect();
            let minor = determinant(g, &minor);
            let minor = if (a + f) % 2 == 0 { minor } else { g.neg(minor) };
            let share = g.div(minor, whole);
            if is_quotient(g, share) {
                above = g.add(above, g.mul(minor, right[a]));
            } else {
                sum = g.add(sum, g.mul(share, right[a]));
            }
        }
        g.add(sum, g.div(above, whole))
    });
    solved.collect()
}

fn is_quotient(g: &Graph, e: Expr) -> bool {
    match g.node(e) {
        Node::Neg(a) => matches!(g.node(a), Node::Div(..)),
        node => matches!(node, Node::Div(..)),
    }
}

/// How far forms with this mass (its lower triangle) are from depending on each other: $\sqrt{\det m/\prod m_{aa}}$,
/// the volume that unit forms span in the kinetic metric. `None` where it is 1 everywhere.
pub(super) fn spread(g: &Graph, mass: &[Expr], k: usize) -> Option<Expr> {
    let entry = |a: usize, b: usize| mass[a.max(b) * (a.max(b) + 1) / 2 + a.min(b)];
    let mut pairs = (0..k).flat_map(|a| (0..a).map(move |b| (a, b)));
    if pairs.all(|(a, b)| g.vanishes_modulo_prime(entry(a, b))) {
        return None;
    }
    let matrix: Vec<Vec<Expr>> =
        (0..k).map(|a| (0..k).map(|b| entry(a, b)).collect()).collect();
    let product = (0..k).fold(g.one(), |product, a| g.mul(product, entry(a, a)));
    Some(g.sqrt(g.div(determinant(g, &matrix), product)))
}

/// By the first row; the depth is at most [`MOST`].
fn determinant(g: &Graph, m: &[Vec<Expr>]) -> Expr {
    if m.is_empty() {
        return g.one();
    }
    (0..m.len()).fold(g.zero(), |sum, j| {
        let minor: Vec<Vec<Expr>> = m[1..]
            .iter()
            .map(|r| r.iter().enumerate().filter(|x| x.0 != j).map(|x| *x.1).collect())
            .collect();
        let term = g.mul(m[0][j], determinant(g, &minor));
        if j % 2 == 0 { g.add(sum, term) } else { g.sub(sum, term) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::{Role, Unary};

    struct Symbols {
        g: Graph,
        x: Expr,
        v: Vec<Expr>,
    }

    fn symbols(count: usize) -> Symbols {
        let g = Graph::new();
        let x = g.symbol("x", Role::Coordinate { order: 0 });
        let name = |k: usize| g.symbol(&format!("v{k}"), Role::Coordinate { order: 1 });
        let v = (0..count).map(name).collect();
        Symbols { g, x, v }
    }

    /// So many forms $v_k + x$ that occur twice, as many other shared sums, and nodes beside them.
    fn suggested(forms: usize, sums: usize, wanted: usize, nodes: usize) -> usize {
        let Symbols { g, x, v } = symbols(forms);
        let mut parts = Vec::new();
        for &v in &v {
            let form = g.add(v, x);
            parts.extend([g.mul(form, form), g.sin(form)]);
        }
        for k in 0..sums {
            let sum = g.add(x, g.integer(k as i64 + 7));
            parts.extend([g.cos(sum), g.sin(sum)]);
        }
        let mut lagrangian = g.sum(parts);
        while g.live(&[lagrangian]).len() < nodes {
            lagrangian = g.unary(Unary::Sin, lagrangian);
        }
        let data = LagrangianData {
            time: g.symbol("t", Role::Time),
            positions: vec![x],
            velocities: v,
            lagrangian,
            force: Vec::new(),
            rows: Vec::new(),
            parameters: Vec::new(),
            graph: g,
        };
        suggest(&data, wanted).len()
    }

    #[test]
    fn forms_are_suggested_where_they_are_as_many_as_unknowns() {
        assert_eq!(suggested(1, 0, 1, 0), 1);
        assert_eq!(suggested(2, 3, 2, 0), 2);
        assert_eq!(suggested(2, 0, 1, 0), 0, "more forms than unknowns");
        assert_eq!(suggested(2, 0, 3, 0), 0, "fewer forms than unknowns");
        assert_eq!(suggested(0, 2, 0, 0), 0);
        assert_eq!(suggested(MOST, 0, MOST, 0), MOST);
        assert_eq!(suggested(MOST + 1, 0, MOST + 1, 0), 0);
        assert_eq!(suggested(1, MOST_SUMS - 1, 1, 0), 1);
        assert_eq!(suggested(1, MOST_SUMS, 1, 0), 0);
        assert_eq!(suggested(1, 0, 1, NODES), 1);
        assert_eq!(suggested(1, 0, 1, NODES + 1), 0);
    }

    /// A form within another one counts where something else uses it too.
    #[test]
    fn parts_of_forms_count_where_they_are_used_alone() {
        let found = |alone: bool| {
            let Symbols { g, x, v } = symbols(2);
            let inner = g.add(v[0], x);
            let outer = g.add(g.mul(x, inner), g.mul(g.cos(x), g.add(inner, v[1])));
            let own = if alone { g.sin(inner) } else { g.zero() };
            let lagrangian = g.sum([g.cos(outer), g.sin(outer), own]);
            let data = LagrangianData {
                time: g.symbol("t", Role::Time),
                positions: vec![x],
                velocities: v,
                lagrangian,
                force: Vec::new(),
                rows: Vec::new(),
                parameters: Vec::new(),
                graph: g,
            };
            [1, 2].map(|k| suggest(&data, k).len())
        };
        assert_eq!(found(false), [1, 0]);
        assert_eq!(found(true), [0, 2]);
    }

    #[test]
    fn degrees_in_velocities_are_those_written() {
        let Symbols { g, x, v } = symbols(2);
        let (a, b) = (v[0], v[1]);
        let form = g.add(g.mul(x, a), b);
        let condition = |e: Expr| g.unary(Unary::Sign, e);
        for (e, degree) in [
            (x, None),
            (g.sin(x), None),
            (a, Some(1)),
            (g.neg(form), Some(1)),
            (form, Some(1)),
            (g.sub(x, a), Some(1)),
            (g.mul(a, form), Some(2)),
            (g.mul(g.mul(a, b), form), Some(2)),
            (g.div(form, x), Some(1)),
            (g.div(x, form), Some(2)),
            (g.div(a, b), Some(2)),
            (g.sin(a), Some(2)),
            (g.pow(x, a), Some(2)),
            (g.pow(form, g.integer(2)), Some(2)),
            (g.choose(condition(x), a, x), Some(1)),
            (g.choose(condition(x), x, g.mul(a, b)), Some(2)),
            (g.choose(condition(a), x, b), Some(2)),
        ] {
            let found = degrees(&g, &g.live(&[e]), &v).get(&e).copied();
            assert_eq!(found, degree, "{}", g.to_text(e));
        }
    }

    /// $Wx = r$ with unknowns that one equation alone contains, by constants other than one.
    #[test]
    fn cramers_rule_solves_the_forms() {
        let Symbols { g, x, v } = symbols(3);
        let (n, zero) = (|k: i64| g.integer(k), g.zero());
        let (c, s) = (g.cos(x), g.sin(x));
        for matrix in [
            vec![vec![n(3)]],
            vec![vec![n(2), x], vec![zero, g.add(x, n(2))]],
            vec![vec![c, s], vec![g.neg(s), c]],
            vec![vec![g.add(x, n(3)), s], vec![x, g.add(c, n(4))]],
            vec![vec![zero, n(5), s], vec![c, zero, x], vec![s, zero, n(2)]],
            vec![vec![x, c, s], vec![n(1), g.mul(x, x), n(3)], vec![s, n(2), n(7)]],
        ] {
            let k = matrix.len();
            let (whole, solved) = cramer(&g, &matrix, &v[..k]).expect("regular");
            let at = |e: Expr| {
                let place = v.iter().position(|&s| s == e);
                g.evaluate(&[e], &|_| place.map_or(0.7, |k| 0.3 + k as f64))[0]
            };
            let value = |e: Expr| g.evaluate(&[e], &at)[0];
            for (row, &r) in matrix.iter().zip(&v) {
                let sum: f64 =
                    row.iter().zip(&solved).map(|(&w, &x)| value(w) * value(x)).sum();
                assert!((sum - value(r)).abs() < 1e-13, "rounding of a few terms: {sum}");
            }
            assert!(value(whole).abs() > 0.1);
        }
        assert!(cramer(&g, &[vec![x, c], vec![x, c]], &v[..2]).is_none(), "singular");
    }

    /// Two forms at an angle span less than a square, wherever the entry beside the diagonal stands.
    #[test]
    fn forms_at_an_angle_are_nearer_to_each_other() {
        let Symbols { g, x, .. } = symbols(0);
        let (n, zero) = (|k: i64| g.integer(k), g.zero());
        assert_eq!(spread(&g, &[x], 1), None);
        assert_eq!(spread(&g, &[n(4), zero, x], 2), None);
        let value = |e: Expr| g.evaluate(&[e], &|_| 0.7)[0];
        let angle = spread(&g, &[n(4), n(3), n(9)], 2).expect("an angle");
        assert!((value(angle) - 0.75_f64.sqrt()).abs() < 1e-15, "1 − 3²/(4·9)");
        for mass in [
            [n(1), n(1), n(2), zero, zero, n(1)],
            [n(1), zero, n(2), n(1), zero, n(2)],
            [n(1), zero, n(2), zero, n(1), n(1)],
        ] {
            let angle = spread(&g, &mass, 3).expect("an angle");
            assert!((value(angle) - 0.5_f64.sqrt()).abs() < 1e-15, "1 − 1/2");
        }
    }
}
