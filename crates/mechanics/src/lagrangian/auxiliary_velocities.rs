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

use std::collections::BTreeSet;

use pfaff_expr::{Expr, Graph, Node, Role};
use pfaff_model::Workspace;
use rustc_hash::FxHashMap;

use crate::algebra::elimination_order::elimination_steps;

/// $\tilde M$, $D$ and $\tilde A$ by their entries.
#[derive(Clone, Debug)]
pub struct AuxiliaryVelocities {
    /// $\tilde M$ over $\xi$
    pub mass: Vec<Vec<(usize, Expr)>>,
    /// $D$: the last entry of each row is the 1 of its own velocity.
    pub definitions: Vec<Vec<(usize, Expr)>>,
    /// $\tilde A = \partial\tilde\psi/\partial\xi$
    pub jacobian: Vec<Vec<(usize, Expr)>>,
}

impl AuxiliaryVelocities {
    /// Those of a Lagrangian and of constraints $\psi$ at velocity level; `None` if $M$ and $A$ take fewer steps.
    pub(crate) fn of(model: &Workspace, lagrangian: Expr, residual: &[Expr]) -> Option<Self> {
        let g = &model.graph;
        let velocities = model.velocities();
        let roots: Vec<Expr> =
            [lagrangian].into_iter().chain(residual.iter().copied()).collect();
        let shared = shared_velocities(g, &roots, &velocities);
        if shared.is_empty() {
            return None;
        }
        let symbol = |k: usize| g.symbol(&format!("auxiliary velocity {k}"), Role::Free);
        let parts: Vec<(Expr, Expr)> =
            shared.iter().enumerate().map(|(k, &e)| (e, symbol(k))).collect();
        let (whole, definitions) = g.abbreviated(&roots, &parts);
        let symbols: Vec<Expr> =
            velocities.iter().copied().chain(parts.iter().map(|part| part.1)).collect();
        let momenta = g.gradient(whole[0], &symbols);
        let mut mass = rows(&g.jacobian_columns(&momenta, &symbols), symbols.len());
        for i in 0..mass.len() {
            mass[i].retain(|entry| entry.0 >= i);
        }
        let upper = mass.clone();
        for (i, row) in upper.iter().enumerate() {
            row.iter().filter(|e| e.0 > i).for_each(|&(j, e)| mass[j].push((i, e)));
        }
        mass.iter_mut().for_each(|row| row.sort_unstable());
        let mut slopes = rows(&g.jacobian_columns(&definitions, &symbols), definitions.len());
        for (k, row) in slopes.iter_mut().enumerate() {
            row.iter_mut().for_each(|entry| entry.1 = g.neg(entry.1));
            row.push((velocities.len() + k, g.one()));
        }
        let jacobian = rows(&g.jacobian_columns(&whole[1..], &symbols), residual.len());
        let found = Self { mass, definitions: slopes, jacobian };
        if !found.is_shorter() {
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
        })
    }

    /// Whether the elimination has fewer steps than that of $M$ and $A$.
    fn is_shorter(&self) -> bool {
        let (n, extra) = (self.mass.len() - self.definitions.len(), self.definitions.len());
        let columns = |row: &Vec<(usize, Expr)>| -> Vec<usize> {
            row.iter().map(|entry| entry.0).collect()
        };
        let mass: Vec<Vec<usize>> = self.mass.iter().map(columns).collect();
        let definitions: Vec<Vec<usize>> = self.definitions.iter().map(columns).collect();
        let jacobian: Vec<Vec<usize>> = self.jacobian.iter().map(columns).collect();
        let all = [definitions.as_slice(), &jacobian].concat();
        let Some(own) = elimination_steps(&mass, &all, usize::MAX) else { return false };
        // The velocities that each of ξ contains.
        let mut support: Vec<BTreeSet<usize>> = (0..n).map(|i| BTreeSet::from([i])).collect();
        let mut full = vec![BTreeSet::new(); n];
        let mut met = 0;
        for k in 0..extra {
            let others = self.definitions[k].iter().filter(|entry| entry.0 < n + k);
            let set: BTreeSet<usize> =
                others.flat_map(|entry| support[entry.0].iter().copied()).collect();
            met += set.len();
            if met > own {
                return true;
            }
            support.push(set);
        }
        let mut constraints = Vec::with_capacity(jacobian.len());
        for row in &jacobian {
            let set: BTreeSet<usize> =
                row.iter().flat_map(|&j| support[j].iter().copied()).collect();
            met += set.len();
            if met > own {
                return true;
            }
            constraints.push(set.into_iter().collect::<Vec<_>>());
        }
        for (a, row) in mass.iter().enumerate() {
            for &b in row {
                met += support[a].len() * support[b].len();
                if met > own {
                    return true;
                }
                for &i in &support[a] {
                    full[i].extend(support[b].iter().copied());
                }
            }
        }
        let full: Vec<Vec<usize>> =
            full.into_iter().map(|row| row.into_iter().collect()).collect();
        elimination_steps(&full, &constraints, own).is_none()
    }
}

/// Columns into rows.
fn rows(columns: &[Vec<(usize, Expr)>], count: usize) -> Vec<Vec<(usize, Expr)>> {
    let mut rows = vec![Vec::new(); count];
    for (j, column) in columns.iter().enumerate() {
        column.iter().for_each(|&(i, e)| rows[i].push((j, e)));
    }
    rows
}

/// Expressions affine in the velocities that several others use, operands first.
fn shared_velocities(g: &Graph, roots: &[Expr], velocities: &[Expr]) -> Vec<Expr> {
    let live = g.live(roots);
    let mut degree: FxHashMap<Expr, u8> = velocities.iter().map(|&v| (v, 1)).collect();
    let mut users: FxHashMap<Expr, usize> = FxHashMap::default();
    let mut shared = Vec::new();
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
        if own == 0 {
            continue;
        }
        let mut operands: Vec<Expr> = node.operands().filter(|&o| of(o) == 1).collect();
        degree.insert(e, own.min(2));
        operands.sort_unstable();
        operands.dedup();
        operands.into_iter().for_each(|o| *users.entry(o).or_default() += 1);
    }
    for e in live {
        let is_symbol = matches!(g.node(e), Node::Symbol(_));
        if !is_symbol && degree.get(&e) == Some(&1) && users.get(&e).is_some_and(|&u| u > 1) {
            shared.push(e);
        }
    }
    shared
}
