//! What the memory of a constraint is at a state: its derivatives, their orders and coefficients.

use pfaff_expr::{Expr, Memory, Node};
use pfaff_model::{Constraint, Diagnostic, Workspace};

use crate::run::memory_operator::with_symbols;
use crate::run::volterra::combination::combination;
use crate::run::volterra::nested::highest;
use crate::run::volterra::response::{Response, State, at_start, dot, numbers, value};
use crate::run::volterra::volterra_equations::{constant, mistake, parameter, real};

/// What memory of an order above zero is to one constraint.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// The highest order of a derivative of Caputo or Riemann and Liouville; 0 if there is none.
    pub(crate) alpha: f64,
    /// $b$, from the derivatives of the highest order.
    pub(crate) slopes: Vec<f64>,
    pub(crate) operators: Vec<Operator>,
    /// $\partial f/\partial Y$ by operator.
    rates: Vec<f64>,
    /// $\sigma$ with $D^\alpha q = S^{-1}W\sigma$ at the start.
    pub(crate) first: f64,
    /// Whether there are others.
    pub(crate) several: bool,
    /// The smallest exponent with which the reaction may begin because of operators on operators.
    pub(crate) exponent: f64,
}

/// One derivative in a constraint.
#[derive(Clone, Debug)]
pub(crate) struct Operator {
    pub(crate) node: Expr,
    pub(crate) order: f64,
    /// The derivatives of its operand by what has that order.
    pub(crate) slopes: Vec<f64>,
    /// Whether these are constant, and the derivative one of Caputo.
    pub(crate) plain: bool,
}

impl Operator {
    /// The derivative of the positions in an operand that has velocities too.
    pub(crate) fn lower(&self, model: &Workspace) -> Option<Expr> {
        let g = &model.graph;
        let Node::Memory(kind, operand, second) = g.node(self.node) else { return None };
        let parts = combination(model, operand)?;
        if parts.velocities.is_empty() || parts.positions.is_empty() {
            return None;
        }
        let positions = model.positions();
        let sum = g.sum(parts.positions.iter().map(|&(k, c)| g.mul(c, positions[k])));
        Some(g.memory(kind, sum, second))
    }
}

impl Profile {
    /// The operators of the highest order.
    pub(crate) fn top(&self) -> impl Iterator<Item = &Operator> {
        self.operators.iter().filter(|o| o.order == self.alpha)
    }

    /// $\partial f/\partial Y$ as an expression, where it is constant.
    pub(crate) fn rate(&self, model: &Workspace, operator: &Operator) -> Expr {
        let found = self.operators.iter().position(|o| o.node == operator.node);
        found.map_or(model.graph.zero(), |i| real(&model.graph, self.rates[i]))
    }

    pub(crate) fn new(
        model: &Workspace,
        c: &Constraint,
        row: &[Expr],
    ) -> Result<Self, Diagnostic> {
        let g = &model.graph;
        if c.along.is_none() && row.iter().all(|&e| g.is_zero(e)) {
            let text = format!(
                "the constraint `{}` contains no velocity outside its memory: ∂φ/∂q' = 0, so Chetaev's principle \
                 gives it no reaction",
                c.name
            );
            return Err(mistake(
                c.span,
                text,
                "add a velocity term, or give the direction of the reaction by `along [...]`",
            ));
        }
        let mut operators = Vec::new();
        let mut exponent = 0.0_f64;
        for node in g.outermost_memory(c.expr) {
            let Node::Memory(kind, operand, second) = g.node(node) else { continue };
            if g.has_memory(operand) {
                exponent = exponent.min(-nested_order(model, c, node)?);
                continue;
            }
            if !matches!(kind, Memory::Caputo | Memory::RiemannLiouville) {
                continue;
            }
            let shift = f64::from(u8::from(g.contains(operand, &model.velocities())));
            let order = constant(model, second) + shift;
            if order >= 3.0 {
                let text = format!(
                    "the constraint `{}` contains a derivative of order {order}, but only orders below 3 are \
                     allowed: above, every motion along the constraint is unstable",
                    c.name
                );
                return Err(mistake(c.span, text, "choose an order below 3"));
            }
            let plain = kind == Memory::Caputo && combination(model, operand).is_some();
            operators.push(Operator { node, order, slopes: Vec::new(), plain });
        }
        let alpha = operators.iter().map(|o| o.order).fold(0.0, f64::max);
        let rates = vec![0.0; operators.len()];
        let slopes = Vec::new();
        Ok(Self { alpha, slopes, operators, rates, first: 0.0, several: false, exponent })
    }

