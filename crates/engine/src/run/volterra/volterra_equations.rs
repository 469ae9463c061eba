//! A model with memory as a system of densities and operands.
//!
//! Each coordinate has an order $N$, the highest derivative of it that occurs (2 under a Lagrangian); its
//! unknown is $x = D^N q$, and with the data at the start
//!
//! $$ D^\beta q = J^{N-\beta} x + \sum_{j \ge \beta} \frac{q^{(j)}(t_0)}{\Gamma(j+1-\beta)}\,\tau^{j-\beta},
//! \qquad \tau = t - t_0. \qquad (\mathrm P) $$
//!
//! Operands of memory that are linear in $q$, $\dot q$ with constant coefficients are read off (P); any other
//! operand $g$ becomes an unknown of its own,
//! $y = d^m g/dt^m$, and $D^\alpha g = J^{m-\alpha} y$. Riemann–Liouville derivatives add what the start contributes.

use pfaff_expr::{Expr, Graph, Memory, Node, Role, number};
use pfaff_model::{Diagnostic, Span, Workspace};
use pfaff_solver::{Kernel, Operand};

use crate::run::memory_operator::MemoryOperator;
use crate::run::volterra::combination::{Combination, combination};
use crate::run::volterra::continuity::jumps;
use crate::run::volterra::kernel_parts::{compress, unusable};
use crate::run::volterra::refusals::{JUMPS, anticipative, too_high};
pub(crate) use crate::run::volterra::run_values::{
    RunTimes, constant, mistake, parameter, real,
};

/// Unknowns, operands and equations, as expressions and numbers.
#[derive(Clone, Debug)]
pub(crate) struct VolterraEquations {
    /// When the run takes place.
    pub(crate) times: RunTimes,
    /// $N$ for each coordinate.
    pub(crate) orders: Vec<f64>,
    /// $q, \dot q, \ddot q$ and whatever higher derivatives are wanted, at the start.
    pub(crate) data: Vec<Vec<f64>>,
    /// Where Newton's iteration begins, for unknowns that do not begin near zero.
    pub(crate) guesses: Vec<(Expr, f64)>,
    /// The symbols of $x$.
    pub(crate) unknowns: Vec<Expr>,
    /// The symbols of $z$.
    pub(crate) symbols: Vec<Expr>,
    pub(crate) operands: Vec<Operand>,
    /// General kernels, by operand.
    pub(crate) kernels: Vec<Option<Expr>>,
    /// Kernels as they are written, for the audit.
    pub(crate) written: Vec<Written>,
    /// $F$
    pub(crate) residual: Vec<Expr>,
    /// The switching functions of $F$, and the signs that choose its branches.
    pub(crate) switches: Vec<Expr>,
    pub(crate) signs: Vec<Expr>,
    /// Times at which $F$ is known not to be smooth.
    pub(crate) breaks: Vec<f64>,
    /// Times at which steps end besides, where $F$ is narrow.
    pub(crate) stops: Vec<f64>,
    /// $\tau$
    pub(crate) elapsed: Expr,
    /// Functions of $\tau$ that have no tape, each with the symbol that stands for it.
    pub(crate) slow: Vec<(Expr, Expr)>,
    /// $\varphi(q, t)$ of the holonomic constraints, with their derivatives by the positions.
    pub(crate) holonomic: Vec<(Expr, Vec<Expr>)>,
    /// Memory operators and what stands for them.
    pub(crate) images: Vec<(Expr, Expr)>,
    /// Coordinate, order, first datum, and what stands for that.
    cache: Vec<(usize, f64, usize, Expr)>,
    /// The smallest exponent with which an unknown may begin.
    pub(crate) exponent: f64,
    /// How many decades the first step may be below the run at most.
    pub(crate) decades: f64,
}

