//! Euler–Lagrange equations with memory: the sides are exchanged.
//!
//! For $\mathcal L = L - \mu\cdot\varphi$ of $q$, $\dot q$ and fractional operators, with $p =
//! \partial\mathcal L/\partial\dot q$,
//!
//! $$ \dot p_k = \frac{\partial\mathcal L}{\partial q_k} + {}^{RL}_{\;\;t}D^\alpha_{b}\frac{\partial\mathcal
//! L}{\partial\,{}_aD_t^\alpha q_k} + {}^{RL}_{\;\;a}D^\alpha_{t}\frac{\partial\mathcal
//! L}{\partial\,{}_tD_b^\alpha q_k} : $$
//!
//! integration by parts turns a left operator into a right one, and Caputo's into that of Riemann and Liouville,
//!
//! $$ \int g\;{}^{C}_{a}D_t^\alpha f\,dt = \int f\;{}^{RL}_{\;\;t}D_b^\alpha g\,dt +
//! \sum_{j<m}\Bigl[{}^{RL}_{\;\;t}D_b^{\alpha+j-m}g\;f^{(m-1-j)}\Bigr]_a^b . $$
//!
//! The terms in brackets are the natural conditions at an end that is free: with $\delta q$ there stands $p +
//! {}_tD_b^{\alpha-1}g$ (and $-{}_aD_t^{\alpha-1}g$ for a right operator), with $\delta\dot q$, for $\alpha >
//! 1$, ${}_tD_b^{\alpha-2}g$; a derivative of negative order is an integral.

use pfaff_expr::{Expr, Graph, Memory, Node, Role};
use pfaff_model::{Dynamics, Workspace};

use crate::equations::Refusal;

/// The equations of an extremum with memory.
#[derive(Clone, Debug)]
pub struct FractionalEquations {
    /// $\partial\mathcal L/\partial\dot q$ by coordinate.
    pub momenta: Vec<Expr>,
    /// $\dot p$ by coordinate; an equation $0 = \ldots$ where the momentum is zero.
    pub rates: Vec<Expr>,
    /// What vanishes at an end where $q$ is free, by coordinate.
    pub natural: Vec<Expr>,
    /// What vanishes at an end where $\dot q$ is free, by coordinate; zero where no order is above 1.
    pub natural_velocity: Vec<Expr>,
}

