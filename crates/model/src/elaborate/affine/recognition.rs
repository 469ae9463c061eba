//! By what a matrix of coordinates is known as an affine body, where no word or function of affine bodies says so.
//!
//! Three signs: an inertia written $\operatorname{tr}(\dot\varphi^T g\dot\varphi J)$ with a matrix $J$, in
//! any order round the trace; $\det\varphi$ or $\varphi^{-1}$ in the energies, constraints or forces;
//! a force density at $x$ with $\partial x/\partial a = \varphi$. What is only observed is no sign: an area
//! that two particles span may have either sign.

use pfaff_expr::Expr;

use crate::elaborate::Elaborator;
use crate::elaborate::scope::{Meaning, Site};
use crate::shape::algebra;
use crate::shape::{Shape, Value};
use crate::syntax::{Binary, ExprId, NodeKind, Symbol};

/// A factor of a trace.
#[derive(Clone, Copy, PartialEq)]
enum Factor {
    Rate(Symbol),
    TransposedRate(Symbol),
    Matrix,
    Scalar,
}

impl Elaborator<'_> {
    /// Looks for the inertia of a body in the argument of a trace.
    pub(crate) fn see_trace(&mut self, site: Site) {
        if self.place.allows_results() {
            return;
        }
        let factors: Vec<Factor> = self.factors(self.argument(site, 0));
        let n = factors.len();
        for (k, &factor) in factors.iter().enumerate() {
            let Factor::Rate(symbol) = factor else { continue };
            // What stands between φ′ and its transpose, going round.
            let after = (1..n).map(|d| factors[(k + d) % n]);
            let between: Vec<Factor> =
                after.take_while(|f| *f != Factor::TransposedRate(symbol)).collect();
            let is_inertia = between.len() + 1 < n && between.contains(&Factor::Matrix);
            let name = self.arena(site).name(symbol).to_owned();
            let group = self.scope.get(&name).map(|entry| entry.meaning.clone());
            if let (true, Some(Meaning::Coordinate(group))) = (is_inertia, group) {
                self.take_body(site, &group.value);
            }
        }
    }

    /// The factors of a product from left to right.
    fn factors(&self, site: Site) -> Vec<Factor> {
        let mut stack = vec![site.id];
        let mut factors = Vec::new();
        while let Some(id) = stack.pop() {
            match self.kind(Site { id, ..site }) {
                NodeKind::Binary { operator: Binary::Multiply, left, right } => {
                    stack.extend([right, left]);
                }
                NodeKind::Binary { operator: Binary::Divide, left, .. }
                | NodeKind::Negate(left) => stack.push(left),
                _ => factors.push(self.factor(Site { id, ..site })),
            }
        }
        factors
    }

    fn factor(&self, site: Site) -> Factor {
        let rate_of = |id: ExprId| match self.kind(Site { id, ..site }) {
            NodeKind::Prime { base, order: 1 } => match self.kind(Site { id: base, ..site }) {
                NodeKind::Name(symbol) if self.local(symbol).is_none() => Some(symbol),
                _ => None,
            },
            _ => None,
        };
        if let Some(symbol) = rate_of(site.id) {
            return Factor::Rate(symbol);
        }
        match self.kind(site) {
            NodeKind::Call { arguments, .. } => {
                let argument = self.arena(site).list(arguments).first();
                match (self.called(site).as_str(), argument) {
                    ("transpose", Some(&id)) => {
                        rate_of(id).map_or(Factor::Matrix, Factor::TransposedRate)
                    }
                    ("inv" | "sym" | "identity", _) => Factor::Matrix,
                    (name, _) if name.starts_with("inertia_") => Factor::Matrix,
                    _ => Factor::Scalar,
                }
            }
            NodeKind::Vector(_) => Factor::Matrix,
            NodeKind::Name(symbol) => {
                let value = self.local(symbol).or_else(|| {
                    match &self.scope.get(self.arena(site).name(symbol))?.meaning {
                        Meaning::Parameter(value) | Meaning::Let(value, _) => {
                            Some(value.clone())
                        }
                        _ => None,
                    }
                });
                match value.and_then(|v| v.shape()) {
                    Some(Shape::Matrix(..)) => Factor::Matrix,
                    _ => Factor::Scalar,
                }
            }
            _ => Factor::Scalar,
        }
    }

    /// Remembers that the determinant or the inverse of a matrix is asked for; whether the motion depends on
    /// it is seen at the end.
    pub(crate) fn see_determinant(&mut self, site: Site, value: &Value) {
        if !self.place.allows_results() && self.draft.affine.determinants.len() < 100 {
            self.draft.affine.determinants.push((site, value.clone()));
        }
    }

    /// Takes for bodies what the dynamics divides by, or makes a volume of.
    pub(crate) fn finish_determinants(&mut self) {
        let asked = std::mem::take(&mut self.draft.affine.determinants);
        if asked.is_empty() || self.draft.dynamics.energy.equation.is_some() {
            return;
        }
        let energy = &self.draft.dynamics.energy;
        let energies = [energy.lagrangian, energy.kinetic, energy.potential];
        let mut roots: Vec<Expr> =
            energies.into_iter().flatten().filter_map(|(e, _)| e).collect();
        roots.extend(self.draft.dynamics.constraints.iter().map(|c| c.expr));
        roots.extend(
            self.draft.dynamics.forces.iter().flat_map(|f| f.components.iter().copied()),
        );
        let live = self.graph.live(&roots);
        for (site, value) in asked {
            let Value::Matrix(n, m, phi) = &value else { continue };
            if n != m || *n > algebra::MAX_DETERMINANT {
                continue;
            }
            let det = algebra::determinant(self.graph, *n, phi);
            let turned = self.graph.neg(det);
            if live.contains(&det) || live.contains(&turned) {
                self.take_body(site, &value);
            }
        }
    }

    /// A force density whose points are $x = r + \varphi a$ is spread over a body.
    pub(crate) fn see_spread(&mut self, site: Site, position: &[Expr], own: &[Expr]) {
        let n = own.len();
        if position.len() == n {
            let slopes = self.graph.jacobian(position, own).concat();
            self.take_body(site, &Value::Matrix(n, n, slopes.into()));
        }
    }
}
