//! Auxiliary velocities: the mass matrix of a chain of bodies by few entries.
//!
//! Velocities of intermediate points, $w_k = \sum_j c_{kj}\xi_j + \dots$ over $\xi = (\dot q, w)$, affine and each
//! in terms of those before it, occur in many terms of a Lagrangian. With $L(q,\dot q,t) = \tilde L(q,\dot q,w,t)$
//!
//! $$ M = J^\top \tilde M J, \qquad \tilde M = \frac{\partial^2\tilde L}{\partial\xi^2}, \qquad J =
//! \frac{\partial\xi}{\partial\dot q}, $$
//!
//! so that $M\ddot q = f + R$ is the same as $\tilde M x - D^\top\nu = (f + R, 0)$ with $Dx = 0$, where $x = J\ddot q$
//! and $D\xi = w - \sum c\,\xi$: (K) with more unknowns and far fewer entries where $M$ is full
//! [Baraff96]. Elimination in an order of minimum degree then costs as much as there are bodies, as the recursions of
//! [Featherstone08] do.
//!
//! Constraints are $\tilde\psi(q,\dot q,w,t)$ in the same way. What is shared is taken for $w$, if by a count the
//! elimination has fewer steps than that of $M$ and $A$ themselves.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use pfaff_expr::{Expr, Graph, Node, Role};
use pfaff_model::Workspace;
use rustc_hash::FxHashMap;

use crate::algebra::elimination_order::{elimination_steps, substitution_order};

/// More shared velocities than this for each coordinate describe motions that the joints do not have, as the nine rates
/// of a rotation do. Elimination then takes small inertias from large ones: eight digits are lost over twenty bodies.
/// So they are replaced by their definitions, in numbers where that is long.
const MOST: usize = 5;
/// Steps for each unknown beyond which auxiliary velocities are not replaced by their definitions in expressions.
const LONGEST: usize = 256;

/// $\tilde M$, $D$ and $\tilde A$ by their entries.
#[derive(Clone, Debug)]
pub struct AuxiliaryVelocities {
    /// $\tilde M$ over $\xi$
    pub mass: Vec<Vec<(usize, Expr)>>,
    /// $D$: the last entry of each row is the 1 of its own velocity.
    pub definitions: Vec<Vec<(usize, Expr)>>,
    /// $\tilde A = \partial\tilde\psi/\partial\xi$
    pub jacobian: Vec<Vec<(usize, Expr)>>,
    /// Whether elimination has to begin with $M = J^\top\tilde M J$ in numbers: others lose digits.
    pub is_condensed: bool,
}

impl AuxiliaryVelocities {
    /// Those of a Lagrangian with its momenta and of constraints $\psi$ at velocity level; without any, $M$ and $A$
    /// themselves by their entries, if these take fewer steps.
    pub(crate) fn of(
        model: &Workspace,
        lagrangian: Expr,
        momenta: &[Expr],
        residual: &[Expr],
    ) -> Self {
        Self::shorter(model, lagrangian, residual).unwrap_or_else(|| {
            let (g, velocities) = (&model.graph, model.velocities());
            Self {
                mass: symmetric(&g.jacobian_columns(momenta, &velocities)),
                definitions: Vec::new(),
                jacobian: rows(&g.jacobian_columns(residual, &velocities), residual.len()),
                is_condensed: false,
            }
        })
    }

