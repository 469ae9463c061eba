//! The narrow features of equations of motion, by their phases.
//!
//! A phase (`system/event_phases.rs`) of an exponential, a hyperbolic tangent, a quotient or a power in the Lagrangian,
//! the forces and the constraints varies fast next to the feature and slowly elsewhere. Sines have no narrow features,
//! and kinks are branches.

use pfaff_expr::{Expr, Graph, Node, Unary};
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, Executor, Program};

use crate::problem::branches::dynamical;
use crate::system::event_phases::{growth, phases_of};

/// The phases of a model, compiled over time, positions and velocities.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    executor: Option<Executor>,
    inputs: Vec<f64>,
    pub(crate) count: usize,
}

/// Models with more phases than this are not watched: each step would cost too much.
const MOST: usize = 64;

impl Features {
    pub(crate) fn new(model: &Workspace, backend: Backend) -> Result<Self, CompileError> {
        let g = &model.graph;
        let mut inputs = vec![model.time];
        inputs.extend(model.positions());
        inputs.extend(model.velocities());
        let mut phases: Vec<Expr> = Vec::new();
        for e in g.live(&dynamical(model)) {
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
            // NOTE: log(1 + exp(a)) varies as fast as a wherever a is positive, and far from any feature.
            let grows = !matches!(node, Node::Unary(..)) && has_exponential(g, e);
            for phase in phases_of(g, node).into_iter().flatten() {
                let phase = if grows { growth(g, phase) } else { phase };
                if g.contains(phase, &inputs) && !phases.contains(&phase) {
                    phases.push(phase);
                }
            }
        }
        if phases.len() > MOST {
            phases.clear();
        }
        let executor = if phases.is_empty() {
            None
        } else {
            let program = Program::compile(g, &inputs, &model.parameter_symbols(), &phases)?;
            Some(program.tiered(&model.parameter_values(), backend))
        };
        Ok(Self { executor, inputs: vec![0.0; inputs.len()], count: phases.len() })
    }

    /// Writes the phases at a state into `phases`.
    pub(crate) fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64], phases: &mut [f64]) {
        let Some(executor) = &mut self.executor else { return };
        self.inputs[0] = t;
        self.inputs[1..=q.len()].copy_from_slice(q);
        self.inputs[1 + q.len()..].copy_from_slice(v);
        executor.evaluate(&self.inputs, phases);
    }
}

fn has_exponential(g: &Graph, e: Expr) -> bool {
    let is_exponential =
        |node| matches!(node, Node::Unary(Unary::Exp | Unary::Sinh | Unary::Cosh, _));
    g.live(&[e]).into_iter().any(|part| is_exponential(g.node(part)))
}
