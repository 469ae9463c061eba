//! Elimination of the multipliers: independent quasi-velocities, and accelerations and multipliers as expressions.
//!
//! Constraints linear or affine in the velocities are solved by $\dot q = B(t,q)\,u + b(t,q)$ with
//! independent $u$. As $AB = 0$, the reaction $A^\top\lambda$ drops out of
//!
//! $$ B^\top M B\,\dot u = B^\top(f - M\gamma), \qquad \gamma = \Big(\tfrac{\partial}{\partial q}(Bu +
//! b)\Big)(Bu + b) + \partial_t(Bu + b) . \qquad (\mathrm U) $$
//!
//! $B$, $b$ and $u$ come from the elimination in `reduction`, the one that motions are integrated with;
//! holonomic constraints enter as their rates. For any class, (K) itself solved by elimination gives $\ddot
//! q(q,\dot q,t)$ and $\lambda(q,\dot q,t)$ \[TZ06, (18)–(19) with $\partial f/\partial\dot q$ for
//! $\partial\tilde f/\partial\dot q$\].

use pfaff_expr::{Expr, Graph, Node, Role, Unary};
use pfaff_model::{Dynamics, Workspace};

use crate::algebra::elimination::solve_linear;
use crate::equations::Class;
use crate::equations::Equations;
use crate::reduction::{ConstraintRows, VelocityBasis, basis};

/// Independent quasi-velocities.
#[derive(Clone, Debug)]
pub struct QuasiVelocities {
    /// $u$
    pub symbols: Vec<Expr>,
    /// $\dot u$
    pub rates: Vec<Expr>,
    /// $u$ in terms of the velocities.
    pub definitions: Vec<Expr>,
    /// $B$, n × k
    pub basis: Vec<Vec<Expr>>,
    /// $b$
    pub offset: Vec<Expr>,
    /// Coefficients that were divided by and are not constant: the quasi-velocities are valid where none of
    /// them vanishes.
    pub pivots: Vec<Expr>,
}

/// The equations (U).
#[derive(Clone, Debug)]
pub struct ReducedEquations {
    /// The quasi-velocities.
    pub quasi: QuasiVelocities,
    /// $Bu + b$
    pub velocities: Vec<Expr>,
    /// $B^\top M B$
    pub mass: Vec<Vec<Expr>>,
    /// $B^\top(f - M\gamma)$
    pub force: Vec<Expr>,
}

/// Accelerations and multipliers as expressions.
#[derive(Clone, Debug)]
pub struct ExplicitSolution {
    /// $\ddot q(q, \dot q, t)$
    pub accelerations: Vec<Expr>,
    /// $\lambda(q, \dot q, t)$, or $\dot\mu(q, \dot q, \mu, t)$; zero for constraints that repeat others.
    pub multipliers: Vec<Expr>,
}

/// The largest system whose elimination is written out.
const LARGEST: usize = 16;

/// The quasi-velocities of a model; `None` where a constraint is not linear or affine in the velocities, or
/// constraints contradict each other.
pub fn quasi_velocities(model: &Workspace, equations: &Equations) -> Option<QuasiVelocities> {
    let rows: Vec<usize> = (0..equations.residual.len()).collect();
    let zeros = vec![model.graph.zero(); rows.len()];
    Some(independent_and_constrained(model, equations, &rows, &zeros)?.0)
}

