//! Memory operators on memory operators.
//!
//! What is linear with constant coefficients in coordinates, velocities and operators on such is
//!
//! $$ W = \sum_i c_i\,J^{\mu_i} x_i + \sum_j a_j\,\tau^{e_j}, \qquad (\mathrm L) $$
//!
//! and so is $J^\nu W$, with $\mu + \nu$ and $\Gamma(e+1)/\Gamma(e+1+\nu)\,\tau^{e+\nu}$. $D^\alpha W$ is likewise
//! with $-\alpha$ for $\nu$ if all $\mu_i \ge \alpha$; Caputo's derivative leaves out the whole powers below its order,
//! and does not exist if there are others below $\lceil\alpha\rceil - 1$.
//!
//! Any other operand $h$ of an integral becomes an unknown $y = h$ of its own. For a derivative, $y = d^m h/dt^m$ by
//! the rates of the inner operators. Where these have none, the derivative itself is the unknown: $h - h_0 =
//! J^\alpha w$, for $\alpha < 1$.

use pfaff_expr::special::reciprocal_gamma;
use pfaff_expr::{Expr, Graph, Memory, Node, Role};
use pfaff_model::{Diagnostic, Span, Workspace};
use pfaff_solver::{Kernel, Operand};

use crate::run::memory_operator::{MemoryOperator, Surroundings, with_symbols};
use crate::run::volterra::continuity::jumps;
use crate::run::volterra::refusals::{JUMPS, too_high};
use crate::run::volterra::volterra_equations::{
    VolterraEquations, constant, mistake, parameter, real,
};

/// Orders that differ by less are equal.
const ROUNDING: f64 = 1e-12;

/// (L)
#[derive(Clone, Debug, Default)]
struct LinearForm {
    parts: Vec<Part>,
    /// The pairs $(a, e)$.
    start: Vec<(f64, f64)>,
}

/// $c\,J^\mu x$
#[derive(Clone, Copy, Debug)]
struct Part {
    factor: f64,
    unknown: usize,
    mu: f64,
}

/// What an expression is, linear with constant coefficients.
struct Split {
    positions: Vec<(usize, f64)>,
    velocities: Vec<(usize, f64)>,
    inner: Vec<(MemoryOperator, f64)>,
    rest: f64,
}

/// The highest derivative of coordinate `k` in an expression with memory, where integrals lower and derivatives raise
/// the order; `None` if it does not occur.
pub(crate) fn highest(model: &Workspace, e: Expr, k: usize) -> Option<f64> {
    let g = &model.graph;
    let nodes = g.outermost_memory(e);
    let (held, _) = with_symbols(g, e, &nodes);
    let c = &model.coordinates[k];
    let plain = [(c.position, 0.0), (c.velocity, 1.0), (c.acceleration, 2.0)];
    let plain = plain.into_iter().filter(|(s, _)| g.contains(held, &[*s])).map(|p| p.1);
    let within = nodes.iter().filter_map(|&node| {
        let MemoryOperator { kind, operand, second } = MemoryOperator::of(g, node)?;
        let inner = highest(model, operand, k)?;
        Some(match kind {
            Memory::Caputo | Memory::RiemannLiouville => inner + constant(model, second),
            Memory::Integral => inner - constant(model, second),
            _ => inner,
        })
    });
    plain.chain(within).reduce(f64::max)
}

/// Whether an expression is of the form (L), whatever the orders are.
pub(crate) fn is_linear(model: &Workspace, e: Expr) -> bool {
    split(model, e)
        .is_some_and(|split| split.inner.iter().all(|(op, _)| is_linear(model, op.operand)))
}

fn split(model: &Workspace, e: Expr) -> Option<Split> {
    let g = &model.graph;
    let nodes = g.outermost_memory(e);
    let (held, symbols) = with_symbols(g, e, &nodes);
    let motion: Vec<Expr> = [model.positions(), model.velocities(), symbols].concat();
    let linear = g.try_linear(held, &motion)?;
    let steady = |c: &Expr| g.symbols(&[*c]).iter().all(|s| !parameter(model, *s).is_nan());
    if !linear.coefficients.iter().chain([&linear.rest]).all(steady) {
        return None;
    }
    let n = model.coordinates.len();
    let numbers: Vec<f64> = linear.coefficients.iter().map(|&c| constant(model, c)).collect();
    let nonzero = |from: usize| {
        let pairs = numbers[from..from + n].iter().copied().enumerate();
        pairs.filter(|(_, c)| *c != 0.0).collect()
    };
    let mut inner = Vec::new();
    for (&node, &c) in nodes.iter().zip(&numbers[2 * n..]) {
        let operator = MemoryOperator::of(g, node)?;
        if !matches!(
            operator.kind,
            Memory::Caputo | Memory::RiemannLiouville | Memory::Integral
        ) {
            return None;
        }
        inner.push((operator, c));
    }
    let rest = constant(model, linear.rest);
    Some(Split { positions: nonzero(0), velocities: nonzero(n), inner, rest })
}

