//! A model with memory and ends into a variational problem.
//!
//! $\mathcal L = L - \mu\cdot\varphi$ becomes an expression of the time and of the values of linear operators on coordinates and multipliers. The order of a coordinate is the highest that occurs: 1 with $\dot q$, that of an operator from its own side, the next integer above that of one from the other side. Multipliers, and coordinates that occur by themselves only, have order 0.

use pfaff_expr::{Expr, Memory, Node, Role};
use pfaff_model::{Diagnostic, Model, Span};
use pfaff_solver::{Course, Operator, Side, VariationalProblem};

use crate::memory::plan::{combination, constant};

/// The problem with the expressions behind it.
#[derive(Clone, Debug)]
pub(crate) struct Formulation {
    pub(crate) problem: VariationalProblem,
    /// A symbol for the value of each operator of the problem.
    pub(crate) symbols: Vec<Expr>,
    /// $\mathcal L$ by these symbols.
    pub(crate) lagrangian: Expr,
    /// $L$ and the $\varphi$ by these symbols.
    pub(crate) action: Expr,
    pub(crate) residuals: Vec<Expr>,
    /// Memory operators and what stands for them.
    images: Vec<(Expr, Expr)>,
}

/// A mistake in a variational problem with memory.
pub(crate) fn mistake(span: Span, message: String, hint: &str) -> Diagnostic {
    Diagnostic::error("E0636", span, message).with_hint(hint)
}

