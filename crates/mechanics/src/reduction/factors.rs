//! (K) solved on paper: the factors $L D L^\top$ of the saddle-point matrix written out, in an order that
//! keeps them sparse.
//!
//! $$ \begin{pmatrix} M & A^\top \\\\ A & 0 \end{pmatrix}\begin{pmatrix} \ddot q \\\\ -\lambda \end{pmatrix} =
//! \begin{pmatrix} f \\\\ b \end{pmatrix} $$
//!
//! The order is that of `elimination_order.rs`. For positive definite $M$ and independent rows every such order has
//! non-zero pivots: those of coordinates are positive, those of constraints negative. Auxiliary velocities are replaced
//! by their definitions where that takes about as few steps, and else divided by.
//! The order is fixed on paper, so the pivots must be watched when numbers are put in.

use std::collections::BTreeMap;

use pfaff_expr::{Expr, Graph};
use pfaff_model::Principle;

use crate::algebra::elimination_order::{
    EliminationOrder, elimination_steps, substitution_order,
};
use crate::equations::{Equations, SparseBlocks};

/// The solution of (K) as expressions.
#[derive(Clone, Debug)]
pub struct SaddleSolution {
    /// $\ddot q$
    pub accelerations: Vec<Expr>,
    /// $\lambda$, or $\dot\mu$ under the vakonomic principle
    pub multipliers: Vec<Expr>,
    /// $D$, in the order of elimination: what was divided by
    pub pivots: Vec<Expr>,
}

/// Solves (K), in at most so many steps of elimination.
///
/// `None` if that is not enough, if the matrix is not symmetric (reactions along other directions than the
/// constraints', the restricted principle), if it is
/// singular at every state, as with redundant constraints, or if its matrix has to be condensed in numbers first.
pub fn solve_saddle(g: &Graph, equations: &Equations, most: usize) -> Option<SaddleSolution> {
    if equations.auxiliary.as_ref().is_some_and(|auxiliary| auxiliary.is_condensed) {
        return None;
    }
    let SparseBlocks { mass, definitions, jacobian, .. } = equations.sparse(g);
    let (n, size) = (equations.force.len(), mass.len());
    let is_saddle = equations.principle != Principle::Restricted;
    if !is_symmetric(&mass) || !is_saddle || !equations.has_chetaev_reactions() {
        return None;
    }
    let extra = definitions.len();
    let columns =
        |row: &Vec<(usize, Expr)>| -> Vec<usize> { row.iter().map(|e| e.0).collect() };
    let mass_columns: Vec<Vec<usize>> = mass.iter().map(columns).collect();
    let row_columns: Vec<Vec<usize>> =
        definitions.iter().chain(&jacobian).map(columns).collect();
    let mut matrix: Vec<BTreeMap<usize, Expr>> =
        mass.into_iter().map(|row| row.into_iter().collect()).collect();
    for (a, row) in definitions.into_iter().chain(jacobian).enumerate() {
        for &(i, e) in &row {
            matrix[i].insert(size + a, e);
        }
        matrix.push(row.into_iter().collect());
    }
    let zeros = || std::iter::repeat_n(g.zero(), extra);
    let forces = equations.force.iter().copied().chain(zeros());
    let right: Vec<Expr> =
        forces.chain(zeros()).chain(equations.drift.iter().copied()).collect();
    let elimination = || Elimination::new(g, matrix.clone(), right.clone(), most);
    let substituted = || {
        let (order, steps) = substitution_order(&mass_columns, &row_columns, extra, most)?;
        // The pivots of divisions must be watched more closely: they must be worth it.
        if elimination_steps(&mass_columns, &row_columns, steps / 2).is_some() {
            return None;
        }
        g.as_written(|| elimination().substituted(&order, n..size))
    };
    let divided = || {
        let mut order = EliminationOrder::new(matrix.len());
        if extra > 0 {
            let neighbours: Vec<Vec<usize>> =
                matrix.iter().map(|row| row.keys().copied().collect()).collect();
            order = order.with_care(size, &neighbours);
        }
        g.as_written(|| elimination().ordered(order))
    };
    let found = if extra > 0 { substituted() } else { None };
    let (x, pivots) = found.or_else(divided)?;
    Some(SaddleSolution {
        accelerations: x[..n].to_vec(),
        multipliers: x[size + extra..].iter().map(|&y| g.neg(y)).collect(),
        pivots,
    })
}

fn is_symmetric(rows: &[Vec<(usize, Expr)>]) -> bool {
    let entry = |i: usize, j: usize| {
        let place = rows[i].binary_search_by_key(&j, |entry| entry.0).ok()?;
        Some(rows[i][place].1)
    };
    rows.iter().enumerate().all(|(i, row)| row.iter().all(|&(j, e)| entry(j, i) == Some(e)))
}

/// One unknown with the inverse of what it is divided by, and the factors of those that are known when it is found.
struct EliminationStep {
    unknown: usize,
    inverse: Expr,
    factors: Vec<(usize, Expr)>,
}

