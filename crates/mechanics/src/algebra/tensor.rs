//! Arrays of expressions with any number of indices.

use pfaff_expr::{Expr, Graph};

/// Components in the order of their indices, the last one running fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// How many values each index takes.
    pub shape: Vec<usize>,
    /// The components.
    pub entries: Vec<Expr>,
}

impl Tensor {
    /// One component for each tuple of indices.
    pub fn new(shape: &[usize], mut entry: impl FnMut(&[usize]) -> Expr) -> Self {
        let entries = indices(shape).iter().map(|i| entry(i)).collect();
        Self { shape: shape.to_vec(), entries }
    }

    /// The component at these indices.
    pub fn at(&self, index: &[usize]) -> Expr {
        let place = self.shape.iter().zip(index).fold(0, |place, (size, i)| place * size + i);
        self.entries[place]
    }

    /// All tuples of indices, in the order of the components.
    pub fn indices(&self) -> Vec<Vec<usize>> {
        indices(&self.shape)
    }

    /// The tensor with every component replaced.
    #[must_use]
    pub fn map(&self, change: impl Fn(Expr) -> Expr) -> Self {
        Self {
            shape: self.shape.clone(),
            entries: self.entries.iter().map(|&e| change(e)).collect(),
        }
    }

    /// Whether every component is proved zero.
    pub fn is_zero(&self, g: &Graph) -> bool {
        self.entries.iter().all(|&e| g.is_zero(e))
    }
}

fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &size in shape {
        all = all
            .into_iter()
            .flat_map(|head| (0..size).map(move |i| [head.as_slice(), &[i]].concat()))
            .collect();
    }
    all
}

/// Larger expressions are shown by names for their parts, and simplifying them costs more than it shows.
const WORTH_SIMPLIFYING: usize = 60;

/// An expression simplified, unless it is large.
pub fn simple(g: &Graph, e: Expr) -> Expr {
    if g.size(&[e]) > WORTH_SIMPLIFYING { e } else { g.simplify(e) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    #[test]
    fn large_expressions_stay_as_they_are() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        let of_size = |size: usize| {
            let (s, c) = (g.sin(x), g.cos(x));
            let one = g.as_written(|| g.add(g.mul(s, s), g.mul(c, c)));
            let mut e = one;
            while g.size(&[e]) < size {
                e = g.as_written(|| g.sin(e));
            }
            assert_eq!(g.size(&[e]), size);
            simple(&g, e) != e
        };
        assert!(of_size(10) && of_size(WORTH_SIMPLIFYING) && !of_size(WORTH_SIMPLIFYING + 1));
    }

    #[test]
    fn tensors_are_zero_where_all_components_are() {
        let g = Graph::new();
        let tensor = |entries: [i64; 2]| {
            let entries = entries.map(|k| g.integer(k)).to_vec();
            Tensor { shape: vec![2], entries }.is_zero(&g)
        };
        assert!(tensor([0, 0]) && !tensor([0, 1]) && !tensor([1, 0]) && !tensor([1, 2]));
    }
}
