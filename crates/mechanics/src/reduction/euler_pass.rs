//! Mass and Euler's operator of a Lagrangian along $\dot q = B u + b$, without the mass matrix of $q$.
//!
//! One forward pass carries, for every node $x(q, \dot q, t)$ of $L$: its value, its rate $\dot x$ at $\dot u =
//! 0$, and for every column $B_a$
//!
//! $$ x_a = x_{\dot q}\cdot B_a, \qquad \mathcal E_a x = \Bigl(\frac{d}{dt}x_{\dot q} - x_q\Bigr)\cdot B_a \
//! \text{ at } \dot u = 0, \qquad x_{ab} = B_a\cdot x_{\dot q\dot q}\,B_b. $$
//!
//! $\mathcal E$ obeys $\mathcal E_a(xy) = y\,\mathcal E_a x + x\,\mathcal E_a y + \dot x\,y_a + \dot y\,x_a$;
//! where $x$ is the rate of a function of $q$ it is zero (Lagrange), and the values modulo a prime see it.

use pfaff_expr::{Expr, Graph, Node, Role, Unary};
use rustc_hash::FxHashMap;

use super::LagrangianData;

/// The motion that $L$ is differentiated along.
pub(super) struct EulerPass<'a> {
    g: &'a Graph,
    /// $B$, column by column
    pub(super) columns: Vec<Vec<Expr>>,
    leaves: FxHashMap<Expr, Leaf>,
    velocities: Vec<Expr>,
    /// $\beta$: $\ddot q$ at $\dot u = 0$
    bias: Vec<Expr>,
}

#[derive(Clone, Copy)]
enum Leaf {
    Time,
    Position(usize),
    Velocity(usize),
}

/// The parameters in a weight, and the terms $w\,x$ whose weights have them.
type WeightGroup = (Vec<Expr>, Vec<(Expr, Expr)>);

/// What is carried for a node.
#[derive(Clone)]
struct Jet {
    value: Expr,
    rate: Expr,
    column: Vec<Expr>,
    euler: Vec<Expr>,
    /// Lower triangle by rows; `None` is zero.
    second: Option<Vec<Expr>>,
}

impl<'a> EulerPass<'a> {
    pub(super) fn new(
        s: &LagrangianData,
        g: &'a Graph,
        velocities: &[Expr],
        columns: Vec<Vec<Expr>>,
    ) -> Self {
        let mut along: Vec<(Expr, Expr)> =
            s.positions.iter().copied().zip(velocities.iter().copied()).collect();
        along.push((s.time, g.one()));
        let bias = g.directional(velocities, &along);
        let mut leaves = FxHashMap::default();
        leaves.insert(s.time, Leaf::Time);
        leaves.extend(s.positions.iter().enumerate().map(|(j, &q)| (q, Leaf::Position(j))));
        leaves.extend(s.velocities.iter().enumerate().map(|(j, &v)| (v, Leaf::Velocity(j))));
        Self { g, columns, leaves, velocities: velocities.to_vec(), bias }
    }

    fn k(&self) -> usize {
        self.columns.len()
    }

    /// Mass (lower triangle by rows) and $\mathcal E L$. Sums are taken apart into weighted terms first: $w
    /// x^2$ then costs $2 w x_a$ once a column and one
    /// multiply-add an entry.
    ///
    /// `order` gets what is added up, term by term: an order of evaluation that keeps together what belongs
    /// to one body.
    pub(super) fn equations(&self, L: Expr, order: &mut Vec<Expr>) -> (Vec<Expr>, Vec<Expr>) {
        let mut jets: FxHashMap<Expr, Jet> = FxHashMap::default();
        let terms = self.terms(L);
        let (mut mass, mut euler) = self.add_up(&terms, &mut jets, order);
        if let Some((m, e)) = self.by_weight(&terms, &mut jets) {
            self.shorter(&mut mass, &m);
            self.shorter(&mut euler, &e);
        }
        (mass, euler)
    }

    /// Takes what needs fewer operations.
    fn shorter(&self, known: &mut [Expr], other: &[Expr]) {
        let count = |e: Expr| self.g.size(&[e]);
        for (known, &other) in known.iter_mut().zip(other) {
            *known = std::cmp::min_by_key(*known, other, |&e| count(e));
        }
    }