impl VolterraEquations {
    pub(crate) fn new(
        model: &Workspace,
        times: RunTimes,
        orders: Vec<f64>,
        data: Vec<Vec<f64>>,
    ) -> Self {
        let mut plan = Self {
            times,
            orders,
            data,
            guesses: Vec::new(),
            unknowns: Vec::new(),
            symbols: Vec::new(),
            operands: Vec::new(),
            kernels: Vec::new(),
            written: Vec::new(),
            residual: Vec::new(),
            switches: Vec::new(),
            signs: Vec::new(),
            breaks: Vec::new(),
            stops: Vec::new(),
            elapsed: model.graph.symbol("elapsed time", Role::Free),
            slow: Vec::new(),
            holonomic: Vec::new(),
            images: Vec::new(),
            cache: Vec::new(),
            exponent: 0.0,
            decades: 250.0,
        };
        let g = &model.graph;
        for (k, c) in model.coordinates.iter().enumerate() {
            let order = plan.orders[k];
            plan.unknowns.push(if order == 0.0 {
                c.position
            } else if order == 1.0 {
                c.velocity
            } else if order == 2.0 {
                c.acceleration
            } else {
                g.symbol(&format!("highest derivative of {}", c.name), Role::Free)
            });
        }
        for (k, c) in model.coordinates.iter().enumerate() {
            for (beta, symbol) in
                [c.position, c.velocity, c.acceleration].into_iter().enumerate()
            {
                if (beta as f64) < plan.orders[k] {
                    plan.integral(k, beta as f64, beta, Some(symbol), g);
                }
            }
        }
        plan
    }

    /// Where a symbol of the model stands among the operands or unknowns.
    pub(crate) fn place(&self, symbol: Expr) -> Option<Place> {
        let unknown = self.unknowns.iter().position(|&u| u == symbol).map(Place::Unknown);
        unknown.or_else(|| self.symbols.iter().position(|&s| s == symbol).map(Place::Operand))
    }

    /// A further unknown with its equation `expr = unknown`.
    pub(crate) fn unknown(&mut self, g: &Graph, name: &str, expr: Expr) -> usize {
        let symbol = g.symbol(&format!("{name} {}", self.unknowns.len()), Role::Free);
        self.unknowns.push(symbol);
        self.residual.push(g.sub(symbol, expr));
        self.unknowns.len() - 1
    }

    /// What the equations are functions of: the time, the time since the start, $x$, $z$, the signs, and what has no
    /// tape.
    pub(crate) fn inputs(&self, model: &Workspace) -> Vec<Expr> {
        let mut inputs = vec![model.time, self.elapsed];
        inputs.extend(self.unknowns.iter().chain(&self.symbols).chain(&self.signs));
        inputs.extend(self.slow.iter().map(|s| s.0));
        inputs
    }

    /// The unknowns near the start.
    pub(crate) fn guess(&self) -> Vec<f64> {
        let of = |u: &Expr| self.guesses.iter().find(|g| g.0 == *u).map_or(0.0, |g| g.1);
        self.unknowns.iter().map(of).collect()
    }

    /// $D^\gamma D^\beta g$ for a derivative of Caputo of a sum of coordinates: of order $\beta + \gamma$,
    /// with the data of order $\beta$.
    pub(crate) fn composed(&mut self, model: &Workspace, node: Expr, gamma: f64) -> Expr {
        let g = &model.graph;
        let Node::Memory(_, operand, second) = g.node(node) else { return g.zero() };
        let Some(parts) = combination(model, operand) else { return g.zero() };
        let beta = constant(model, second);
        let from = beta.ceil() as usize;
        let mut sum = Vec::new();
        for (shift, list) in [(0, parts.positions), (1, parts.velocities)] {
            for (k, c) in list {
                let order = beta + gamma + shift as f64;
                sum.push(g.mul(c, self.integral(k, order, from + shift, None, g)));
            }
        }
        g.sum(sum)
    }

    /// The rate of an operator, from its start on.
    pub(crate) fn rate(
        &mut self,
        model: &Workspace,
        node: Expr,
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let g = &model.graph;
        let Node::Memory(kind, operand, second) = g.node(node) else { return Ok(g.zero()) };
        let order = match kind {
            Memory::Caputo | Memory::RiemannLiouville => Some(constant(model, second)),
            Memory::Integral => Some(-constant(model, second)),
            _ => None,
        };
        let parts = combination(model, operand);
        if let (Some(order), Some(parts)) = (order, parts)
            && order + f64::from(u8::from(!parts.velocities.is_empty())) < 1.0
            && (kind != Memory::RiemannLiouville || parts.rest == 0.0)
        {
            // NOTE: d/dt J^μ g = J^μ ġ + g(0) τ^{μ−1}/Γ(μ), which is the operator one order higher with the same data.
            let from = if kind == Memory::Caputo { order.ceil() as usize } else { 0 };
            let mut sum = Vec::new();
            for (shift, list) in [(0, parts.positions), (1, parts.velocities)] {
                for (k, c) in list {
                    let beta = order + 1.0 + shift as f64;
                    sum.push(g.mul(c, self.integral(k, beta, from + shift, None, g)));
                }
            }
            if kind == Memory::Integral && parts.rest != 0.0 {
                let start = [(parts.rest / libm::tgamma(-order), -order - 1.0)];
                sum.push(self.known(g, &start));
            }
            return Ok(g.sum(sum));
        }
        let text = format!(
            "the rate of `{}` in a force is not known; a constraint of order above 2 needs it if its own reaction \
             does not act on that derivative",
            g.to_text(node)
        );
        let hint = "in such forces derivatives have orders below 1 and operands that are linear in the \
            coordinates with constant coefficients";
        Err(mistake(span, text, hint))
    }