    /// `None` if $M$ and $A$ take fewer steps.
    fn shorter(model: &Workspace, lagrangian: Expr, residual: &[Expr]) -> Option<Self> {
        let g = &model.graph;
        let velocities = model.velocities();
        let roots: Vec<Expr> =
            [lagrangian].into_iter().chain(residual.iter().copied()).collect();
        let shared = shared_velocities(g, &roots, &velocities)?;
        let is_condensed = shared.len() > MOST * velocities.len();
        let symbol = |k: usize| g.symbol(&format!("auxiliary velocity {k}"), Role::Free);
        let parts: Vec<(Expr, Expr)> =
            shared.iter().enumerate().map(|(k, &e)| (e, symbol(k))).collect();
        let (whole, definitions) = g.abbreviated(&roots, &parts);
        let symbols: Vec<Expr> =
            velocities.iter().copied().chain(parts.iter().map(|part| part.1)).collect();
        let momenta = g.gradient(whole[0], &symbols);
        let mass = symmetric(&g.jacobian_columns(&momenta, &symbols));
        let mut slopes = rows(&g.jacobian_columns(&definitions, &symbols), definitions.len());
        for (k, row) in slopes.iter_mut().enumerate() {
            row.iter_mut().for_each(|entry| entry.1 = g.neg(entry.1));
            row.push((velocities.len() + k, g.one()));
        }
        let jacobian = rows(&g.jacobian_columns(&whole[1..], &symbols), residual.len());
        let found = Self { mass, definitions: slopes, jacobian, is_condensed };
        let is_better = if is_condensed { found.is_long() } else { found.is_shorter() };
        if !is_better {
            return None;
        }
        // What a Lagrangian that is not quadratic leaves of w is written out again.
        let back: Vec<(Expr, Expr)> = parts.iter().map(|&(e, symbol)| (symbol, e)).collect();
        let written = |rows: Vec<Vec<(usize, Expr)>>| -> Vec<Vec<(usize, Expr)>> {
            let entries: Vec<Expr> = rows.iter().flatten().map(|entry| entry.1).collect();
            let mut written = g.substitute(&entries, &back).into_iter();
            let row = |row: Vec<(usize, Expr)>| {
                row.into_iter().zip(&mut written).map(|((j, _), e)| (j, e)).collect()
            };
            rows.into_iter().map(row).collect()
        };
        Some(Self {
            mass: written(found.mass),
            definitions: written(found.definitions),
            jacobian: written(found.jacobian),
            is_condensed,
        })
    }

    /// The columns of $\tilde M$, and those of the definitions and of the constraints.
    fn patterns(&self) -> [Vec<Vec<usize>>; 2] {
        let columns = |row: &Vec<(usize, Expr)>| -> Vec<usize> {
            row.iter().map(|entry| entry.0).collect()
        };
        let rows = self.definitions.iter().chain(&self.jacobian);
        [self.mass.iter().map(columns).collect(), rows.map(columns).collect()]
    }

    /// Whether $M$ and $A$ written out, and their elimination, are too long for expressions.
    fn is_long(&self) -> bool {
        let [mass, rows] = self.patterns();
        let limit = LONGEST * (mass.len() + rows.len());
        steps_written_out(&mass, &rows, self.definitions.len(), limit).is_none()
    }

    /// Whether the elimination has fewer steps than that of $M$ and $A$.
    fn is_shorter(&self) -> bool {
        let [mass, rows] = self.patterns();
        let limit = LONGEST * (mass.len() + rows.len());
        let substituted = substitution_order(&mass, &rows, self.definitions.len(), limit);
        let substituted = substituted.map(|found| found.1);
        let divided = elimination_steps(&mass, &rows, substituted.unwrap_or(usize::MAX));
        let steps = divided.or(substituted);
        steps.is_some_and(|own| {
            steps_written_out(&mass, &rows, self.definitions.len(), own).is_none()
        })
    }
}

/// The steps of the elimination of $M$ and $A$, given the columns of $\tilde M$ and those of so many definitions and of
/// the constraints; `None` if they, or the terms of $M$ and $A$, are more than `most`.
fn steps_written_out(
    mass: &[Vec<usize>],
    rows: &[Vec<usize>],
    definitions: usize,
    most: usize,
) -> Option<usize> {
    let n = mass.len() - definitions;
    let mut left = most;
    // The velocities that each of ξ contains, then those of the constraints.
    let mut support: Vec<BTreeSet<usize>> = (0..n).map(|i| BTreeSet::from([i])).collect();
    for row in rows {
        // NOTE: the last entry of a definition is its own velocity.
        let known = row.iter().filter_map(|&j| support.get(j));
        let set: BTreeSet<usize> = known.flatten().copied().collect();
        left = left.checked_sub(set.len())?;
        support.push(set);
    }
    let mut full = vec![BTreeSet::new(); n];
    for (a, row) in mass.iter().enumerate() {
        for &b in row {
            left = left.checked_sub(support[a].len() * support[b].len())?;
            for &i in &support[a] {
                full[i].extend(support[b].iter().copied());
            }
        }
    }
    let listed = |sets: &[BTreeSet<usize>]| -> Vec<Vec<usize>> {
        sets.iter().map(|set| set.iter().copied().collect()).collect()
    };
    elimination_steps(&listed(&full), &listed(&support[mass.len()..]), most)
}

