//! The quasi-velocities that a person would take: velocities that the text names, the velocity along an edge, or those
//! coordinates that divide by least.

use pfaff_expr::{Expr, Graph, Node, Unary};
use pfaff_model::{Dynamics, Workspace};

use super::reduced::QuasiVelocities;
use crate::algebra::elimination::solve_linear;
use crate::equations::Equations;
use crate::symmetry::somewhere;

/// Models with more coordinates, or longer Lagrangians, keep the quasi-velocities of the elimination.
const MOST_NATURAL: (usize, usize) = (8, 2_000);

/// The same velocities by the model's own forms: names of the text that stand in the Lagrangian and are linear in the
/// velocities, such as the components of an angular velocity; `None` where there are none.
pub(super) fn natural(
    model: &Workspace,
    equations: &Equations,
    quasi: &QuasiVelocities,
) -> Option<QuasiVelocities> {
    let g = &model.graph;
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return None };
    let v = model.velocities();
    let live = g.live(&[lagrangian]);
    if v.len() > MOST_NATURAL.0 || live.len() > MOST_NATURAL.1 {
        return None;
    }
    let own = model.abbreviations.iter().map(|(_, e)| *e);
    let own = own.filter(|e| live.contains(e) && !v.contains(e) && g.contains(*e, &v));
    let own: Vec<Expr> = own.collect();
    let found = if own.is_empty() { None } else { by_forms(model, equations, quasi, own) };
    // NOTE: the velocity of a point, by components, makes the mass vary: then the coordinates are better.
    let varying = |quasi: &QuasiVelocities| varying_masses(model, equations, quasi);
    let found = found.filter(|found| varying(found) <= varying(quasi));
    let found = found.or_else(|| along_edges(model, equations, quasi));
    found.or_else(|| dividing_by_least(model, equations, quasi))
}

/// By velocities of other coordinates: the determinant that the dependent ones are divided by is the shortest.
fn dividing_by_least(
    model: &Workspace,
    equations: &Equations,
    quasi: &QuasiVelocities,
) -> Option<QuasiVelocities> {
    /// Choices of dependent coordinates, beyond which the elimination decides.
    const MOST: usize = 60;
    let g = &model.graph;
    let v = model.velocities();
    let m = equations.jacobian.len();
    let is_plain = quasi.definitions.iter().all(|e| v.contains(e));
    if !is_plain || quasi.pivots.is_empty() || !(1..=3).contains(&m) {
        return None;
    }
    if quasi.definitions.len() + m != v.len() {
        return None;
    }
    let still: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, g.zero())).collect();
    let rows: Vec<Vec<Expr>> =
        equations.jacobian.iter().map(|row| g.substitute(row, &still)).collect();
    let choices = subsets(v.len(), m);
    if choices.len() > MOST {
        return None;
    }
    let cost = |chosen: &Vec<usize>| -> Option<usize> {
        let columns: Vec<Vec<Expr>> =
            rows.iter().map(|row| chosen.iter().map(|&k| row[k]).collect()).collect();
        let divisor = determinant(g, &columns);
        if g.vanishes_modulo_prime(divisor) {
            return None;
        }
        let desk = Graph::new();
        let short = g.on_paper(&[divisor], &desk)[0];
        Some(if desk.varies(short) { desk.to_text(short).len() } else { 0 })
    };
    let known: Vec<usize> =
        (0..v.len()).filter(|&k| !quasi.definitions.contains(&v[k])).collect();
    let least = cost(&known)?;
    let all = choices.iter().filter_map(|c| Some((cost(c)?, c)));
    let (best, chosen) = all.min_by_key(|x| x.0)?;
    if best >= least {
        return None;
    }
    let others = (0..v.len()).filter(|k| !chosen.contains(k)).map(|k| v[k]);
    let mut found = by_forms(model, equations, quasi, others.collect())?;
    found.pivots = divisors(g, &found.basis.concat());
    Some(found)
}