    /// A further operand; gives its symbol.
    pub(crate) fn operand(
        &mut self,
        g: &Graph,
        operand: Operand,
        symbol: Option<Expr>,
    ) -> Expr {
        let fresh = || g.symbol(&format!("operand {}", self.symbols.len()), Role::Free);
        let symbol = symbol.unwrap_or_else(fresh);
        self.symbols.push(symbol);
        for &(a, e) in &operand.start {
            if a != 0.0 && e < 0.0 {
                self.exponent = self.exponent.min(e);
            }
        }
        self.operands.push(operand);
        self.kernels.push(None);
        symbol
    }

    /// $D^\beta q_k$ by (P), with data from the derivative `from` on.
    fn integral(
        &mut self,
        k: usize,
        beta: f64,
        from: usize,
        symbol: Option<Expr>,
        g: &Graph,
    ) -> Expr {
        let same = |c: &&(usize, f64, usize, Expr)| {
            (c.0, c.1, c.2) == (k, beta, from) && symbol.is_none()
        };
        if let Some(c) = self.cache.iter().find(same) {
            return c.3;
        }
        let order = self.orders[k];
        let count = order.ceil() as usize;
        let mut start = Vec::new();
        for j in from..count {
            let value = self.data[k].get(j).copied().unwrap_or(0.0);
            if value != 0.0 {
                start.push((value / libm::tgamma(j as f64 + 1.0 - beta), j as f64 - beta));
            }
        }
        if order == beta && start.is_empty() {
            return self.unknowns[k];
        }
        let made = if order == beta {
            // NOTE: only the start's part is an operand; the density itself is the unknown.
            let known = self.known(g, &start);
            g.add(self.unknowns[k], known)
        } else {
            // NOTE: positions and velocities are what is controlled; operands that smooth less than a
            // velocity would show the noise of singular densities.
            let mu = order - beta;
            let controlled = symbol.is_some() || mu >= 1.0 || order < 1.0;
            let operand = Operand { unknown: k, kernel: Kernel::Power(mu), start, controlled };
            self.operand(g, operand, symbol)
        };
        if symbol.is_none() {
            self.cache.push((k, beta, from, made));
        }
        made
    }

    /// $\sum a\,\tau^e$ as an expression.
    pub(crate) fn known(&mut self, g: &Graph, start: &[(f64, f64)]) -> Expr {
        let zero = Operand {
            unknown: 0,
            kernel: Kernel::Exponentials(Vec::new()),
            start: start.to_vec(),
            controlled: false,
        };
        self.operand(g, zero, None)
    }

    /// What stands for all memory operators of these expressions.
    pub(crate) fn translate(
        &mut self,
        model: &Workspace,
        es: &[Expr],
        span: Span,
    ) -> Result<Vec<Expr>, Diagnostic> {
        let g = &model.graph;
        for e in g.live(es) {
            if let Node::Memory(kind, operand, second) = g.node(e)
                && !self.images.iter().any(|(node, _)| *node == e)
            {
                let image = self.image(model, kind, operand, second, span)?;
                self.images.push((e, image));
            }
        }
        Ok(g.substitute(es, &self.images))
    }

