//! The narrow features of equations of motion, by their phases.
//!
//! A phase (`system/event_phases.rs`) of an exponential, a hyperbolic tangent, a quotient or a power in the Lagrangian,
//! the forces and the constraints varies fast next to the feature and slowly elsewhere. Sines have no narrow features,
//! and kinks are branches. Splines over the state are known by their knots.

use std::collections::BTreeMap;

use pfaff_expr::{Expr, Graph, Node, Unary};
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, Executor, Program};

use crate::system::dynamical_parts::dynamical_parts;
use crate::system::event_phases::{growth, phases_of};

/// The phases of a model, compiled over time, positions and velocities.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    executor: Option<Executor>,
    inputs: Vec<f64>,
    /// Whether they depend on velocities.
    pub(crate) needs_velocities: bool,
    pub(crate) count: usize,
    /// As [`is_algebraic`] says.
    pub(crate) is_algebraic: bool,
    /// The arguments of splines, and their knots.
    arguments: Option<Executor>,
    pub(crate) knots: Vec<Vec<f64>>,
}

/// Models with more phases than this are not watched: each step would cost too much.
const MOST: usize = 64;

impl Features {
    pub(crate) fn new(model: &Workspace, backend: Backend) -> Result<Self, CompileError> {
        let g = &model.graph;
        let mut inputs = vec![model.time];
        inputs.extend(model.positions());
        inputs.extend(model.velocities());
        let phases = narrow_phases(g, model);
        let (arguments, knots) = splines(model, &inputs[1..]);
        let compile = |outputs: &[Expr]| -> Result<Option<Executor>, CompileError> {
            if outputs.is_empty() {
                return Ok(None);
            }
            let program = Program::compile(g, &inputs, &model.parameter_symbols(), outputs)?;
            Ok(Some(program.tiered(&model.parameter_values(), backend)))
        };
        Ok(Self {
            needs_velocities: phases.iter().any(|&e| g.contains(e, &model.velocities())),
            executor: compile(&phases)?,
            count: phases.len(),
            is_algebraic: has_algebraic_equations(model),
            arguments: compile(&arguments)?,
            knots,
            inputs: vec![0.0; inputs.len()],
        })
    }

    /// Other parameters.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        let executors = self.executor.iter_mut().chain(&mut self.arguments);
        executors.for_each(|executor| executor.set_parameters(parameters));
    }

    /// Compiles what is evaluated at every step of many runs.
    pub(crate) fn promote(&mut self) {
        self.executor.iter_mut().chain(&mut self.arguments).for_each(Executor::promote);
    }

    /// Writes the phases at a state into `phases`.
    pub(crate) fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64], phases: &mut [f64]) {
        self.set(t, q, v);
        if let Some(executor) = &mut self.executor {
            executor.evaluate(&self.inputs, phases);
        }
    }

    /// Writes the places of a state in the splines into `places`: whole numbers at the knots.
    pub(crate) fn places(&mut self, t: f64, q: &[f64], v: &[f64], places: &mut [f64]) {
        self.set(t, q, v);
        if let Some(arguments) = &mut self.arguments {
            arguments.evaluate(&self.inputs, places);
        }
        for (x, knots) in places.iter_mut().zip(&self.knots) {
            let last = knots.len() - 2;
            let i = knots.partition_point(|knot| knot <= x).saturating_sub(1).min(last);
            *x = i as f64 + (*x - knots[i]) / (knots[i + 1] - knots[i]);
        }
    }

    fn set(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.inputs[0] = t;
        self.inputs[1..=q.len()].copy_from_slice(q);
        self.inputs[1 + q.len()..].copy_from_slice(v);
    }
}

/// Whether the equations of a model are made of what has no narrow features.
pub(crate) fn has_algebraic_equations(model: &Workspace) -> bool {
    is_algebraic(&model.graph, &dynamical_parts(model))
}

/// Whether expressions are made of sums, products, quotients and low powers of what varies, and of sines and cosines of
/// such without quotients. No switch, no essential singularity and no exponential lies within, so that the coefficients
/// of a power series show how near the next singularity is.
fn is_algebraic(g: &Graph, parts: &[Expr]) -> bool {
    // Whether there is a quotient in what varies.
    let mut has_quotient: BTreeMap<Expr, bool> = BTreeMap::new();
    for e in g.live(parts) {
        if !g.varies(e) {
            continue;
        }
        let node = g.node(e);
        let inherited = node.operands().any(|o| has_quotient.get(&o) == Some(&true));
        let own = match node {
            Node::Symbol(_) => Some(false),
            Node::Neg(_) | Node::Add(..) | Node::Sub(..) | Node::Mul(..) => Some(inherited),
            Node::Div(..) => Some(true),
            Node::Pow(_, n) => match g.double_of(n) {
                Some(n) if n.fract() == 0.0 && n.abs() <= 8.0 => Some(inherited || n < 0.0),
                _ => None,
            },
            Node::Unary(Unary::Sin | Unary::Cos, _) if !inherited => Some(false),
            _ => None,
        };
        match own {
            Some(own) => has_quotient.insert(e, own),
            None => return false,
        };
    }
    true
}

/// The phases of a model, in any graph that has its expressions.
pub(crate) fn narrow_phases(g: &Graph, model: &Workspace) -> Vec<Expr> {
    let mut inputs = vec![model.time];
    inputs.extend(model.positions());
    inputs.extend(model.velocities());
    let mut phases: Vec<Expr> = Vec::new();
    for e in g.live(&dynamical_parts(model)) {
        if phases.len() > MOST {
            break;
        }
        let node = g.node(e);
        let narrow = match node {
            Node::Unary(f, _) => matches!(
                f,
                Unary::Exp
                    | Unary::Sinh
                    | Unary::Cosh
                    | Unary::Tanh
                    | Unary::Atan
                    | Unary::Erf
                    | Unary::Erfc
            ),
            Node::Div(..) | Node::Pow(..) | Node::Binary(..) => true,
            _ => false,
        };
        if !narrow {
            continue;
        }
        let found = phases_of(g, node);
        if found == [None; 2] {
            continue;
        }
        // NOTE: log(1 + exp(a)) varies as fast as a wherever a is positive, and far from any feature.
        let grows = !matches!(node, Node::Unary(..)) && has_exponential(g, e);
        for phase in found.into_iter().flatten() {
            let phase = if grows { growth(g, phase) } else { phase };
            if g.contains(phase, &inputs) && !phases.contains(&phase) {
                phases.push(phase);
            }
        }
    }
    if phases.len() > MOST {
        phases.clear();
    }
    phases
}

/// The arguments of tables over the state, and their knots. Those over time are known beforehand
/// (`problem/branches.rs`).
fn splines(model: &Workspace, state: &[Expr]) -> (Vec<Expr>, Vec<Vec<f64>>) {
    let g = &model.graph;
    let mut arguments = Vec::new();
    let mut knots = Vec::new();
    for e in g.live(&dynamical_parts(model)) {
        let Node::Table { table, argument, .. } = g.node(e) else { continue };
        let of_table = g.table_of(table).knots().to_vec();
        let known = arguments.iter().zip(&knots).any(|known| known == (&argument, &of_table));
        if g.contains(argument, state) && !known && !g.has_memory(argument) {
            arguments.push(argument);
            knots.push(of_table);
        }
    }
    (arguments, knots)
}

fn has_exponential(g: &Graph, e: Expr) -> bool {
    let is_exponential =
        |node| matches!(node, Node::Unary(Unary::Exp | Unary::Sinh | Unary::Cosh, _));
    g.live(&[e]).into_iter().any(|part| is_exponential(g.node(part)))
}