/// A symmetric system, given by the entries of its rows that are not zero, on the way to its solution.
struct Elimination<'a> {
    g: &'a Graph,
    k: Vec<BTreeMap<usize, Expr>>,
    x: Vec<Expr>,
    done: Vec<EliminationStep>,
    pivots: Vec<Expr>,
    steps: usize,
    most: usize,
}

impl<'a> Elimination<'a> {
    fn new(g: &'a Graph, k: Vec<BTreeMap<usize, Expr>>, x: Vec<Expr>, most: usize) -> Self {
        Self { g, k, x, done: Vec::new(), pivots: Vec::new(), steps: 0, most }
    }

    /// The solution and the pivots in an order of minimum degree.
    fn ordered(mut self, mut order: EliminationOrder) -> Option<(Vec<Expr>, Vec<Expr>)> {
        (0..self.x.len()).for_each(|i| order.put(i, self.usable(i)));
        let mut singles: Vec<usize> = (0..self.x.len()).collect();
        while self.done.len() < self.x.len() {
            let changed = if let Some(u) = singles.pop() {
                let Some(p) = self.single(u) else { continue };
                order.take(u);
                order.take(p);
                self.pair(u, p)?
            } else {
                let p = order.next()?;
                self.pivot(p)?
            };
            changed.iter().for_each(|&i| order.put(i, self.usable(i)));
            singles.extend(changed);
        }
        Some(self.solved())
    }

    /// The same in a given order, in which each of `auxiliary` stands for itself and its definition.
    fn substituted(
        mut self,
        order: &[usize],
        auxiliary: std::ops::Range<usize>,
    ) -> Option<(Vec<Expr>, Vec<Expr>)> {
        for &p in order {
            if auxiliary.contains(&p) {
                self.pair(auxiliary.end + p - auxiliary.start, p)?;
            } else {
                self.usable(p)?;
                self.pivot(p)?;
            }
        }
        Some(self.solved())
    }

    /// How many entries the row of an unknown has, if it can be divided by its diagonal.
    fn usable(&self, i: usize) -> Option<usize> {
        let row = &self.k[i];
        row.get(&i).filter(|&&e| !self.g.vanishes_modulo_prime(e)).map(|_| row.len())
    }

    /// The only neighbour of an unknown without diagonal.
    fn single(&self, u: usize) -> Option<usize> {
        let row = &self.k[u];
        let (&p, &c) = row.first_key_value().filter(|_| row.len() == 1)?;
        (p != u && !self.g.vanishes_modulo_prime(c)).then_some(p)
    }

    fn subtract(&mut self, i: usize, j: usize, part: Expr) {
        let zero = self.g.zero();
        let known = self.k[i].get(&j).copied().unwrap_or(zero);
        let entry = self.g.sub(known, part);
        if entry == zero {
            self.k[i].remove(&j);
            self.k[j].remove(&i);
        } else {
            self.k[i].insert(j, entry);
            self.k[j].insert(i, entry);
        }
    }

    fn count(&mut self, steps: usize) -> Option<()> {
        self.steps += steps;
        (self.steps <= self.most).then_some(())
    }

    /// Eliminates an unknown by its diagonal; tells its neighbours.
    fn pivot(&mut self, p: usize) -> Option<Vec<usize>> {
        let g = self.g;
        let mut row = std::mem::take(&mut self.k[p]);
        let pivot = row.remove(&p)?;
        let inverse = g.div(g.one(), pivot);
        self.pivots.push(pivot);
        self.count(1 + row.len() * (row.len() + 5) / 2)?;
        let factors: Vec<(usize, Expr)> =
            row.iter().map(|(&i, &e)| (i, g.mul(e, inverse))).collect();
        for &i in row.keys() {
            self.k[i].remove(&p);
        }
        for &(i, l) in &factors {
            for (&j, &e) in row.range(..=i) {
                self.subtract(i, j, g.mul(l, e));
            }
            self.x[i] = g.sub(self.x[i], g.mul(l, self.x[p]));
        }
        self.done.push(EliminationStep { unknown: p, inverse, factors });
        Some(row.into_keys().collect())
    }