/// All ascending lists of `m` numbers below `n`.
fn subsets(n: usize, m: usize) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..m {
        let longer = |list: &Vec<usize>| -> Vec<Vec<usize>> {
            let after = list.last().map_or(0, |&k| k + 1);
            (after..n).map(|k| [list.as_slice(), &[k]].concat()).collect()
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

/// By the first row; for two or three rows.
fn determinant(g: &Graph, rows: &[Vec<Expr>]) -> Expr {
    let [first, rest @ ..] = rows else { return g.one() };
    let minor = |k: usize| -> Vec<Vec<Expr>> {
        let without = |row: &Vec<Expr>| {
            row.iter().enumerate().filter(|x| x.0 != k).map(|x| *x.1).collect()
        };
        rest.iter().map(without).collect()
    };
    let term = |(k, &a): (usize, &Expr)| {
        let part = g.mul(a, determinant(g, &minor(k)));
        if k % 2 == 0 { part } else { g.neg(part) }
    };
    g.sum(first.iter().enumerate().map(term))
}

/// How many entries of $B^\top M B$ vary, as two points show.
fn varying_masses(model: &Workspace, equations: &Equations, quasi: &QuasiVelocities) -> usize {
    let g = &model.graph;
    let masses = masses(g, equations, quasi);
    let [a, b] = [1, 2].map(|point| g.evaluate(&masses, &|s| somewhere(g, s, point)));
    a.iter().zip(&b).filter(|&(&a, &b)| (a - b).abs() > 1e-9 * (1.0 + a.abs())).count()
}

/// The lower triangle of $B^\top M B$.
fn masses(g: &Graph, equations: &Equations, quasi: &QuasiVelocities) -> Vec<Expr> {
    let column = |a: usize| quasi.basis.iter().map(|row| row[a]).collect::<Vec<Expr>>();
    let columns: Vec<Vec<Expr>> = (0..quasi.symbols.len()).map(column).collect();
    let mut all = Vec::new();
    for (a, x) in columns.iter().enumerate() {
        let carried: Vec<Expr> = equations.mass.iter().map(|row| g.dot(row, x)).collect();
        all.extend(columns[..=a].iter().map(|y| g.dot(y, &carried)));
    }
    all
}

/// By the velocity along an edge that the elimination left aside, $-a_j\dot q^i + a_i\dot q^j$ with constant $a_i^2 +
/// a_j^2$, and velocities of other coordinates; `None` where that makes the kinetic energy no shorter.
fn along_edges(
    model: &Workspace,
    equations: &Equations,
    quasi: &QuasiVelocities,
) -> Option<QuasiVelocities> {
    let g = &model.graph;
    let v = model.velocities();
    let is_still = |&e: &Expr| v.contains(&e);
    // NOTE: a pair that the elimination found is no velocity of a coordinate.
    if !quasi.definitions.iter().all(is_still) {
        return None;
    }
    let still: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, g.zero())).collect();
    let (mut edges, mut paired) = (Vec::new(), Vec::new());
    for row in &equations.jacobian {
        let row = g.substitute(row, &still);
        let varying: Vec<usize> = (0..v.len()).filter(|&k| g.varies(row[k])).collect();
        let [i, j] = varying[..] else { continue };
        let norm = g.simplify(g.add(g.mul(row[i], row[i]), g.mul(row[j], row[j])));
        if g.number_of(norm).is_none() {
            continue;
        }
        let along = g.sub(g.mul(row[j], v[i]), g.mul(row[i], v[j]));
        let desk = Graph::new();
        let is_back = desk.to_text(g.on_paper(&[along], &desk)[0]).starts_with('-');
        edges.push(if is_back { g.neg(along) } else { along });
        paired.extend([i, j]);
    }
    if edges.is_empty() {
        return None;
    }
    let others = (0..v.len()).filter(|k| !paired.contains(k)).map(|k| v[k]);
    let forms: Vec<Expr> = edges.into_iter().chain(others).collect();
    let found = by_forms(model, equations, quasi, forms)?;
    let width = |quasi: &QuasiVelocities| -> usize {
        let all = [quasi.basis.concat(), masses(g, equations, quasi)].concat();
        let desk = Graph::new();
        g.on_paper(&all, &desk).into_iter().map(|e| desk.to_text(e).len()).sum()
    };
    (width(&found) < width(quasi)).then_some(found)
}

