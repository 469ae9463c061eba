//! Linear independence over constants: which of some functions are combinations of earlier ones with constant
//! coefficients?
//!
//! $f_1, \dots, f_k$ are independent over constants if and only if the matrix $f_i(x_j)$ has rank $k$ at enough
//! random points $x_j$. Values are exact modulo a prime; parameters have one value at all points, so they count
//! as constants.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::node::Expr;
use crate::graph::residue;
use crate::zero::quadratic::Z;
use crate::zero::rank::independent;

/// Points beyond the number of functions: each makes an accident less likely.
const SPARE: usize = 4;

/// The first two points are those of the stored values.
const FIRST: usize = 2;

impl Graph {
    /// The first expressions, in order, that are no combination of earlier ones with constant coefficients.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
    /// let xy = g.mul(x, y);
    /// let twice = g.add(xy, g.mul(y, x));
    /// assert_eq!(g.independent_over_constants(&[xy, twice, x, g.mul(x, xy)]), [0, 2, 3]);
    /// ```
    pub fn independent_over_constants(&self, functions: &[Expr]) -> Vec<usize> {
        let live = self.live(functions);
        let store = self.store.borrow();
        let mut rows: Vec<Vec<u64>> = vec![Vec::new(); functions.len()];
        let mut values: FxHashMap<Expr, u64> = FxHashMap::default();
        for point in FIRST..FIRST + functions.len() + SPARE {
            for &e in &live {
                let v = residue::at(&store, store.node(e), point, |o| values[&o]);
                values.insert(e, v);
            }
            for (row, e) in rows.iter_mut().zip(functions) {
                row.push(values[e]);
            }
        }
        independent(rows.into_iter().map(|row| row.into_iter().map(|x| Z(x, 0)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role};

    #[test]
    fn parameters_are_constants_and_coordinates_are_not() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Coordinate { order: 0 });
        let v = g.symbol("x", Role::Coordinate { order: 1 });
        let k = g.symbol("k", Role::Parameter);
        assert_eq!(g.independent_over_constants(&[v, g.mul(k, v)]), [0]);
        assert_eq!(g.independent_over_constants(&[v, g.mul(x, v)]), [0, 1]);
        assert_eq!(g.independent_over_constants(&[g.zero(), v]), [1]);
    }

    #[test]
    fn identities_of_angles_are_seen() {
        let g = Graph::new();
        let a = g.symbol("a", Role::Free);
        let (s, c) = (g.sin(a), g.cos(a));
        let one = g.one();
        let squares = [g.mul(s, s), g.mul(c, c), one];
        assert_eq!(g.independent_over_constants(&squares), [0, 1]);
    }
}
