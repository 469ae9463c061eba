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

/// The classes of many constraints, as [`classify`] has them, at the cost of the nodes that they have together.
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
    let class = |a: usize| {
        if g.has_memory(constraints[a]) {
            return (Class::Memory, false);
        }
        let undecided = match g.zero_test(slopes[a]) {
            ZeroTest::Zero => return (Class::Holonomic, false),
            ZeroTest::Nonzero { .. } => false,
            ZeroTest::Unknown => true,
        };
        let class = match (g.is_zero(bends[a]), g.is_zero(rests[a])) {
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
    let mut undecided = false;
    let mut moves = false;
    for &slope in slopes.iter().filter(|&&s| s != g.zero()) {
        match g.zero_test(slope) {
            ZeroTest::Zero => {}
            ZeroTest::Nonzero { .. } => {
                moves = true;
                break;
            }
            ZeroTest::Unknown => undecided = true,
        }
    }
    if !moves && !undecided {
        return (Class::Holonomic, false);
    }
    let undecided = undecided && !moves;
    let class = match g.try_linear(φ, velocities) {
        Some(split) if g.is_zero(split.rest) => Class::Linear,
        Some(_) => Class::Affine,
        None => Class::Nonlinear,
    };
    (class, undecided)
}
