//! The matrices of the linear equations as formulas of the parameters, where they are small.
//!
//! The state is put in as it was given (`x' = v` stays `v`), as zero, or as a short decimal number; velocities that
//! follow from constraints are solved for. Then the road is that of the numbers: $x$ of $r(t, y, x) = 0$, the
//! Jacobian (F),
//! the tangent $T$ of the chart and $A = P f_y T$, by elimination with the pivots of the numbers. Formulas are shown
//! only if
//! their values are those of the numbers.

use pfaff_expr::{Expr, Graph, number};
use pfaff_model::Workspace;

use crate::analysis::phase::field::{Field, FieldPoint};
use crate::analysis::phase::quotient::Quotient;
use crate::system::dynamics::Dynamics;
use crate::system::linearisation::{Rate, Variables, balance};

/// Unknowns and variables up to which formulas are tried.
const UNKNOWNS: usize = 10;
const VARIABLES: usize = 6;
/// Nodes of an entry.
const LARGE: usize = 160;
/// Nodes of all entries of a matrix that is shown.
const SHOWN: usize = 400;

/// Formulas by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolicMatrix {
    /// `A`, `M`, `C`, `K` or `B`
    pub name: &'static str,
    /// Columns.
    pub columns: usize,
    /// As text.
    pub text: Vec<String>,
    /// As LaTeX.
    pub latex: Vec<String>,
}

/// An expression with its value.
#[derive(Clone, Copy, Debug)]
struct Entry {
    e: Expr,
    value: f64,
}

/// Matrices by their names.
type NamedMatrices = Vec<(&'static str, Vec<Vec<Entry>>)>;

struct Algebra<'a> {
    g: &'a Graph,
    model: &'a Workspace,
}

impl Algebra<'_> {
    fn entry(&self, e: Expr) -> Option<Entry> {
        if self.g.size(&[e]) > 4 * LARGE {
            return None;
        }
        let e = self.g.simplify(e);
        let value = self.model.constant(e);
        // What is zero for these parameters may be something for others.
        let e = if value.abs() < 1e-12 && self.g.is_zero(e) { self.g.zero() } else { e };
        (self.g.size(&[e]) <= LARGE && value.is_finite()).then_some(Entry { e, value })
    }

    fn matrix(&self, rows: &[Vec<Expr>]) -> Option<Vec<Vec<Entry>>> {
        rows.iter().map(|row| row.iter().map(|&e| self.entry(e)).collect()).collect()
    }

    /// $M^{-1} R$ by elimination.
    fn solved(
        &self,
        mut matrix: Vec<Vec<Entry>>,
        mut right: Vec<Vec<Entry>>,
    ) -> Option<Vec<Vec<Entry>>> {
        let (g, k) = (self.g, matrix.len());
        for c in 0..k {
            let size = |r: usize| g.size(&[matrix[r][c].e]);
            let largest = (c..k).fold(0.0_f64, |m, r| m.max(matrix[r][c].value.abs()));
            if largest < 1e-12 {
                return None;
            }
            // The shortest of the pivots that are large enough.
            let fit = (c..k).filter(|&r| matrix[r][c].value.abs() >= 1e-3 * largest);
            let best = fit.min_by_key(|&r| size(r))?;
            matrix.swap(c, best);
            right.swap(c, best);
            let pivot = matrix[c][c];
            let scaled = |row: &[Entry]| -> Option<Vec<Entry>> {
                row.iter().map(|x| self.entry(g.div(x.e, pivot.e))).collect()
            };
            let (own, own_right) = (scaled(&matrix[c])?, scaled(&right[c])?);
            for r in (0..k).filter(|&r| r != c) {
                let part = matrix[r][c].e;
                if part == g.zero() {
                    continue;
                }
                let less = |row: &[Entry], own: &[Entry]| -> Option<Vec<Entry>> {
                    let pairs = row.iter().zip(own);
                    pairs.map(|(x, p)| self.entry(g.sub(x.e, g.mul(part, p.e)))).collect()
                };
                matrix[r] = less(&matrix[r], &own)?;
                right[r] = less(&right[r], &own_right)?;
            }
            (matrix[c], right[c]) = (own, own_right);
        }
        Some(right)
    }
}