    /// The same with terms of one weight added up by themselves first: what a body turns with may be
    /// constant, which nothing shows once other terms are in the sum.
    fn by_weight(
        &self,
        terms: &[(Expr, Expr)],
        jets: &mut FxHashMap<Expr, Jet>,
    ) -> Option<(Vec<Expr>, Vec<Expr>)> {
        /// More terms belong to more bodies than would have something in common.
        const FEW: usize = 12;
        let g = self.g;
        if terms.len() > FEW {
            return None;
        }
        let mut groups: Vec<WeightGroup> = Vec::new();
        for &(w, x) in terms {
            let of = g.symbols(&[w]);
            match groups.iter_mut().find(|known| known.0 == of) {
                Some(known) => known.1.push((w, x)),
                None => groups.push((of, vec![(w, x)])),
            }
        }
        if !groups.iter().skip(1).any(|group| group.1.len() > 1) {
            return None;
        }
        let sums = groups.iter().map(|group| self.add_up(&group.1, jets, &mut Vec::new()));
        sums.reduce(|(mass, euler), (m, e)| {
            let sum = |x: Vec<Expr>, y: Vec<Expr>| {
                x.into_iter().zip(y).map(|(x, y)| g.add(x, y)).collect()
            };
            (sum(mass, m), sum(euler, e))
        })
    }

    fn add_up(
        &self,
        terms: &[(Expr, Expr)],
        jets: &mut FxHashMap<Expr, Jet>,
        order: &mut Vec<Expr>,
    ) -> (Vec<Expr>, Vec<Expr>) {
        let (g, k) = (self.g, self.k());
        let mut mass = vec![g.zero(); k * (k + 1) / 2];
        let mut euler = vec![g.zero(); k];
        for &(w, x) in terms {
            if let Some((p, q)) = self.factors(x) {
                self.complete(jets, &[p, q]);
                let (jp, jq) = (&jets[&p], &jets[&q]);
                if jp.second.is_none() && jq.second.is_none() {
                    self.product(w, (jp, jq), p == q, (&mut mass, &mut euler));
                    order.extend(mass.iter().chain(&euler));
                    continue;
                }
            }
            self.complete(jets, &[x]);
            let jet = &jets[&x];
            for (m, &h) in mass.iter_mut().zip(jet.second.iter().flatten()) {
                *m = g.add(*m, g.mul(w, h));
            }
            for (e, &h) in euler.iter_mut().zip(&jet.euler) {
                *e = g.add(*e, g.mul(w, h));
            }
            order.extend(mass.iter().chain(&euler));
        }
        (mass, euler)
    }

    /// The two factors of a product or a square.
    fn factors(&self, x: Expr) -> Option<(Expr, Expr)> {
        match self.g.node(x) {
            Node::Mul(p, q) => Some((p, q)),
            Node::Pow(p, n) if n == self.g.integer(2) => Some((p, p)),
            _ => None,
        }
    }

    /// $w x y$ with $x$ and $y$ at most linear in the velocities.
    fn product(
        &self,
        w: Expr,
        (x, y): (&Jet, &Jet),
        square: bool,
        (mass, euler): (&mut [Expr], &mut [Expr]),
    ) {
        let g = self.g;
        let w = if square { g.mul(g.integer(2), w) } else { w };
        let sides: &[(&Jet, &Jet)] = if square { &[(x, y)] } else { &[(x, y), (y, x)] };
        for (x, y) in sides {
            let wx = g.mul(w, x.value);
            for a in 0..self.k() {
                let c = g.mul(w, x.column[a]);
                for b in 0..=a {
                    let m = &mut mass[a * (a + 1) / 2 + b];
                    *m = g.add(*m, g.mul(c, y.column[b]));
                }
                euler[a] = g.add(euler[a], g.mul(c, y.rate));
                euler[a] = g.add(euler[a], g.mul(wx, y.euler[a]));
            }
        }
    }

    /// $L$ as $\sum w\,x$ in the order of writing, the weights being constant.
    fn terms(&self, L: Expr) -> Vec<(Expr, Expr)> {
        let g = self.g;
        let mut terms = Vec::new();
        let mut stack = vec![(g.one(), L)];
        while let Some((w, x)) = stack.pop() {
            match g.node(x) {
                Node::Add(a, b) => stack.extend([(w, b), (w, a)]),
                Node::Sub(a, b) => stack.extend([(g.neg(w), b), (w, a)]),
                Node::Neg(a) => stack.push((g.neg(w), a)),
                Node::Mul(a, b) if !g.varies(a) => stack.push((g.mul(w, a), b)),
                Node::Div(a, b) if !g.varies(b) => stack.push((g.div(w, b), a)),
                _ => terms.push((w, x)),
            }
        }
        terms
    }

