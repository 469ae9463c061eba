//! High derivatives of constraints into unknowns and operands, each in its way.

use pfaff_expr::{Expr, Node, Role};
use pfaff_mechanics::Equations;
use pfaff_model::{Constraint, Diagnostic, Span, Workspace};
use pfaff_solver::{Kernel, Operand};

use crate::run::volterra::high_order::{High, HighOrderForm, Lift};
use crate::run::volterra::response::free_motion;
use crate::run::volterra::volterra_equations::{VolterraEquations, real};

/// The free motion among the unknowns, as far as it was asked for.
pub(crate) struct Free<'a> {
    pub(crate) model: &'a Workspace,
    pub(crate) equations: &'a Equations,
    /// $u$ at the start.
    pub(crate) first: Vec<f64>,
    /// Where $u$ begins among the unknowns.
    pub(crate) accelerations: Option<usize>,
}

impl Free<'_> {
    /// The constraint with its high derivatives found; further equations that the audit looks at come with their names.
    pub(crate) fn constraint(
        &mut self,
        plan: &mut VolterraEquations,
        lift: &Lift,
        constraint: &Constraint,
    ) -> Result<(Expr, Vec<(String, Expr)>), Diagnostic> {
        let g = &self.model.graph;
        let (name, span) = (constraint.name.as_str(), constraint.span);
        let mut images = Vec::new();
        let mut held = Vec::new();
        for high in &lift.highs {
            match &high.form {
                HighOrderForm::Driven => {
                    let first: Vec<f64> = plan.data.iter().map(|d| d[2]).collect();
                    let accelerations = self.model.accelerations();
                    held.push((name, relation(self.model, plan, high, &accelerations, &first)));
                }
                HighOrderForm::Reduced(_) => {
                    let place = self.accelerations(plan, span)?;
                    let n = self.model.coordinates.len();
                    let u = plan.unknowns[place..place + n].to_vec();
                    held.push((name, relation(self.model, plan, high, &u, &self.first)));
                }
                HighOrderForm::Free => {
                    let place = self.accelerations(plan, span)?;
                    let sum = integrals(self.model, plan, high, place, 2.0 - high.alpha);
                    images.push((high.symbol, sum));
                }
                HighOrderForm::Rate { bent, composed, .. } => {
                    let place = self.rates(plan, *bent, composed, span)?;
                    let mut sum = integrals(self.model, plan, high, place, 3.0 - high.alpha);
                    for &(node, factor) in composed {
                        let part = plan.composed(self.model, node, high.alpha - 2.0);
                        sum = g.add(sum, g.mul(real(g, factor), part));
                    }
                    images.push((high.symbol, sum));
                }
            }
        }
        let residual = g.substitute(&[lift.residual], &images)[0];
        let several = held.len() > 1;
        let named = held.into_iter().enumerate().map(|(i, (name, e))| {
            let number = if several { format!(" {}", i + 1) } else { String::new() };
            (format!("{name} integrated{number}"), e)
        });
        Ok((plan.translate(self.model, &[residual], span)?[0], named.collect()))
    }

    /// Where $u$ begins among the unknowns.
    fn accelerations(
        &mut self,
        plan: &mut VolterraEquations,
        span: Span,
    ) -> Result<usize, Diagnostic> {
        if let Some(place) = self.accelerations {
            return Ok(place);
        }
        let (symbols, rows) = free_motion(self.model, self.equations);
        let rows = plan.translate(self.model, &rows, span)?;
        let place = plan.unknowns.len();
        plan.unknowns.extend(&symbols);
        plan.residual.extend(rows);
        self.accelerations = Some(place);
        Ok(place)
    }

    /// Where $\dot u$ begins among the unknowns: the equations of $u$, differentiated with what is composed held fixed.
    fn rates(
        &mut self,
        plan: &mut VolterraEquations,
        bent: bool,
        composed: &[(Expr, f64)],
        span: Span,
    ) -> Result<usize, Diagnostic> {
        self.accelerations(plan, span)?;
        let g = &self.model.graph;
        let (symbols, rows) = free_motion(self.model, self.equations);
        let block = plan.unknowns.len();
        let symbol = |i: usize| g.symbol(&format!("free rate {block} {i}"), Role::Free);
        let rates: Vec<Expr> = (0..symbols.len()).map(symbol).collect();
        let mut direction: Vec<(Expr, Expr)> = vec![(self.model.time, g.one())];
        for (k, c) in self.model.coordinates.iter().enumerate() {
            direction.push((c.position, c.velocity));
            direction.push((c.velocity, if bent { c.acceleration } else { symbols[k] }));
        }
        direction.extend(symbols.iter().copied().zip(rates.iter().copied()));
        let mut pasts = Vec::new();
        for node in g.live(&rows) {
            if matches!(g.node(node), Node::Memory(..)) {
                let symbol = g.symbol(&format!("past force {}", pasts.len()), Role::Free);
                if !composed.iter().any(|c| c.0 == node) {
                    direction.push((symbol, plan.rate(self.model, node, span)?));
                }
                pasts.push((node, symbol));
            }
        }
        let back: Vec<(Expr, Expr)> = pasts.iter().map(|&(node, s)| (s, node)).collect();
        let rows = g.directional(&g.substitute(&rows, &pasts), &direction);
        let rows = plan.translate(self.model, &g.substitute(&rows, &back), span)?;
        let place = plan.unknowns.len();
        plan.unknowns.extend(&rates);
        plan.residual.extend(rows);
        Ok(place)
    }
}

/// $b\cdot(x - x_0) - J^{\alpha-2} Y = 0$ with the further unknown $Y$.
fn relation(
    model: &Workspace,
    plan: &mut VolterraEquations,
    high: &High,
    x: &[Expr],
    first: &[f64],
) -> Expr {
    let g = &model.graph;
    let unknown = plan.unknowns.len();
    plan.unknowns.push(high.symbol);
    plan.guesses.push((high.symbol, high.first));
    let kernel = Kernel::Power(high.alpha - 2.0);
    let operand = Operand { unknown, kernel, start: Vec::new(), controlled: false };
    let memory = plan.operand(g, operand, None);
    let gained = high.slopes.iter().zip(x).zip(first).filter(|((b, _), _)| **b != 0.0);
    let gained = gained.map(|((&b, &x), &first)| g.mul(real(g, b), g.sub(x, real(g, first))));
    let relation = g.sub(g.sum(gained.collect::<Vec<_>>()), memory);
    plan.residual.push(relation);
    relation
}

/// $J^\mu(b\cdot x)$ of unknowns from `place` on.
fn integrals(
    model: &Workspace,
    plan: &mut VolterraEquations,
    high: &High,
    place: usize,
    mu: f64,
) -> Expr {
    let g = &model.graph;
    let mut sum = g.zero();
    for (k, &b) in high.slopes.iter().enumerate().filter(|(_, b)| **b != 0.0) {
        let kernel = Kernel::Power(mu);
        let operand =
            Operand { unknown: place + k, kernel, start: Vec::new(), controlled: true };
        sum = g.add(sum, g.mul(real(g, b), plan.operand(g, operand, None)));
    }
    sum
}