impl Formulation {
    /// Everything but the conditions at the ends.
    pub(crate) fn new(model: &Model, length: f64) -> Result<Self, Vec<Diagnostic>> {
        let pfaff_model::Dynamics::Lagrangian { lagrangian, span, .. } = model.dynamics else {
            let text = "ends with memory need a Lagrangian".into();
            return Err(vec![mistake(Span::default(), text, "write `lagrangian …`")]);
        };
        let (g, n) = (&model.graph, model.coordinates.len());
        let mut whole = Self {
            problem: VariationalProblem {
                length,
                courses: Vec::new(),
                operators: Vec::new(),
                conditions: Vec::new(),
                decay: 1.0,
            },
            symbols: Vec::new(),
            lagrangian,
            action: lagrangian,
            residuals: Vec::new(),
            images: Vec::new(),
        };
        for (k, c) in model.coordinates.iter().enumerate() {
            whole.operator(k, Operator::Derivative(0), c.position);
            whole.operator(k, Operator::Derivative(1), c.velocity);
        }
        for (a, &μ) in model.results.mu.iter().enumerate() {
            whole.operator(n + a, Operator::Derivative(0), μ);
        }
        let mut mistakes = Vec::new();
        let mut parts = vec![(lagrangian, span)];
        parts.extend(model.constraints.iter().map(|c| (c.expr, c.span)));
        let count = parts.len();
        parts.extend(model.observed.iter().map(|o| (o.expr, o.span)));
        let mut images = Vec::new();
        for (i, &(e, span)) in parts.iter().enumerate() {
            match whole.translate(model, e, span) {
                Ok(image) if i < count => images.push(image),
                Ok(_) => {}
                Err(d) => mistakes.push(d),
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        whole.action = images[0];
        whole.residuals = images[1..].to_vec();
        let σ = g.dot(&model.results.mu, &whole.residuals);
        whole.lagrangian = g.sub(whole.action, σ);
        whole.keep_what_occurs(model);
        whole.courses(model, span).map_err(|d| vec![d])?;
        Ok(whole)
    }

    /// Memory operators replaced by symbols.
    pub(crate) fn translate(
        &mut self,
        model: &Model,
        e: Expr,
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let g = &model.graph;
        for node in g.live(&[e]) {
            let Node::Memory(kind, operand, second) = g.node(node) else { continue };
            if !self.images.iter().any(|(m, _)| *m == node) {
                let image = self.image(model, (kind, operand, second), span)?;
                self.images.push((node, image));
            }
        }
        Ok(g.substitute(&[e], &self.images)[0])
    }

    fn image(
        &mut self,
        model: &Model,
        (kind, operand, second): (Memory, Expr, Expr),
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let g = &model.graph;
        let name = kind.name();
        if matches!(kind, Memory::Kernel | Memory::Mean) {
            let text = format!("`{name}` between given ends is not built");
            let hint = "`caputo`, `rl`, `caputo_right`, `rl_right` and `integral` are";
            return Err(mistake(span, text, hint));
        }
        let order = constant(model, second);
        let bound = if kind == Memory::Integral { 20.0 } else { 2.0 };
        if !(order > 0.0 && order < bound) {
            let text = format!(
                "the order of `{name}` is {order}: between given ends it must lie between 0 and {bound}"
            );
            return Err(mistake(
                span,
                text,
                "orders of 2 and more need data that `initial` and `final` do not have",
            ));
        }
        let Some(parts) = combination(model, operand) else {
            let text = format!(
                "the operand of `{name}` is not linear in coordinates with constant coefficients"
            );
            let hint = "give the operand a coordinate of its own, z, with `constraint z = …`";
            return Err(mistake(span, text, hint));
        };
        let side = match kind {
            Memory::CaputoRight | Memory::RiemannLiouvilleRight => Side::Right,
            _ => Side::Left,
        };
        let caputo = matches!(kind, Memory::Caputo | Memory::CaputoRight);
        if (parts.rest != 0.0 || !parts.velocities.is_empty()) && !caputo {
            let text = format!("the operand of `{name}` has a velocity or a constant");
            return Err(mistake(span, text, "`caputo` takes them"));
        }
        let mut sum = g.zero();
        for (k, c) in parts.positions {
            let operator = match kind {
                Memory::Integral => Operator::Integral(side, order),
                _ if caputo => Operator::Caputo(side, order),
                _ => Operator::RiemannLiouville(side, order),
            };
            sum = g.add(sum, g.mul(c, self.value(model, k, operator)));
        }
        for (k, c) in parts.velocities {
            if order >= 1.0 {
                let text = format!(
                    "`{name}` of order {order} of a velocity is one of order {} of its coordinate: it must be below 2",
                    order + 1.0
                );
                return Err(mistake(span, text, "lower the order"));
            }
            // NOTE: D^β q' = D^(β+1) q on the left, −D^(β+1) q on the right.
            let value = self.value(model, k, Operator::Caputo(side, order + 1.0));
            let value = if side == Side::Right { g.neg(value) } else { value };
            sum = g.add(sum, g.mul(c, value));
        }
        Ok(sum)
    }

    fn value(&mut self, model: &Model, k: usize, operator: Operator) -> Expr {
        let known = self.problem.operators.iter().position(|o| *o == (k, operator));
        match known {
            Some(at) => self.symbols[at],
            None => {
                let name = format!("operator {}", self.symbols.len());
                let symbol = model.graph.symbol(&name, Role::Free);
                self.operator(k, operator, symbol);
                symbol
            }
        }
    }

    fn operator(&mut self, k: usize, operator: Operator, symbol: Expr) {
        self.problem.operators.push((k, operator));
        self.symbols.push(symbol);
    }

    /// Leaves out the operators that 𝓛 does not see.
    fn keep_what_occurs(&mut self, model: &Model) {
        let g = &model.graph;
        let seen = g.symbols(&[self.lagrangian]);
        let kept: Vec<usize> =
            (0..self.symbols.len()).filter(|&i| seen.contains(&self.symbols[i])).collect();
        self.problem.operators = kept.iter().map(|&i| self.problem.operators[i]).collect();
        self.symbols = kept.iter().map(|&i| self.symbols[i]).collect();
    }

    /// Orders and sides.
    fn courses(&mut self, model: &Model, span: Span) -> Result<(), Diagnostic> {
        let n = model.coordinates.len();
        let total = n + model.constraints.len();
        for k in 0..total {
            let mine = || self.problem.operators.iter().filter(|o| o.0 == k).map(|o| o.1);
            if k < n && mine().next().is_none() {
                let name = &model.coordinates[k].name;
                let text = format!("neither the Lagrangian nor a constraint contains `{name}`");
                return Err(mistake(span, text, "leave it out"));
            }
            let from = |side: Side| {
                mine().any(|o| match o {
                    Operator::Caputo(s, _)
                    | Operator::RiemannLiouville(s, _)
                    | Operator::Integral(s, _) => s == side,
                    Operator::Derivative(_) => false,
                })
            };
            let side =
                if from(Side::Right) && !from(Side::Left) { Side::Right } else { Side::Left };
            let need = |o: Operator| match o {
                Operator::Derivative(k) => f64::from(k),
                Operator::Integral(..) => 0.0,
                Operator::Caputo(s, β) | Operator::RiemannLiouville(s, β) if s == side => β,
                Operator::Caputo(_, β) | Operator::RiemannLiouville(_, β) => β.ceil(),
            };
            let order = mine().map(need).fold(0.0, f64::max);
            self.problem.courses.push(Course { side, order });
            let plain = mine().any(|o| o == Operator::Derivative(1));
            for o in mine() {
                match o {
                    // The highest order is an integer that no operator has: the density is singular as its square allows.
                    Operator::Caputo(_, β) | Operator::RiemannLiouville(_, β)
                        if !plain && order > β =>
                    {
                        let slack = 2.0 * (β - order.floor() + 1.0) - 1.0;
                        self.problem.decay = self.problem.decay.min(slack);
                    }
                    _ => {}
                }
                if let Operator::RiemannLiouville(_, β) = o {
                    self.problem.decay = self.problem.decay.min(1.0 - 2.0 * (β - β.floor()));
                }
            }
        }
        Ok(())
    }
}