/// The quasi-velocities that some constraints leave, where these are $A\dot q + a = s$ with the given $s$, and
/// $\partial\dot q/\partial s$ by columns; the constraints must be independent where $s$ is not zero.
pub(crate) fn independent_and_constrained(
    model: &Workspace,
    equations: &Equations,
    chosen: &[usize],
    s: &[Expr],
) -> Option<(QuasiVelocities, Vec<Vec<Expr>>)> {
    let affine = [Class::Holonomic, Class::Linear, Class::Affine];
    if !equations.classes.iter().all(|c| affine.contains(c)) {
        return None;
    }
    let g = &model.graph;
    let parameters: Vec<(Expr, f64)> =
        model.parameters.iter().map(|p| (p.symbol, p.value)).collect();
    let v = model.velocities();
    let still: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, g.zero())).collect();
    // A q̇ + a, coefficient by coefficient: as written, sums of bodies would be carried along.
    let linear = |(&a, &s): (&usize, &Expr)| {
        let row = g.substitute(&equations.jacobian[a], &still);
        let rest = g.substitute(&[equations.residual[a]], &still)[0];
        g.as_written(|| g.add(g.dot(&row, &v), g.sub(rest, s)))
    };
    let rows: Vec<Expr> = chosen.iter().zip(s).map(linear).collect();
    let rows = ConstraintRows { velocities: &v, written: &rows, known: &parameters };
    let VelocityBasis { forms, columns, offset, pivots } = basis(g, rows)?;
    let simple = |es: &[Expr]| es.iter().map(|&e| g.simplify(e)).collect::<Vec<Expr>>();
    let columns: Vec<Vec<Expr>> = columns.iter().map(|c| simple(c)).collect();
    let row = |i: usize| columns.iter().map(|c| c[i]).collect();
    let free = s.iter().filter(|&&s| s != g.zero());
    let across = free.clone().map(|&s| simple(&g.directional(&offset, &[(s, g.one())])));
    let across = across.collect();
    let held: Vec<(Expr, Expr)> = free.map(|&s| (s, g.zero())).collect();
    let quasi = QuasiVelocities {
        symbols: named(model, forms.len(), 0),
        rates: named(model, forms.len(), 1),
        definitions: simple(&forms),
        basis: (0..offset.len()).map(row).collect(),
        offset: simple(&g.substitute(&offset, &held)),
        pivots: simple(&pivots),
    };
    let quasi = natural(model, equations, &quasi).unwrap_or(quasi);
    Some((quasi, across))
}

/// Models with more coordinates, or longer Lagrangians, keep the quasi-velocities of the elimination.
const MOST_NATURAL: (usize, usize) = (8, 2_000);

