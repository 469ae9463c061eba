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
