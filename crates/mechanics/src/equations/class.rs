//! The class of a constraint: what its velocities do.
//!
//! Holonomic if $\partial\varphi/\partial\dot q = 0$ is proved, else linear ($\varphi = A(t,q)\,\dot q$),
//! affine ($A\dot q + a$) or nonlinear in $\dot q$;
//! `memory` as soon as a memory operator occurs. What cannot be decided counts as a velocity constraint, and
//! is said to be undecided.

use pfaff_expr::{Expr, Graph, ZeroTest};

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