/// What the formulas are made for.
pub(crate) struct Place<'a> {
    pub(crate) model: &'a Workspace,
    pub(crate) dynamics: &'a Dynamics,
    pub(crate) field: &'a Field,
    pub(crate) quotient: &'a Quotient,
    pub(crate) point: &'a FieldPoint,
    /// Components of the state that were given as formulas.
    pub(crate) given: &'a [(usize, Expr)],
    /// Parameters that are inputs.
    pub(crate) inputs: &'a [usize],
}

impl Place<'_> {
    /// $A$, $B$ where there are inputs, and $M$, $C$, $K$ where there are those, as far as they are small.
    pub(crate) fn matrices(
        &self,
        numbers: &[(&'static str, &[f64], usize)],
    ) -> Vec<SymbolicMatrix> {
        let g = &self.model.graph;
        let Some(found) = g.merging(|| self.derived()) else { return Vec::new() };
        let mut shown = Vec::new();
        for (name, values, columns) in numbers {
            let Some(matrix) = found.iter().find(|(known, _)| known == name) else { continue };
            let entries: Vec<Entry> = matrix.1.iter().flatten().copied().collect();
            let size = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let agrees = entries.len() == values.len()
                && entries.iter().zip(*values).all(|(e, x)| (e.value - x).abs() <= 1e-9 * size);
            let formulas: Vec<Expr> = entries.iter().map(|entry| entry.e).collect();
            if !agrees || g.size(&formulas) > SHOWN {
                continue;
            }
            let page = Graph::new();
            let formulas = g.on_paper(&formulas, &page);
            shown.push(SymbolicMatrix {
                name,
                columns: *columns,
                text: formulas.iter().map(|&e| page.to_text(e)).collect(),
                latex: formulas.iter().map(|&e| page.to_latex(e)).collect(),
            });
        }
        shown
    }

    fn derived(&self) -> Option<NamedMatrices> {
        let (model, field) = (self.model, self.field);
        let g = &model.graph;
        let algebra = Algebra { g, model };
        let Variables { unknowns, .. } = Variables::of(model, self.dynamics, Vec::new());
        let variables = &self.quotient.variables;
        if unknowns.len() > UNKNOWNS || variables.len() > VARIABLES || field.frame.is_some() {
            return None;
        }
        if matches!(self.dynamics, Dynamics::Ordinary(o) if !o.affine) {
            return None;
        }
        let residual = balance(model, self.dynamics);
        let constraints: [Vec<Expr>; 2] = match self.dynamics {
            Dynamics::Saddle(equations) => [
                equations.position.iter().flatten().copied().collect(),
                equations.residual.clone(),
            ],
            Dynamics::Ordinary(_) => [Vec::new(), Vec::new()],
        };
        let mut state = self.state(&algebra, &constraints)?;
        let (d, n) = (field.size(), field.n);
        // Rows that repeat others take no part.
        let [_, (rows, _)] = self.quotient.chart.dependents();
        let kept: Vec<usize> =
            (0..unknowns.len()).filter(|&i| i < n || rows.contains(&(i - n))).collect();
        let ordinary = matches!(self.dynamics, Dynamics::Ordinary(_));
        let kept = if ordinary { (0..unknowns.len()).collect() } else { kept };
        let part =
            |functions: &[Expr]| -> Vec<Expr> { kept.iter().map(|&i| functions[i]).collect() };
        let (equations, unknown) = (part(&residual), part(&unknowns));
        let mut rest = state.clone();
        rest.extend(unknowns.iter().map(|&x| (x, g.zero())));
        let at = |functions: &[Expr], values: &[(Expr, Expr)]| g.substitute(functions, values);
        let by_unknowns: Vec<Vec<Expr>> =
            g.jacobian(&equations, &unknown).iter().map(|row| at(row, &rest)).collect();
        let by_unknowns = algebra.matrix(&by_unknowns)?;
        let force: Vec<Vec<Expr>> =
            at(&equations, &rest).into_iter().map(|e| vec![g.neg(e)]).collect();
        let x = algebra.solved(by_unknowns.clone(), algebra.matrix(&force)?)?;
        state.extend(unknowns.iter().enumerate().map(|(i, &symbol)| {
            let place = kept.iter().position(|&k| k == i);
            (symbol, place.map_or(g.zero(), |place| x[place][0].e))
        }));
        let mut symbols = field.symbols.clone();
        symbols.extend(self.inputs.iter().map(|&k| model.parameters[k].symbol));
        let slopes: Vec<Vec<Expr>> = g
            .jacobian(&equations, &symbols)
            .iter()
            .map(|row| at(row, &state).into_iter().map(|e| g.neg(e)).collect())
            .collect();
        let response = algebra.solved(by_unknowns, algebra.matrix(&slopes)?)?;
        // The tangent of the chart, and what inputs do to constraints.
        let zero = Entry { e: g.zero(), value: 0.0 };
        let one = Entry { e: g.one(), value: 1.0 };
        let free = &self.quotient.chart.free;
        let places: Vec<usize> =
            variables.iter().filter_map(|c| free.iter().position(|f| f == c)).collect();
        let width = free.len() + self.inputs.len();
        let mut tangent = vec![vec![zero; width]; d];
        free.iter().enumerate().for_each(|(j, &c)| tangent[c][j] = one);
        for ((rows, columns), level) in
            self.quotient.chart.dependents().into_iter().zip(&constraints)
        {
            if rows.is_empty() {
                continue;
            }
            let level: Vec<Expr> = rows.iter().map(|&r| level[r]).collect();
            let all: Vec<Vec<Expr>> =
                g.jacobian(&level, &symbols).iter().map(|row| at(row, &state)).collect();
            let all = algebra.matrix(&all)?;
            let block: Vec<Vec<Entry>> =
                all.iter().map(|row| columns.iter().map(|&c| row[c]).collect()).collect();
            let mut right = Vec::new();
            for row in &all {
                let mut line = Vec::new();
                for j in 0..width {
                    let mut terms: Vec<Expr> =
                        (0..d).map(|c| g.mul(row[c].e, tangent[c][j].e)).collect();
                    terms.extend(j.checked_sub(free.len()).map(|input| row[d + input].e));
                    line.push(algebra.entry(g.neg(g.sum(terms)))?);
                }
                right.push(line);
            }
            let solved = algebra.solved(block, right)?;
            for (&c, line) in columns.iter().zip(solved) {
                tangent[c] = line;
            }
        }
        let row = |c: usize| -> Option<Vec<Entry>> {
            let slopes: Vec<Entry> = match field.rate_places()[c] {
                Rate::State(k) => {
                    (0..symbols.len()).map(|j| if j == k { one } else { zero }).collect()
                }
                Rate::Unknown(k) => response[kept.iter().position(|&i| i == k)?].clone(),
            };
            let inputs = (0..self.inputs.len()).map(|input| free.len() + input);
            places
                .iter()
                .copied()
                .chain(inputs)
                .map(|j| {
                    let mut terms: Vec<Expr> =
                        (0..d).map(|k| g.mul(slopes[k].e, tangent[k][j].e)).collect();
                    terms.extend(j.checked_sub(free.len()).map(|input| slopes[d + input].e));
                    algebra.entry(g.sum(terms))
                })
                .collect()
        };
        let whole: Vec<Vec<Entry>> =
            variables.iter().map(|&c| row(c)).collect::<Option<_>>()?;
        let w = variables.len();
        let cut = |from: usize, to: usize| -> Vec<Vec<Entry>> {
            whole.iter().map(|row| row[from..to].to_vec()).collect()
        };
        let a = cut(0, w);
        let mut found = vec![("B", cut(w, w + self.inputs.len()))];
        if let Some(forms) = self.second_order(&algebra, &a, &tangent, &state) {
            found.extend(forms);
        }
        found.push(("A", a));
        Some(found)
    }

    /// $M$, $C$ and $K$ from $A$.
    fn second_order(
        &self,
        algebra: &Algebra<'_>,
        a: &[Vec<Entry>],
        tangent: &[Vec<Entry>],
        state: &[(Expr, Expr)],
    ) -> Option<NamedMatrices> {
        let g = algebra.g;
        let Dynamics::Saddle(equations) = self.dynamics else { return None };
        let n = self.field.n;
        let variables = &self.quotient.variables;
        let velocities: Vec<usize> =
            (0..variables.len()).filter(|&i| variables[i] >= n).collect();
        let free = &self.quotient.chart.free;
        let columns: Vec<usize> = velocities
            .iter()
            .map(|&i| free.iter().position(|&c| c == variables[i]))
            .collect::<Option<_>>()?;
        let mass: Vec<Vec<Expr>> =
            equations.mass.iter().map(|row| g.substitute(row, state)).collect();
        let product = |p: usize, q: usize| {
            let terms = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            let terms = terms.map(|(i, j)| {
                let weight = g.mul(tangent[n + i][columns[p]].e, tangent[n + j][columns[q]].e);
                g.mul(weight, mass[i][j])
            });
            algebra.entry(g.sum(terms))
        };
        let u = velocities.len();
        let m: Vec<Vec<Entry>> =
            (0..u).map(|p| (0..u).map(|q| product(p, q)).collect()).collect::<Option<_>>()?;
        let times = |p: usize, column: Option<usize>| -> Option<Entry> {
            let Some(column) = column else { return algebra.entry(g.zero()) };
            let terms = (0..u).map(|q| g.mul(m[p][q].e, a[velocities[q]][column].e));
            algebra.entry(g.neg(g.sum(terms)))
        };
        let place = |q: usize| {
            let position = variables[velocities[q]] - n;
            variables.iter().position(|&c| c == position)
        };
        let form = |column: &dyn Fn(usize) -> Option<usize>| -> Option<Vec<Vec<Entry>>> {
            (0..u).map(|p| (0..u).map(|q| times(p, column(q))).collect()).collect()
        };
        let c = form(&|q| Some(velocities[q]))?;
        let k = form(&place)?;
        Some(vec![("M", m), ("C", c), ("K", k)])
    }

    /// The state as formulas.
    fn state(
        &self,
        algebra: &Algebra<'_>,
        constraints: &[Vec<Expr>; 2],
    ) -> Option<Vec<(Expr, Expr)>> {
        let (g, field) = (algebra.g, self.field);
        let mut state = vec![(self.model.time, short(g, self.point.t)?)];
        let mut open: Vec<usize> = Vec::new();
        let [_, (rows, columns)] = self.quotient.chart.dependents();
        for (c, &symbol) in field.symbols.iter().enumerate() {
            let y = self.point.y[c];
            // NOTE: a number of many digits makes formulas that nobody can read.
            let given = self.given.iter().find(|(k, e)| {
                *k == c
                    && g.number_of(*e).is_none()
                    && (self.model.constant(*e) - y).abs() <= 1e-12 * (1.0 + y.abs())
            });
            match given.map(|(_, e)| *e).or_else(|| short(g, y)) {
                Some(e) if given.is_some() || y == 0.0 || !columns.contains(&c) => {
                    state.push((symbol, e));
                }
                _ if columns.contains(&c) => open.push(c),
                _ => return None,
            }
        }
        if open.is_empty() {
            return Some(state);
        }
        // Constraints are affine in the velocities that are open.
        let taken: Vec<usize> =
            open.iter().filter_map(|c| columns.iter().position(|other| other == c)).collect();
        let level: Vec<Expr> = taken.iter().map(|&i| constraints[1][rows[i]]).collect();
        let symbols: Vec<Expr> = open.iter().map(|&c| field.symbols[c]).collect();
        let mut known = state.clone();
        known.extend(symbols.iter().map(|&s| (s, g.zero())));
        let block: Vec<Vec<Expr>> =
            g.jacobian(&level, &symbols).iter().map(|row| g.substitute(row, &known)).collect();
        let right: Vec<Vec<Expr>> =
            g.substitute(&level, &known).into_iter().map(|e| vec![g.neg(e)]).collect();
        let solved = algebra.solved(algebra.matrix(&block)?, algebra.matrix(&right)?)?;
        for (&c, entry) in open.iter().zip(&solved) {
            let y = self.point.y[c];
            if (entry[0].value - y).abs() > 1e-9 * (1.0 + y.abs()) {
                return None;
            }
            state.push((field.symbols[c], entry[0].e));
        }
        Some(state)
    }
}

/// A number as it would be written, if that is short.
fn short(g: &Graph, x: f64) -> Option<Expr> {
    let rounded = (x * 1e6).round();
    if (x * 1e6 - rounded).abs() <= 1e-9 * (1.0 + x.abs()) && rounded.abs() < 1e12 {
        return Some(g.fraction(rounded as i64, 1_000_000));
    }
    number::from_f64(x).filter(|_| x == x.trunc()).map(|x| g.number(x))
}
