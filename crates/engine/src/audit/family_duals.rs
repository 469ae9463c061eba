//! Families of like terms with dual numbers: a loop over their rows, forwards and backwards.
//!
//! The terms are differentiated by dual numbers as everything else is. The derivatives that the derivation has of a
//! family are not used.

use std::sync::Arc;

use pfaff_expr::{Expr, Family, Graph};

use crate::audit::autodiff::{Dual, Duals, NONE};
use crate::motion::sample::LANES;

/// One part of a family.
#[derive(Clone, Debug)]
pub(crate) struct FamilyDuals {
    family: Arc<Family>,
    /// Its terms over their placeholders, each with the arguments that these are.
    terms: Vec<(Duals, Vec<usize>)>,
    /// The places of the entries of the list.
    entries: Vec<u32>,
    /// The same, [`NONE`] for those that do not vary.
    pub(crate) by: Vec<u32>,
    /// The rows of the part, with their terms.
    rows: Vec<(u32, u32)>,
}

impl FamilyDuals {
    /// A part over a list, whose entries are given by their places and whether they vary.
    pub(crate) fn new(
        g: &Graph,
        family: Arc<Family>,
        part: u32,
        entries: impl Iterator<Item = (u32, bool)>,
        fixed: &dyn Fn(Expr) -> Option<f64>,
    ) -> Self {
        let argument = |s: Expr| family.arguments.iter().position(|&a| a == s);
        let fixed = |s: Expr| if argument(s).is_some() { None } else { fixed(s) };
        let laid = |&term: &Expr| {
            let duals = Duals::new(g, &[term], 1, &[], &fixed);
            let arguments = duals.symbols.iter().filter_map(|&s| argument(s)).collect();
            (duals, arguments)
        };
        let terms = family.terms.iter().map(laid).collect();
        let mut rows = Vec::new();
        for row in 0..family.rows() {
            let targets = family.targets_of(row).iter().enumerate();
            let own = targets.filter(|(_, target)| **target == part);
            rows.extend(own.map(|(term, _)| (row as u32, term as u32)));
        }
        let (entries, by) =
            entries.map(|(place, varies)| (place, if varies { place } else { NONE })).unzip();
        Self { family, terms, entries, by, rows }
    }

    /// How many nodes an evaluation visits.
    pub(crate) fn len(&self) -> usize {
        self.rows.iter().map(|row| self.terms[row.1 as usize].0.len()).sum()
    }

    /// The part, from the values of all nodes.
    pub(crate) fn value(&mut self, values: &[Dual]) -> Dual {
        let Self { family, terms, entries, rows, .. } = self;
        let mut sum = Dual::default();
        for &(row, term) in rows.iter() {
            let operands = family.operands_of(row as usize);
            let (duals, given) = &mut terms[term as usize];
            duals.evaluate(&|s| entry(values, entries, operands[given[s]]));
            sum = sum.add(duals.output(0));
        }
        sum
    }

    /// Adds the derivatives of the part, times an adjoint, to the adjoints of its operands.
    pub(crate) fn sweep(&mut self, values: &[Dual], adjoint: &Dual, adjoints: &mut [Dual]) {
        let Self { family, terms, entries, by, rows } = self;
        for &(row, term) in rows.iter() {
            let operands = family.operands_of(row as usize);
            let (duals, given) = &mut terms[term as usize];
            duals.evaluate(&|s| entry(values, entries, operands[given[s]]));
            duals.sweep(0, [1.0; LANES], &mut |s, slope| {
                let place = by.get(operands[given[s]] as usize).copied().unwrap_or(NONE);
                if place != NONE {
                    let sum = &mut adjoints[place as usize];
                    *sum = sum.add(&adjoint.chain(&slope));
                }
            });
        }
    }
}

/// The value of an entry of a list, which is zero beyond its end.
fn entry(values: &[Dual], entries: &[u32], position: u32) -> Dual {
    let place = entries.get(position as usize);
    place.map_or_else(Dual::default, |&place| values[place as usize])
}