/// The same velocities by the model's own forms: names of the text that stand in the Lagrangian and are linear in the
/// velocities, such as the components of an angular velocity; `None` where there are none.
fn natural(
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
    if own.is_empty() {
        return along_edges(model, equations, quasi);
    }
    by_forms(model, equations, quasi, own)
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
        let column = |a: usize| quasi.basis.iter().map(move |row| row[a]);
        let k = quasi.symbols.len();
        let mut all = quasi.basis.concat();
        for a in 0..k {
            let x: Vec<Expr> = column(a).collect();
            let carried: Vec<Expr> = equations.mass.iter().map(|row| g.dot(row, &x)).collect();
            all.extend((0..=a).map(|b| g.dot(&column(b).collect::<Vec<Expr>>(), &carried)));
        }
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

/// Symbols for quasi-velocities, or their rates, with names that the model leaves free.
fn named(model: &Workspace, count: usize, order: u8) -> Vec<Expr> {
    let taken = |name: &str| {
        model.coordinates.iter().any(|c| c.name == name)
            || model.parameters.iter().any(|p| p.name == name)
            || model.abbreviations.iter().any(|(n, _)| n == name)
    };
    let free = |s: &&str| (1..=count).all(|a| !taken(&format!("{s}{a}")));
    let stems = ["u", "w", "quasi", "quasi_velocity"];
    let stem = stems.iter().find(|s| free(s)).copied().unwrap_or("quasi_velocity_");
    let symbol =
        |a: usize| model.graph.symbol(&format!("{stem}{a}"), Role::Coordinate { order });
    (1..=count).map(symbol).collect()
}

/// The equations (U) of blocks under Chetaev's or the vakonomic principle; `None` also where `along` keeps
/// the reaction in them.
pub fn reduced_equations(model: &Workspace, e: &Equations) -> Option<ReducedEquations> {
    if !e.has_chetaev_reactions() {
        return None;
    }
    let g = &model.graph;
    let quasi = quasi_velocities(model, e)?;
    let n = model.coordinates.len();
    let velocities: Vec<Expr> = (0..n)
        .map(|i| g.simplify(g.add(g.dot(&quasi.basis[i], &quasi.symbols), quasi.offset[i])))
        .collect();
    let inserted: Vec<(Expr, Expr)> =
        model.velocities().into_iter().zip(velocities.iter().copied()).collect();
    let mut along: Vec<(Expr, Expr)> =
        model.positions().into_iter().zip(velocities.iter().copied()).collect();
    along.push((model.time, g.one()));
    let γ = g.directional(&velocities, &along);
    let mass: Vec<Vec<Expr>> = e.mass.iter().map(|row| g.substitute(row, &inserted)).collect();
    let force = g.substitute(&e.force, &inserted);
    let left: Vec<Expr> = (0..n).map(|i| g.sub(force[i], g.dot(&mass[i], &γ))).collect();
    let column = |a: usize| quasi.basis.iter().map(|row| row[a]).collect::<Vec<Expr>>();
    let columns: Vec<Vec<Expr>> = (0..quasi.symbols.len()).map(column).collect();
    let carried: Vec<Vec<Expr>> =
        columns.iter().map(|c| mass.iter().map(|row| g.dot(row, c)).collect()).collect();
    let reduced = columns
        .iter()
        .map(|x| carried.iter().map(|y| g.simplify(g.dot(x, y))).collect())
        .collect();
    let force = columns.iter().map(|x| g.simplify(g.dot(x, &left))).collect();
    Some(ReducedEquations { quasi, velocities, mass: reduced, force })
}

/// (K) solved by elimination and simplified; `None` where it is singular everywhere, or too large to be written out.
pub fn explicit(model: &Workspace, e: &Equations) -> Option<ExplicitSolution> {
    let g = &model.graph;
    let ExplicitSolution { accelerations, multipliers } = solved(model, e)?;
    let simple = |es: Vec<Expr>| es.into_iter().map(|x| g.simplify(x)).collect();
    Some(ExplicitSolution {
        accelerations: simple(accelerations),
        multipliers: simple(multipliers),
    })
}

/// As [`explicit`], with the intermediate results of the elimination shared and nothing simplified.
pub(crate) fn solved(model: &Workspace, e: &Equations) -> Option<ExplicitSolution> {
    let g = &model.graph;
    let n = model.coordinates.len();
    let rows = g.independent_rows(&e.jacobian);
    if n + rows.len() > LARGEST {
        return None;
    }
    let mut matrix = Vec::new();
    for i in 0..n {
        let reaction = rows.iter().map(|&a| g.neg(e.directions[a][i]));
        matrix.push(e.mass[i].iter().copied().chain(reaction).collect::<Vec<_>>());
    }
    for &a in &rows {
        let zeros = std::iter::repeat_n(g.zero(), rows.len());
        matrix.push(e.jacobian[a].iter().copied().chain(zeros).collect());
    }
    let right = e.force.iter().copied().chain(rows.iter().map(|&a| e.drift[a]));
    let right: Vec<Vec<Expr>> = right.map(|x| vec![x]).collect();
    let solution = solve_linear(g, &matrix, &right)?;
    let solution: Vec<Expr> = solution.iter().map(|x| x[0]).collect();
    let mut multipliers = vec![g.zero(); e.jacobian.len()];
    for (&a, &λ) in rows.iter().zip(&solution[n..]) {
        multipliers[a] = λ;
    }
    Some(ExplicitSolution { accelerations: solution[..n].to_vec(), multipliers })
}

/// $\dot q(q, p, t)$ and the constraints with it inserted; the symbols are $p$ \[TZ06, (14)–(15)\]. `None`
/// unless the Lagrangian is quadratic with a regular mass.
pub fn canonical(
    model: &Workspace,
    e: &Equations,
    p: &[Expr],
) -> Option<(Vec<Expr>, Vec<Expr>)> {
    let g = &model.graph;
    let kinetic = e.kinetic.as_ref()?;
    if p.len() > LARGEST {
        return None;
    }
    let right: Vec<Vec<Expr>> =
        p.iter().zip(&kinetic.vector).map(|(&p, &g1)| vec![g.sub(p, g1)]).collect();
    let solved = solve_linear(g, &kinetic.metric, &right)?;
    let velocities: Vec<Expr> = solved.iter().map(|x| g.simplify(x[0])).collect();
    let inserted: Vec<(Expr, Expr)> =
        model.velocities().into_iter().zip(velocities.iter().copied()).collect();
    let written = g.substitute(&e.residual, &inserted);
    Some((velocities, written.into_iter().map(|c| g.simplify(c)).collect()))
}
