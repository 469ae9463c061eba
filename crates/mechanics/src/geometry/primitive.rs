//! A closed one-form into a function with that differential, where the integrals are elementary.
//!
//! $h$ with $dh = \theta$ is built coordinate by coordinate: $h \mathrel{+}= \int(\theta_k - \partial_k h)\,dq^k$. Integrals are looked up term by term: sums, constant factors, powers, sine, cosine, exponential of
//! arguments linear in the coordinate, $1/(aq+b)$ and $1/\cos^2$. What is found is differentiated again and compared.

use pfaff_expr::{Expr, Graph, Node, Unary};

/// $h$ with $\partial_k h = \theta_k$, or `None` where it is not found.
pub(crate) fn primitive(g: &Graph, form: &[Expr], variables: &[Expr]) -> Option<Expr> {
    let mut h = g.zero();
    for (&θ, &q) in form.iter().zip(variables) {
        let rest = g.simplify(g.sub(θ, g.derivative(h, q)));
        if g.is_zero(rest) {
            continue;
        }
        h = g.add(h, integral(g, rest, q)?);
    }
    let h = g.simplify(h);
    let right = |(&θ, &q): (&Expr, &Expr)| g.is_zero(g.sub(g.derivative(h, q), θ));
    form.iter().zip(variables).all(right).then_some(h)
}

/// Terms that an expansion may have.
const TERMS: usize = 256;
/// How deep sums and products may be nested.
const DEPTH: usize = 200;

/// $\int e\,dq$
fn integral(g: &Graph, e: Expr, q: Expr) -> Option<Expr> {
    let mut sum = g.zero();
    for term in terms(g, e, q, DEPTH)? {
        sum = g.add(sum, of_product(g, &term, q)?);
    }
    Some(sum)
}

/// An expression as a sum of products, expanded as far as `q` occurs.
fn terms(g: &Graph, e: Expr, q: Expr, depth: usize) -> Option<Vec<Vec<Expr>>> {
    if !g.contains(e, &[q]) {
        return Some(vec![vec![e]]);
    }
    let deeper = depth.checked_sub(1)?;
    let expanded = match g.node(e) {
        Node::Neg(a) => {
            let mut inner = terms(g, a, q, deeper)?;
            inner.iter_mut().for_each(|t| t.push(g.integer(-1)));
            inner
        }
        Node::Add(a, b) => [terms(g, a, q, deeper)?, terms(g, b, q, deeper)?].concat(),
        Node::Sub(a, b) => {
            let mut right = terms(g, b, q, deeper)?;
            right.iter_mut().for_each(|t| t.push(g.integer(-1)));
            [terms(g, a, q, deeper)?, right].concat()
        }
        Node::Mul(a, b) => products(&terms(g, a, q, deeper)?, &terms(g, b, q, deeper)?),
        Node::Div(a, b) => {
            let below = g.div(g.one(), b);
            products(&terms(g, a, q, deeper)?, &[vec![below]])
        }
        _ => vec![vec![e]],
    };
    (expanded.len() <= TERMS).then_some(expanded)
}

fn products(a: &[Vec<Expr>], b: &[Vec<Expr>]) -> Vec<Vec<Expr>> {
    a.iter().flat_map(|x| b.iter().map(move |y| [x.as_slice(), y].concat())).collect()
}

/// $\int \prod f\,dq$: constant factors, and one factor or one power that is known.
fn of_product(g: &Graph, factors: &[Expr], q: Expr) -> Option<Expr> {
    let (varying, constant): (Vec<Expr>, Vec<Expr>) =
        factors.iter().copied().partition(|&f| g.contains(f, &[q]));
    let scale = constant.into_iter().fold(g.one(), |a, b| g.mul(a, b));
    let mut degree = 0;
    let mut others = Vec::new();
    for f in varying {
        match whole_power(g, f, q) {
            Some(k) => degree += k,
            None => others.push(f),
        }
    }
    let found = match others.as_slice() {
        [] if degree == -1 => g.unary(Unary::Log, q),
        [] => {
            let up = degree + 1;
            g.div(g.pow(q, g.integer(up)), g.integer(up))
        }
        [f] if degree == 0 => of_function(g, *f, q)?,
        _ => return None,
    };
    Some(g.mul(scale, found))
}

/// $k$ where the factor is $q^k$.
fn whole_power(g: &Graph, f: Expr, q: Expr) -> Option<i64> {
    let power = |e: Expr| -> Option<i64> {
        match g.node(e) {
            _ if e == q => Some(1),
            Node::Pow(a, k) if a == q => {
                let k = g.double_of(k)?;
                (k.fract() == 0.0 && k.abs() < 1e3).then_some(k as i64)
            }
            _ => None,
        }
    };
    match g.node(f) {
        Node::Div(a, b) if g.number_of(a) == g.number_of(g.one()) => power(b).map(|k| -k),
        _ => power(f),
    }
}

/// The integral of a function of an argument linear in $q$.
fn of_function(g: &Graph, f: Expr, q: Expr) -> Option<Expr> {
    let slope = |argument: Expr| -> Option<Expr> {
        let a = g.derivative(argument, q);
        (!g.contains(a, &[q]) && !g.is_zero(a)).then_some(a)
    };
    let (found, argument) = match g.node(f) {
        Node::Unary(Unary::Sin, u) => (g.neg(g.cos(u)), u),
        Node::Unary(Unary::Cos, u) => (g.sin(u), u),
        Node::Unary(Unary::Exp, u) => (f, u),
        Node::Unary(Unary::Tan, u) => (g.neg(g.unary(Unary::Log, g.cos(u))), u),
        Node::Div(a, b) if !g.contains(a, &[q]) => match g.node(b) {
            Node::Pow(c, two) if g.double_of(two) == Some(2.0) => match g.node(c) {
                Node::Unary(Unary::Cos, u) => (g.mul(a, g.div(g.sin(u), g.cos(u))), u),
                _ => (g.neg(g.div(a, c)), c),
            },
            _ => (g.mul(a, g.unary(Unary::Log, b)), b),
        },
        _ => return None,
    };
    Some(g.div(found, slope(argument)?))
}