    fn image(
        &mut self,
        model: &Workspace,
        kind: Memory,
        operand: Expr,
        second: Expr,
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let g = &model.graph;
        let alpha = constant(model, second);
        let operator = MemoryOperator { kind, operand, second };
        let nested = g.has_memory(operand);
        match kind {
            Memory::CaputoRight | Memory::RiemannLiouvilleRight => {
                Err(anticipative(kind, span))
            }
            Memory::Kernel if let Some(text) = unusable(model, second, self.times) => {
                let hint = "kernels may begin like a power of s above -1, and have finite values at all lags of \
                    the run; a derivative of higher order is `caputo` or `rl`";
                Err(mistake(span, text, hint))
            }
            Memory::Kernel => {
                let operand = self.translate(model, &[operand], span)?[0];
                Ok(self.kernel(model, operand, second))
            }
            Memory::Mean => {
                let whole = MemoryOperator { kind: Memory::Integral, operand, second: g.one() };
                let sum = if nested {
                    self.nested_integral(model, whole, span)?
                } else {
                    self.integrated(model, operand, 1.0)
                };
                let t0 = number::from_f64(self.times.start).map_or(g.zero(), |t0| g.number(t0));
                Ok(g.div(sum, g.sub(model.time, t0)))
            }
            Memory::Integral if nested => self.nested_integral(model, operator, span),
            Memory::Integral => Ok(self.integrated(model, operand, alpha)),
            _ if nested => self.nested_derivative(model, operator, span),
            Memory::Caputo | Memory::RiemannLiouville => {
                let rl = kind == Memory::RiemannLiouville;
                self.differentiated(model, operand, alpha, rl, span)
            }
        }
    }

    /// $J^\mu g$
    fn integrated(&mut self, model: &Workspace, operand: Expr, mu: f64) -> Expr {
        let g = &model.graph;
        if let Some(Combination { positions, velocities, rest }) = combination(model, operand)
            && velocities.iter().all(|&(k, _)| self.orders[k] >= 1.0)
        {
            let mut parts = Vec::new();
            for (k, c) in positions {
                parts.push(g.mul(c, self.integral(k, -mu, 0, None, g)));
            }
            for (k, c) in velocities {
                parts.push(g.mul(c, self.integral(k, 1.0 - mu, 1, None, g)));
            }
            if rest != 0.0 {
                parts.push(self.known(g, &[(rest / libm::tgamma(mu + 1.0), mu)]));
            }
            return g.sum(parts);
        }
        self.integral_of(g, operand, mu)
    }

    /// $J^\mu$ of an expression of time, unknowns and operands.
    pub(crate) fn integral_of(&mut self, g: &Graph, e: Expr, mu: f64) -> Expr {
        let unknown = self.unknown(g, "operand of memory", e);
        let kernel = Kernel::Power(mu);
        self.operand(g, Operand { unknown, kernel, start: Vec::new(), controlled: true }, None)
    }

    /// $D^\alpha g$
    fn differentiated(
        &mut self,
        model: &Workspace,
        operand: Expr,
        alpha: f64,
        rl: bool,
        span: Span,
    ) -> Result<Expr, Diagnostic> {
        let g = &model.graph;
        let whole = alpha.ceil();
        let data = self.data.clone();
        if let Some(Combination { positions, velocities, rest }) = combination(model, operand) {
            let mut parts = Vec::new();
            for (shift, list) in [(0.0, positions), (1.0, velocities)] {
                for (k, c) in list {
                    if alpha + shift > self.orders[k] {
                        return Err(too_high(model, k, alpha + shift, self.orders[k], span));
                    }
                    // NOTE: the Riemann–Liouville derivative keeps the data below the order too.
                    let from = (shift + if rl { 0.0 } else { whole }) as usize;
                    let part = self.integral(k, alpha + shift, from, None, g);
                    parts.push(g.mul(c, part));
                }
            }
            if rl && rest != 0.0 {
                let start = [(rest / libm::tgamma(1.0 - alpha), -alpha)];
                parts.push(self.known(g, &start));
            }
            return Ok(g.sum(parts));
        }
        let mut rate = operand;
        let mut start = Vec::new();
        for j in 0..whole as usize {
            if rl {
                let at = |e: Expr| self.value_at_start(model, &data, e);
                let value = g.evaluate(&[rate], &at)[0];
                if !value.is_finite() {
                    let text = "the Riemann–Liouville derivative needs a rate of its operand at the start that \
                        the initial values do not give";
                    return Err(mistake(span, text.into(), "use `caputo`"));
                }
                let e = j as f64 - alpha;
                start.push((value / libm::tgamma(e + 1.0), e));
            }
            if jumps(model, rate, self.times.start, self.times.length) {
                let name = if rl { "rl" } else { "caputo" };
                let what = if j == 0 { "it" } else { "a derivative of it" };
                let text = format!(
                    "`{name}` of order {alpha} is applied to `{}`, but {what} jumps",
                    g.to_text(operand)
                );
                return Err(mistake(span, text, JUMPS));
            }
            rate = g.total_derivative(rate);
        }
        let known: Vec<Expr> = self.unknowns.iter().chain(&self.symbols).copied().collect();
        let foreign = g.symbols(&[rate]).into_iter().find(|s| {
            let role = g.symbol_of(*s).map(|s| s.role);
            matches!(role, Some(Role::Coordinate { .. })) && !known.contains(s)
        });
        if let Some(foreign) = foreign {
            let text = format!(
                "`{}` of an operand that is not linear needs `{}`, which the equations do not determine",
                if rl { "rl" } else { "caputo" },
                g.to_text(foreign)
            );
            return Err(mistake(
                span,
                text,
                "take an operand that is linear in the coordinates with constant coefficients, or a lower order",
            ));
        }
        if alpha == whole {
            return Ok(rate);
        }
        if self.orders.contains(&whole) {
            // NOTE: where nothing higher smooths it, the rate begins like τ^{α−m}.
            self.exponent = self.exponent.min(alpha - whole);
        }
        let unknown = self.unknown(g, "rate of memory", rate);
        let kernel = Kernel::Power(whole - alpha);
        Ok(self.operand(g, Operand { unknown, kernel, start, controlled: false }, None))
    }

