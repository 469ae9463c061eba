//! Functions of time that have no tape, as further inputs of the equations: Mittag-Leffler functions.

use pfaff_expr::{Expr, Graph};
use pfaff_model::Workspace;

use crate::run::volterra::volterra_equations::VolterraEquations;

/// Times whose values are kept: those of a step, and a few more.
const KEPT: usize = 32;

/// The functions, with their values at the last times.
#[derive(Clone, Debug)]
pub(crate) struct SlowInputs {
    graph: Graph,
    elapsed: Expr,
    functions: Vec<Expr>,
    parameters: Vec<(Expr, f64)>,
    kept: Vec<(f64, Vec<f64>)>,
    next: usize,
}

impl SlowInputs {
    pub(crate) fn new(model: &Workspace, plan: &VolterraEquations) -> Self {
        Self {
            graph: model.graph.clone(),
            elapsed: plan.elapsed,
            functions: plan.slow.iter().map(|s| s.1).collect(),
            parameters: model.parameters.iter().map(|p| (p.symbol, p.value)).collect(),
            kept: Vec::new(),
            next: 0,
        }
    }

    /// Writes the functions at a time since the start.
    pub(crate) fn fill(&mut self, elapsed: f64, out: &mut [f64]) {
        if self.functions.is_empty() {
            return;
        }
        if let Some((_, values)) = self.kept.iter().find(|k| k.0 == elapsed) {
            out.copy_from_slice(values);
            return;
        }
        let at = |s: Expr| {
            let parameter = || self.parameters.iter().find(|p| p.0 == s).map(|p| p.1);
            if s == self.elapsed { elapsed } else { parameter().unwrap_or(f64::NAN) }
        };
        let values = self.graph.evaluate(&self.functions, &at);
        out.copy_from_slice(&values);
        if self.kept.len() < KEPT {
            self.kept.push((elapsed, values));
        } else {
            self.kept[self.next] = (elapsed, values);
            self.next = (self.next + 1) % KEPT;
        }
    }
}