/// The same velocities by given forms, and by those that were there for the rest; `None` where none of the given ones
/// is new.
fn by_forms(
    model: &Workspace,
    equations: &Equations,
    quasi: &QuasiVelocities,
    own: Vec<Expr>,
) -> Option<QuasiVelocities> {
    let g = &model.graph;
    let (v, k) = (model.velocities(), quasi.symbols.len());
    let still: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, g.zero())).collect();
    let mut rows: Vec<Vec<Expr>> =
        equations.jacobian.iter().map(|row| g.substitute(row, &still)).collect();
    let rank = g.rank(&rows);
    let mut chosen: Vec<(Expr, Vec<Expr>)> = Vec::new();
    let mut count = 0;
    for form in own.into_iter().chain(quasi.definitions.iter().copied()) {
        let slopes = g.gradient(form, &v);
        if chosen.len() == k || slopes.iter().any(|&s| g.contains(s, &v)) {
            continue;
        }
        rows.push(slopes.clone());
        if g.rank(&rows) > rank + chosen.len() {
            count += usize::from(!quasi.definitions.contains(&form));
            chosen.push((form, slopes));
        } else {
            rows.pop();
        }
    }
    if count == 0 || chosen.len() < k {
        return None;
    }
    // w = N(Bu + b) + w₀, so that Bu + b = B(NB)⁻¹(w − Nb − w₀) + b.
    let column = |a: usize| quasi.basis.iter().map(|row| row[a]).collect::<Vec<Expr>>();
    let columns: Vec<Vec<Expr>> = (0..k).map(column).collect();
    let mixed: Vec<Vec<Expr>> =
        columns.iter().map(|c| chosen.iter().map(|(_, n)| g.dot(n, c)).collect()).collect();
    let solved = solve_linear(g, &mixed, &columns)?;
    let forms: Vec<Expr> = chosen.iter().map(|c| c.0).collect();
    let rest: Vec<Expr> = chosen
        .iter()
        .zip(g.substitute(&forms, &still))
        .map(|((_, n), w)| g.add(g.dot(n, &quasi.offset), w))
        .collect();
    let mut short: Vec<Expr> = solved.concat();
    for (i, &b) in quasi.offset.iter().enumerate() {
        let parts: Vec<Expr> = solved.iter().map(|row| row[i]).collect();
        short.push(g.sub(b, g.dot(&parts, &rest)));
    }
    let desk = Graph::new();
    let short = g.on_paper(&short, &desk);
    let short = g.as_written(|| desk.in_reading_order(&short, g));
    let (solved, offset) = short.split_at(k * v.len());
    let row = |i: usize| (0..k).map(|a| solved[a * v.len() + i]).collect();
    let mut pivots: Vec<Expr> = quasi.pivots.clone();
    for divisor in divisors(g, solved) {
        if !pivots.contains(&divisor) {
            pivots.push(divisor);
        }
    }
    Some(QuasiVelocities {
        symbols: quasi.symbols.clone(),
        rates: quasi.rates.clone(),
        definitions: forms,
        basis: (0..v.len()).map(row).collect(),
        offset: offset.to_vec(),
        pivots,
    })
}

/// What expressions divide by: denominators that vary, and cosines of tangents that are not denominators themselves.
fn divisors(g: &Graph, roots: &[Expr]) -> Vec<Expr> {
    let tangent = |e: Expr| match g.node(e) {
        Node::Unary(Unary::Tan, a) => Some(g.cos(a)),
        _ => None,
    };
    let mut found: Vec<Expr> = roots.iter().filter_map(|&e| tangent(e)).collect();
    for e in g.live(roots) {
        match g.node(e) {
            Node::Div(above, below) => {
                found.extend(tangent(above));
                found.extend(Some(below).filter(|&b| g.varies(b)));
            }
            node => found.extend(node.operands().filter_map(tangent)),
        }
    }
    found
}
