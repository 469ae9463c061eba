//! Lie brackets and the derived flag of a distribution.
//!
//! $$ D^1 = D, \qquad D^{k+1} = D^k + [D, D^k], \qquad \text{growth vector } (\operatorname{rank} D^1,
//! \operatorname{rank} D^2, \dots) . $$
//!
//! Where constraints are affine or depend on time the distribution lives over $(q, t)$: the drift $\partial_t +
//! b^\alpha\partial_\alpha$ comes first among its fields. Generic ranks are decided by values modulo a
//! prime. At a point the rank of $D^k$ may be smaller than generically, and brackets that are combinations of
//! others almost everywhere count again: [`deepen`] keeps them all.

use pfaff_expr::{Expr, Graph};
use pfaff_model::Workspace;

use super::integrability::lie_bracket;
use crate::constraint::split::Split;

/// A field made by brackets $[X_a,[X_b,\dots]]$.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// $a, b, \dots$: indices of the generators.
    pub word: Vec<usize>,
    /// Its components.
    pub field: Vec<Expr>,
}

/// Fields that span a distribution.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// The variables: coordinates, and time at the end where it takes part.
    pub variables: Vec<Expr>,
    /// The generators, brackets of one letter.
    pub generators: Vec<Bracket>,
    /// Their names: `X[x]` for base coordinates, `X[t]` for the drift.
    pub names: Vec<String>,
}

/// The derived flag at a generic point.
#[derive(Clone, Debug)]
pub struct Flag {
    /// Fields that each step adds; generators first.
    pub levels: Vec<Vec<Bracket>>,
    /// Whether the flag was followed to its end.
    pub complete: bool,
}

/// Nodes that brackets may add before the flag is left open: about 0.1 s.
const BUDGET: usize = 100_000;
/// Fields that a point may need before its flag is left open.
const MANY: usize = 400;

impl Distribution {
    /// The distribution of a split.
    pub fn new(model: &Workspace, split: &Split) -> Self {
        let g = &model.graph;
        let mut variables = model.positions();
        let name = |k: &usize| format!("X[{}]", model.coordinates[*k].name);
        let mut names: Vec<String> = split.base.iter().map(name).collect();
        let mut fields = split.fields(model);
        let drift = split.drift_field(model);
        if drift.is_some() || split.is_timely(model) {
            variables.push(model.time);
            fields.iter_mut().for_each(|x| x.push(g.zero()));
            let mut ahead = drift.unwrap_or_else(|| vec![g.zero(); variables.len() - 1]);
            ahead.push(g.one());
            fields.insert(0, ahead);
            names.insert(0, "X[t]".into());
        }
        let generators = fields
            .into_iter()
            .enumerate()
            .map(|(i, field)| Bracket { word: vec![i], field })
            .collect();
        Self { variables, generators, names }
    }

    /// The fields at a fixed time, on the positions alone; `None` where time takes no part anyway.
    pub fn without_drift(&self) -> Option<Self> {
        if self.names.first()? != "X[t]" {
            return None;
        }
        let last = self.variables.len() - 1;
        let own = self.generators.iter().skip(1).enumerate();
        let generators =
            own.map(|(i, b)| Bracket { word: vec![i], field: b.field[..last].to_vec() });
        Some(Self {
            variables: self.variables[..last].to_vec(),
            generators: generators.collect(),
            names: self.names[1..].to_vec(),
        })
    }

    /// The dimension of the space it lives on.
    pub fn dimension(&self) -> usize {
        self.variables.len()
    }

    /// `[X[x], X[y]]`
    pub fn text(&self, word: &[usize]) -> String {
        let mut letters = word.iter().rev();
        let last = letters.next().map_or(String::new(), |&i| self.names[i].clone());
        letters.fold(last, |inner, &i| format!("[{}, {inner}]", self.names[i]))
    }

    /// $[X, Y]^i = X^j\partial_j Y^i - Y^j\partial_j X^i$
    pub fn bracket(&self, g: &Graph, x: &[Expr], y: &[Expr]) -> Vec<Expr> {
        lie_bracket(g, x, y, &self.variables)
    }

    /// The derived flag at a generic point.
    pub fn flag(&self, g: &Graph) -> Flag {
        g.merging(|| {
            let size = g.len();
            let mut rows: Vec<Vec<Expr>> = Vec::new();
            let mut levels = vec![self.generators.clone()];
            rows.extend(self.generators.iter().map(|b| b.field.clone()));
            while rows.len() < self.dimension() {
                if self.is_beyond_reason(g, size, 0) {
                    return Flag { levels, complete: false };
                }
                let last = levels.last().expect("the generators are a level");
                let mut fresh = Vec::new();
                for bracket in self.deepen(g, last) {
                    rows.push(bracket.field.clone());
                    if g.rank(&rows) == rows.len() {
                        fresh.push(bracket);
                    } else {
                        rows.pop();
                    }
                }
                if fresh.is_empty() {
                    break;
                }
                levels.push(fresh);
            }
            Flag { levels, complete: true }
        })
    }

    /// All brackets of the generators with the fields of a level, but those that are zero everywhere.
    pub fn deepen(&self, g: &Graph, level: &[Bracket]) -> Vec<Bracket> {
        let mut deeper = Vec::new();
        for (a, x) in self.generators.iter().enumerate() {
            for y in level {
                // [X_a, X_b] is −[X_b, X_a], and [X_a, X_a] is nothing.
                if y.word.len() == 1 && a >= y.word[0] {
                    continue;
                }
                let field = self.bracket(g, &x.field, &y.field);
                if field.iter().any(|&e| !g.vanishes_modulo_prime(e)) {
                    deeper.push(Bracket { word: [&[a], y.word.as_slice()].concat(), field });
                }
            }
        }
        deeper
    }

    /// Whether so many fields were made that a point is better left open.
    pub fn is_beyond_reason(&self, g: &Graph, size: usize, fields: usize) -> bool {
        g.len() - size > BUDGET || fields > MANY
    }
}

impl Flag {
    /// The growth vector.
    pub fn growth(&self) -> Vec<usize> {
        let add = |sum: &mut usize, level: &Vec<Bracket>| {
            *sum += level.len();
            Some(*sum)
        };
        self.levels.iter().scan(0, add).collect()
    }

    /// The rank of the closure under brackets.
    pub fn closure_rank(&self) -> usize {
        self.levels.iter().map(Vec::len).sum()
    }

    /// Fields that span the closure.
    pub fn fields(&self) -> Vec<Vec<Expr>> {
        self.levels.iter().flatten().map(|b| b.field.clone()).collect()
    }
}