    fn complete(&self, jets: &mut FxHashMap<Expr, Jet>, roots: &[Expr]) {
        let mut stack = roots.to_vec();
        while let Some(&x) = stack.last() {
            if jets.contains_key(&x) {
                stack.pop();
                continue;
            }
            let node = self.g.node(x);
            let before = stack.len();
            stack.extend(node.operands().filter(|o| !jets.contains_key(o)));
            if stack.len() == before {
                let jet = self.jet(x, node, jets);
                jets.insert(x, jet);
                stack.pop();
            }
        }
    }

    fn leaf(&self, value: Expr, rate: Expr) -> Jet {
        let zeros = vec![self.g.zero(); self.k()];
        Jet { value, rate, column: zeros.clone(), euler: zeros, second: None }
    }

    fn jet(&self, x: Expr, node: Node, jets: &FxHashMap<Expr, Jet>) -> Jet {
        let g = self.g;
        let of = |e: Expr| &jets[&e];
        if !g.varies(x) {
            return self.leaf(x, g.zero());
        }
        match node {
            Node::Symbol(_) => match self.leaves.get(&x) {
                Some(Leaf::Time) => self.leaf(x, g.one()),
                Some(&Leaf::Position(j)) => Jet {
                    euler: self.columns.iter().map(|c| g.neg(c[j])).collect(),
                    ..self.leaf(x, self.velocities[j])
                },
                Some(&Leaf::Velocity(j)) => Jet {
                    column: self.columns.iter().map(|c| c[j]).collect(),
                    ..self.leaf(self.velocities[j], self.bias[j])
                },
                None => self.leaf(x, g.zero()),
            },
            Node::Neg(a) => self.each(of(a), of(a), |x, _| g.neg(x)),
            Node::Add(a, b) => self.each(of(a), of(b), |x, y| g.add(x, y)),
            Node::Sub(a, b) => self.each(of(a), of(b), |x, y| g.sub(x, y)),
            Node::If(c, a, b) => {
                let condition = of(c).value;
                self.each(of(a), of(b), |x, y| g.choose(condition, x, y))
            }
            Node::Mul(a, b) => self.times(of(a), of(b)),
            Node::Div(a, b) => self.over(of(a), of(b)),
            Node::Pow(a, n) if n == g.integer(2) => {
                let slope = g.mul(g.integer(2), of(a).value);
                self.chain(of(a), g.mul(of(a).value, of(a).value), slope, g.integer(2))
            }
            Node::Unary(Unary::Sin, a) => {
                let (s, c) = (g.sin(of(a).value), g.cos(of(a).value));
                self.chain(of(a), s, c, g.neg(s))
            }
            Node::Unary(Unary::Cos, a) => {
                let (s, c) = (g.sin(of(a).value), g.cos(of(a).value));
                self.chain(of(a), c, g.neg(s), g.neg(c))
            }
            _ => self.composed(x, node, jets),
        }
    }

    /// What acts on each part alike.
    fn each(&self, x: &Jet, y: &Jet, f: impl Fn(Expr, Expr) -> Expr) -> Jet {
        let k = self.k();
        let bent = x.second.is_some() || y.second.is_some();
        let second = bent
            .then(|| (0..k * (k + 1) / 2).map(|i| f(self.at(x, i), self.at(y, i))).collect());
        Jet {
            value: f(x.value, y.value),
            rate: f(x.rate, y.rate),
            column: (0..k).map(|a| f(x.column[a], y.column[a])).collect(),
            euler: (0..k).map(|a| f(x.euler[a], y.euler[a])).collect(),
            second,
        }
    }

    /// The second derivatives by columns, `None` if all are zero.
    fn pairs(&self, f: impl Fn(usize, usize, usize) -> Expr) -> Option<Vec<Expr>> {
        let mut entries = Vec::new();
        for a in 0..self.k() {
            for b in 0..=a {
                entries.push(f(a, b, a * (a + 1) / 2 + b));
            }
        }
        entries.iter().any(|&e| e != self.g.zero()).then_some(entries)
    }

    fn at(&self, jet: &Jet, i: usize) -> Expr {
        jet.second.as_ref().map_or(self.g.zero(), |s| s[i])
    }

    fn times(&self, x: &Jet, y: &Jet) -> Jet {
        let g = self.g;
        let sum = |a: Expr, b: Expr, c: Expr, d: Expr| g.add(g.mul(a, b), g.mul(c, d));
        Jet {
            value: g.mul(x.value, y.value),
            rate: sum(x.rate, y.value, x.value, y.rate),
            column: (0..self.k())
                .map(|a| sum(x.column[a], y.value, x.value, y.column[a]))
                .collect(),
            euler: (0..self.k())
                .map(|a| {
                    g.add(
                        sum(x.euler[a], y.value, x.rate, y.column[a]),
                        sum(x.value, y.euler[a], x.column[a], y.rate),
                    )
                })
                .collect(),
            second: self.pairs(|a, b, i| {
                g.add(
                    sum(self.at(x, i), y.value, x.value, self.at(y, i)),
                    sum(x.column[a], y.column[b], x.column[b], y.column[a]),
                )
            }),
        }
    }