impl LinearForm {
    fn add(&mut self, factor: f64, other: Self) {
        for p in other.parts {
            let same =
                |q: &&mut Part| q.unknown == p.unknown && (q.mu - p.mu).abs() <= ROUNDING;
            match self.parts.iter_mut().find(same) {
                Some(q) => q.factor += factor * p.factor,
                None => self.parts.push(Part { factor: factor * p.factor, ..p }),
            }
        }
        self.start.extend(other.start.into_iter().map(|(a, e)| (factor * a, e)));
    }

    /// $J^\nu W$, for negative $\nu$ too.
    fn shifted(self, nu: f64) -> Self {
        let moved = |p: Part| {
            let mu = p.mu + nu;
            Part { mu: if mu.abs() <= ROUNDING { 0.0 } else { mu }, ..p }
        };
        let term = |(a, e): (f64, f64)| {
            let gamma = libm::tgamma(e + 1.0) * reciprocal_gamma(rounded(e + 1.0 + nu));
            (a * gamma, rounded(e + nu))
        };
        Self {
            parts: self.parts.into_iter().map(moved).collect(),
            start: self.start.into_iter().map(term).filter(|t| t.0 != 0.0).collect(),
        }
    }
}

/// An exponent without what rounding did to a whole number.
fn rounded(e: f64) -> f64 {
    if (e - e.round()).abs() <= ROUNDING { e.round() } else { e }
}

impl VolterraEquations {
    /// (L) for an expression; `None` if it is no such form.
    fn linear_form(
        &self,
        model: &Workspace,
        e: Expr,
        span: Span,
    ) -> Result<Option<LinearForm>, Diagnostic> {
        let Some(split) = split(model, e) else { return Ok(None) };
        let mut form = LinearForm::default();
        for (shift, list) in [(0, &split.positions), (1, &split.velocities)] {
            for &(k, c) in list {
                if self.orders[k] < shift as f64 {
                    return Ok(None);
                }
                let data = (shift..self.orders[k].ceil() as usize).map(|j| {
                    let value = self.data[k].get(j).copied().unwrap_or(0.0);
                    (value * reciprocal_gamma((j - shift) as f64 + 1.0), (j - shift) as f64)
                });
                let mu = self.orders[k] - shift as f64;
                let part = Part { factor: 1.0, unknown: k, mu };
                let start = data.filter(|d| d.0 != 0.0).collect();
                form.add(c, LinearForm { parts: vec![part], start });
            }
        }
        for &(operator, c) in &split.inner {
            let Some(inner) = self.linear_form(model, operator.operand, span)? else {
                return Ok(None);
            };
            form.add(c, self.applied(model, operator, inner, span)?);
        }
        if split.rest != 0.0 {
            form.start.push((split.rest, 0.0));
        }
        Ok(Some(form))
    }

    /// An operator on (L).
    fn applied(
        &self,
        model: &Workspace,
        operator: MemoryOperator,
        mut form: LinearForm,
        span: Span,
    ) -> Result<LinearForm, Diagnostic> {
        let order = constant(model, operator.second);
        let node = || {
            let MemoryOperator { kind, operand, second } = operator;
            model.graph.to_text(model.graph.memory(kind, operand, second))
        };
        if operator.kind == Memory::Integral {
            if let Some((_, e)) = form.start.iter().find(|s| s.1 <= -1.0) {
                return Err(begins(&node(), "its operand begins", *e, span));
            }
            return Ok(form.shifted(order));
        }
        if let Some(p) = form.parts.iter().find(|p| p.mu < order - ROUNDING) {
            let k = p.unknown;
            let total = self.orders[k] - p.mu + order;
            return Err(too_high(model, k, total, self.orders[k], span));
        }
        if operator.kind == Memory::Caputo {
            let m = order.ceil();
            form.start.retain(|&(_, e)| !(e == e.round() && (0.0..m).contains(&e)));
            if let Some((_, e)) = form.start.iter().find(|s| s.1 <= m - 1.0) {
                return Err(begins(&node(), "its operand begins", *e, span));
            }
        }
        let form = form.shifted(-order);
        let is_highest = |p: &Part| p.mu == 0.0 && p.unknown < self.orders.len();
        let lowest = if form.parts.iter().any(is_highest) { 0.0 } else { -1.0 };
        let infinite = |s: &&(f64, f64)| s.1 <= -1.0 || s.1 < lowest;
        match form.start.iter().find(infinite) {
            Some((_, e)) => Err(begins(&node(), "it begins", *e, span)),
            None => Ok(form),
        }
    }

