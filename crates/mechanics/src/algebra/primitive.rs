//! A closed one-form into a function with that differential, where the integrals are elementary.
//!
//! $h$ with $dh = \theta$ is built coordinate by coordinate: $h \mathrel{+}= \int(\theta_k - \partial_k
//! h)\,dq^k$. What is found is differentiated again and compared.

use pfaff_expr::{Expr, Graph};

use super::antiderivative::antiderivative;

/// $h$ with $\partial_k h = \theta_k$, or `None` where it is not found.
pub(crate) fn primitive(g: &Graph, form: &[Expr], variables: &[Expr]) -> Option<Expr> {
    let mut h = g.zero();
    for (&θ, &q) in form.iter().zip(variables) {
        let rest = g.simplify(g.sub(θ, g.derivative(h, q)));
        if g.is_zero(rest) {
            continue;
        }
        h = g.add(h, antiderivative(g, rest, q)?);
    }
    let h = g.simplify(h);
    let right = |(&θ, &q): (&Expr, &Expr)| g.is_zero(g.sub(g.derivative(h, q), θ));
    form.iter().zip(variables).all(right).then_some(h)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    #[test]
    fn gradients_have_their_function() {
        let g = Graph::new();
        let q = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
        let [x, y, z] = q;
        let h = g.sum([
            g.mul(x, g.mul(y, y)),
            g.mul(g.sin(x), z),
            g.unary(pfaff_expr::Unary::Exp, y),
        ]);
        let found = primitive(&g, &g.gradient(h, &q), &q).expect("a closed form");
        assert!(g.is_zero(g.sub(found, h)), "no constant is added");
        assert_eq!(primitive(&g, &[g.neg(y), x, z], &q), None, "not closed");
    }
}