    /// $z = x/y$ from $x = z y$.
    fn over(&self, x: &Jet, y: &Jet) -> Jet {
        let g = self.g;
        let inverse = g.div(g.one(), y.value);
        let value = g.mul(x.value, inverse);
        let less = |a: Expr, terms: &[(Expr, Expr)]| {
            let rest = terms.iter().fold(a, |r, &(p, q)| g.sub(r, g.mul(p, q)));
            g.mul(rest, inverse)
        };
        let rate = less(x.rate, &[(value, y.rate)]);
        let column: Vec<Expr> =
            (0..self.k()).map(|a| less(x.column[a], &[(value, y.column[a])])).collect();
        let euler = (0..self.k())
            .map(|a| {
                let terms = [(value, y.euler[a]), (column[a], y.rate), (rate, y.column[a])];
                less(x.euler[a], &terms)
            })
            .collect();
        let second = self.pairs(|a, b, i| {
            let terms =
                [(value, self.at(y, i)), (column[a], y.column[b]), (column[b], y.column[a])];
            less(self.at(x, i), &terms)
        });
        Jet { value, rate, column, euler, second }
    }

    /// $f(x)$ with $f'$ and $f''$.
    fn chain(&self, x: &Jet, value: Expr, slope: Expr, bend: Expr) -> Jet {
        let g = self.g;
        let sum = |p: Expr, q: Expr, r: Expr| g.add(g.mul(slope, p), g.mul(bend, g.mul(q, r)));
        Jet {
            value,
            rate: g.mul(slope, x.rate),
            column: x.column.iter().map(|&c| g.mul(slope, c)).collect(),
            euler: (0..self.k()).map(|a| sum(x.euler[a], x.rate, x.column[a])).collect(),
            second: self.pairs(|a, b, i| sum(self.at(x, i), x.column[a], x.column[b])),
        }
    }

    /// Any function of its operands, by its gradient and Hessian there; conditions are piecewise constant.
    fn composed(&self, x: Expr, node: Node, jets: &FxHashMap<Expr, Jet>) -> Jet {
        let (g, k) = (self.g, self.k());
        let mut operands: Vec<Expr> = node.operands().collect();
        operands.sort_unstable();
        operands.dedup();
        let of: Vec<&Jet> = operands.iter().map(|o| &jets[o]).collect();
        let names: Vec<Expr> = (0..operands.len())
            .map(|i| g.symbol(&format!("operand {i}"), Role::Free))
            .collect();
        let pairs = |to: &dyn Fn(usize) -> Expr, from: &[Expr]| -> Vec<(Expr, Expr)> {
            from.iter().enumerate().map(|(i, &o)| (o, to(i))).collect()
        };
        let function = g.substitute(&[x], &pairs(&|i| names[i], &operands))[0];
        let gradient = g.gradient(function, &names);
        let hessian = g.jacobian(&gradient, &names);
        let insert = |e: Expr| g.substitute(&[e], &pairs(&|i| of[i].value, &names))[0];
        let slopes: Vec<Expr> = gradient.iter().map(|&e| insert(e)).collect();
        let bends: Vec<Vec<Expr>> =
            hessian.iter().map(|row| row.iter().map(|&e| insert(e)).collect()).collect();
        let linear = |part: &dyn Fn(&Jet) -> Expr| {
            g.sum(of.iter().zip(&slopes).map(|(j, &s)| g.mul(s, part(j))))
        };
        let bilinear = |p: &dyn Fn(&Jet) -> Expr, q: &dyn Fn(&Jet) -> Expr| {
            let mut sum = g.zero();
            for (i, x) in of.iter().enumerate() {
                for (j, y) in of.iter().enumerate() {
                    sum = g.add(sum, g.mul(bends[i][j], g.mul(p(x), q(y))));
                }
            }
            sum
        };
        Jet {
            value: insert(function),
            rate: linear(&|j| j.rate),
            column: (0..k).map(|a| linear(&|j| j.column[a])).collect(),
            euler: (0..k)
                .map(|a| {
                    g.add(linear(&|j| j.euler[a]), bilinear(&|j| j.rate, &|j| j.column[a]))
                })
                .collect(),
            second: self.pairs(|a, b, i| {
                let bent = bilinear(&|j| j.column[a], &|j| j.column[b]);
                g.add(linear(&|j| self.at(j, i)), bent)
            }),
        }
    }
}
