//! Where an event function may oscillate, jump or have a narrow feature: its *phases*.
//!
//! The search for events looks the more closely the faster a phase varies (`System::event_phases`).
//!
//! | operation | phase |
//! |---|---|
//! | `sin(a)`, `cos(a)`, `tan(a)` | $a$ |
//! | `exp(a)`, `tanh(a)` and others whose features lie around $a = 0$ | $\operatorname{arsinh} a$ |
//! | `abs(a)`, `sign(a)`, `max(a, b)`, `a < b`, `1/a`, roots | $\log\lvert a\rvert$, of $a - b$ if there are two |
//!
//! The last two grow by the same amount each time that the distance to the feature halves: however narrow it is,
//! the parts of a step become narrow next to it, and nowhere else.

use std::collections::BTreeSet;

use pfaff_expr::{Binary, Expr, Graph, Node, Unary};
use pfaff_model::{Declarations, Direction, Event};
use pfaff_solver::{self as solver, EventKind};

/// 1 over what is added to magnitudes under logarithms, so that a function at rest on its feature does not vary.
const RESTING: i64 = 1_000_000_000_000;

/// The phases of event functions, each with the event that it belongs to. The same for the same expressions in all
/// graphs that have them.
pub(crate) fn event_phases(g: &Graph, events: &[Expr]) -> Vec<(usize, Expr)> {
    let mut phases: Vec<(usize, Expr)> = Vec::new();
    let mut seen: BTreeSet<Expr> = BTreeSet::new();
    for (index, &event) in events.iter().enumerate() {
        seen.clear();
        for e in g.live(&[event]) {
            for phase in phases_of(g, g.node(e)).into_iter().flatten() {
                if g.varies(phase) && seen.insert(phase) {
                    phases.push((index, phase));
                }
            }
        }
    }
    phases
}

/// What zeros of the events of a model do in a run.
pub(crate) fn event_kinds(model: &Declarations) -> Vec<EventKind> {
    let kind = |(index, event): (usize, &Event)| {
        let barrier = model.hybrid.contacts.iter().any(|contact| contact.event == index);
        let jump = barrier || model.resets.iter().any(|reset| reset.event == index);
        EventKind { direction: direction(event), stop: event.stop, jump, barrier }
    };
    model.events.iter().enumerate().map(kind).collect()
}

fn direction(event: &Event) -> solver::Direction {
    match event.direction {
        Direction::Rising => solver::Direction::Rising,
        Direction::Falling => solver::Direction::Falling,
        Direction::Both => solver::Direction::Both,
    }
}

/// The phases of one operation.
pub(crate) fn phases_of(g: &Graph, node: Node) -> [Option<Expr>; 2] {
    match node {
        Node::Unary(f, a) => [Some(unary(g, f, a)), None],
        Node::Binary(f, a, b) => match f {
            Binary::Min | Binary::Max => [Some(distance(g, g.sub(a, b))), None],
            Binary::Atan2 => [Some(distance(g, a)), Some(distance(g, b))],
            Binary::Polygamma => [Some(growth(g, b)), None],
        },
        Node::Pow(a, b) => match g.double_of(b) {
            Some(b) if b.fract() == 0.0 && (0.0..=8.0).contains(&b) => [None; 2],
            Some(order) if order.abs() <= 8.0 => [Some(g.mul(b, distance(g, a))), None],
            // It grows as exp(b log a).
            Some(_) => [Some(growth(g, g.mul(b, distance(g, a)))), Some(distance(g, a))],
            None => [Some(distance(g, a)), Some(growth(g, b))],
        },
        Node::Div(_, b) => [Some(distance(g, b)), None],
        Node::Compare(_, a, b) => [Some(distance(g, g.sub(a, b))), None],
        Node::MittagLeffler(_, _, a) => [Some(growth(g, a)), None],
        Node::Number(_)
        | Node::Pi
        | Node::Symbol(_)
        | Node::Neg(_)
        | Node::Add(..)
        | Node::Sub(..)
        | Node::Mul(..)
        | Node::If(..)
        | Node::Not(_)
        | Node::And(..)
        | Node::Or(..)
        | Node::Table { .. }
        | Node::List(..)
        | Node::Family { .. }
        | Node::Memory(..) => [None; 2],
    }
}

fn unary(g: &Graph, f: Unary, a: Expr) -> Expr {
    match f {
        Unary::Sin | Unary::Cos | Unary::Tan => a,
        Unary::Abs | Unary::Sign | Unary::Sqrt | Unary::Log => distance(g, a),
        Unary::Asin | Unary::Acos => distance(g, g.sub(g.one(), g.mul(a, a))),
        Unary::Exp
        | Unary::Sinh
        | Unary::Cosh
        | Unary::Tanh
        | Unary::Atan
        | Unary::Erf
        | Unary::Erfc
        | Unary::Gamma
        | Unary::Digamma => growth(g, a),
    }
}

/// $\operatorname{arsinh} a$
pub(crate) fn growth(g: &Graph, a: Expr) -> Expr {
    let magnitude = g.unary(Unary::Abs, a);
    let root = g.sqrt(g.add(g.mul(a, a), g.one()));
    g.mul(g.unary(Unary::Sign, a), g.unary(Unary::Log, g.add(magnitude, root)))
}

/// $\log\lvert a\rvert$, down to $\lvert a\rvert = 10^{-12}$
fn distance(g: &Graph, a: Expr) -> Expr {
    let magnitude = g.unary(Unary::Abs, a);
    g.unary(Unary::Log, g.add(magnitude, g.fraction(1, RESTING)))
}
