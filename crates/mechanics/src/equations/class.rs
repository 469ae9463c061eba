//! The class of a constraint: what its velocities do.
//!
//! Holonomic if $\partial\varphi/\partial\dot q = 0$ is proved, else linear ($\varphi = A(t,q)\,\dot q$),
//! affine ($A\dot q + a$) or nonlinear in $\dot q$;
//! `memory` as soon as a memory operator occurs. What cannot be decided counts as a velocity constraint, and
//! is said to be undecided.

use pfaff_expr::{Expr, Graph, Role, ZeroTest};

/// The class of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// $\varphi(t, q) = 0$
    Holonomic,
    /// $A(t,q)\,\dot q = 0$
    Linear,
    /// $A(t,q)\,\dot q + a(t,q) = 0$
    Affine,
    /// Anything else in the velocities.
    Nonlinear,
    /// A memory operator occurs.
    Memory,
}

impl Class {
    /// The word for people and for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holonomic => "holonomic",
            Self::Linear => "linear",
            Self::Affine => "affine",
            Self::Nonlinear => "nonlinear",
            Self::Memory => "memory",
        }
    }
}

/// The classes of many constraints without memory, as [`classify`] has them, at the cost of the nodes that they have
/// together.
///
/// Derivatives are taken along directions $r$ and $s$ that stand for all: $\varphi_{\dot q}r$ vanishes identically in
/// $r$ where all slopes do, and $r^\top\varphi_{\dot q\dot q}\,s$ where $\varphi$ is affine.
pub(crate) fn classify_all(
    g: &Graph,
    constraints: &[Expr],
    velocities: &[Expr],
) -> Vec<(Class, bool)> {
    if g.is_any_branched(constraints, velocities) {
        return constraints.iter().map(|&φ| classify(g, φ, velocities)).collect();
    }
    let direction = |name: &str| -> Vec<(Expr, Expr)> {
        let symbol = |k: usize| g.symbol(&format!("{name} {k}"), Role::Free);
        velocities.iter().enumerate().map(|(k, &v)| (v, symbol(k))).collect()
    };
    let at_rest: Vec<(Expr, Expr)> = velocities.iter().map(|&v| (v, g.zero())).collect();
    let slopes = g.directional(constraints, &direction("direction"));
    let bends = g.directional(&slopes, &direction("second direction"));
    let rests = g.substitute(constraints, &at_rest);
    // NOTE: one constraint of a chain has as many nodes as the chain.
    let shown = [&slopes, &bends, &rests].map(|es| g.shown_nonzero(es));
    let class = |a: usize| {
        let test = if shown[0][a] { None } else { Some(g.zero_test(slopes[a])) };
        let undecided = match test {
            Some(ZeroTest::Zero) => return (Class::Holonomic, false),
            Some(ZeroTest::Nonzero { .. }) | None => false,
            Some(ZeroTest::Unknown) => true,
        };
        let is_zero = |kind: usize, e: Expr| !shown[kind][a] && g.is_zero(e);
        let class = match (is_zero(1, bends[a]), is_zero(2, rests[a])) {
            (true, true) => Class::Linear,
            (true, false) => Class::Affine,
            (false, _) => Class::Nonlinear,
        };
        (class, undecided)
    };
    (0..constraints.len()).map(class).collect()
}

/// The class, and whether holonomy had to be left undecided.
pub fn classify(g: &Graph, φ: Expr, velocities: &[Expr]) -> (Class, bool) {
    if g.has_memory(φ) {
        return (Class::Memory, false);
    }
    let slopes = g.gradient(φ, velocities);
    let moves = slopes.iter().any(|&s| matches!(g.zero_test(s), ZeroTest::Nonzero { .. }));
    if !moves && slopes.iter().all(|&s| g.zero_test(s) == ZeroTest::Zero) {
        return (Class::Holonomic, false);
    }
    let class = match g.try_linear(φ, velocities) {
        Some(split) if g.is_zero(split.rest) => Class::Linear,
        Some(_) => Class::Affine,
        None => Class::Nonlinear,
    };
    (class, !moves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Unary;

    /// One after another and all together, with velocities whose coefficients cancel.
    #[test]
    fn both_roads_give_the_class() {
        let g = Graph::new();
        let [x, y, v, u] = ["x", "y", "v", "u"].map(|name| g.symbol(name, Role::Free));
        let one = g.sub(g.add(g.mul(g.sin(x), g.sin(x)), g.mul(g.cos(x), g.cos(x))), g.one());
        let linear = g.sub(u, g.mul(x, v));
        let all = [
            (g.sub(g.mul(x, x), y), Class::Holonomic),
            (g.add(x, g.mul(one, v)), Class::Holonomic),
            (linear, Class::Linear),
            (g.add(linear, g.mul(one, y)), Class::Linear),
            (g.add(v, g.mul(one, g.mul(v, u))), Class::Linear),
            (g.add(linear, y), Class::Affine),
            (g.sub(g.mul(v, v), u), Class::Nonlinear),
            (g.sub(g.sin(v), x), Class::Nonlinear),
        ];
        let written: Vec<Expr> = all.iter().map(|&(e, _)| e).collect();
        let together = classify_all(&g, &written, &[v, u]);
        for ((e, class), found) in all.into_iter().zip(together) {
            assert_eq!(found, (class, false), "{}", g.to_text(e));
            assert_eq!(classify(&g, e, &[v, u]), (class, false), "{}", g.to_text(e));
        }
        // A corner is looked at by itself.
        let corner = g.sub(g.unary(Unary::Abs, v), u);
        let found = classify_all(&g, &[corner, linear], &[v, u]);
        assert_eq!(found, [(Class::Nonlinear, false), (Class::Linear, false)]);
    }
}
