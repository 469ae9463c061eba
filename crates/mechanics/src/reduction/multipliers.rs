//! Reactions and multipliers of the reduced motion, for output times.
//!
//! $R = \dfrac{d}{dt}L_{\dot q} - L_q - Q$, and $A^\top\lambda = R$ by one backward sweep through the
//! definitions $\dot q^j = -r/c$ of the rows as written, last row first: with the total adjoint
//! $\bar v_j$ of the solved velocity, $\lambda = \bar v_j/c$, and $\lambda = (c_i\bar v_i + c_j\bar v_j)/n$ for a pair.

use pfaff_expr::Expr;

use super::Reduction;
use super::eliminate::SolvedRow;
use super::mentions::Mentions;

/// What follows from $(t, q, u, \dot u)$ and the velocities, over all of these symbols.
#[derive(Clone, Debug)]
pub struct Multipliers {
    /// $\ddot q$
    pub accelerations: Vec<Expr>,
    /// $R$
    pub reaction: Vec<Expr>,
    /// $\lambda$; `None` where the rows are not triangular or some are redundant, and $A^\top\lambda = R$
    /// needs a dense solve.
    pub multipliers: Option<Vec<Expr>>,
    /// $E = \dot q\cdot L_{\dot q} - L$
    pub energy: Expr,
}

impl Reduction {
    /// Reactions, multipliers and energy over $(t, q, \dot q, u, \dot u)$.
    pub fn multipliers(&self) -> Multipliers {
        self.graph.merging(|| self.derive_multipliers())
    }

    fn derive_multipliers(&self) -> Multipliers {
        let g = &self.graph;
        let v = &self.velocity_symbols;
        let accelerations = self.accelerations();
        let momenta = g.gradient(self.lagrangian, v);
        let slopes = g.gradient(self.lagrangian, &self.positions);
        let mut along: Vec<(Expr, Expr)> =
            self.positions.iter().copied().zip(v.iter().copied()).collect();
        along.extend(v.iter().copied().zip(accelerations.iter().copied()));
        along.push((self.time, g.one()));
        let rates = g.directional(&momenta, &along);
        let reaction: Vec<Expr> =
            (0..v.len()).map(|k| g.sub(g.sub(rates[k], slopes[k]), self.given[k])).collect();
        let energy = g.sub(g.dot(v, &momenta), self.lagrangian);
        let multipliers = self.sweep(&reaction);
        Multipliers { accelerations, reaction, multipliers, energy }
    }

    /// $\lambda$ over $(t, q, \dot q, u, \dot u)$.
    fn sweep(&self, reaction: &[Expr]) -> Option<Vec<Expr>> {
        let g = &self.graph;
        let v = &self.velocity_symbols;
        let mentions = Mentions::new(g, v);
        let mut definitions = Vec::new();
        for (row, &φ) in self.rows.iter().zip(&self.written) {
            // NOTE: a row as written has the pivot of the row with earlier definitions inserted, unless one of these
            // contains the velocity that is solved for. Then the definitions are circular.
            match *row {
                SolvedRow::Single { j, c } => {
                    let rest = mentions.without(φ, &[j]);
                    definitions.push((v[j], g.neg(g.mul(rest, g.div(g.one(), c)))));
                }
                SolvedRow::Pair { i, j, a, b, n, .. } => {
                    let share = g.div(mentions.without(φ, &[i, j]), n);
                    definitions.push((v[i], g.neg(g.mul(a, share))));
                    definitions.push((v[j], g.neg(g.mul(b, share))));
                }
                SolvedRow::Turned { .. } | SolvedRow::Redundant => return None,
            }
        }
        let weighted: Vec<(Expr, Expr)> =
            v.iter().copied().zip(reaction.iter().copied()).collect();
        let adjoints = g.chained_gradient(&weighted, &definitions, v)?;
        let multiplier = |row: &SolvedRow| match *row {
            SolvedRow::Single { j, c } => Some(g.div(adjoints[j], c)),
            SolvedRow::Pair { i, j, a, b, n, .. } => {
                Some(g.div(g.add(g.mul(a, adjoints[i]), g.mul(b, adjoints[j])), n))
            }
            SolvedRow::Turned { .. } | SolvedRow::Redundant => None,
        };
        self.rows.iter().map(multiplier).collect()
    }
}