    /// What stands for (L).
    fn realised(&mut self, g: &Graph, form: &LinearForm) -> Expr {
        let mut sum = Vec::new();
        for p in form.parts.iter().filter(|p| p.factor != 0.0) {
            let symbol = if p.mu == 0.0 {
                self.unknowns[p.unknown]
            } else {
                let same = |o: &Operand| {
                    o.unknown == p.unknown
                        && o.start.is_empty()
                        && matches!(o.kernel, Kernel::Power(mu) if (mu - p.mu).abs() <= ROUNDING)
                };
                match self.operands.iter().position(same) {
                    Some(at) => self.symbols[at],
                    None => {
                        let controlled =
                            p.mu >= 1.0 || self.orders.get(p.unknown).is_none_or(|o| *o < 1.0);
                        let kernel = Kernel::Power(p.mu);
                        let (unknown, start) = (p.unknown, Vec::new());
                        self.operand(g, Operand { unknown, kernel, start, controlled }, None)
                    }
                }
            };
            sum.push(g.mul(real(g, p.factor), symbol));
        }
        if !form.start.is_empty() {
            sum.push(self.known(g, &form.start));
        }
        g.sum(sum)
    }

    /// $J^\mu$ of an operand with memory.
    pub(crate) fn nested_integral(
        &mut self,
        model: &Workspace,
        operator: MemoryOperator,
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let g = &model.graph;
        if let Some(form) = self.linear_form(model, operator.operand, span)? {
            let form = self.applied(model, operator, form, span)?;
            return Ok(self.realised(g, &form));
        }
        let inner = self.translate(model, &[operator.operand], span)?[0];
        Ok(self.integral_of(g, inner, constant(model, operator.second)))
    }

    /// $D^\alpha$ of an operand with memory.
    pub(crate) fn nested_derivative(
        &mut self,
        model: &Workspace,
        operator: MemoryOperator,
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let alpha = constant(model, operator.second);
        if let Some(form) = self.linear_form(model, operator.operand, span)? {
            let form = self.applied(model, operator, form, span)?;
            return Ok(self.realised(&model.graph, &form));
        }
        let before = self.clone();
        match self.by_rates(model, operator, alpha, span) {
            Ok(Some(image)) => return Ok(image),
            Ok(None) => *self = before,
            Err(e) if alpha >= 1.0 => return Err(e),
            Err(_) => *self = before,
        }
        self.by_inversion(model, operator, alpha, span)
    }

    /// $J^{m-\alpha}$ of the derivative of order $m$; `None` if there is no such expression.
    fn by_rates(
        &mut self,
        model: &Workspace,
        operator: MemoryOperator,
        alpha: f64,
        span: Span,
    ) -> Result<Option<Expr>, Diagnostic> {
        let g = &model.graph;
        let value = |s: Expr| parameter(model, s);
        let around =
            Surroundings { g, time: model.time, start: self.times.start, parameter: &value };
        let whole = alpha.ceil();
        let (mut rate, mut start) = (operator.operand, Vec::new());
        for j in 0..whole as usize {
            let image = self.translate(model, &[rate], span)?[0];
            if jumps(model, image, self.times.start, self.times.length) {
                return Err(mistake(span, format!("`{}` jumps", g.to_text(rate)), JUMPS));
            }
            let first = self.first_value(model, rate);
            if operator.kind == Memory::RiemannLiouville {
                let e = j as f64 - alpha;
                start.push((first * reciprocal_gamma(e + 1.0), e));
            }
            // NOTE: what is infinite at the start has no rate that is integrable from there on.
            let Some(next) = around.rate(rate).filter(|_| first.is_finite()) else {
                return Ok(None);
            };
            rate = next;
        }
        let rate = self.translate(model, &[rate], span)?[0];
        let known: Vec<Expr> = self.unknowns.iter().chain(&self.symbols).copied().collect();
        let is_foreign = |s: &Expr| {
            let role = g.symbol_of(*s).map(|s| s.role);
            matches!(role, Some(Role::Coordinate { .. })) && !known.contains(s)
        };
        if g.symbols(&[rate]).iter().any(is_foreign) {
            return Ok(None);
        }
        if alpha == whole {
            return Ok(Some(rate));
        }
        start.retain(|s| s.0 != 0.0);
        let unknown = self.unknown(g, "rate of memory", rate);
        let kernel = Kernel::Power(whole - alpha);
        let operand = Operand { unknown, kernel, start, controlled: false };
        Ok(Some(self.operand(g, operand, None)))
    }