/// Columns into rows.
fn rows(columns: &[Vec<(usize, Expr)>], count: usize) -> Vec<Vec<(usize, Expr)>> {
    let mut rows = vec![Vec::new(); count];
    for (j, column) in columns.iter().enumerate() {
        column.iter().for_each(|&(i, e)| rows[i].push((j, e)));
    }
    rows
}

/// The rows of a symmetric matrix from its columns: both halves are the upper one.
fn symmetric(columns: &[Vec<(usize, Expr)>]) -> Vec<Vec<(usize, Expr)>> {
    let mut rows = vec![Vec::new(); columns.len()];
    for (j, column) in columns.iter().enumerate() {
        for &(i, e) in column {
            match i.cmp(&j) {
                Ordering::Less => {
                    rows[i].push((j, e));
                    rows[j].push((i, e));
                }
                Ordering::Equal => rows[i].push((i, e)),
                Ordering::Greater => {}
            }
        }
    }
    rows.iter_mut().for_each(|row| row.sort_unstable());
    rows
}

/// Expressions affine in the velocities that several others use, operands first; `None` if there are none. A multiple
/// of one velocity is none of them: its definition would be as long as what it stands for.
fn shared_velocities(g: &Graph, roots: &[Expr], velocities: &[Expr]) -> Option<Vec<Expr>> {
    let mut degree: FxHashMap<Expr, u8> = velocities.iter().map(|&v| (v, 1)).collect();
    let mut users: FxHashMap<Expr, usize> = FxHashMap::default();
    let live = g.live(roots);
    for &e in &live {
        let node = g.node(e);
        let of = |o: Expr| degree.get(&o).copied().unwrap_or(0);
        let own = match node {
            Node::Symbol(_) => of(e),
            Node::Neg(a) => of(a),
            Node::Add(a, b) | Node::Sub(a, b) => of(a).max(of(b)),
            Node::Mul(a, b) => of(a) + of(b),
            Node::Div(a, b) => of(a) + 2 * of(b),
            _ => 2 * node.operands().map(of).max().unwrap_or(0),
        };
        let operands: BTreeSet<Expr> = node.operands().collect();
        operands.into_iter().for_each(|o| *users.entry(o).or_default() += 1);
        degree.insert(e, own.min(2));
    }
    // Whether each is a multiple of one velocity, plus what has none.
    let mut multiples: FxHashMap<Expr, bool> = FxHashMap::default();
    let mut is_shared = |e: &Expr| {
        if degree[e] != 1 {
            return false;
        }
        let node = g.node(*e);
        let mut moving = node.operands().filter(|o| degree[o] == 1);
        let is_multiple = match (moving.next(), moving.next()) {
            (Some(a), None) => multiples[&a],
            (Some(_), Some(_)) => false,
            (None, _) => true,
        };
        let is_shared = !is_multiple && users.get(e).is_some_and(|&count| count > 1);
        multiples.insert(*e, is_multiple || is_shared);
        is_shared
    };
    let shared: Vec<Expr> = live.into_iter().filter(&mut is_shared).collect();
    (!shared.is_empty()).then_some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Unary;

    /// What is affine in several velocities and has several users, of which a square is one.
    #[test]
    fn velocities_that_several_terms_use_are_shared() {
        let g = Graph::new();
        let [x, y, v, u] = ["x", "y", "v", "u"].map(|name| g.symbol(name, Role::Free));
        let shared = |roots: &[Expr]| shared_velocities(&g, roots, &[v, u]);
        let twice = |e: Expr| [g.sqrt(e), g.unary(Unary::Exp, e)];
        let product = g.mul(x, v);
        let sum = g.add(product, u);
        let (less, over) = (g.sub(u, product), g.div(sum, y));
        assert_eq!(shared(&twice(g.neg(sum))), Some(vec![g.neg(sum)]));
        for e in [sum, less, over, g.mul(sum, y), g.add(x, sum)] {
            let text = g.to_text(e);
            assert_eq!(shared(&twice(e)), Some(vec![e]), "{text}");
            assert_eq!(shared(&[g.mul(e, e)]), None, "{text} has one user");
            assert_eq!(shared(&[g.mul(e, e), e]), None, "{text} is no user of itself");
            assert_eq!(shared(&[g.mul(e, e), g.mul(e, x)]), Some(vec![e]), "{text}");
        }
        // Of a sum that is shared and its multiple, the sum.
        let both = [twice(sum), twice(g.mul(sum, y))].concat();
        assert_eq!(shared(&both), Some(vec![sum]));
        // Multiples of one velocity.
        for e in [product, g.neg(product), g.sub(x, product), g.div(u, y)] {
            assert_eq!(shared(&twice(e)), None, "{}", g.to_text(e));
        }
        // Symbols, what has no velocity, and what is not affine.
        let (square, bent) = (g.mul(v, u), g.div(x, v));
        for e in [v, x, g.mul(x, y), square, g.add(x, square), bent, g.sin(v), g.pow(x, u)] {
            assert_eq!(shared(&twice(e)), None, "{}", g.to_text(e));
        }
    }

    /// A chain $w_k = w_{k-1} + c_k\dot q_k$ of masses, its definitions and what $M$ and $A$ take.
    #[test]
    fn steps_are_those_of_the_mass_written_out() {
        let chain = |n: usize| {
            let mut mass: Vec<Vec<usize>> = vec![Vec::new(); n];
            mass.extend((0..n).map(|k| vec![n + k]));
            let definition = |k: usize| match k {
                0 => vec![0, n],
                _ => vec![k, n + k - 1, n + k],
            };
            (mass, (0..n).map(definition).collect::<Vec<_>>())
        };
        let full = |n: usize| -> Vec<Vec<usize>> { (0..n).map(|_| (0..n).collect()).collect() };
        for n in [2, 3, 7] {
            let (mass, rows) = chain(n);
            let steps = elimination_steps(&full(n), &[], usize::MAX);
            assert_eq!(steps_written_out(&mass, &rows, n, usize::MAX), steps);
            // One more row: the last body stands.
            let held = [rows.as_slice(), &[vec![2 * n - 1]]].concat();
            let steps = elimination_steps(&full(n), &[(0..n).collect()], usize::MAX);
            assert_eq!(steps_written_out(&mass, &held, n, usize::MAX), steps);
        }
        // Three terms of w₁ and w₂, five of the mass; the elimination takes five steps as well.
        let (mass, rows) = chain(2);
        let terms = 3 + 5;
        assert_eq!(steps_written_out(&mass, &rows, 2, terms), Some(5));
        assert_eq!(steps_written_out(&mass, &rows, 2, terms - 1), None);
        // The third coordinate is held, and goes with its multiplier; then two.
        assert_eq!(steps_written_out(&full(3), &[vec![2]], 0, 100), Some(9 + 4 + 1));
    }

    #[test]
    fn both_halves_are_the_upper_one() {
        let g = Graph::new();
        let e = |k: i64| g.integer(k);
        let columns = [
            vec![(0, e(1)), (1, e(2)), (2, e(3))],
            vec![(0, e(4)), (1, e(5))],
            vec![(0, e(6)), (1, e(7))],
        ];
        let rows = [
            vec![(0, e(1)), (1, e(4)), (2, e(6))],
            vec![(0, e(4)), (1, e(5)), (2, e(7))],
            vec![(0, e(6)), (1, e(7))],
        ];
        assert_eq!(symmetric(&columns), rows);
    }
}