    /// $\int k\,g$
    fn kernel(&mut self, model: &Workspace, operand: Expr, kernel: Expr) -> Expr {
        let g = &model.graph;
        let unknown = self.unknown(g, "operand of memory", operand);
        let mut sum = Vec::new();
        for part in compress(model, kernel, self.times) {
            let kernel = part.kernel;
            let operand = Operand { unknown, kernel, start: Vec::new(), controlled: true };
            let z = self.operand(g, operand, None);
            *self.kernels.last_mut().expect("the operand was pushed") = part.written;
            sum.push(g.mul(part.factor, z));
        }
        let image = g.sum(sum);
        self.written.push(Written { unknown, kernel, image });
        image
    }

    /// Refuses derivatives of Riemann and Liouville whose operand or rates are not zero at the start, where
    /// they begin like $\tau^e$ with an exponent up to `lowest`.
    pub(crate) fn refuse_infinite(
        &self,
        model: &Workspace,
        es: &[Expr],
        span: Span,
        lowest: f64,
    ) -> Result<(), Diagnostic> {
        let g = &model.graph;
        for node in g.live(es) {
            let Node::Memory(Memory::RiemannLiouville, operand, second) = g.node(node) else {
                continue;
            };
            let alpha = constant(model, second);
            let mut rate = operand;
            for j in 0..alpha.ceil() as usize {
                let e = j as f64 - alpha;
                let at = |e: Expr| self.value_at_start(model, &self.data, e);
                let value = g.evaluate(&[rate], &at)[0];
                if e <= lowest && value.abs() > 1e-14 {
                    let factor = value / libm::tgamma(e + 1.0);
                    let text = format!(
                        "`{}` begins like {factor:.6} (t - t0)^({e}) from these initial values, and no motion \
                         starts from there",
                        g.to_text(node)
                    );
                    let hint = "`caputo` leaves the initial values out; `rl` needs operands that vanish at the start";
                    return Err(mistake(span, text, hint));
                }
                rate = g.total_derivative(rate);
            }
        }
        Ok(())
    }

    fn value_at_start(&self, model: &Workspace, data: &[Vec<f64>], e: Expr) -> f64 {
        for (k, c) in model.coordinates.iter().enumerate() {
            for (j, s) in [c.position, c.velocity, c.acceleration].into_iter().enumerate() {
                if s == e {
                    return if (j as f64) < self.orders[k] { data[k][j] } else { f64::NAN };
                }
            }
        }
        if e == model.time { self.times.start } else { parameter(model, e) }
    }
}

/// A kernel as it is written, the unknown that it meets, and what stands for the integral.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) unknown: usize,
    pub(crate) kernel: Expr,
    pub(crate) image: Expr,
}

/// Where a quantity is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Among the unknowns.
    Unknown(usize),
    /// Among the operands.
    Operand(usize),
}
