//! A model with memory and ends into a variational problem.
//!
//! $\mathcal L = L - \mu\cdot\varphi$ becomes an expression of the time and of the values of linear operators
//! on coordinates and multipliers. The order of a coordinate is the highest that occurs: 1 with $\dot q$,
//! that of an operator from its own side, the next integer above that of one from the other side.
//! Multipliers, and coordinates that occur by themselves only, have order 0.
//!
//! An operand $G(q, t)$ that is not linear with constant coefficients gets a function $y$ and a multiplier
//! $\nu$ of its own, $\mathcal L - \nu\,(y - G^{(m)})$ with $m = \lceil\alpha\rceil$, and $D^\alpha G =
//! J^{m-\alpha}y$ (on the right $(-1)^m$ times that). Nothing is asked of $G$ at the ends.

use pfaff_expr::{Expr, Memory, Role};
use pfaff_model::{Diagnostic, Span, Workspace};
use pfaff_solver::{FractionalOperator, Side, Unknown, VariationalProblem};

use crate::run::memory_operator::MemoryOperator;
use crate::run::volterra::combination::combination;
use crate::run::volterra::volterra_equations::constant;

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
    /// For each symbol of a memory operator on one coordinate, that operator as an expression.
    pub(crate) written: Vec<Option<Expr>>,
    /// Operands with functions of their own.
    pub(crate) operands: Vec<Operand>,
    /// How often each coordinate is differentiated where an operator really acts on it.
    pub(crate) seen: Vec<f64>,
    /// Memory operators and what stands for them.
    images: Vec<(Expr, Expr)>,
}

/// An operand with a function of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    /// What the operator acts on.
    function: Expr,
    /// $\alpha$, negative for an integral.
    order: f64,
    /// $y - G^{(m)}$
    pub(crate) residual: Expr,
    /// $\nu$
    pub(crate) multiplier: Expr,
}

/// A mistake in a variational problem with memory.
pub(crate) fn mistake(span: Span, message: String, hint: &str) -> Diagnostic {
    Diagnostic::error("E0636", span, message).with_hint(hint)
}