/// Derives the equations of $\delta\int(L - \mu\cdot\varphi)\,dt = 0$.
///
/// # Errors
///
/// [`Refusal`] if there is no Lagrangian, or an operand has velocities and is not linear in them with
/// constant coefficients.
pub fn fractional_equations(model: &Workspace) -> Result<FractionalEquations, Refusal> {
    let Dynamics::Lagrangian { lagrangian, span, .. } = model.dynamics else {
        return Err(Refusal::NoDynamics);
    };
    let g = &model.graph;
    let φ: Vec<Expr> = model.constraints.iter().map(|c| c.expr).collect();
    let whole = g.sub(lagrangian, g.dot(&model.results.mu, &φ));
    let nodes: Vec<Expr> = g
        .live(&[whole])
        .into_iter()
        .filter(|&e| matches!(g.node(e), Node::Memory(..)))
        .collect();
    // Memory is held fixed by symbols that stand for it.
    let symbols: Vec<Expr> =
        (0..nodes.len()).map(|i| g.symbol(&format!("memory {i}"), Role::Free)).collect();
    let there: Vec<(Expr, Expr)> = nodes.iter().copied().zip(symbols.iter().copied()).collect();
    let back: Vec<(Expr, Expr)> = symbols.iter().copied().zip(nodes.iter().copied()).collect();
    let held = g.substitute(&[whole], &there)[0];
    let (q, v) = (model.positions(), model.velocities());
    let slopes = |symbols: &[Expr]| g.substitute(&g.gradient(held, symbols), &back);
    let mut equations = FractionalEquations {
        momenta: slopes(&v),
        rates: slopes(&q),
        natural: slopes(&v),
        natural_velocity: vec![g.zero(); q.len()],
    };
    let motion: Vec<Expr> = q.iter().chain(&v).copied().collect();
    for (&node, slope) in nodes.iter().zip(slopes(&symbols)) {
        let Node::Memory(kind, operand, order) = g.node(node) else { continue };
        if matches!(kind, Memory::Kernel | Memory::Mean) {
            return Err(Refusal::Memory { what: "a kernel".into(), span });
        }
        let is_steady = |l: &pfaff_expr::LinearSplit| {
            !g.has_memory(operand) && l.coefficients.iter().all(|c| !g.varies(*c))
        };
        let Some(linear) = g.try_linear(operand, &motion).filter(is_steady) else {
            if g.contains(operand, &v) || g.has_memory(operand) {
                let what = "an operator on what is not linear in the velocities".into();
                return Err(Refusal::Memory { what, span });
            }
            // δG = G_q δq: the adjoint operator acts on the slope, and G_q stands before it.
            let part = MemoryTerm { kind, order, slope };
            let [value, rate] = part.boundary(model);
            for (k, c) in g.gradient(operand, &q).into_iter().enumerate() {
                let add = |list: &mut Vec<Expr>, e: Expr| list[k] = g.add(list[k], e);
                add(&mut equations.rates, g.mul(c, part.adjoint(model)));
                let turned = g.mul(g.total_derivative(c), rate);
                add(&mut equations.natural, g.add(g.mul(c, value), turned));
                add(&mut equations.natural_velocity, g.mul(c, rate));
            }
            continue;
        };
        for k in 0..q.len() {
            let at = |i: usize| linear.coefficients[i];
            if at(k) != g.zero() {
                let part = MemoryTerm { kind, order, slope: g.mul(at(k), slope) };
                equations.rates[k] = g.add(equations.rates[k], part.adjoint(model));
                let [value, rate] = part.boundary(model);
                equations.natural[k] = g.add(equations.natural[k], value);
                equations.natural_velocity[k] = g.add(equations.natural_velocity[k], rate);
            }
            if at(q.len() + k) != g.zero() {
                // The operator acts on the velocity: its adjoint is part of the momentum.
                let part = MemoryTerm { kind, order, slope: g.mul(at(q.len() + k), slope) };
                let adjoint = part.adjoint(model);
                equations.momenta[k] = g.add(equations.momenta[k], adjoint);
                equations.natural[k] = g.add(equations.natural[k], adjoint);
                let [value, _] = part.boundary(model);
                equations.natural_velocity[k] = g.add(equations.natural_velocity[k], value);
            }
        }
    }
    Ok(equations)
}

/// The adjoint of an operator, on an expression: the other side, and Riemann and Liouville's derivative.
pub fn adjoint(g: &Graph, kind: Memory, e: Expr, order: Expr) -> Expr {
    let right = Memory::RiemannLiouvilleRight;
    match kind {
        Memory::Integral => g.memory(right, e, g.neg(order)),
        Memory::CaputoRight | Memory::RiemannLiouvilleRight => {
            g.memory(Memory::RiemannLiouville, e, order)
        }
        _ => g.memory(right, e, order),
    }
}

/// One operator in 𝓛 with the derivative of 𝓛 by it.
struct MemoryTerm {
    kind: Memory,
    order: Expr,
    slope: Expr,
}

impl MemoryTerm {
    fn adjoint(&self, model: &Workspace) -> Expr {
        adjoint(&model.graph, self.kind, self.slope, self.order)
    }

    /// What stands with $\delta q$ and with $\delta\dot q$ at an end; nothing for operators other than
    /// Caputo's, whose variations must vanish there.
    fn boundary(&self, model: &Workspace) -> [Expr; 2] {
        let g = &model.graph;
        let lowered = |kind: Memory, by: i64| {
            g.memory(kind, self.slope, g.sub(self.order, g.integer(by)))
        };
        let steep = model.constant(self.order) > 1.0;
        let (side, sign) = match self.kind {
            Memory::Caputo => (Memory::RiemannLiouvilleRight, false),
            Memory::CaputoRight => (Memory::RiemannLiouville, true),
            _ => return [g.zero(), g.zero()],
        };
        let first = lowered(side, 1);
        let first = if sign { g.neg(first) } else { first };
        [first, if steep { lowered(side, 2) } else { g.zero() }]
    }
}