    /// Finds slopes, and $\sigma$ where the derivative need not vanish at the start.
    pub(crate) fn settle(
        &mut self,
        model: &Workspace,
        a: usize,
        state: &State<'_>,
        with: &Response,
    ) {
        let g = &model.graph;
        for o in &mut self.operators {
            let Node::Memory(_, operand, second) = g.node(o.node) else { continue };
            let shifted = o.order > constant(model, second) + 0.5;
            let list = if shifted { model.velocities() } else { model.positions() };
            o.slopes = numbers(model, &g.gradient(operand, &list), state);
        }
        let nodes: Vec<Expr> = self.operators.iter().map(|o| o.node).collect();
        let (e, symbols) = as_symbols(model, model.constraints[a].expr, &nodes);
        let mut parts = vec![e];
        parts.extend(g.gradient(e, &symbols));
        let parts: Vec<Expr> = parts.iter().map(|&e| at_start(model, e)).collect();
        let answer = with.answer(&with.directions[a]);
        let gains: Vec<f64> = self
            .operators
            .iter()
            .map(|o| {
                let high = o.order > 1.0 && o.order == self.alpha;
                if high { dot(&o.slopes, &answer) } else { 0.0 }
            })
            .collect();
        let at = |σ: f64| {
            let found = |s: Expr| symbols.iter().position(|&x| x == s).map(|i| gains[i] * σ);
            g.evaluate(&parts, &|s| found(s).unwrap_or_else(|| value(model, state, s)))
        };
        let mut roots: Vec<f64> = Vec::new();
        let moves = gains.iter().any(|g| *g != 0.0);
        for first in [0.0, 1.0, -1.0, 10.0, -10.0].into_iter().filter(|_| moves) {
            let root = root(first, &|σ| {
                let found = at(σ);
                (found[0], dot(&found[1..], &gains))
            });
            roots.extend(root);
        }
        let nearest = roots.iter().copied().min_by(|a, b| a.abs().total_cmp(&b.abs()));
        self.first = nearest.unwrap_or(0.0);
        let apart = |σ: &f64| (σ - self.first).abs() > 1e-6 * (1.0 + self.first.abs());
        self.several = roots.iter().any(apart);
        self.rates = at(self.first)[1..].to_vec();
        self.slopes = vec![0.0; model.coordinates.len()];
        for (o, rate) in self.operators.iter().zip(&self.rates) {
            if o.order == self.alpha {
                self.slopes.iter_mut().zip(&o.slopes).for_each(|(s, p)| *s += rate * p);
            }
        }
    }
}

/// The order of an operator on operators, which must be below 1; 0 for integrals.
fn nested_order(model: &Workspace, c: &Constraint, node: Expr) -> Result<f64, Diagnostic> {
    let of = |k: usize| highest(model, node, k).unwrap_or(0.0);
    let order = (0..model.coordinates.len()).map(of).fold(0.0, f64::max);
    if order < 1.0 {
        return Ok(order);
    }
    let text = format!(
        "the constraint `{}` contains `{}`, which is of order {order}: in a constraint, operators on operators \
         have an order below 1",
        c.name,
        model.graph.to_text(node)
    );
    Err(mistake(c.span, text, "write one operator of that order, or lower the order"))
}

/// A zero near a guess, from values and derivatives.
fn root(mut x: f64, f: &dyn Fn(f64) -> (f64, f64)) -> Option<f64> {
    for _ in 0..60 {
        let (value, slope) = f(x);
        let change = value / slope;
        if !change.is_finite() {
            return (value == 0.0).then_some(x);
        }
        x -= change;
        if change.abs() <= 1e-14 * (1.0 + x.abs()) {
            return Some(x);
        }
    }
    None
}

/// The expression with these operators zero, if it is affine in them with constant slopes and they are plain.
pub(crate) fn steady_slopes(model: &Workspace, e: Expr, nodes: &[Expr]) -> Option<Expr> {
    let g = &model.graph;
    let (e, symbols) = as_symbols(model, e, nodes);
    let linear = g.try_linear(e, &symbols)?;
    let varying = |c: &Expr| g.symbols(&[*c]).iter().any(|s| parameter(model, *s).is_nan());
    if linear.coefficients.iter().any(varying) { None } else { Some(linear.rest) }
}

/// Operators replaced by symbols.
pub(crate) fn as_symbols(model: &Workspace, e: Expr, nodes: &[Expr]) -> (Expr, Vec<Expr>) {
    with_symbols(&model.graph, e, nodes)
}
