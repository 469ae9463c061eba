//! Names and what they mean. One namespace: a name is declared once, before its use.

use pfaff_expr::{Expr, Rational};
use rustc_hash::FxHashMap;

use crate::shape::Value;
use crate::source::Span;
use crate::syntax::{ExprId, Symbol};

/// Everything that is declared, kept with the model so that texts of the command line can be read against it.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    entries: FxHashMap<String, Entry>,
    /// Names in declared order.
    order: Vec<String>,
    /// Exact values of the parameters' symbols.
    pub(crate) exact: FxHashMap<Expr, Rational>,
    /// Values of the parameters' symbols.
    pub(crate) doubles: FxHashMap<Expr, f64>,
}

/// A declared name.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) meaning: Meaning,
    pub(crate) span: Span,
}

/// An expression of one of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    /// 0 is the model.
    pub(crate) part: u8,
    pub(crate) id: ExprId,
}

/// What a name means.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Coordinate(Group),
    Parameter(Value),
    /// With the highest derivative of a coordinate in it.
    Let(Value, u8),
    Function {
        arguments: Vec<Symbol>,
        body: Site,
    },
    Family(Family),
    Constraint(Rows),
    Observed(Value),
    Event,
    /// Its place among the modes.
    Mode(usize),
    /// Declared with a mistake that has been reported.
    Poison,
}

/// The components of one declared coordinate.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// First and last value of each index; none for a scalar.
    pub(crate) ranges: Vec<(i64, i64)>,
    pub(crate) value: Value,
    /// The index of the first component among all coordinates.
    pub(crate) first: usize,
}

/// A family of values by indices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Family {
    pub(crate) members: FxHashMap<Vec<i64>, (Value, u8)>,
    /// Indices in declared order.
    pub(crate) order: Vec<Vec<i64>>,
    pub(crate) slots: usize,
    /// Whether a member had a mistake: others may be missing for that reason.
    pub(crate) poisoned: bool,
}

/// The scalar constraints that one `constraint` statement made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Indices after the name, and the position among all constraints.
    pub(crate) rows: Vec<(Vec<i64>, usize)>,
    pub(crate) poisoned: bool,
}

impl Scope {
    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Entry> {
        self.entries.get_mut(name)
    }

    /// Adds a name, or replaces its meaning.
    pub(crate) fn insert(&mut self, name: &str, meaning: Meaning, span: Span) {
        let entry = Entry { meaning, span };
        if self.entries.insert(name.to_owned(), entry).is_none() {
            self.order.push(name.to_owned());
        }
    }

    /// All names in declared order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str)
    }
}

impl Meaning {
    /// What it is, for a message.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Coordinate(_) => "a coordinate",
            Self::Parameter(_) => "a parameter",
            Self::Let(..) => "an abbreviation",
            Self::Function { .. } => "a function",
            Self::Family(_) => "a family",
            Self::Constraint(_) => "a constraint",
            Self::Observed(_) => "an observed quantity",
            Self::Event => "an event",
            Self::Mode(_) => "a mode",
            Self::Poison => "a mistake",
        }
    }
}

impl Group {
    /// The position of a component among those of the group.
    pub(crate) fn offset(&self, indices: &[i64]) -> Option<usize> {
        if indices.len() != self.ranges.len() {
            return None;
        }
        let mut offset = 0;
        for (&i, &(from, to)) in indices.iter().zip(&self.ranges) {
            if i < from || i > to {
                return None;
            }
            offset = offset * (to - from + 1) as usize + (i - from) as usize;
        }
        Some(offset)
    }

    /// The indices of a component.
    pub(crate) fn indices(&self, offset: usize) -> Vec<i64> {
        let mut rest = offset;
        let mut indices: Vec<i64> = Vec::new();
        for &(from, to) in self.ranges.iter().rev() {
            let size = (to - from + 1) as usize;
            indices.push(from + (rest % size) as i64);
            rest /= size;
        }
        indices.reverse();
        indices
    }
}
