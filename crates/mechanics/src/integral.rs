//! The function that an integrable constraint keeps constant, where it is elementary.
//!
//! A form $\omega = A_i\,dq^i$ that is closed, by itself or after multiplication with a factor, is $d\Phi$. The integral is written down coordinate after coordinate,
//! $\Phi = \int A_1\,dq^1 + \dots$, from powers, sines, cosines, exponentials and logarithms, and checked by differentiating it again.

use pfaff_expr::{Expr, Graph, Node, Unary, ZeroTest};
use pfaff_model::Model;

use crate::class::Class;
use crate::equations::Equations;

/// A closed multiple of a constraint.
#[derive(Clone, Debug)]
pub struct FirstIntegral {
    /// Its components, one for each coordinate, of $f\,\omega = d\Phi$.
    pub form: Vec<Expr>,
    /// Φ, where it could be written down.
    pub function: Option<Expr>,
}

/// The integrals of a linear constraint of positions alone, for all factors that were found to make it closed.
pub fn integrals_of_constraint(
    model: &Model,
    equations: &Equations,
    constraint: usize,
) -> Vec<FirstIntegral> {
    if equations.classes[constraint] != Class::Linear {
        return Vec::new();
    }
    let g = &model.graph;
    let ω = &equations.jacobian[constraint];
    if ω.iter().any(|&e| g.contains(e, &[model.time])) {
        return Vec::new();
    }
    let used: Vec<Expr> = ω.iter().copied().filter(|&e| !g.vanishes_modulo_prime(e)).collect();
    let mut factors = vec![g.one()];
    factors.extend(used.iter().map(|&e| g.div(g.one(), e)));
    factors.extend(used.iter().map(|&e| g.div(g.one(), g.mul(e, e))));
    for (i, &a) in used.iter().enumerate() {
        factors.extend(used[i + 1..].iter().map(|&b| g.div(g.one(), g.mul(a, b))));
    }
    let closed = factors.into_iter().filter_map(|factor| {
        let form: Vec<Expr> = ω.iter().map(|&e| g.simplify(g.mul(factor, e))).collect();
        is_closed(model, &form).then(|| {
            let function = potential(model, &form);
            FirstIntegral { form, function }
        })
    });
    closed.collect()
}

fn is_closed(model: &Model, form: &[Expr]) -> bool {
    let g = &model.graph;
    let q = model.positions();
    (0..q.len()).all(|i| {
        (i + 1..q.len()).all(|j| {
            let turn = g.sub(g.derivative(form[i], q[j]), g.derivative(form[j], q[i]));
            matches!(g.zero_test(turn), ZeroTest::Zero)
        })
    })
}

/// Φ with $d\Phi$ the given form.
fn potential(model: &Model, form: &[Expr]) -> Option<Expr> {
    let g = &model.graph;
    let q = model.positions();
    let mut Φ = g.zero();
    for (&a, &x) in form.iter().zip(&q) {
        let rest = g.simplify(g.sub(a, g.derivative(Φ, x)));
        if !g.is_zero(rest) {
            Φ = g.add(Φ, antiderivative(g, rest, x, 24)?);
        }
    }
    let right = form.iter().zip(&q).all(|(&a, &x)| g.is_zero(g.sub(g.derivative(Φ, x), a)));
    right.then(|| g.simplify(Φ))
}

/// $\int e\,dx$ by rules; `depth` bounds the nesting that is looked at.
fn antiderivative(g: &Graph, e: Expr, x: Expr, depth: u32) -> Option<Expr> {
    let free = |e: Expr| !g.contains(e, &[x]);
    if free(e) {
        return Some(g.mul(e, x));
    }
    let depth = depth.checked_sub(1)?;
    let again = |e: Expr| antiderivative(g, e, x, depth);
    if e == x {
        return Some(g.mul(g.fraction(1, 2), g.pow(x, g.integer(2))));
    }
    match g.node(e) {
        Node::Neg(a) => Some(g.neg(again(a)?)),
        Node::Add(a, b) => Some(g.add(again(a)?, again(b)?)),
        Node::Sub(a, b) => Some(g.sub(again(a)?, again(b)?)),
        Node::Mul(a, b) if free(a) => Some(g.mul(a, again(b)?)),
        Node::Mul(a, b) if free(b) => Some(g.mul(b, again(a)?)),
        Node::Mul(a, b) if a == x && b == x => {
            Some(g.mul(g.fraction(1, 3), g.pow(x, g.integer(3))))
        }
        Node::Div(a, b) if free(b) => Some(g.div(again(a)?, b)),
        Node::Div(a, b) if free(a) => {
            let (base, exponent) = match g.node(b) {
                Node::Pow(base, exponent) if free(exponent) => (base, exponent),
                Node::Mul(c, d) if c == d => (c, g.integer(2)),
                _ => (b, g.one()),
            };
            Some(g.mul(a, power(g, base, g.neg(exponent), x)?))
        }
        Node::Pow(a, b) if free(b) => power(g, a, b, x),
        Node::Unary(f, a) => {
            let slope = slope(g, a, x)?;
            let whole = match f {
                Unary::Sin => g.neg(g.cos(a)),
                Unary::Cos => g.sin(a),
                Unary::Exp => e,
                Unary::Sinh => g.unary(Unary::Cosh, a),
                Unary::Cosh => g.unary(Unary::Sinh, a),
                Unary::Tan => g.neg(g.unary(Unary::Log, g.cos(a))),
                _ => return None,
            };
            Some(g.div(whole, slope))
        }
        _ => None,
    }
}

/// $\int a^b\,dx$ for $a$ linear in x.
fn power(g: &Graph, a: Expr, b: Expr, x: Expr) -> Option<Expr> {
    let (slope, raised) = (slope(g, a, x)?, g.add(b, g.one()));
    let whole = if g.is_zero(raised) {
        g.unary(Unary::Log, a)
    } else {
        g.div(g.pow(a, raised), raised)
    };
    Some(g.div(whole, slope))
}

/// The slope of an argument that is linear in x.
fn slope(g: &Graph, a: Expr, x: Expr) -> Option<Expr> {
    let slope = g.derivative(a, x);
    (!g.contains(slope, &[x]) && !g.is_zero(slope)).then_some(slope)
}