    /// Eliminates an unknown `u` without diagonal and its neighbour `p`; tells their neighbours. With the entry $c$
    /// between them, the diagonal $d$ of `p` and other entries $b_u$, $b_p$,
    ///
    /// $$ x_p = \frac{r_u - b_u y}{c}, \qquad x_u = \frac{r_p - d x_p - b_p y}{c}. $$
    fn pair(&mut self, u: usize, p: usize) -> Option<Vec<usize>> {
        let g = self.g;
        let mut of_u = std::mem::take(&mut self.k[u]);
        let mut of_p = std::mem::take(&mut self.k[p]);
        let c = of_u.remove(&p)?;
        of_p.remove(&u);
        let own = of_p.remove(&p).unwrap_or(g.zero());
        let inverse = g.div(g.one(), c);
        self.pivots.push(c);
        self.count(1 + 2 * (of_u.len() + 1) * (of_p.len() + 1))?;
        let scaled = |(&i, &e): (&usize, &Expr)| (i, g.mul(e, inverse));
        let factors: Vec<(usize, Expr)> = of_u.iter().map(scaled).collect();
        let mut changed: Vec<usize> = of_u.keys().chain(of_p.keys()).copied().collect();
        for &i in &changed {
            self.k[i].remove(&u);
            self.k[i].remove(&p);
        }
        let value = g.mul(self.x[u], inverse);
        let rest = g.sub(self.x[p], g.mul(own, value));
        for &(i, l) in &factors {
            for (&j, &e) in &of_p {
                let part = g.mul(l, e);
                self.subtract(i, j, if i == j { g.add(part, part) } else { part });
            }
            if own != g.zero() {
                let carried = g.neg(g.mul(own, l));
                for &(j, m) in factors.iter().take_while(|factor| factor.0 <= i) {
                    self.subtract(i, j, g.mul(carried, m));
                }
            }
            self.x[i] = g.sub(self.x[i], g.mul(l, rest));
        }
        for (&j, &e) in &of_p {
            self.x[j] = g.sub(self.x[j], g.mul(e, value));
        }
        (self.x[u], self.x[p]) = (self.x[p], self.x[u]);
        let own = Some((p, own)).filter(|own| own.1 != g.zero());
        let others = own.iter().map(|(p, own)| (p, own)).chain(&of_p).map(scaled).collect();
        self.done.push(EliminationStep { unknown: u, inverse, factors: others });
        self.done.push(EliminationStep { unknown: p, inverse, factors });
        changed.sort_unstable();
        changed.dedup();
        Some(changed)
    }

    /// The solution, from the last unknown to the first, and the pivots.
    fn solved(mut self) -> (Vec<Expr>, Vec<Expr>) {
        let g = self.g;
        for EliminationStep { unknown, inverse, factors } in self.done.iter().rev() {
            let mut sum = g.mul(self.x[*unknown], *inverse);
            for &(i, l) in factors {
                sum = g.sub(sum, g.mul(l, self.x[i]));
            }
            self.x[*unknown] = sum;
        }
        (self.x, self.pivots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solution_satisfies_the_system() {
        let g = Graph::new();
        // An arrow: the first coordinate would fill everything and must come last; one constraint.
        let number = |x: i64| g.integer(x);
        let rows = [[5, 1, 1, 1], [1, 3, 0, 0], [1, 0, 4, 2], [1, 0, 2, 0]];
        let entries = |row: &[i64; 4]| {
            let row = row.iter().copied().enumerate().filter(|&(_, x)| x != 0);
            row.map(|(j, x)| (j, number(x))).collect()
        };
        let matrix: Vec<BTreeMap<usize, Expr>> = rows.iter().map(entries).collect();
        let right: Vec<Expr> = [1, 2, 3, 4].map(number).to_vec();
        let elimination = Elimination::new(&g, matrix, right.clone(), 100);
        let (x, pivots) = elimination.ordered(EliminationOrder::new(4)).unwrap();
        assert_eq!(pivots.len(), 4);
        for (row, &b) in rows.iter().zip(&right) {
            let sum = g.sum(row.iter().zip(&x).map(|(&k, &x)| g.mul(number(k), x)));
            assert_eq!(sum, b, "exact in rational numbers");
        }
        let singular = vec![BTreeMap::new()];
        let elimination = Elimination::new(&g, singular, vec![g.one()], 100);
        assert!(elimination.ordered(EliminationOrder::new(1)).is_none());
    }

    /// Pairs: an unknown without diagonal goes together with a neighbour, whatever else both have.
    #[test]
    fn pairs_satisfy_the_system() {
        let g = Graph::new();
        let number = |x: i64| g.integer(x);
        // u = 3 has no diagonal and three neighbours; 0 is its partner, with a diagonal and all neighbours.
        let rows = [[5, 1, 2, 3], [1, 3, 1, 2], [2, 1, 4, 7], [3, 2, 7, 0]];
        let entries = |row: &[i64; 4]| {
            let row = row.iter().copied().enumerate().filter(|&(_, x)| x != 0);
            row.map(|(j, x)| (j, number(x))).collect()
        };
        let matrix: Vec<BTreeMap<usize, Expr>> = rows.iter().map(entries).collect();
        let right: Vec<Expr> = [1, 2, 3, 4].map(number).to_vec();
        let mut elimination = Elimination::new(&g, matrix, right.clone(), 100);
        assert_eq!(elimination.pair(3, 0), Some(vec![1, 2]));
        assert_eq!(elimination.pivot(1), Some(vec![2]));
        assert_eq!(elimination.pivot(2), Some(vec![]));
        let (x, _) = elimination.solved();
        for (row, &b) in rows.iter().zip(&right) {
            let sum = g.sum(row.iter().zip(&x).map(|(&k, &x)| g.mul(number(k), x)));
            assert_eq!(sum, b, "exact in rational numbers");
        }
    }
}
