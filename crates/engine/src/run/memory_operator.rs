//! Memory operators, taken apart and differentiated.
//!
//! With the time $\tau$ since the start,
//!
//! $$ \frac{d}{dt} J^\mu f = D^{1-\mu} f, \quad \frac{d}{dt} D^\beta f = D^{\beta+1} f, \quad
//!    \frac{d}{dt}\,{}^{C}\!D^\beta f = D^{\beta+1-n} f^{(n)}, \quad
//!    \frac{d}{dt}\int k f = k|_{s=0}\,f + \int (k_s + k_t) f, \quad
//!    \frac{d}{dt}\bar f = \frac{f - \bar f}{\tau}, $$
//!
//! where $n = \lceil\beta\rceil$ and $D$ is the derivative of Riemann and Liouville ($D^{-\mu} = J^\mu$).

use pfaff_expr::{Expr, Graph, Memory, Node, Role, number};

/// A memory operator with what it acts on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryOperator {
    pub(crate) kind: Memory,
    pub(crate) operand: Expr,
    /// Its order or its kernel.
    pub(crate) second: Expr,
}

impl MemoryOperator {
    /// `None` if the expression is something else.
    pub(crate) fn of(g: &Graph, e: Expr) -> Option<Self> {
        match g.node(e) {
            Node::Memory(kind, operand, second) => Some(Self { kind, operand, second }),
            _ => None,
        }
    }
}

/// What the rates of memory operators depend on besides their operands.
pub(crate) struct Surroundings<'a> {
    pub(crate) g: &'a Graph,
    pub(crate) time: Expr,
    /// $t_0$
    pub(crate) start: f64,
    /// The values of parameters.
    pub(crate) parameter: &'a dyn Fn(Expr) -> f64,
}

impl Surroundings<'_> {
    /// $de/dt$ of an expression with memory; `None` where that is no such expression.
    pub(crate) fn rate(&self, e: Expr) -> Option<Expr> {
        let g = self.g;
        let nodes = g.outermost_memory(e);
        let (held, symbols) = with_symbols(g, e, &nodes);
        let mut sum = vec![g.total_derivative(held)];
        for (&node, slope) in nodes.iter().zip(g.gradient(held, &symbols)) {
            if slope != g.zero() {
                sum.push(g.mul(slope, self.operator_rate(node)?));
            }
        }
        let back: Vec<(Expr, Expr)> = symbols.into_iter().zip(nodes).collect();
        Some(g.substitute(&[g.sum(sum)], &back)[0])
    }

    fn operator_rate(&self, node: Expr) -> Option<Expr> {
        let g = self.g;
        let MemoryOperator { kind, operand, second } = MemoryOperator::of(g, node)?;
        let order = |e: Expr| g.evaluate(&[e], self.parameter)[0];
        Some(match kind {
            Memory::Integral => {
                let less = g.sub(second, g.one());
                match order(second) {
                    1.0 => operand,
                    mu if mu > 1.0 => g.memory(Memory::Integral, operand, less),
                    _ => g.memory(Memory::RiemannLiouville, operand, g.neg(less)),
                }
            }
            Memory::RiemannLiouville => g.memory(kind, operand, g.add(second, g.one())),
            Memory::Caputo => {
                let beta = order(second);
                let n = beta.ceil();
                if n == beta {
                    return Some(g.memory(kind, operand, g.add(second, g.one())));
                }
                let mut rate = operand;
                for _ in 0..n as usize {
                    rate = self.rate(rate)?;
                }
                let less = g.integer(1 - n as i64);
                g.memory(Memory::RiemannLiouville, rate, g.add(second, less))
            }
            Memory::Kernel => {
                let lag = g.symbol("s", Role::Free);
                let at_once = g.substitute(&[second], &[(lag, g.zero())])[0];
                let value = |s: Expr| {
                    if s == self.time { self.start + 0.618 } else { (self.parameter)(s) }
                };
                let slope = g.add(g.derivative(second, lag), g.derivative(second, self.time));
                let near = g.substitute(&[slope], &[(lag, g.zero())])[0];
                if g.evaluate(&[at_once, near], &value).iter().any(|x| !x.is_finite()) {
                    return None;
                }
                let past = if slope == g.zero() {
                    g.zero()
                } else {
                    g.memory(Memory::Kernel, operand, slope)
                };
                g.add(g.mul(at_once, operand), past)
            }
            Memory::Mean => {
                let elapsed = g.sub(self.time, g.number(number::from_f64(self.start)?));
                g.div(g.sub(operand, node), elapsed)
            }
            Memory::CaputoRight | Memory::RiemannLiouvilleRight => return None,
        })
    }
}

/// An expression with symbols in the places of these operators.
pub(crate) fn with_symbols(g: &Graph, e: Expr, nodes: &[Expr]) -> (Expr, Vec<Expr>) {
    let symbols: Vec<Expr> =
        (0..nodes.len()).map(|i| g.symbol(&format!("past {i}"), Role::Free)).collect();
    let pairs: Vec<(Expr, Expr)> = nodes.iter().copied().zip(symbols.iter().copied()).collect();
    (g.substitute(&[e], &pairs)[0], symbols)
}
