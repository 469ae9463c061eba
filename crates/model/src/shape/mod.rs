//! Values of expressions: a number, a vector or a matrix of nodes of the graph.
//!
//! Matrices are stored by rows. Truth values exist in conditions only, texts only as names of tables. A
//! poisoned value is one whose
//! mistake has been reported: whatever is made of it is poisoned in silence.

pub(crate) mod algebra;
pub(crate) mod polar;

use std::fmt;
use std::sync::Arc;

use pfaff_expr::{Expr, Graph};

/// How many components a value has, and how they are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One.
    Scalar,
    /// A column of this many.
    Vector(usize),
    /// A transposed vector.
    Row(usize),
    /// Rows and columns.
    Matrix(usize, usize),
}

/// What an expression stands for.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar(Expr),
    Vector(Arc<[Expr]>),
    Row(Arc<[Expr]>),
    /// Rows, columns, entries by rows.
    Matrix(usize, usize, Arc<[Expr]>),
    /// 1 or 0, or a condition that is decided during the motion.
    Truth(Expr),
    Text(Arc<str>),
    Poison,
}

impl Shape {
    /// How many components there are.
    pub fn len(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Vector(n) | Self::Row(n) => n,
            Self::Matrix(n, m) => n * m,
        }
    }

    /// Whether there is no component.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The indices of component `k`, from 1; none for a scalar.
    pub fn indices(self, k: usize) -> Vec<i64> {
        let from_one = |i: usize| i as i64 + 1;
        match self {
            Self::Scalar => Vec::new(),
            Self::Vector(_) | Self::Row(_) => vec![from_one(k)],
            Self::Matrix(_, columns) => vec![from_one(k / columns), from_one(k % columns)],
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar => write!(f, "a number"),
            Self::Vector(n) => write!(f, "a vector of {n}"),
            Self::Row(n) => write!(f, "a row of {n}"),
            Self::Matrix(n, m) => write!(f, "a {n}×{m} matrix"),
        }
    }
}

impl Value {
    /// Entries in a shape.
    pub(crate) fn new(shape: Shape, entries: Vec<Expr>) -> Self {
        match shape {
            Shape::Scalar => Self::Scalar(entries[0]),
            Shape::Vector(_) => Self::Vector(entries.into()),
            Shape::Row(_) => Self::Row(entries.into()),
            Shape::Matrix(n, m) => Self::Matrix(n, m, entries.into()),
        }
    }

    /// The shape of a number, vector or matrix.
    pub(crate) fn shape(&self) -> Option<Shape> {
        match self {
            Self::Scalar(_) => Some(Shape::Scalar),
            Self::Vector(entries) => Some(Shape::Vector(entries.len())),
            Self::Row(entries) => Some(Shape::Row(entries.len())),
            Self::Matrix(n, m, _) => Some(Shape::Matrix(*n, *m)),
            Self::Truth(_) | Self::Text(_) | Self::Poison => None,
        }
    }

    /// The components by rows; none for what is no number, vector or matrix.
    pub(crate) fn entries(&self) -> &[Expr] {
        match self {
            Self::Scalar(e) => std::slice::from_ref(e),
            Self::Vector(entries) | Self::Row(entries) | Self::Matrix(_, _, entries) => entries,
            Self::Truth(_) | Self::Text(_) | Self::Poison => &[],
        }
    }

    pub(crate) fn is_poison(&self) -> bool {
        matches!(self, Self::Poison)
    }

    /// Whether it is the number 0, which stands for zero of any shape.
    pub(crate) fn is_plain_zero(&self, g: &Graph) -> bool {
        matches!(self, Self::Scalar(e) if *e == g.zero())
    }

    /// The same shape with other entries.
    pub(crate) fn with_entries(&self, entries: Vec<Expr>) -> Self {
        self.shape().map_or(Self::Poison, |shape| Self::new(shape, entries))
    }

    /// Each component on its own.
    pub(crate) fn map(&self, mut f: impl FnMut(Expr) -> Expr) -> Self {
        if let Self::Scalar(e) = self {
            return Self::Scalar(f(*e));
        }
        self.with_entries(self.entries().iter().copied().map(f).collect())
    }

    /// What it is, for a message.
    pub(crate) fn describe(&self) -> String {
        match (self, self.shape()) {
            (_, Some(shape)) => shape.to_string(),
            (Self::Truth(_), _) => "a condition".into(),
            (Self::Text(_), _) => "a text".into(),
            _ => "a mistake".into(),
        }
    }
}

/// The name of a component: `q[1]`, `phi[1,2]`; the bare name without indices.
pub(crate) fn component_name(name: &str, indices: &[i64]) -> String {
    if indices.is_empty() {
        return name.to_owned();
    }
    let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
    format!("{name}[{}]", indices.join(","))
}