impl Formulation {
    /// Everything but the conditions at the ends.
    pub(crate) fn new(model: &Workspace, length: f64) -> Result<Self, Vec<Diagnostic>> {
        let pfaff_model::Dynamics::Lagrangian { lagrangian, span, .. } = model.dynamics else {
            let text = "ends with memory need a Lagrangian".into();
            return Err(vec![mistake(Span::default(), text, "write `lagrangian …`")]);
        };
        let (g, n) = (&model.graph, model.coordinates.len());
        let mut whole = Self {
            problem: VariationalProblem {
                length,
                unknowns: Vec::new(),
                tails: Vec::new(),
                operators: Vec::new(),
                conditions: Vec::new(),
                decay: 1.0,
            },
            symbols: Vec::new(),
            lagrangian,
            action: lagrangian,
            residuals: Vec::new(),
            written: Vec::new(),
            operands: Vec::new(),
            seen: Vec::new(),
            images: Vec::new(),
        };
        for (k, c) in model.coordinates.iter().enumerate() {
            whole.operator(k, FractionalOperator::Derivative(0), c.position);
            whole.operator(k, FractionalOperator::Derivative(1), c.velocity);
            whole.operator(k, FractionalOperator::Derivative(2), c.acceleration);
        }
        for (a, &μ) in model.results.mu.iter().enumerate() {
            whole.operator(n + a, FractionalOperator::Derivative(0), μ);
        }
        let mut mistakes = Vec::new();
        let mut parts = vec![(lagrangian, span)];
        parts.extend(model.constraints.iter().map(|c| (c.expr, c.span)));
        let count = parts.len();
        parts.extend(model.observed.iter().map(|o| (o.expr, o.span)));
        let mut images = Vec::new();
        for (i, &(e, span)) in parts.iter().enumerate() {
            let known = whole.operands.len();
            match whole.translate(model, e, span) {
                Ok(image) if i < count => images.push(image),
                Ok(_) if whole.operands.len() > known => {
                    let text = "the observed quantity applies a memory operator to something that neither the \
                                Lagrangian nor a constraint contains".into();
                    let hint = "give the operand a coordinate of its own, z, with `constraint z' = …` and its \
                        value at the start";
                    mistakes.push(mistake(span, text, hint));
                }
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
        let own = whole.operands.iter().map(|o| g.mul(o.multiplier, o.residual));
        whole.lagrangian = g.sub(whole.action, g.add(σ, g.sum(own)));
        whole.keep_what_occurs(model);
        whole.seen = (0..n).map(|k| whole.seen_order(model, k)).collect();
        whole.unknowns(model, span).map_err(|d| vec![d])?;
        Ok(whole)
    }

    /// Memory operators replaced by symbols.
    pub(crate) fn translate(
        &mut self,
        model: &Workspace,
        e: Expr,
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let g = &model.graph;
        for node in g.live(&[e]) {
            let Some(term) = MemoryOperator::of(g, node) else { continue };
            if !self.images.iter().any(|(m, _)| *m == node) {
                let image = self.image(model, term, span)?;
                self.images.push((node, image));
            }
        }
        Ok(g.substitute(&[e], &self.images)[0])
    }

    fn image(
        &mut self,
        model: &Workspace,
        term: MemoryOperator,
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let MemoryOperator { kind, operand, second } = term;
        let g = &model.graph;
        let name = kind.name();
        if matches!(kind, Memory::Kernel | Memory::Mean) {
            let text = format!("`{name}` is not supported between given ends");
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
        let side = match kind {
            Memory::CaputoRight | Memory::RiemannLiouvilleRight => Side::Right,
            _ => Side::Left,
        };
        let caputo = matches!(kind, Memory::Caputo | Memory::CaputoRight);
        let Some(parts) = combination(model, operand) else {
            return self.own_function(model, term, side, order, span);
        };
        if (parts.rest != 0.0 || !parts.velocities.is_empty()) && !caputo {
            let text = format!("the operand of `{name}` contains a velocity or a constant");
            return Err(mistake(span, text, "`caputo` accepts them"));
        }
        let mut sum = g.zero();
        for (k, c) in parts.positions {
            let operator = match kind {
                Memory::Integral => FractionalOperator::Integral(side, order),
                _ if caputo => FractionalOperator::Caputo(side, order),
                _ => FractionalOperator::RiemannLiouville(side, order),
            };
            let written = g.memory(kind, model.coordinates[k].position, second);
            sum = g.add(sum, g.mul(c, self.value(model, k, operator, Some(written))));
        }
        for (k, c) in parts.velocities {
            if order >= 1.0 {
                let text = format!(
                    "`{name}` of order {order} of a velocity is one of order {} of its coordinate: it must be \
                     below 2",
                    order + 1.0
                );
                return Err(mistake(span, text, "lower the order"));
            }
            // NOTE: D^β q' = D^(β+1) q on the left, −D^(β+1) q on the right.
            let written = g.memory(kind, model.coordinates[k].velocity, second);
            let written = if side == Side::Right { g.neg(written) } else { written };
            let value = self.value(
                model,
                k,
                FractionalOperator::Caputo(side, order + 1.0),
                Some(written),
            );
            let value = if side == Side::Right { g.neg(value) } else { value };
            sum = g.add(sum, g.mul(c, value));
        }
        Ok(sum)
    }

    /// A function of its own for an operand, and the operator on it.
    fn own_function(
        &mut self,
        model: &Workspace,
        term: MemoryOperator,
        side: Side,
        order: f64,
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let MemoryOperator { kind, operand, .. } = term;
        let g = &model.graph;
        let name = kind.name();
        let own = "give the operand a coordinate of its own, z, with `constraint z' = …` and its value at the start";
        if g.has_memory(operand) {
            let text = format!("the operand of `{name}` itself contains memory");
            return Err(mistake(span, text, own));
        }
        let whole = order.ceil();
        let (rate, left) = match kind {
            Memory::Integral => (operand, order),
            Memory::Caputo | Memory::CaputoRight => {
                if g.contains(operand, &model.velocities()) {
                    let text = format!(
                        "the operand of `{name}` contains velocities and is not linear in them with constant \
                         coefficients"
                    );
                    return Err(mistake(span, text, own));
                }
                let mut rate = g.total_derivative(operand);
                if whole > 1.0 {
                    rate = g.total_derivative(rate);
                }
                (rate, whole - order)
            }
            _ => {
                let text = format!(
                    "the operand of `{name}` is not linear in coordinates with constant coefficients"
                );
                return Err(mistake(
                    span,
                    text,
                    "`caputo` takes any function of coordinates and time",
                ));
            }
        };
        let sign = if side == Side::Right && whole == 1.0 { -1 } else { 1 };
        if left == 0.0 {
            return Ok(g.mul(g.integer(sign), rate));
        }
        let at = self.operands.len();
        let first = model.coordinates.len() + model.constraints.len() + 2 * at;
        let y = g.symbol(&format!("operand {at}"), Role::Free);
        let multiplier = g.symbol(&format!("operand multiplier {at}"), Role::Free);
        self.operator(first, FractionalOperator::Derivative(0), y);
        self.operator(first + 1, FractionalOperator::Derivative(0), multiplier);
        let order = if kind == Memory::Integral { -order } else { order };
        self.operands.push(Operand {
            function: operand,
            order,
            residual: g.sub(y, rate),
            multiplier,
        });
        let value = self.value(model, first, FractionalOperator::Integral(side, left), None);
        Ok(g.mul(g.integer(sign), value))
    }

    fn value(
        &mut self,
        model: &Workspace,
        k: usize,
        operator: FractionalOperator,
        written: Option<Expr>,
    ) -> Expr {
        let known = self.problem.operators.iter().position(|o| *o == (k, operator));
        match known {
            Some(at) => self.symbols[at],
            None => {
                let name = format!("operator {}", self.symbols.len());
                let symbol = model.graph.symbol(&name, Role::Free);
                self.operator(k, operator, symbol);
                *self.written.last_mut().expect("one for each symbol") = written;
                symbol
            }
        }
    }

    fn operator(&mut self, k: usize, operator: FractionalOperator, symbol: Expr) {
        self.problem.operators.push((k, operator));
        self.symbols.push(symbol);
        self.written.push(None);
    }

    /// Leaves out the operators that 𝓛 does not see.
    fn keep_what_occurs(&mut self, model: &Workspace) {
        let g = &model.graph;
        let seen = g.symbols(&[self.lagrangian]);
        let kept: Vec<usize> =
            (0..self.symbols.len()).filter(|&i| seen.contains(&self.symbols[i])).collect();
        self.problem.operators = kept.iter().map(|&i| self.problem.operators[i]).collect();
        self.symbols = kept.iter().map(|&i| self.symbols[i]).collect();
        self.written = kept.iter().map(|&i| self.written[i]).collect();
    }

    /// The highest order in which 𝓛 sees a coordinate, what only defines the functions of operands left aside.
    fn seen_order(&self, model: &Workspace, k: usize) -> f64 {
        let g = &model.graph;
        let plain = g.symbols(&[&[self.action][..], &self.residuals].concat());
        let mut seen = 0.0_f64;
        for (&(course, operator), symbol) in self.problem.operators.iter().zip(&self.symbols) {
            if course == k && plain.contains(symbol) {
                seen = seen.max(match operator {
                    FractionalOperator::Derivative(k) => f64::from(k),
                    FractionalOperator::Caputo(_, β)
                    | FractionalOperator::RiemannLiouville(_, β) => β,
                    FractionalOperator::Integral(..) => 0.0,
                });
            }
        }
        let position = model.coordinates[k].position;
        for operand in &self.operands {
            if g.contains(operand.function, &[position]) {
                seen = seen.max(operand.order);
            }
        }
        seen
    }

    /// Orders and sides.
    fn unknowns(&mut self, model: &Workspace, span: Span) -> Result<(), Diagnostic> {
        let n = model.coordinates.len();
        let total = n + model.constraints.len() + 2 * self.operands.len();
        for k in 0..total {
            let mine = || self.problem.operators.iter().filter(|o| o.0 == k).map(|o| o.1);
            if k < n && mine().next().is_none() {
                let name = &model.coordinates[k].name;
                let text = format!("neither the Lagrangian nor a constraint contains `{name}`");
                return Err(mistake(span, text, "leave it out"));
            }
            let from = |side: Side| {
                mine().any(|o| match o {
                    FractionalOperator::Caputo(s, _)
                    | FractionalOperator::RiemannLiouville(s, _)
                    | FractionalOperator::Integral(s, _) => s == side,
                    FractionalOperator::Derivative(_) => false,
                })
            };
            let side =
                if from(Side::Right) && !from(Side::Left) { Side::Right } else { Side::Left };
            let need = |o: FractionalOperator| match o {
                FractionalOperator::Derivative(k) => f64::from(k),
                FractionalOperator::Integral(..) => 0.0,
                FractionalOperator::Caputo(s, β)
                | FractionalOperator::RiemannLiouville(s, β)
                    if s == side =>
                {
                    β
                }
                FractionalOperator::Caputo(_, β)
                | FractionalOperator::RiemannLiouville(_, β) => β.ceil(),
            };
            let order = mine().map(need).fold(0.0, f64::max);
            self.problem.unknowns.push(Unknown { side, order });
            self.problem.tails.push(0.0);
            // The order is raised to an integer N: D^α q is bounded at its own end, so that the density is
            // like x^(α−N), and like z^(α−1−j)
            // at an end where the j-th derivative is given, which makes the density like z^(2α−1−j−N).
            if let Some(&α) = self.seen.get(k).filter(|seen| **seen < order) {
                let j = (α - 0.5).ceil() - 1.0;
                let far = if j < 0.0 { 1.0 } else { 2.0 * α - j - order };
                self.problem.decay = self.problem.decay.min(far).min(α - order + 1.0);
            }
            for o in mine() {
                if let FractionalOperator::RiemannLiouville(_, β) = o {
                    self.problem.decay = self.problem.decay.min(1.0 - 2.0 * (β - β.floor()));
                }
            }
        }
        Ok(())
    }
}