    /// The derivative as the unknown $w$ of $h - h_0 = J^\alpha w$.
    fn by_inversion(
        &mut self,
        model: &Workspace,
        operator: MemoryOperator,
        alpha: f64,
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let g = &model.graph;
        let MemoryOperator { kind, operand, second } = operator;
        let refuse = |why: &str| {
            let text = format!(
                "`{}` cannot be found: {why}",
                g.to_text(g.memory(kind, operand, second))
            );
            let hint = "give the operand a coordinate of its own with its initial value, as in `equation y = …`";
            Err(mistake(span, text, hint))
        };
        if alpha >= 1.0 {
            return refuse("its operand has no rate that the equations determine");
        }
        let inner = self.translate(model, &[operand], span)?[0];
        if jumps(model, inner, self.times.start, self.times.length) {
            return Err(mistake(span, format!("`{}` jumps", g.to_text(operand)), JUMPS));
        }
        let first = self.first_value(model, operand);
        if !first.is_finite() {
            return refuse("the value of its operand at the start is not known, or infinite");
        }
        let unknown = self.unknowns.len();
        let symbol = g.symbol(&format!("derivative of memory {unknown}"), Role::Free);
        self.unknowns.push(symbol);
        let kernel = Kernel::Power(alpha);
        let start = if first == 0.0 { Vec::new() } else { vec![(first, 0.0)] };
        let raised = Operand { unknown, kernel, start, controlled: true };
        let raised = self.operand(g, raised, None);
        self.residual.push(g.sub(raised, inner));
        // NOTE: operands begin like powers of any exponent from 0 on.
        self.exponent = self.exponent.min(-alpha);
        if kind == Memory::RiemannLiouville && first != 0.0 {
            let known = self.known(g, &[(first * reciprocal_gamma(1.0 - alpha), -alpha)]);
            return Ok(g.add(symbol, known));
        }
        Ok(symbol)
    }

    /// The value of an expression at the start; infinite or not a number where it has none.
    fn first_value(&self, model: &Workspace, e: Expr) -> f64 {
        let g = &model.graph;
        let mut values: Vec<(Expr, f64)> = Vec::new();
        let at = |values: &[(Expr, f64)], e: Expr| {
            let nodes: Vec<Expr> = values.iter().map(|v| v.0).collect();
            let (held, symbols) = with_symbols(g, e, &nodes);
            let value = |s: Expr| match symbols.iter().position(|&x| x == s) {
                Some(i) => values[i].1,
                None => self.first_symbol(model, s),
            };
            g.evaluate(&[held], &value)[0]
        };
        for node in g.live(&[e]) {
            let Node::Memory(kind, operand, _) = g.node(node) else { continue };
            let value = match kind {
                Memory::Mean => at(&values, operand),
                Memory::Integral | Memory::Kernel => 0.0,
                _ => {
                    let image = self.images.iter().find(|i| i.0 == node);
                    image.map_or(f64::NAN, |i| at(&[], i.1))
                }
            };
            values.push((node, value));
        }
        at(&values, e)
    }

    fn first_symbol(&self, model: &Workspace, s: Expr) -> f64 {
        if let Some(at) = self.symbols.iter().position(|&x| x == s) {
            let term = |&(a, e): &(f64, f64)| match e {
                0.0 => a,
                e if e < 0.0 => f64::NAN,
                _ => 0.0,
            };
            return self.operands[at].start.iter().map(term).sum();
        }
        if s == model.time { self.times.start } else { parameter(model, s) }
    }
}

fn begins(node: &str, what: &str, e: f64, span: Span) -> Diagnostic {
    let text =
        format!("`{node}` has no value from these initial values: {what} like (t - t0)^({e})");
    let hint = "initial values that vanish avoid this, or another order of the operators; where the inner operator \
        has an initial value of its own, make it a coordinate: `equation y = caputo(q, 0.5)`";
    Diagnostic::error("E0441", span, text).with_hint(hint)
}
